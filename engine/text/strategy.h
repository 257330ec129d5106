/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strategy: how the bytes of sites get into live text and out again.
 *
 * A plan (struct dp_site_entry with its patch) is complete before a strategy
 * sees it, and the hit half already knows the site.
 */
#ifndef DP_STRATEGY_H
#define DP_STRATEGY_H

#include "engine/text/state.h"
#include "engine/text/target.h"
#include "engine/layout/site.h"

/** struct dp_sites - some sites; a strategy picks its own
 * @which: numbers of @n of @v, or NULL: the first @n, all of the table
 * @may_go: one whose text is not mapped any more becomes DP_SITE_GONE, and is no
 *          failure
 * @begun: somebody else may have begun to take them out, and what they say is from before
 */
struct dp_sites {
	struct dp_site_entry *v;
	u32 n;
	const u32 *which;
	bool may_go, begun;
};

static inline struct dp_site_entry *dp_sites_at(const struct dp_sites *s, u32 i)
{
	return &s->v[s->which ? s->which[i] : i];
}

/** dp_sites_find() - the one at @addr, or NULL; they are in the order of their addresses */
struct dp_site_entry *dp_sites_find(const struct dp_sites *sites, u64 addr);

/**
 * struct dp_strategy - one way of arming
 * @name: as DPROBES_ARM and listings spell it
 * @mine: is this site armed this way?
 * @arm: write the patches of sites that are wanted. Threads may be running in the
 *       text, unless @stopped
 * @disarm: write the original bytes of those back that are not
 * @stopped: has to be called while nobody runs
 *
 * Both work on batches and verify first that the text holds what they expect:
 * -EBUSY if somebody else has written there, with the address in *@bad. @arm
 * ends at the first failure, @disarm goes on past it and leaves that site as it
 * is.
 */
struct dp_strategy {
	const char *name;
	bool (*mine)(const struct dp_site_entry *site);
	int (*arm)(struct dp_target *target, const struct dp_sites *sites,
		   u64 *bad);
	int (*disarm)(struct dp_target *target, const struct dp_sites *sites,
		      u64 *bad);
	bool stopped;
};

/* strategy.c */
extern const struct dp_strategy dp_strategy_trap, dp_strategy_intercept;
/* interior.c */
extern const struct dp_strategy dp_strategy_interior, dp_strategy_quiesce;

/** dp_cede_fn - a jump has given way to somebody's breakpoint, or has come back */
typedef void dp_cede_fn(void *arg, u64 addr, bool away);

/** dp_interior_disturbed() - is there anything to do for one of the next two? @back: the
 *  second */
bool dp_interior_disturbed(struct dp_target *target,
			   const struct dp_sites *sites, bool back);
/**
 * dp_interior_cede() - from behind breakpoints that somebody has put where jumps begin;
 * dp_interior_return() - and back, where they have gone
 * @sites: the whole table
 * Return: 0 or an error of writing.
 */
int dp_interior_cede(struct dp_target *target, const struct dp_sites *sites,
		     dp_cede_fn *tell, void *arg);
int dp_interior_return(struct dp_target *target, const struct dp_sites *sites,
		       dp_cede_fn *tell, void *arg);

/** dp_trap_lost() - have breakpoints of ours been taken away by somebody?
 *  dp_trap_return() - put them there again */
bool dp_trap_lost(struct dp_target *target, const struct dp_sites *sites);
int dp_trap_return(struct dp_target *target, const struct dp_sites *sites,
		   dp_cede_fn *tell, void *arg);

/**
 * dp_sites_inside() - is an address in the middle of what a jump replaces?
 * @sites: in the order of their addresses
 * @to: where a thread that is there goes on instead
 */
bool dp_sites_inside(const struct dp_sites *sites, u64 addr, u64 *to);

/** dp_sites_restore() - take jumps out in one write each, while nobody runs */
int dp_sites_restore(struct dp_target *target, const struct dp_sites *sites,
		     u64 *bad);

/* What the strategies share. */
/** dp_text_expect() - Return: 0; -EBUSY other bytes are at @addr; an error */
int dp_text_expect(struct dp_target *target, u64 addr, const u8 *bytes,
		   size_t n);
int dp_text_sync(struct dp_target *target);
/** dp_jump_insns() - the same of the instructions that a jump replaces */
static inline int dp_jump_insns(const struct dp_jump *jump)
{
	u8 n = __atomic_load_n(&jump->nr, __ATOMIC_RELAXED);

	return n <= DP_JUMP_INSNS ? n : DP_JUMP_INSNS;
}

/** dp_sites_lose() - has @err come of text that has gone, and may that be? */
bool dp_sites_lose(const struct dp_sites *sites, struct dp_site_entry *site,
		   int err);

#endif
