/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* grow: the memory of an engine whose probes come and go; used by live.c. */
#ifndef DP_SITE_GROW_H
#define DP_SITE_GROW_H

#include "engine/layout/site.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/room.h"

struct dp_sites;

/** dp_grow_site() - plan the @i-th site. Return: 0; -ENOMEM no memory is free in its range. */
int dp_grow_site(struct dp_engine *engine, u32 i);
/** dp_grow_watch() - the @i-th site, of data: it has no code */
void dp_grow_watch(struct dp_engine *engine, u32 i);
/** dp_grow_jump() - find or make the jump of a site, for the sites that it is to cover:
 *  @site->plan. Return: 0; -ENOMEM there is no room for it; an error of writing. */
int dp_grow_jump(struct dp_engine *engine, struct dp_site *site);
/** dp_grow_patch() - make the bytes at a site that lead to a jump of its own. Return: it is in
 *  reach. */
bool dp_grow_patch(const struct dp_site *site, const struct dp_jump *jump,
		   u8 *patch);
/** dp_grow_switch() - let the site have the jump @site->plan. No thread may be led to the
 *  one before it by the site's bytes. Return: 0; -ENOMEM. */
int dp_grow_switch(struct dp_engine *engine, struct dp_site *site);
/** dp_grow_intercept() - plan the @i-th site, an intercept, with the probes at its instructions.
 *  Return: as dp_grow_site(); -EBUSY a probe is between two of them. */
int dp_grow_intercept(struct dp_engine *engine, u32 i);
/** dp_grow_serves() - does a jump of the site call out for the sites that it is to cover? */
bool dp_grow_serves(const struct dp_engine *engine, const struct dp_site *site,
		    u32 jump);
/** dp_grow_post() - make the site's copy that ends in a breakpoint, if it can have one;
 *  dp_grow_post_there() - it has been written: let threads go there */
int dp_grow_post(struct dp_engine *engine, u32 i);
void dp_grow_post_there(struct dp_engine *engine, struct dp_site *site);

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

/** dp_group_prepare() - before the site's plan: can it be a jump at all? */
void dp_group_prepare(const struct dp_engine *engine, struct dp_site *site);
/** dp_group_most() - bytes from a site to its next neighbour at most */
u32 dp_group_most(const struct dp_engine *engine);
/** dp_group_choose() - decide what neighbours want: @wants, @leader, @why of each
 *  @which: @n numbers of sites, in the order of addresses; all neighbours of each */
void dp_group_choose(struct dp_engine *engine, const u32 *which, u32 n);

/* release: what a site leaves for others. */

/** dp_release_site() - release a site whose code has gone: no address finds it any more */
void dp_release_site(struct dp_engine *engine, struct dp_site *site);
/** dp_release_replaced() - release the site at an address, if it is unused and its code is not
 *  @code any more: its library was unloaded, and another was loaded */
void dp_release_replaced(struct dp_engine *engine, u64 addr, const u8 *code,
			 size_t size);
/** dp_release_unused() - release a site without probes, if no byte was ever written for it */
void dp_release_unused(struct dp_engine *engine, struct dp_site *site);
/** dp_release_place() - the place of a site is free if the site has gone, and no probe knows it */
void dp_release_place(struct dp_engine *engine, struct dp_site *site);
/** dp_release_probe() - a probe does not know its site by number any more */
void dp_release_probe(struct dp_engine *engine, u32 probe);

/** dp_live_reserve() - memory for a batch of all sites. Return: 0 or -ENOMEM. */
int dp_live_reserve(struct dp_engine *engine);

/* apply: the bytes at sites. */

/** dp_apply_plan() - decide what all sites are to be, and make their jumps */
void dp_apply_plan(struct dp_engine *engine);
/** dp_apply_preview() - only decide */
void dp_apply_preview(struct dp_engine *engine);

/** dp_apply_around() - update the bytes at the sites of @n probes, and around them. A site
 *  that fails stays as it is. @bad: its address, or NULL. Return: as dp_live_commit(). */
int dp_apply_around(struct dp_engine *engine, struct dp_target *target,
		    const u32 *probes, u32 n, u64 *bad);

/** dp_apply_stopped() - write the jumps that are written while no thread runs; @sites: in the order of their
 *  addresses. Return: 0; an error of writing. */
int dp_apply_stopped(struct dp_engine *engine, struct dp_target *target,
		     const struct dp_sites *sites, u64 *bad);

#endif
