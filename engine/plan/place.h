/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* place: addresses for what has to be mapped. */
#ifndef DP_PLAN_PLACE_H
#define DP_PLAN_PLACE_H

#include "port_types.h"

struct dp_engine;
struct dp_pool_need;

/** struct dp_hole - unmapped addresses [start, end) */
struct dp_hole {
	u64 start, end;
	bool above_heap; /* begins where the heap would grow */
	bool ours; /* mapped by us, and only for landings */
};

/**
 * dp_engine_place() - choose an address for each pool
 * @holes: ascending
 *
 * Source: user-space rules: within 2 GB of all that a copy refers to; not
 * right above the heap while there is another place.
 * Return: 0; -ENOMEM there is no room in reach.
 */
int dp_engine_place(struct dp_engine *engine, const struct dp_hole *holes,
		    size_t n);

/** dp_place_one() - choose an address for a pool. Return: 0 or -ENOMEM. */
int dp_place_one(struct dp_pool_need *need, const struct dp_hole *holes,
		 size_t n, bool spare_heap);
/** dp_holes_carve() - what is mapped is no hole. There is room for one more.
 *  Return: how many there are now. */
size_t dp_holes_carve(struct dp_hole *holes, size_t n, u64 addr, u64 size);

#endif
