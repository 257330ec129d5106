// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * plan: the copies and tables of an engine, computed before a byte of the
 * target's text changes.
 */
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/detour.h"
#include "engine/insn/faults.h"
#include "engine/insn/insn.h"
#include "engine/site/visits.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/ring.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/site.h"
#include "engine/text/state.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"
#include "port.h"

/* Where the next copy goes in a pool. */
struct cursor {
	u8 *file;
	u64 addr, size;
	u32 used;
};

static void copy_bytes(u8 *to, const u8 *from, size_t n)
{
	while (n--)
		*to++ = *from++;
}

static int make_copy(const struct dp_site *s, struct dp_site_entry *entry,
		     u8 *out)
{
	struct dp_copy copy;
	const char *why;
	int err;

	err = dp_insn_relocate(s->code, &s->facts, s->addr, entry->copy, &copy,
			       &why);
	if (err)
		return err;
	copy_bytes(out, copy.code, copy.len);
	entry->copy_len = copy.len;
	entry->body_len = copy.body_len;
	entry->atomic = copy.atomic;
	return 0;
}

/* The copy again, with a breakpoint between the instruction and the jump on. */
/* The phrases are few, and stand in the arena once each. */
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

int dp_entry_post(const struct dp_site *s, struct dp_site_entry *entry, u8 *out)
{
	struct dp_copy copy;
	int err = dp_insn_relocate(s->code, &s->facts, s->addr, entry->post,
				   &copy, NULL);

	if (err)
		return err;
	copy_bytes(out, copy.code, copy.body_len);
	out[copy.body_len] = DP_BREAKPOINT;
	entry->post_body = copy.body_len;
	entry->post_len = copy.body_len + 1;
	entry->post_len += (u8)dp_emit_jmp(out + entry->post_len,
					   entry->post + entry->post_len,
					   s->addr + s->facts.len);
	return entry->post_len > copy.body_len + 1 ? 0 : -ENOMEM;
}

/* Only what falls through, and does so as one instruction, comes back. */
bool dp_site_needs_post(const struct dp_site *s)
{
	u8 f = s->facts.faults;

	return s->records && s->facts.class == DP_INSN_PLAIN &&
	       (f == DP_FAULTS_OTHER || f == DP_FAULTS_PUSH ||
		f == DP_FAULTS_POP);
}

/* A jump straight to the detour, or to its landing and on from there. */
static int make_jump(const struct dp_engine *e, const struct dp_mapping *map,
		     const struct dp_site *s, struct dp_site_entry *entry)
{
	u64 detour = entry->jump.base + entry->jump.start;
	u64 to = s->landing ? s->landing : detour;
	u32 i;

	entry->patch_len = (u8)dp_emit_jmp(entry->patch, s->addr, to);
	for (i = 0; s->landing && i < e->need.nr_pools; i++) {
		const struct dp_pool_need *p = &e->need.pools[i];

		if (s->landing - p->addr < p->size &&
		    !dp_emit_jmp((u8 *)map->file + p->file_offset +
					 (s->landing - p->addr),
				 s->landing, detour))
			return -ENOMEM;
	}
	return entry->patch_len ? 0 : -ENOMEM;
}

static void note_faults(const struct dp_site *s, struct dp_site_entry *entry)
{
	entry->faults = s->facts.faults;
	dp_insn_operand(&s->facts, s->addr, &entry->operand);
}

static int plan_trap(const struct dp_site *s, struct dp_site_entry *entry,
		     struct cursor *cur)
{
	int err;

	entry->copy = cur->addr + cur->used;
	err = make_copy(s, entry, cur->file + cur->used);
	cur->used += entry->copy_len;
	if (!err && dp_site_needs_post(s)) {
		entry->post = cur->addr + cur->used;
		err = dp_entry_post(s, entry, cur->file + cur->used);
		cur->used += entry->post_len;
	}
	entry->mode = DP_MODE_TRAP;
	entry->patch[0] = DP_BREAKPOINT;
	entry->patch_len = 1;
	return err;
}

/* The @i-th site in order; one that another's jump covers has been planned with
 * that. */
