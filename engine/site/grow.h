/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: the memory of an engine whose probes come and go; used by live.c. */
#ifndef DP_SITE_GROW_H
#define DP_SITE_GROW_H

#include "engine/layout/site.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"

/** struct dp_pool - one area: of copies, or an island arena; @full: nothing more goes there */
struct dp_pool {
	u32 used;
	bool island_arena, full;
};

/** struct dp_stage - code for [@from, @to) of a pool, not written to the process yet */
#define DP_STAGE_SIZE 65536
struct dp_stage {
	u32 pool, from, to;
	u8 code[DP_STAGE_SIZE];
};

/**
 * struct dp_switch - a probe, as dp_live_switch_off() finds it; never moves
 * @user: what its handlers get; 0: not in use
 * @instance_pool: address of its struct dp_instance_pool, or 0
 * @site: index of its site
 * @off: its handlers are not called any more
 */
struct dp_switch {
	u64 user, instance_pool;
	u32 site, off;
};

/* Control decides from this memory only: a probed process can write to the arena that it
 * shares. */
struct dp_growth {
	struct dp_live_setup setup;
	struct dp_switch *switches; /* one for each possible probe */
	/* parallel to dp_layout_need.pools */
	struct dp_pool pools[DP_MAX_POOLS];
	struct dp_stage stage;
	struct dp_hole *holes;
	size_t nr_holes;
	struct dp_islands *islands;
	u32 nr_planned; /* sites */
	u32 free_probe; /* 1 + index, linked by next */
	bool disarmed, unoptimized; /* the knobs */
	u32 *touched, nr_touched; /* sites of the last batch */
	u32 cap_touched; /* room for two of the largest possible batch */
	u64 changes; /* probes taken off their sites, so far */
	bool lost; /* some probe's code is gone */
};

/** dp_grow_free() - free all memory of the growth */
void dp_grow_free(struct dp_growth *growth);
int dp_grow_begin(struct dp_engine *engine, const struct dp_live_setup *setup);
/** dp_grow_site() - plan the @i-th site. Return: 0; -ENOMEM no memory is free in its range. */
int dp_grow_site(struct dp_engine *engine, u32 i);
/** dp_grow_jump() - find or make the jump of a site, for the sites that it is to cover:
 *  @site->plan. Return: 0; -ENOMEM there is no room for it; an error of writing. */
int dp_grow_jump(struct dp_engine *engine, struct dp_site *site);
/** dp_grow_switch() - let the site have the jump @site->plan. No thread may be led to the
 *  one before it by the site's bytes. Return: 0; -ENOMEM. */
int dp_grow_switch(struct dp_engine *engine, struct dp_site *site);
/** dp_grow_post() - give the site its copy that ends in a breakpoint, if it can have one */
int dp_grow_post(struct dp_engine *engine, u32 i);

/** dp_grow_write() - write the code made since the last call, before anything leads to it.
 *  Return: 0 or an errno. */
int dp_grow_write(struct dp_engine *engine);

/** dp_live_site() - the hit half's entry of the @i-th site; dp_live_probe() that of a probe */
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

/* link: the lists that the hit half follows. */

/** dp_link_in() - let hits come to a probe. All that it leads to has been written. */
void dp_link_in(struct dp_engine *engine, u32 probe);
/** dp_link_out() - take a probe off its site: hits come to it no more */
void dp_link_out(struct dp_engine *engine, u32 probe);
/** dp_link_mirror() - copy the changed probe list of the @i-th site to its entry */
void dp_link_mirror(struct dp_engine *engine, u32 i);
/** dp_link_tell_off() - tell the hit half not to call the handlers of a probe */
void dp_link_tell_off(struct dp_engine *engine, u32 probe);

/* gone: sites whose code is not mapped any more. */

/** dp_site_is_gone() - is the code of the @i-th site gone? */
bool dp_site_is_gone(const struct dp_engine *engine, struct dp_target *target,
		     u32 i);
/** dp_gone_drop() - release the @i-th site, with all its probes */
void dp_gone_drop(struct dp_engine *engine, u32 i);

/* group: which sites share a jump. */

/** dp_group_choose() - decide what neighbours want: @wants, @leader, @why of each
 *  @which: @n numbers of sites, in the order of addresses; all neighbours of each */
void dp_group_choose(struct dp_engine *engine, const u32 *which, u32 n);

/* release: what a site leaves for others. */

/** dp_release_site() - release a site whose code has gone: no address finds it any more */
void dp_release_site(struct dp_engine *engine, struct dp_site *site);
/** dp_release_probe() - a probe does not know its site by number any more */
void dp_release_probe(struct dp_engine *engine, u32 probe);

/* apply: the bytes at sites. */

/** dp_apply_around() - update the bytes at the sites of @n probes, and around them. A site
 *  that fails stays as it is. @bad: its address, or NULL. Return: as dp_live_commit(). */
int dp_apply_around(struct dp_engine *engine, struct dp_target *target,
		    const u32 *probes, u32 n, u64 *bad);

#endif
