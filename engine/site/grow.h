/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: plans for single sites, made while others are armed: for live.c. */
#ifndef DP_GROW_H
#define DP_GROW_H

#include "port_types.h"
#include "engine/site/live.h"
#include "engine/layout/control.h"
#include "engine/plan/place.h"
#include "engine/text/target.h"

struct dp_engine;

/** struct dp_pool - one mapping of ours: of copies, or a window for landings; or @full
 *  of what others put there */
struct dp_pool {
	u32 used;
	bool window, full;
};

/** struct dp_stage - code on its way: [@from, @to) of a pool, which is not written yet */
#define DP_STAGE_SIZE 65536
struct dp_stage {
	u32 pool, from, to;
	u8 code[DP_STAGE_SIZE];
};

/**
 * struct dp_switch - a probe, as dp_live_switch_off() finds it; never moves
 * @user: what its handlers get, 0: it is none yet
 * @follow: address of its struct dp_follow, 0: it has none
 * @site: index of its site
 * @off: its handlers are not called any more
 */
struct dp_switch {
	u64 user, follow;
	u32 site, off;
};

/* What is decided here is decided by what is here: where another process is probed, that
 * one can write to all that both have. */
struct dp_growth {
	struct dp_live_setup setup;
	struct dp_switch *switches; /* one for each probe that there can be */
	struct dp_pool pools[DP_MAX_POOLS]; /* as those of struct dp_layout_need */
	struct dp_stage stage;
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

/** dp_grow_free() - forget what has grown */
void dp_grow_free(struct dp_growth *growth);
int dp_grow_begin(struct dp_engine *engine, const struct dp_live_setup *setup);
/** dp_grow_site() - plan the @i-th site. Return: 0; -ENOMEM nothing is free in its
 *  reach. */
int dp_grow_site(struct dp_engine *engine, u32 i);
/** dp_grow_enter() - and tell the hit half, once its code has been written */
void dp_grow_enter(struct dp_engine *engine, u32 i);
/** dp_grow_post() - make sure that it has a copy that ends in a breakpoint, if it
 *  can have one */
int dp_grow_post(struct dp_engine *engine, u32 i);

/** dp_grow_write() - write the code that has been made since the last time: before
 *  anything leads to it. Return: 0 or an errno. */
int dp_grow_write(struct dp_engine *engine);

/** dp_site_is_gone() - is the code of the @i-th site no longer there? */
bool dp_site_is_gone(const struct dp_engine *engine, struct dp_target *target,
		     u32 i);

#endif
