// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* build: lay out and fill an engine's memory, before a byte of the target's text changes. */
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/build.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "engine/site/view.h"
#include "engine/site/instances.h"
#include "engine/text/state.h"
#include "port.h"

/* The counters of very many probes are spread over fewer shards. */
#define COUNTERS_MAX (64ull << 20)

static u64 page_up(u64 n)
{
	return (n + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);
}

struct dp_layout_need *dp_engine_layout(struct dp_engine *e, u32 shards)
{
	struct dp_layout_need *need = &e->need;
	struct dp_arena_control control;
	u64 offset;
	u32 i;

	e->shards = shards > DP_MAX_SHARDS ? DP_MAX_SHARDS : shards;
	while (e->shards > 1 &&
	       (u64)e->shards * (e->max_sites ? e->max_sites : e->nr_probes) *
			       sizeof(u64) >
		       COUNTERS_MAX)
		e->shards /= 2;
	if (dp_sites_sort(e))
		return NULL;
	dp_jumps_choose(e);
	if (dp_pools_assign(e))
		return NULL;
	need->arena_size = dp_tables_lay_out(e, &control);
	need->own_off = control.own_off;
	need->private_off = control.private_off;
	need->tables_off = control.tables_off;
	offset = DP_FILE_ARENA_OFFSET + need->arena_size;
	for (i = 0; i < need->nr_pools; i++) {
		need->pools[i].size = page_up(need->pools[i].size);
		need->pools[i].file_offset = offset;
		offset += need->pools[i].size;
	}
	need->file_size = offset;
	return need;
}

/* There are few phrases; each is stored in the arena once. */
void dp_entry_why(struct dp_arena *arena, struct dp_site_entry *entry,
		  const char *why)
{
	char(*reasons)[DP_REASON_SIZE] = arena->control.reasons;
	u8 i;
	u32 k;

	entry->reason = 0;
	for (i = 0; why && i < DP_REASONS; i++) {
		for (k = 0; k < DP_REASON_SIZE - 1 && reasons[i][k] == why[k] &&
			    why[k];
		     k++)
			continue;
		if (reasons[i][k] && reasons[i][0])
			continue;
		for (k = 0; k < DP_REASON_SIZE - 1 && why[k]; k++)
			reasons[i][k] = why[k];
		entry->reason = i + 1;
		return;
	}
}

static void copy_bytes(u8 *to, const u8 *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

static void name_pending(const struct dp_engine *e, struct dp_arena_control *c)
{
	u32 i, k;

	for (i = 0; i < e->nr_pending; i++) {
		for (k = 0; k < DP_PENDING_SIZE - 1 && e->pending[i][k]; k++)
			c->pending[i][k] = e->pending[i][k];
		c->pending[i][k] = '\0';
	}
	c->nr_pending = e->nr_pending;
}

static void lay_out(struct dp_engine *e, const struct dp_mapping *map)
{
	struct dp_arena_control *c = &e->arena->control;
	u32 i;

	dp_tables_lay_out(e, c);
	c->version = DP_LAYOUT_VERSION;
	c->head_size = sizeof(struct dp_arena);
	c->arena_size = e->need.arena_size;
	c->base = map->base;
	c->owner = map->owner;
	c->tool = map->tool;
	c->tool_start = map->tool_start;
	c->tid_offset = e->tid_offset;
	c->fsgsbase = map->fsgsbase;
	c->small_stacks = map->small_stacks;
	c->signal_free = e->signal_free;
	c->forbidden = e->signal_free ? ~0u : map->forbidden;
	c->nr_pools = e->need.nr_pools;
	c->nr_caught = e->nr_caught;
	c->counts_alone = e->rseq_usable;
	c->rseq_offset = e->rseq.offset;
	c->rseq_signature = e->rseq.signature;
	c->own_process = e->max_sites != 0;
	c->linker_state = e->linker_state;
	name_pending(e, c);
	for (i = 0; i < e->need.nr_pools; i++) {
		c->pools[i].start = e->need.pools[i].addr;
		c->pools[i].size = e->need.pools[i].size;
	}
}

int dp_hash_find(struct dp_engine *e, u64 size)
{
	const struct dp_arena_control *c = &e->arena->control;
	u64 off = c->hash_off, mask = c->hash_mask;

	if (off < sizeof(struct dp_arena) || off % sizeof(u32) ||
	    mask & (mask + 1) || off + (mask + 1) * sizeof(u32) > size)
		return -EBADMSG;
	e->slots = (void *)((char *)e->arena + off);
	e->slots_mask = (u32)mask;
	return 0;
}

void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index)
{
	u32 i = dp_site_hash(addr) & e->slots_mask, n = 0;

	while (e->slots[i] && n++ < e->slots_mask)
		i = (i + 1) & e->slots_mask;
	e->slots[i] = index + 1;
}

static void fill_binding(struct dp_probe_entry *entry,
			 struct dp_probe_state *state, const struct dp_probe *p)
{
	entry->enabled = p->kind != DP_KIND_ENTER; /* see dp_engine_admit() */
	entry->kind = p->kind;
	entry->group = p->group;
	entry->way = p->way;
	if (!p->bound)
		return;
	entry->program = p->binding.program + 1;
	entry->start = p->binding.start;
	entry->maxhits = p->binding.maxhits;
	entry->major = p->binding.major;
	entry->minor = p->binding.minor;
	entry->logonfault = p->binding.logonfault;
	state->count = -(s64)p->binding.passcount;
}

