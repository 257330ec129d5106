// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inherit: an engine that takes the place of another, with more probes.
 *
 * The first probes and programs have the same numbers in both, so the hit half's counts
 * are copied from one table to the other.
 */
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/site/engine.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"

static void move(void *to, const void *from, u64 bytes)
{
	const u8 *in = from;
	u8 *out = to;

	while (bytes--)
		*out++ = *in++;
}

/* Hidden probes come behind all others, are not counted, and may differ between the two
 * engines. */
static bool is_hidden(const struct dp_probe *p)
{
	return p->kind == DP_KIND_LINKER || p->kind == DP_KIND_UNWIND ||
	       (p->kind == DP_KIND_EXIT && p->group == DP_NO_GROUP);
}

static u32 common(const struct dp_engine *of)
{
	u32 n = of->nr_probes;

	while (n && is_hidden(&of->probes[n - 1]))
		n--;
	return n;
}

/* Add up all shards into one of the shards that are counted under a lock. */
static void move_counters(struct dp_engine *e, const struct dp_engine *of)
{
	u64 *hits = (void *)(e->view.counters +
			     e->view.nr_shards / 2 * e->view.shard_stride);
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
		move((char *)e->arena + e->programs[i].lv_off,
		     (char *)of->arena + of->programs[i].lv_off,
		     of->programs[i].spec.nr_lv * sizeof(u64));
}

void dp_engine_inherit(struct dp_engine *e, const struct dp_engine *of)
{
	struct dp_arena_hit *to = &e->arena->hit;
	const struct dp_arena_hit *from = &of->arena->hit;

	move_counters(e, of);
	move_variables(e, of);
	dp_instances_carry(e, of);
	e->reader.torn = of->reader.torn;
	move(to->missed, from->missed, sizeof(to->missed));
	to->interior_arrivals = from->interior_arrivals;
	to->foreign = from->foreign;
	to->linker_late = from->linker_late;
}
