/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strategy: how the bytes of sites get into live text and out again.
 *
 * A plan (struct dp_site_entry with its patch) is complete before a strategy sees it. The
 * hit half then already knows the site.
 */
#ifndef DP_STRATEGY_H
#define DP_STRATEGY_H

#include "engine/text/state.h"
#include "engine/text/target.h"
#include "engine/layout/site.h"

/** struct dp_sites - some sites; a strategy picks its own
 *  @jumps: the table of all @nr_jumps jumps, or NULL: none covers a site that has a
 *    breakpoint of its own. Else @v is the whole table, of @total sites
 *  @which: @n numbers of sites in @v, or NULL: the first @n, all of the table
 *  @may_go: a site that is no longer mapped becomes DP_SITE_GONE, and is no failure
 *  @begun: another process may have begun to disarm them, and their states are older */
struct dp_sites {
	struct dp_site_entry *v;
	u32 n;
	const struct dp_jump *jumps;
	u32 nr_jumps, total;
	const u32 *which;
	bool may_go, begun;
};

static inline struct dp_site_entry *dp_sites_at(const struct dp_sites *s, u32 i)
{
	return &s->v[s->which ? s->which[i] : i];
}

/** dp_sites_find() - the site at @addr, or NULL; sites are in the order of their addresses */
struct dp_site_entry *dp_sites_find(const struct dp_sites *sites, u64 addr);

/**
 * struct dp_strategy - one way of arming
 * @name: as DPROBES_ARM and listings spell it
 * @mine: is this site armed this way?
 * @arm: write the patches of wanted sites. Threads may be running in the text, unless
 *   @stopped
 * @disarm: write the original bytes back at sites that are not wanted
 * @stopped: has to be called while no thread runs
 *
 * Both work on batches and verify first that the text holds what they expect: -EBUSY for
 * foreign bytes, with the address in *@bad. @arm ends at the first failure. @disarm goes
 * on past a failure and leaves that site as it is.
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

/** dp_cede_fn - a jump has ceded to a foreign breakpoint, or has come back */
typedef void dp_cede_fn(void *arg, u64 addr, bool away);

/**
 * dp_interior_cede() - take jumps out from behind foreign breakpoints where they begin
 * @sites: the whole table
 * @back: and write them again, where the breakpoints have gone
 * Return: 0 or an error of writing.
 */
int dp_interior_cede(struct dp_target *target, const struct dp_sites *sites,
		     bool back, dp_cede_fn *tell, void *arg);
/** dp_interior_disturbed() - has dp_interior_cede() anything to do? */
bool dp_interior_disturbed(struct dp_target *target,
			   const struct dp_sites *sites, bool back);

/** dp_trap_lost() - have uprobes taken breakpoints of ours away?
 *  dp_trap_return() - write them again */
bool dp_trap_lost(struct dp_target *target, const struct dp_sites *sites);
int dp_trap_return(struct dp_target *target, const struct dp_sites *sites,
		   dp_cede_fn *tell, void *arg);

/**
 * dp_sites_inside() - is an address in the middle of what a jump replaces?
 * @sites: in the order of their addresses
 * @to: where a thread at @addr goes on instead
 */
bool dp_sites_inside(const struct dp_sites *sites, u64 addr, u64 *to);

/** dp_sites_restore() - take each jump out with one write, while no thread runs */
int dp_sites_restore(struct dp_target *target, const struct dp_sites *sites,
		     u64 *bad);

/* Shared by the strategies. */
/** dp_text_expect() - are @bytes at @addr? Return: 0; -EBUSY other bytes; an error. */
int dp_text_expect(struct dp_target *target, u64 addr, const u8 *bytes,
		   size_t n);
int dp_text_sync(struct dp_target *target);
/** dp_jump_insns() - how many instructions a jump replaces, bounded */
static inline int dp_jump_insns(const struct dp_jump *jump)
{
	u8 n = __atomic_load_n(&jump->nr, __ATOMIC_RELAXED);

	return n <= DP_JUMP_INSNS ? n : DP_JUMP_INSNS;
}

/** dp_sites_jump() - the jump of a site, or NULL */
const struct dp_jump *dp_sites_jump(const struct dp_sites *sites,
				    const struct dp_site_entry *site);
/** dp_site_is_covered() - has another site's jump this one's breakpoint in its bytes? */
bool dp_site_is_covered(const struct dp_sites *sites,
			const struct dp_site_entry *site);
/** dp_sites_lose() - does @err mean that the site's text has gone, as it may? Then note it. */
bool dp_sites_lose(const struct dp_sites *sites, struct dp_site_entry *site,
		   int err);

#endif
