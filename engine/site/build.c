// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * build: lay out and begin an engine's tables, before a byte of the target's text changes.
 *
 * The tables have room for the sites that there are, and for what is expected behind them.
 */
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
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
#include "engine/site/stream.h"
#include "engine/site/view.h"
#include "engine/site/instances.h"
#include "engine/text/state.h"
#include "port.h"

/* The counters of very many probes are spread over fewer shards. */
#define COUNTERS_MAX (64ull << 20)
#define POOL_LEAST (64ull << 10)

static void choose_shards(struct dp_engine *e, u32 shards)
{
	u64 counters = dp_tables_counters(e);

	e->shards = shards > DP_MAX_SHARDS ? DP_MAX_SHARDS : shards;
	while (e->shards > 1 &&
	       e->shards * counters * sizeof(u64) > COUNTERS_MAX)
		e->shards /= 2;
}

struct dp_layout_need *dp_engine_layout(struct dp_engine *e, u32 shards)
{
	struct dp_layout_need *need = &e->need;
	struct dp_arena_control *control = &e->scratch->control;

	/* The last entry is nobody's: see dp_hash_leave(). */
	if (!e->max_sites)
		e->max_sites = e->nr_sites + e->expected.sites + 1;
	e->max_probes = e->own ? e->max_sites :
				 e->nr_probes + e->expected.probes;
	e->nr_caught = e->signal_free || e->uncaught ? 0 : DP_CAUGHT;
	choose_shards(e, shards);
	dp_aggregates_place(e, e->shards);
	need->arena_size = dp_tables_lay_out(e, control);
	need->own_off = control->own_off;
	need->private_off = control->private_off;
	need->tables_off = control->tables_off;
	need->stream_off = control->stream_off;
	need->stream_stride = control->stream_stride;
	need->nr_streams =
		control->max_programs && control->stream_mask ? e->shards : 0;
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

/* Source: linux/rseq.h. */
static void describe(u64 to[4], const struct dp_agent_sequence *q)
{
	to[0] = 0; /* version, flags */
	to[1] = q->first;
	to[2] = q->committed - q->first;
	to[3] = q->abort;
}

/* Descriptors of the agent's sequences that count calls */
static void describe_counts(struct dp_arena_control *c,
			    const struct dp_agent_sequence *q)
{
	int i;

	for (i = 0; i < DP_CALL_SEQUENCES; i++)
		describe(c->call_sequences[i], &q[i]);
}

static void lay_out(struct dp_engine *e, const struct dp_mapping *map)
{
	struct dp_arena_control *c = &e->arena->control;

	dp_tables_lay_out(e, c);
	dp_programs_forget_places(e);
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
	c->own_process = e->own;
	c->nr_jumps = 1;
	c->watch_number = e->watch_number;
	c->linker_state = e->linker_state;
	c->blocks = c->base + DP_ARENA_OFFSET + c->block_off;
	c->calls = c->base + DP_ARENA_OFFSET + c->call_off;
	c->timed_calls = c->calls + c->max_sites * sizeof(struct dp_call_entry);
	c->streams = c->base + DP_ARENA_OFFSET + c->stream_off;
	c->block_bits = c->block_mask * sizeof(struct dp_block);
	e->aggregated_off = c->aggregated_off;
	dp_aggregates_fill(e);
	dp_backtraces_fill(e, c->backtraced_off, c->backtrace_off);
	describe_counts(c, map->entries.counts);
	describe(c->keep_sequence, &map->entries.keeps);
}

static void zero_words(u64 *v, u32 n)
{
	while (n)
		v[--n] = 0;
}

static void fill_program(struct dp_engine *e, struct dp_program *p,
			 struct dp_program_entry *entry)
{
	const struct dp_arena_control *c = &e->arena->control;

	p->lv_off = p->spec.shares ? e->programs[p->spec.shares - 1].lv_off :
				     c->gv_off + (c->nr_gv + p->lv_at) * 8;
	entry->code_off = c->code_off + p->code_at;
	entry->code_len = p->spec.code_len;
	entry->lv_off = p->lv_off;
	entry->nr_lv = p->spec.nr_lv;
	entry->jmpmax = p->spec.jmpmax;
	entry->logmax = p->spec.logmax;
	entry->tracemax = p->spec.tracemax;
	entry->auto_trace = p->spec.auto_trace;
	entry->stack_mask = p->spec.stack - 1;
	entry->nr_gv = p->spec.nr_gv;
	entry->shares = p->spec.shares;
	/* Its room may have been another's. */
	if (!p->spec.shares)
		zero_words((u64 *)((char *)e->arena + p->lv_off),
			   dp_program_locals(&p->spec));
	copy_bytes((u8 *)entry->name, (const u8 *)p->name, DP_PROGRAM_NAME);
	copy_bytes((u8 *)e->arena + entry->code_off, p->code, p->spec.code_len);
	p->filled = true;
}

void dp_programs_fill(struct dp_engine *e)
{
	struct dp_arena_control *c = &e->arena->control;
	struct dp_program_entry *entries =
		(void *)((char *)e->arena + c->program_off);
	u32 i;

	for (i = 0; i < e->nr_programs; i++)
		if (e->programs[i].placed && !e->programs[i].filled)
			fill_program(e, &e->programs[i], &entries[i]);
	e->view.nr_programs = e->nr_programs;
	__atomic_store_n(&c->nr_programs, e->nr_programs, __ATOMIC_RELEASE);
	c->tail_target = e->instances.tail_target;
	name_pending(e, c);
}

void dp_reader_open(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;

	dp_port_free(e->reader.shapes);
	e->reader = (struct dp_reader){ .ring_off = c->ring_off,
					.ring_stride = c->ring_stride,
					.slot_size = c->slot_size,
					.slot_mask = c->slot_mask,
					.rings = e->shards };
	dp_stream_open(e);
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

int dp_upcalls_find(struct dp_engine *e, u64 size)
{
	const struct dp_arena_control *c = &e->arena->control;
	u64 off = c->upcall_off, n = c->nr_upcalls;

	if (!n)
		return 0;
	if (off < sizeof(struct dp_arena) || off % sizeof(u64) ||
	    off + sizeof(struct dp_upcalls) + n * sizeof(struct dp_upcall) >
		    size)
		return -EBADMSG;
	e->upcalls = (void *)((char *)e->arena + off);
	e->nr_upcalls = (u32)n;
	return 0;
}

/* The tables are empty, and checked as those of a stranger are. */
int dp_engine_build(struct dp_engine *e, const struct dp_mapping *map,
		    const struct dp_growth_ops *ops, void *arg)
{
	struct dp_live_setup setup = { .ops = ops,
				       .arg = arg,
				       .entries = map->entries,
				       .size = e->need.arena_size,
				       .least_pool = e->nr_upcalls ?
							     DP_LIVE_POOL :
							     POOL_LEAST,
				       .max_sites = e->max_sites };
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
	if (!err)
		err = dp_upcalls_find(e, e->need.arena_size);
	if (!err)
		err = dp_room_begin(e, &setup);
	if (err)
		e->arena = NULL;
	return err;
}
