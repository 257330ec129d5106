// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inherit: an engine that takes the place of another, with more probes.
 *
 * The first probes and programs have the same numbers in both, so what the hit half
 * has counted goes from one table to the other.
 */
#include "engine/control/internal.h"

static void move(void *to, const void *from, u64 bytes)
{
	const u8 *in = from;
	u8 *out = to;

	while (bytes--)
		*out++ = *in++;
}

/* All but the hidden one, which is the last. */
static u32 common(const struct dp_engine *of)
{
	return of->nr_probes - (of->linker_state != 0);
}

/* Of all shards into one of those that are counted in with a lock. */
static void move_counters(struct dp_engine *e, const struct dp_engine *of)
{
	const struct dp_arena_control *c = &e->arena->control;
	u64 *hits = (void *)((char *)e->arena + c->counter_off +
			     (u64)(c->shard_mask + 1) * c->shard_stride);
	u32 i;

	for (i = 0; i < common(of); i++) {
		hits[i] = dp_view_hits(&of->view, i);
		e->view.states[i] = of->view.states[i];
	}
}

static void move_variables(struct dp_engine *e, const struct dp_engine *of)
{
	u32 i;

	move(e->view.gv, of->view.gv, of->view.nr_gv * sizeof(u64));
	for (i = 0; i < of->nr_programs; i++)
		move((char *)e->arena + e->view.programs[i].lv_off,
		     (char *)of->arena + of->view.programs[i].lv_off,
		     of->view.programs[i].nr_lv * sizeof(u64));
}

/* Calls that are followed. Where records have become longer there is other room, and
 * those are not known any more when they end. */
static void move_visits(struct dp_engine *e, const struct dp_engine *of)
{
	const struct dp_visits *to = &e->visits, *from = &of->visits;

	if (!from->lines || to->lines != from->lines ||
	    to->visit_stride != from->visit_stride)
		return;
	move((char *)e->arena + to->line_off, (char *)of->arena + from->line_off,
	     from->lines * sizeof(struct dp_visit_line));
	move((char *)e->arena + to->visit_off,
	     (char *)of->arena + from->visit_off,
	     (u64)from->lines * DP_VISIT_WAYS * from->visit_stride);
}

void dp_engine_inherit(struct dp_engine *e, const struct dp_engine *of)
{
	struct dp_arena_hit *to = &e->arena->hit;
	const struct dp_arena_hit *from = &of->arena->hit;

	move_counters(e, of);
	move_variables(e, of);
	move_visits(e, of);
	e->reader.torn = of->reader.torn;
	move(to->missed, from->missed, sizeof(to->missed));
	to->strays = from->strays;
	to->foreign = from->foreign;
	to->linker_late = from->linker_late;
}