static void fill_probes(struct dp_engine *e, const u32 *rank)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_probe_entry *probes =
		(void *)((char *)e->arena + c->probe_off);
	struct dp_probe_state *states =
		(void *)((char *)e->arena + c->state_off);
	u32 i;

	for (i = 0; i < e->nr_probes; i++) {
		probes[i].next = e->probes[i].next;
		probes[i].site = rank[e->probes[i].site];
		fill_binding(&probes[i], &states[i], &e->probes[i]);
	}
}

static void fill_programs(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_program_entry *entries =
		(void *)((char *)e->arena + c->program_off);
	u32 code = c->code_off, lv = c->gv_off + c->nr_gv * 8, i;

	for (i = 0; i < e->nr_programs; i++) {
		struct dp_program *p = &e->programs[i];

		p->lv_off = lv;
		entries[i].code_off = code;
		entries[i].code_len = p->spec.code_len;
		entries[i].lv_off = lv;
		entries[i].nr_lv = p->spec.nr_lv;
		entries[i].jmpmax = p->spec.jmpmax;
		entries[i].logmax = p->spec.logmax;
		entries[i].stack_mask = p->spec.stack - 1;
		copy_bytes((u8 *)entries[i].name, (const u8 *)p->name,
			   DP_PROGRAM_NAME);
		copy_bytes((u8 *)e->arena + code, p->code, p->spec.code_len);
		code += p->spec.code_len;
		lv += p->spec.nr_lv * 8;
	}
}

static void open_reader(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;

	e->reader = (struct dp_reader){ .ring_off = c->ring_off,
					.ring_stride = c->ring_stride,
					.slot_size = c->slot_size,
					.slot_mask = c->slot_mask,
					.rings = e->shards };
}

static void enter_site(const struct dp_engine *e,
		       const struct dp_site_entry *entry, u32 i)
{
	dp_hash_enter(e, entry->addr, i);
	if (entry->post)
		dp_hash_enter(e, entry->post + entry->post_body, i);
}

/* Enter the breakpoints in the middle of a site's jump. */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 i)
{
	int b;

	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (entry->jump.traps >> b & 1)
			dp_hash_enter(e, entry->addr + (u64)b, i);
}

static void open_pools(struct dp_engine *e, const struct dp_mapping *map,
		       struct dp_copy_cursor *cursors)
{
	u32 i;

	for (i = 0; i < e->need.nr_pools; i++) {
		const struct dp_pool_need *p = &e->need.pools[i];

		cursors[i].file = (u8 *)map->file + p->file_offset;
		cursors[i].addr = p->addr;
		cursors[i].size = p->size;
		cursors[i].used = DP_ENTRY_STUB;
		/* Pools of islands come later, and have no stub. */
		if (i < e->nr_code_pools)
			dp_detour_entry_stub(cursors[i].file,
					     map->detour_entry);
	}
}

static int fill_sites(struct dp_engine *e, const struct dp_mapping *map,
		      u32 *rank)
{
	struct dp_site_entry *entries =
		(void *)((char *)e->arena + e->arena->control.site_off);
	struct dp_copy_cursor *cursors =
		dp_port_alloc(DP_MAX_POOLS * sizeof(*cursors));
	int err = cursors ? 0 : -ENOMEM;
	u32 i;

	if (!err)
		open_pools(e, map, cursors);
	for (i = 0; !err && i < e->nr_sites; i++) {
		err = dp_plan_site(e, i, &entries[i], map, cursors);
		dp_site_set_state(&entries[i], dp_order_site(e, i)->gone ?
						       DP_SITE_GONE :
						       DP_SITE_OFF);
		dp_entry_why(e->arena, &entries[i],
			     entries[i].mode == DP_MODE_TRAP ?
				     dp_order_site(e, i)->why :
				     NULL);
		rank[e->order[i]] = i;
	}
	/* A breakpoint inside a jump may be a site of its own. The search finds that site
	 * first, because it is entered first. */
	for (i = 0; !err && i < e->nr_sites; i++)
		enter_site(e, &entries[i], i);
	for (i = 0; !err && i < e->nr_sites; i++)
		dp_hash_traps(e, &entries[i], i);
	dp_port_free(cursors);
	return err;
}

const struct dp_layout_need *dp_engine_need(const struct dp_engine *e)
{
	return &e->need;
}

u32 dp_engine_caught(const struct dp_engine *e)
{
	return e->nr_caught;
}

bool dp_engine_table(const struct dp_engine *e, u64 *words, u32 *n)
{
	const struct dp_arena_control *c = &e->arena->control;
	u64 counters = c->base + DP_ARENA_OFFSET + c->counter_off;

	for (*n = 0; *n < e->shards; ++*n)
		words[*n] = counters + (u64)*n * c->shard_stride;
	return e->rseq_usable;
}

int dp_engine_build(struct dp_engine *e, const struct dp_mapping *map)
{
	struct dp_arena *arena =
		(void *)((char *)map->file + DP_FILE_ARENA_OFFSET);
	u32 *rank = dp_port_alloc((e->nr_sites + 1) * sizeof(*rank));
	int err;

	if (!rank)
		return -ENOMEM;
	e->arena = arena;
	lay_out(e, map);
	err = dp_hash_find(e, e->need.arena_size);
	if (!err)
		err = fill_sites(e, map, rank);
	if (!err) {
		fill_probes(e, rank);
		fill_programs(e);
		open_reader(e);
		dp_instances_open(e);
		arena->control.magic = DP_LAYOUT_MAGIC;
		__atomic_store_n(&arena->control.nr_sites, e->nr_sites,
				 __ATOMIC_RELEASE);
		err = dp_view_open(&e->view, arena, e->need.arena_size);
	}
	dp_port_free(rank);
	if (err)
		e->arena = NULL;
	return err;
}
