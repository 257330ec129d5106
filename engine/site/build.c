// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * build: lay out and fill an engine's memory, before a byte of the target's text changes.
 *
 * The tables are laid out for the first batch of sites and for what is expected behind it.
 * A later batch takes the next places. The hit half finds a place when text leads there.
 */
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/build.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
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

static void choose_shards(struct dp_engine *e, u32 shards)
{
	u64 counters = dp_tables_counters(e);

	e->shards = shards > DP_MAX_SHARDS ? DP_MAX_SHARDS : shards;
	while (e->shards > 1 &&
	       e->shards * counters * sizeof(u64) > COUNTERS_MAX)
		e->shards /= 2;
}

static void lay_out_first(struct dp_engine *e)
{
	struct dp_layout_need *need = &e->need;
	struct dp_arena_control control;

	need->arena_size = dp_tables_lay_out(e, &control);
	need->own_off = control.own_off;
	need->private_off = control.private_off;
	need->tables_off = control.tables_off;
}

struct dp_layout_need *dp_engine_layout(struct dp_engine *e, u32 shards)
{
	struct dp_layout_need *need = &e->need;
	u64 offset = 0;
	u32 i;

	if (dp_batch_begin(e))
		return NULL;
	dp_jumps_choose(e);
	if (dp_pools_assign(e))
		return NULL;
	if (!e->arena) {
		choose_shards(e, shards);
		lay_out_first(e);
		offset = DP_FILE_ARENA_OFFSET + need->arena_size;
	}
	for (i = e->batch.pool; i < need->nr_pools; i++) {
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

	dp_tables_lay_out(e, c);
	e->code_used = e->locals_used = 0;
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
	c->nr_caught = e->nr_caught;
	c->counts_alone = e->rseq_usable;
	c->rseq_offset = e->rseq.offset;
	c->rseq_signature = e->rseq.signature;
	c->own_process = e->max_sites != 0;
	c->nr_jumps = 1;
	c->linker_state = e->linker_state;
}

void dp_note_pools(struct dp_engine *e, u32 first)
{
	struct dp_arena_control *c = &e->arena->control;
	u32 i;

	for (i = first; i < e->need.nr_pools; i++) {
		c->pools[i].start = e->need.pools[i].addr;
		c->pools[i].size = e->need.pools[i].size;
	}
	__atomic_store_n(&c->nr_pools, e->need.nr_pools, __ATOMIC_RELEASE);
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

/* A slot that was left leads to the last entry of the table, which has no address: the
 * hit half goes on to the next slot. */
static bool is_free(const struct dp_engine *e, u32 slot)
{
	return !slot || slot == e->max_sites;
}

void dp_hash_enter(const struct dp_engine *e, u64 addr, u32 index)
{
	u32 i = dp_site_hash(addr) & e->slots_mask, n = 0;

	while (!is_free(e, e->slots[i]) && n++ < e->slots_mask)
		i = (i + 1) & e->slots_mask;
	__atomic_store_n(&e->slots[i], index + 1, __ATOMIC_RELEASE);
}

/* A search ends at the first slot that nothing was ever in. There must always be some. */
void dp_hash_leave(const struct dp_engine *e, u64 addr, u32 index)
{
	u32 i = dp_site_hash(addr) & e->slots_mask;

	while (e->slots[i] && e->slots[i] != index + 1)
		i = (i + 1) & e->slots_mask;
	if (!e->slots[i])
		return;
	__atomic_store_n(&e->slots[i], e->max_sites, __ATOMIC_RELEASE);
	if (e->slots[(i + 1) & e->slots_mask])
		return;
	for (; e->slots[i] == e->max_sites; i = (i - 1) & e->slots_mask)
		__atomic_store_n(&e->slots[i], 0, __ATOMIC_RELEASE);
}

static void fill_probes(struct dp_engine *e)
{
	struct dp_arena_control *c = &e->arena->control;
	u32 i;

	for (i = 0; i < e->nr_probes; i++)
		if (e->probes[i].fresh)
			dp_link_in(e, i);
	e->view.nr_probes = e->nr_probes;
	__atomic_store_n(&c->nr_probes, e->nr_probes, __ATOMIC_RELEASE);
}

static void fill_program(struct dp_engine *e, struct dp_program *p,
			 struct dp_program_entry *entry)
{
	const struct dp_arena_control *c = &e->arena->control;

	p->lv_off = c->gv_off + (c->nr_gv + e->locals_used) * 8;
	entry->code_off = c->code_off + e->code_used;
	entry->code_len = p->spec.code_len;
	entry->lv_off = p->lv_off;
	entry->nr_lv = p->spec.nr_lv;
	entry->jmpmax = p->spec.jmpmax;
	entry->logmax = p->spec.logmax;
	entry->stack_mask = p->spec.stack - 1;
	copy_bytes((u8 *)entry->name, (const u8 *)p->name, DP_PROGRAM_NAME);
	copy_bytes((u8 *)e->arena + entry->code_off, p->code, p->spec.code_len);
	e->code_used += p->spec.code_len;
	e->locals_used += p->spec.nr_lv;
}

static void fill_programs(struct dp_engine *e)
{
	struct dp_arena_control *c = &e->arena->control;
	struct dp_program_entry *entries =
		(void *)((char *)e->arena + c->program_off);
	u32 i;

	for (i = c->nr_programs; i < e->nr_programs; i++)
		fill_program(e, &e->programs[i], &entries[i]);
	e->view.nr_programs = e->nr_programs;
	__atomic_store_n(&c->nr_programs, e->nr_programs, __ATOMIC_RELEASE);
}

void dp_reader_open(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;

	e->reader = (struct dp_reader){ .ring_off = c->ring_off,
					.ring_stride = c->ring_stride,
					.slot_size = c->slot_size,
					.slot_mask = c->slot_mask,
					.rings = e->shards };
}

void dp_hash_site(const struct dp_engine *e, const struct dp_site_entry *entry,
		  u32 i)
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
		if (entry->traps >> b & 1)
			dp_hash_enter(e, entry->addr + (u64)b, i);
}

/* Memory for the code of the batch's pools, until it is written to the target. */
static int open_pools(struct dp_engine *e)
{
	u32 i;

	for (i = e->batch.pool; i < e->need.nr_pools; i++) {
		struct dp_pool_need *p = &e->need.pools[i];

		p->code = dp_port_alloc(p->size);
		if (!p->code)
			return -ENOMEM;
		p->used = DP_STUBS;
		/* Pools of islands come later, and have no stub. */
		if (i < e->batch.pool + e->batch.code_pools)
			dp_detour_stubs(p->code, &e->map.entries);
	}
	return 0;
}

void dp_engine_built(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->need.nr_pools; i++) {
		dp_port_free(e->need.pools[i].code);
		e->need.pools[i].code = NULL;
	}
}

