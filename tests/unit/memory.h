/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* memory: what a process gives an engine for its code, in memory of the test. */
#ifndef DP_TEST_MEMORY_H
#define DP_TEST_MEMORY_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/text/strategy.h"
#include "port.h"

#define MEMORY_HOLES 8

/**
 * struct memory - unmapped ranges of a process, and what has been mapped there
 * @hole: what was unmapped in the beginning
 * @pool: what the engine has mapped since, with its contents
 * @map_err, @put_err: what the next calls say, if not 0
 * @engine, @target: for jumps that are written while no thread runs
 * @held: told when all threads stop, and when they run again; NULL: nobody minds
 */
struct memory {
	struct dp_hole hole[MEMORY_HOLES];
	u32 nr_holes;
	struct {
		u64 addr, size;
		u8 *code;
	} pool[DP_MAX_POOLS];
	u32 nr_pools;
	int map_err, put_err;
	u32 stops; /* how often all threads were stopped */
	struct dp_engine *engine;
	struct dp_target *target;
	void (*held)(struct dp_target *target, bool held);
};

static inline u8 *memory_at(const struct memory *m, u64 addr)
{
	u32 i;

	for (i = 0; i < m->nr_pools; i++)
		if (addr - m->pool[i].addr < m->pool[i].size)
			return m->pool[i].code + (addr - m->pool[i].addr);
	return NULL;
}

static inline int memory_map(void *arg, u64 addr, u64 size)
{
	struct memory *m = arg;

	if (m->map_err)
		return m->map_err;
	m->pool[m->nr_pools].addr = addr;
	m->pool[m->nr_pools].size = size;
	m->pool[m->nr_pools++].code = calloc(1, (size_t)size);
	return 0;
}

static inline int memory_put(void *arg, u64 addr, const void *code, size_t len)
{
	const struct memory *m = arg;
	size_t i;

	if (m->put_err)
		return m->put_err;
	for (i = 0; i < len; i++)
		*memory_at(m, addr + i) = ((const u8 *)code)[i];
	return 0;
}

static inline int memory_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	const struct memory *m = arg;
	u32 i;

	*holes = dp_port_alloc((3 * DP_MAX_POOLS + MEMORY_HOLES) *
			       sizeof(**holes));
	if (!*holes)
		return -ENOMEM;
	memcpy(*holes, m->hole, m->nr_holes * sizeof(**holes));
	*n = m->nr_holes;
	for (i = 0; i < m->nr_pools; i++)
		*n = dp_holes_carve(*holes, *n, m->pool[i].addr,
				    m->pool[i].size);
	return 0;
}

static inline int memory_stopped(void *arg, const u32 *which, u32 n, bool in)
{
	struct memory *m = arg;
	const struct dp_view *v = &m->engine->view;
	const struct dp_sites sites = { .v = v->sites,
					.jumps = v->jumps,
					.nr_jumps = v->nr_jumps,
					.total = v->nr_sites,
					.which = which,
					.n = n };
	int err;

	m->stops++;
	if (m->held)
		m->held(m->target, true);
	err = in ? dp_strategy_quiesce.arm(m->target, &sites, NULL) :
		   dp_engine_restore(m->engine, m->target, which, n);
	if (m->held)
		m->held(m->target, false);
	return err;
}

static inline int memory_hold(void *arg, bool unowned, int (*work)(void *what),
			      void *what)
{
	return work(what);
}

static const struct dp_growth_ops memory_ops = { memory_map,   memory_put,
						 memory_holes, memory_stopped,
						 memory_hold,  NULL,
						 false };

/** memory_copy() - what the memory of a process is for its child, until one of them maps more */
static inline void memory_copy(struct memory *to, const struct memory *from)
{
	u32 i;

	*to = *from;
	for (i = 0; i < from->nr_pools; i++) {
		to->pool[i].code = malloc((size_t)from->pool[i].size);
		memcpy(to->pool[i].code, from->pool[i].code,
		       (size_t)from->pool[i].size);
	}
}

/** memory_unmap() - all but the first @n pools were never mapped */
static inline void memory_unmap(struct memory *m, u32 n)
{
	while (m->nr_pools > n)
		free(m->pool[--m->nr_pools].code);
}

static inline void memory_free(struct memory *m)
{
	memory_unmap(m, 0);
}

/** memory_build() - begin an engine's tables in @*file, which the caller frees, and plan */
static inline int memory_build(struct memory *m, struct dp_engine *e,
			       struct dp_target *target, struct dp_mapping *map,
			       void **file)
{
	const struct dp_layout_need *need = dp_engine_layout(e, 2);
	int err;

	m->engine = e;
	m->target = target;
	*file = map->file = calloc(1, DP_FILE_ARENA_OFFSET + need->arena_size);
	err = dp_engine_build(e, map, &memory_ops, m);
	return err ? err : dp_engine_plan(e);
}

#endif
