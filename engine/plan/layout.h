/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* layout: how much memory the sites of an engine need, and within which reach. */
#ifndef DP_PLAN_LAYOUT_H
#define DP_PLAN_LAYOUT_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/control.h"

struct dp_engine;
struct dp_site;

/* A copy and what it refers to are never farther apart than this: 2 GB less
 * the length of a pool's worst neighbour. */
#define DP_REACH (DP_JUMP_REACH - (64ull << 20))

/** struct dp_pool_need - a pool that has to be placed */
struct dp_pool_need {
	u64 low, high; /* everything it must reach lies in between */
	u64 size; /* bytes, whole pages */
	u64 file_offset; /* of what is mapped there, and in dp_mapping.file */
	u64 addr; /* set by dp_engine_place() or the caller */
};

/** struct dp_layout_need - what has to be mapped */
struct dp_layout_need {
	u64 arena_size; /* bytes, whole pages */
	u64 file_size; /* of each of the files */
	u32 own_off, private_off, tables_off; /* parts: see struct dp_arena_control */
	u32 nr_pools;
	struct dp_pool_need pools[DP_MAX_POOLS];
};

/**
 * dp_engine_layout() - how much memory the sites need, and where about
 * @shards: counter shards wanted, a power of two; fewer are taken where there
 *          are very many probes
 * Return: the needs, owned by the engine; NULL when the sites lie so far apart
 * that DP_MAX_POOLS pools do not serve them.
 */
struct dp_layout_need *dp_engine_layout(struct dp_engine *engine, u32 shards);

/** dp_engine_need() - what dp_engine_layout() said, with the addresses */
const struct dp_layout_need *dp_engine_need(const struct dp_engine *engine);

/** dp_site_span() - what the copies of a site have to reach */
void dp_site_span(const struct dp_site *s, u64 *low, u64 *high);

#endif