static int plan_jump(struct dp_engine *e, u32 i, struct dp_site_entry *entry,
		     const struct dp_mapping *map, struct cursor *cur)
{
	const struct dp_site *s = dp_order_site(e, i);
	u32 used = (cur->used + DP_DETOUR_ALIGN - 1) &
		   ~(u32)(DP_DETOUR_ALIGN - 1);
	int err;

	entry->mode = DP_MODE_JUMP;
	if (s->leader)
		return 0;
	if (s->hook >= 0) {
		entry->hook = s->watched ? DP_HOOK_WATCHED : DP_HOOK_MADE;
		entry->number = (u32)s->hook;
	}
	err = dp_jump_plan(e, i, entry, cur->addr + used, cur->file + used,
			   e->need.pools[s->pool].addr, map->hook_entry);
	cur->used = used + entry->jump.len;
	return err ? err : make_jump(e, map, s, entry);
}

void dp_entry_begin(const struct dp_site *s, struct dp_site_entry *entry)
{
	entry->addr = s->addr;
	entry->insn_len = s->facts.len;
	entry->class = s->facts.class;
	entry->cc = s->facts.cc;
	entry->target = s->addr + s->facts.len + (u64)s->facts.target;
	copy_bytes(entry->orig, s->code, sizeof(entry->orig));
	note_faults(s, entry);
}

static int plan_site(struct dp_engine *e, u32 i, struct dp_site_entry *entry,
		     const struct dp_mapping *map, struct cursor *cursors)
{
	const struct dp_site *s = dp_order_site(e, i);
	struct cursor *cur = &cursors[s->pool];

	if (cur->used + 2 * DP_COPY_MAX + DP_DETOUR_ALIGN + DP_DETOUR_MAX >
	    cur->size)
		return -ENOMEM;
	dp_entry_begin(s, entry);
	entry->wanted = DP_WANT_PLAN;
	dp_site_set_state(entry, s->gone ? DP_SITE_GONE : DP_SITE_OFF);
	entry->first_probe = s->first_probe;
	if (s->mode == DP_MODE_JUMP)
		return plan_jump(e, i, entry, map, cur);
	return plan_trap(s, entry, cur);
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
	c->silent = e->silent;
	c->forbidden = e->silent ? ~0u : map->forbidden;
	c->nr_pools = e->need.nr_pools;
	c->nr_caught = e->nr_caught;
	c->counts_alone = e->rseq_usable;
	c->rseq_offset = e->rseq.offset;
	c->rseq_signature = e->rseq.signature;
	c->resident = e->max_sites != 0;
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

/* The breakpoints in the middle of its jump. */
void dp_hash_traps(const struct dp_engine *e, const struct dp_site_entry *entry,
		   u32 i)
{
	int b;

	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (entry->jump.traps >> b & 1)
			dp_hash_enter(e, entry->addr + (u64)b, i);
}

static void open_pools(struct dp_engine *e, const struct dp_mapping *map,
		       struct cursor *cursors)
{
	u32 i;

	for (i = 0; i < e->need.nr_pools; i++) {
		const struct dp_pool_need *p = &e->need.pools[i];

		cursors[i].file = (u8 *)map->file + p->file_offset;
		cursors[i].addr = p->addr;
		cursors[i].size = p->size;
		cursors[i].used = DP_ENTRY_STUB;
		/* Pages of landings have none: they come after the pools. */
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
	struct cursor *cursors = dp_port_alloc(DP_MAX_POOLS * sizeof(*cursors));
	int err = cursors ? 0 : -ENOMEM;
	u32 i;

	if (!err)
		open_pools(e, map, cursors);
	for (i = 0; !err && i < e->nr_sites; i++) {
		err = plan_site(e, i, &entries[i], map, cursors);
		dp_entry_why(e->arena, &entries[i],
			     entries[i].mode == DP_MODE_TRAP ?
				     dp_order_site(e, i)->why :
				     NULL);
		rank[e->order[i]] = i;
	}
	/* A breakpoint inside a jump may be a site of its own, which is found
	 * first because it is entered first. */
	for (i = 0; !err && i < e->nr_sites; i++)
		enter_site(e, &entries[i], i);
	for (i = 0; !err && i < e->nr_sites; i++)
		dp_hash_traps(e, &entries[i], i);
	dp_port_free(cursors);
	return err;
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
		dp_visits_open(e);
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