static int fill_site(struct dp_engine *e, u32 i)
{
	struct dp_site_entry *entry = &e->view.sites[i];
	const struct dp_site *s = dp_order_site(e, i);
	int err = dp_plan_site(e, i, entry);

	dp_site_set_state(entry, DP_SITE_OFF);
	dp_entry_why(e->arena, entry,
		     entry->mode == DP_MODE_TRAP ? s->why : NULL);
	return err;
}

static int fill_sites(struct dp_engine *e)
{
	u32 first = e->batch.first, end = first + e->batch.n, i;
	int err = open_pools(e);

	for (i = first; i < end; i++) {
		e->view.sites[i] = (struct dp_site_entry){ 0 };
		dp_view_forget_hits(&e->view, i);
	}
	for (i = first; !err && i < end; i++)
		err = fill_site(e, i);
	if (err)
		return err;
	/* A breakpoint inside a jump may be a site of its own. The search finds that site
	 * first, because it is entered first. */
	for (i = first; i < end; i++)
		dp_hash_site(e, &e->view.sites[i], i);
	for (i = first; i < end; i++)
		dp_hash_traps(e, &e->view.sites[i], i);
	e->view.nr_sites = e->nr_places;
	e->view.nr_jumps = e->nr_places + 1;
	__atomic_store_n(&e->arena->control.nr_jumps, e->view.nr_jumps,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&e->arena->control.nr_sites, e->nr_places,
			 __ATOMIC_RELEASE);
	return 0;
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

/* The tables are empty, and checked as those of a stranger are. */
static int begin_tables(struct dp_engine *e, const struct dp_mapping *map)
{
	int err;

	e->arena = (void *)((char *)map->file + DP_FILE_ARENA_OFFSET);
	e->map = *map;
	lay_out(e, map);
	e->arena->control.magic = DP_LAYOUT_MAGIC;
	err = dp_hash_find(e, e->need.arena_size);
	if (!err)
		err = dp_view_open(&e->view, e->arena, e->need.arena_size);
	dp_reader_open(e);
	dp_instances_open(e);
	return err;
}

int dp_engine_build(struct dp_engine *e, const struct dp_mapping *map)
{
	bool first = !e->arena;
	int err = first ? begin_tables(e, map) : 0;

	if (!err)
		err = fill_sites(e);
	if (!err) {
		name_pending(e, &e->arena->control);
		dp_note_pools(e, e->batch.pool);
		fill_programs(e);
		fill_probes(e);
		e->arena->control.tail_target = e->instances.tail_target;
	}
	if (err && first)
		e->arena = NULL;
	return err;
}
