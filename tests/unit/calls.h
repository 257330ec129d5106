/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* calls: calls that are in progress, as the hit half leaves them in the first table. */
#ifndef DP_TEST_CALLS_H
#define DP_TEST_CALLS_H

#include "engine/layout/instance.h"
#include "engine/site/instances.h"
#include "armed.h"

#define SLOT 0x7ffff7a00ull

static inline u32 add_call(struct world *w, u32 offset)
{
	u32 probe;

	assert_int_equal(add(w, offset, &probe), 0);
	assert_int_equal(dp_engine_track(w->e, probe, false), 0);
	return probe;
}

/* A line of the first table; @by: so far from where the slot's keys belong */
static inline struct dp_instance_line *line_of(const struct world *w, u64 slot,
					       u32 by)
{
	u32 mask = w->e->instances.table[0].lines - 1;

	return &w->e->instances.table[0]
			.line[(dp_instance_hash(slot >> 3) + by) & mask];
}

static inline struct dp_exit_instance *
instance_in(const struct world *w, const struct dp_instance_line *line, u32 way)
{
	const struct dp_exit_instances *v = &w->e->instances;

	return (void *)(v->table[0].instances +
			((line - v->table[0].line) * DP_INSTANCE_WAYS + way) *
				v->instance_stride);
}

/* An instance as the hit half leaves it, and what it has logged. */
static inline struct dp_exit_instance *put(const struct world *w, u32 probe,
					   u64 slot, u32 by, u32 way)
{
	struct dp_instance_line *line = line_of(w, slot, by);
	struct dp_exit_instance *v = instance_in(w, line, way);

	line->key[way] = dp_instance_key(probe, slot);
	line_of(w, slot, 0)->displaced += by != 0;
	*v = (struct dp_exit_instance){ .group = probe + 1,
					.state = DP_INSTANCE_LIVE,
					.len = 3,
					.ret = 77,
					.ticks = 8,
					.serial = 5,
					.tid = 99 };
	memcpy(v + 1, "log", 3);
	return v;
}

/* The calls in progress, as control sees them. */
static struct dp_instance_copy found[8];
static u32 nr_found;

static inline void find(void *arg, const struct dp_instance_copy *v)
{
	assert_true(nr_found < 8);
	found[nr_found++] = *v;
}

static inline u32 in_progress(const struct world *w)
{
	nr_found = 0;
	return (u32)dp_engine_instances(w->e, find, NULL);
}

#endif
