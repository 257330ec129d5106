// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tables: where each table is in the arena.
 *
 * Parts written by the hit half come first, then parts written by control; each part
 * begins with a page. Contexts and rings exist only where a probe runs a program, the
 * table of instances only where a probe begins them; or where such a probe may come.
 */
#include "engine/insn/bits.h"
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/handler.h"
#include "engine/layout/ring.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"
#include "engine/site/build.h"
#include "engine/site/program.h"
#include "engine/site/internal.h"

#define LINE 64
#define OWN_RINGS (4u << 20)
#define OWN_RING_LEAST (64u << 10)
#define CODE_EXPECTED 128 /* bytes of a program that comes */

static u32 take(u64 *offset, u64 bytes, u64 align)
{
	u64 at = (*offset + align - 1) & ~(align - 1);

	*offset = at + bytes;
	return (u32)at;
}

static bool tracks(const struct dp_engine *e)
{
	return e->instances.entries || e->expected.calls;
}

static u32 of_calls(const struct dp_engine *e)
{
	return e->max_sites + (tracks(e) ? e->max_probes : 0);
}

static bool runs(const struct dp_engine *e)
{
	return e->nr_programs || e->expected.programs;
}

u32 dp_tables_counters(const struct dp_engine *e)
{
	return of_calls(e) + (runs(e) ? e->max_sites : 0);
}

static u32 round_up(u32 n, u32 to)
{
	return (n + to - 1) & ~(to - 1);
}

static u32 longest_record(const struct dp_engine *e)
{
	struct dp_program_rooms most = dp_programs_rooms(e);

	return most.log + most.traces +
	       (tracks(e) ? (u32)sizeof(struct dp_leaving) : 0);
}

static void lay_out_instances(const struct dp_engine *e,
			      struct dp_arena_control *c, u64 *offset)
{
	u32 lines, blocks, stride;

	if (!tracks(e))
		return;
	dp_instances_measure(e, &lines, &blocks, &stride);
	c->line_mask = lines - 1;
	c->line_off =
		take(offset, lines * sizeof(struct dp_instance_line), LINE);
	c->instance_stride = stride;
	c->instance_off =
		take(offset, (u64)lines * DP_INSTANCE_WAYS * stride, LINE);
}

static void lay_out_blocks(const struct dp_engine *e,
			   struct dp_arena_control *c, u64 *offset)
{
	u32 lines, blocks, stride;

	c->block_mask = 0;
	if (!tracks(e))
		return;
	dp_instances_measure(e, &lines, &blocks, &stride);
	if (!blocks)
		return;
	c->block_mask = blocks - 1;
	c->instance_words = stride / (u32)sizeof(u64);
	c->block_off = take(offset, blocks * sizeof(struct dp_block), LINE);
	c->blocks_off =
		take(offset, (u64)blocks * DP_BLOCK_WORDS * stride, DP_PAGE);
}

/* Of each CPU */
static u32 ring_bytes(const struct dp_engine *e)
{
	u32 bytes = (e->own ? OWN_RINGS : DP_RING_BYTES) / e->shards;
	u32 least = e->own ? OWN_RING_LEAST : DP_RING_LEAST;

	if (bytes < least)
		bytes = least;
	if (e->ring_bytes)
		bytes = e->ring_bytes;
	if (bytes > DP_RINGS_MOST / e->shards)
		bytes = DP_RINGS_MOST / e->shards;
	return bytes;
}

/* As much for threads that have restartable sequences as for those that have none: one kind will be
 * hardly touched. Which one is not known yet. */
static void lay_out_streams(const struct dp_engine *e,
			    struct dp_arena_control *c, u64 *offset, u32 bytes)
{
	u32 size = DP_STREAM_LEAST;

	c->stream_mask = 0;
	if (e->own || !e->tid_offset)
		return;
	while (size * 2 <= bytes)
		size *= 2;
	c->stream_mask = size - 1;
	c->stream_stride =
		(u32)sizeof(struct dp_stream) + size + DP_STREAM_MARGIN;
	c->stream_off = take(offset, (u64)e->shards * c->stream_stride, LINE);
}

static void lay_out_rings(const struct dp_engine *e, struct dp_arena_control *c,
			  u64 *offset)
{
	u32 slot = (u32)sizeof(struct dp_slot) + longest_record(e), slots = 2;
	u32 bytes = ring_bytes(e);

	lay_out_streams(e, c, offset, bytes);
	c->slot_size = (slot + LINE - 1) & ~(u32)(LINE - 1);
	while (slots * c->slot_size < bytes)
		slots *= 2;
	c->slot_mask = slots - 1;
	c->ring_stride = (u32)sizeof(struct dp_ring) + slots * c->slot_size;
	c->ring_off = take(offset, (u64)e->shards * c->ring_stride, LINE);
	c->block = e->block;
	c->core_holds = e->holds;
}

static void lay_out_upcalls(const struct dp_engine *e,
			    struct dp_arena_control *c, u64 *offset)
{
	c->nr_upcalls = e->nr_upcalls;
	if (e->nr_upcalls)
		c->upcall_off =
			take(offset,
			     sizeof(struct dp_upcalls) +
				     e->nr_upcalls * sizeof(struct dp_upcall),
			     LINE);
}

static void count_programs(const struct dp_engine *e,
			   struct dp_arena_control *c)
{
	u32 n = e->expected.programs, i;

