/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: what an engine has whose probes come and go, and how it gets there: for live.c. */
#ifndef DP_SITE_GROW_H
#define DP_SITE_GROW_H

#include "engine/layout/site.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"

/** struct dp_pool - one mapping of ours: of copies, or an arena for islands; or @full
 *  of what others put there */
struct dp_pool {
	u32 used;
	bool island_arena, full;
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
 * @instance_pool: address of its struct dp_instance_pool, 0: it has none
 * @site: index of its site
 * @off: its handlers are not called any more
 */
struct dp_switch {
	u64 user, instance_pool;
	u32 site, off;
};

/* What is decided here is decided by what is here: where another process is probed, that
 * one can write to all that both have. */
struct dp_growth {
	struct dp_live_setup setup;
	struct dp_switch *switches; /* one for each probe that there can be */
	/* as those of struct dp_layout_need */
	struct dp_pool pools[DP_MAX_POOLS];
	struct dp_stage stage;
	struct dp_hole *holes;
	size_t nr_holes;
	struct dp_islands *islands;
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

/** dp_live_site() - the @i-th site, and dp_live_probe() a probe, as the hit half has them */
static inline struct dp_site_entry *dp_live_site(const struct dp_engine *e,
						 u32 i)
{
	return &e->view.sites[i];
}

static inline struct dp_probe_entry *dp_live_probe(const struct dp_engine *e,
						   u32 probe)
{
	return (struct dp_probe_entry *)&e->view.probes[probe];
}

/* link: what the hit half follows. */

/** dp_link_in() - hits come to a probe. All that it leads to has been written. */
void dp_link_in(struct dp_engine *engine, u32 probe);
/** dp_link_out() - and not any more; it leaves its site */
void dp_link_out(struct dp_engine *engine, u32 probe);
/** dp_link_mirror() - the probes of the @i-th site have changed */
void dp_link_mirror(struct dp_engine *engine, u32 i);
/** dp_link_tell_off() - the handlers of a probe are not to be called */
void dp_link_tell_off(struct dp_engine *engine, u32 probe);

/* gone: code that is no longer there. */

/** dp_site_is_gone() - is the code of the @i-th site no longer there? */
bool dp_site_is_gone(const struct dp_engine *engine, struct dp_target *target,
		     u32 i);
/** dp_gone_release() - nobody comes to this site any more, and it is found at no address */
void dp_gone_release(struct dp_engine *engine, struct dp_site *site);
/** dp_gone_drop() - the same of the @i-th one, with all its probes */
void dp_gone_drop(struct dp_engine *engine, u32 i);

/* apply: bytes. */

/** dp_apply_around() - at the sites of @n probes, and those around them; what fails stays
 *  as it is. @bad: address where, or NULL. Return: as dp_live_commit(). */
int dp_apply_around(struct dp_engine *engine, struct dp_target *target,
		    const u32 *probes, u32 n, u64 *bad);

#endif
