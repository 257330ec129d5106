/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: what grow.c and gone.c do for live.c. */
#ifndef DP_GROW_H
#define DP_GROW_H

#include "engine/control/internal.h"
#include "engine/control/live.h"

/** struct dp_pool - one mapping of ours: of copies, or a window for landings */
struct dp_pool {
	u8 *ours;
	u32 used;
	bool window;
};

struct dp_growth {
	struct dp_live_setup setup;
	struct dp_pool pools[DP_MAX_POOLS]; /* as those of struct dp_layout_need */
	struct dp_hole *holes;
	size_t nr_holes;
	struct dp_landings *landings;
	u32 nr_planned; /* sites */
	u32 free_probe; /* 1 + index, linked by next */
	bool disarmed, unoptimized; /* the knobs */
	u32 *touched, nr_touched; /* sites of the last batch */
	u32 cap_touched; /* room for two of every batch that there can be */
	bool lost; /* some probe's code has gone */
};

int dp_grow_begin(struct dp_engine *engine, const struct dp_live_setup *setup);
/** dp_grow_site() - plan the @i-th site, and tell the hit half. Return: 0;
 *  -ENOMEM nothing is free in its reach. */
int dp_grow_site(struct dp_engine *engine, u32 i);
/** dp_grow_post() - make sure that it has a copy that ends in a breakpoint, if it
 *  can have one */
int dp_grow_post(struct dp_engine *engine, u32 i);

/** dp_site_is_gone() - is the code of the @i-th site no longer there? */
bool dp_site_is_gone(const struct dp_engine *engine, struct dp_target *target,
		     u32 i);

#endif
