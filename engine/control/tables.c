// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tables: what stands where in the arena.
 *
 * Contexts and rings are there only where a probe runs a program, the table of
 * visits where one begins them.
 */
#include "engine/control/internal.h"

#define LINE 64

static u32 take(u64 *offset, u64 bytes, u64 align)
{
	u64 at = (*offset + align - 1) & ~(align - 1);

	*offset = at + bytes;
	return (u32)at;
}

static u32 power_above(u32 n)
{
	u32 p = 2;

	while (p < n)
		p *= 2;
	return p;
}

static u32 longest_record(const struct dp_engine *e)
{
	return dp_programs_longest(e) +
	       (e->visits.entries ? (u32)sizeof(struct dp_leaving) : 0);
}

static void lay_out_visits(const struct dp_engine *e,
			   struct dp_arena_control *c, u64 *offset)
{
	u32 lines, stride;

	if (!e->visits.entries)
		return;
	dp_visits_measure(e, &lines, &stride);
	c->line_mask = lines - 1;
	c->line_off = take(offset, lines * sizeof(struct dp_visit_line), LINE);
	c->visit_stride = stride;
	c->visit_off = take(offset, (u64)lines * DP_VISIT_WAYS * stride, LINE);
}

static void lay_out_rings(const struct dp_engine *e, struct dp_arena_control *c,
			  u64 *offset)
{
	u32 slot = (u32)sizeof(struct dp_slot) + longest_record(e), slots = 2;
	u32 bytes = DP_RING_BYTES / e->shards;

	c->slot_size = (slot + LINE - 1) & ~(u32)(LINE - 1);
	if (bytes < DP_RING_LEAST)
		bytes = DP_RING_LEAST;
	while (slots * c->slot_size < bytes)
		slots *= 2;
	c->slot_mask = slots - 1;
	c->ring_stride = (u32)sizeof(struct dp_ring) + slots * c->slot_size;
	c->ring_off = take(offset, (u64)e->shards * c->ring_stride, LINE);
}

static void lay_out_asks(const struct dp_engine *e, struct dp_arena_control *c,
			 u64 *offset)
{
	c->nr_asks = e->nr_asks;
	if (e->nr_asks)
		c->ask_off = take(offset,
				  sizeof(struct dp_asks) +
					  e->nr_asks * sizeof(struct dp_ask),
				  LINE);
}

static u64 code_size(const struct dp_engine *e)
{
	u64 size = 0;
	u32 i;

	for (i = 0; i < e->nr_programs; i++)
		size += e->programs[i].spec.code_len;
	return size;
}

static u64 locals(const struct dp_engine *e)
{
	u64 n = 0;
	u32 i;

	for (i = 0; i < e->nr_programs; i++)
		n += e->programs[i].spec.nr_lv;
	return n;
}

/* Programs themselves: entries, variables, then the code of all of them. */
static void lay_out_programs(const struct dp_engine *e,
			     struct dp_arena_control *c, u64 *offset)
{
	c->nr_programs = e->nr_programs;
	c->program_off = take(
		offset, e->nr_programs * sizeof(struct dp_program_entry), 8);
	c->nr_gv = dp_engine_globals(e);
	c->gv_off = take(offset, (c->nr_gv + locals(e)) * sizeof(u64), LINE);
	c->code_off = take(offset, code_size(e), 8);
	c->nr_contexts = e->nr_programs ? DP_CONTEXTS : 0;
	c->context_off =
		take(offset, c->nr_contexts * sizeof(struct dp_context), LINE);
	if (e->nr_programs)
		lay_out_rings(e, c, offset);
}

u64 dp_tables_lay_out(const struct dp_engine *e, struct dp_arena_control *c)
{
	u32 sites = e->max_sites ? e->max_sites : e->nr_sites;
	u32 probes = e->max_sites ? e->max_sites : e->nr_probes;
	u32 slots = power_above((e->max_sites ? 6 : 10) * sites + 2);
	u64 offset = sizeof(struct dp_arena);

	c->max_sites = sites;
	c->max_probes = probes;
	c->site_off = take(&offset, sites * sizeof(struct dp_site_entry), 8);
	c->probe_off = take(&offset, probes * sizeof(struct dp_probe_entry), 8);
	c->state_off = take(&offset, probes * sizeof(struct dp_probe_state), 8);
	c->hash_off = take(&offset, slots * sizeof(u32), 8);
	c->hash_mask = slots - 1;
	/* Shards a cache line apart, whatever the number of probes. */
	c->shard_stride = (probes * 8 + LINE - 1) & ~(u32)(LINE - 1);
	c->shard_mask = e->shards - 1;
	c->counter_off =
		take(&offset, 2 * (u64)e->shards * c->shard_stride, LINE);
	/* A resident one says as it grows. */
	c->nr_probes = e->max_sites ? 0 : probes;
	if (e->max_sites && !e->nr_asks)
		c->owner_off = take(&offset, DP_STACKS * sizeof(u32), LINE);
	lay_out_asks(e, c, &offset);
	lay_out_programs(e, c, &offset);
	lay_out_visits(e, c, &offset);
	return (offset + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);
}