	c->max_programs = e->nr_programs + n;
	c->max_code = n * CODE_EXPECTED + e->expected.code;
	c->max_locals = n + e->expected.locals;
	c->nr_gv = n ? DP_VARS_MAX : dp_engine_globals(e);
	for (i = 0; i < e->nr_programs; i++) {
		c->max_code += e->programs[i].spec.code_len;
		c->max_locals += dp_program_locals(&e->programs[i].spec);
	}
}

/* Begin a part that is mapped apart from the one before it. */
static u32 begin_part(u64 *offset)
{
	*offset = (*offset + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);
	return (u32)*offset;
}

/* Shards are whole cache lines apart, whatever the number of counters. */
static void lay_out_counters(const struct dp_engine *e,
			     struct dp_arena_control *c, u64 *offset)
{
	u32 counters = dp_tables_counters(e);

	c->state_off =
		take(offset, c->max_probes * sizeof(struct dp_probe_state), 8);
	c->probe_counters = c->max_sites;
	c->met_counters = runs(e) ? of_calls(e) : 0;
	c->shard_stride = (counters * 8 + LINE - 1) & ~(u32)(LINE - 1);
	c->shard_mask = e->shards - 1;
	c->counter_off =
		take(offset, 2 * (u64)e->shards * c->shard_stride, LINE);
}

/* Fork children have this part: nothing in it is an address or an index that the hit half
 * follows unchecked. */
static void lay_out_hit(const struct dp_engine *e, struct dp_arena_control *c,
			u64 *offset)
{
	lay_out_counters(e, c, offset);
	if (e->own && !e->nr_upcalls)
		c->owner_off = take(offset, DP_STACKS * sizeof(u32), LINE);
	if (c->max_programs) {
		/* In a process that probes itself, a tool may map other memory from
		 * here up to the private part. */
		if (e->own)
			begin_part(offset);
		lay_out_rings(e, c, offset);
	}
	lay_out_instances(e, c, offset);
}

/* No fork child has this part: programs derive addresses from variables, a line of the directory
 * of blocks has one, and a thread takes registers from an upcall's answer. */
static void lay_out_own(const struct dp_engine *e, struct dp_arena_control *c,
			u64 *offset)
{
	c->own_off = begin_part(offset);
	c->gv_off =
		take(offset, (c->nr_gv + c->max_locals) * sizeof(u64), LINE);
	if (c->max_programs)
		c->globals_off =
			take(offset, sizeof(struct dp_vm_globals), LINE);
	c->aggregated_off = take(offset, e->aggregate_bytes, LINE);
	c->backtraced_off = take(offset, dp_backtraces_bytes(e), LINE);
	lay_out_upcalls(e, c, offset);
	lay_out_blocks(e, c, offset);
}

/* Only what a hit uses of it takes memory. */
static void lay_out_rooms(const struct dp_engine *e, struct dp_arena_control *c,
			  u64 *offset)
{
	struct dp_program_rooms most = dp_programs_rooms(e);

	c->log_room = round_up(most.log + sizeof(struct dp_program_ending), 8);
	c->trace_room = round_up(most.traces, 8);
	c->heap_room = round_up(most.heap, 8);
	c->room_stride =
		round_up(c->log_room + c->trace_room + c->heap_room, LINE);
	c->room_off = take(offset, (u64)c->nr_contexts * c->room_stride, LINE);
}

static void lay_out_private(const struct dp_engine *e,
			    struct dp_arena_control *c, u64 *offset)
{
	c->private_off = begin_part(offset);
	c->nr_contexts = c->max_programs ? DP_CONTEXTS : 0;
	c->context_off =
		take(offset, c->nr_contexts * sizeof(struct dp_context), LINE);
	lay_out_rooms(e, c, offset);
}

static void lay_out_tables(const struct dp_engine *e,
			   struct dp_arena_control *c, u64 *offset)
{
	u32 slots = dp_bits_power((e->own ? 6 : 10) * c->max_sites + 2, 2);

	c->tables_off = begin_part(offset);
	c->site_off =
		take(offset, c->max_sites * sizeof(struct dp_site_entry), 8);
	c->jump_off = take(offset, c->max_jumps * sizeof(struct dp_jump), 8);
	c->probe_off =
		take(offset, c->max_probes * sizeof(struct dp_probe_entry), 8);
	c->hash_off = take(offset, slots * sizeof(u32), 8);
	c->hash_mask = slots - 1;
	c->program_off = take(
		offset, c->max_programs * sizeof(struct dp_program_entry), 8);
	c->code_off = take(offset, c->max_code, 8);
	c->nr_aggregates = e->nr_aggregates;
	c->aggregate_off = take(offset,
				(e->nr_aggregates + e->expected.tables) *
					sizeof(struct dp_aggregate_entry),
				8);
	c->call_off = take(offset,
			   tracks(e) ? 2 * (u64)c->max_sites *
					       sizeof(struct dp_call_entry) :
				       0,
			   8);
	/* 0: hits walk no stacks */
	c->backtrace_off = dp_backtraces_tables(e) ?
				   take(offset, dp_backtraces_tables(e), LINE) :
				   0;
}

u64 dp_tables_lay_out(const struct dp_engine *e, struct dp_arena_control *c)
{
	u64 offset = sizeof(struct dp_arena);

	c->max_sites = e->max_sites;
	/* A site may need another jump later. */
	c->max_jumps = c->max_sites + 1 + c->max_sites / 2;
	c->max_probes = e->max_probes;
	count_programs(e, c);
	lay_out_hit(e, c, &offset);
	lay_out_own(e, c, &offset);
	lay_out_private(e, c, &offset);
	lay_out_tables(e, c, &offset);
	return begin_part(&offset);
}
