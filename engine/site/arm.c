// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arm: all sites of an engine, or none. */
#include "arch/arch.h"
#include "engine/site/instances.h"
#include "engine/text/strategy.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"

void dp_engine_set_arming(struct dp_engine *e, enum dp_arming arming)
{
	e->arming = arming;
}

static const struct dp_strategy *jumps_by(const struct dp_engine *e)
{
	return e->arming == DP_ARM_QUIESCE ? &dp_strategy_quiesce :
					     &dp_strategy_interior;
}

static struct dp_sites all_of(const struct dp_engine *e)
{
	return (struct dp_sites){ .v = e->view.sites,
				  .jumps = e->view.jumps,
				  .nr_jumps = e->view.nr_jumps,
				  .n = e->view.nr_sites };
}

/* In the order of addresses, as all_of() is not. */
static struct dp_sites first_of(const struct dp_engine *e)
{
	return (struct dp_sites){ .v = e->view.sites,
				  .jumps = e->view.jumps,
				  .nr_jumps = e->view.nr_jumps,
				  .n = e->nr_first };
}

static struct dp_sites last_of(const struct dp_engine *e)
{
	return (struct dp_sites){ .v = e->view.sites + e->batch.first,
				  .jumps = e->view.jumps,
				  .nr_jumps = e->view.nr_jumps,
				  .n = e->batch.n };
}

int dp_engine_arm_intercepts(struct dp_engine *e, struct dp_target *target)
{
	const struct dp_sites sites = first_of(e);
	int err = dp_strategy_intercept.arm(target, &sites, NULL);

	if (err)
		dp_view_disarm(&e->view, target, true, NULL);
	return err;
}

void dp_engine_want(struct dp_engine *e, u32 probe, bool wanted)
{
	u32 site =
		__atomic_load_n(&e->view.probes[probe].site, __ATOMIC_RELAXED);

	/* A site inside the jump of another follows that jump. */
	if (site < e->view.nr_sites && e->view.sites[site].patch_len &&
	    !e->view.sites[site].intercept)
		e->view.sites[site].wanted = wanted;
}

/* Disarm sites that are not wanted. */
static int take_out(const struct dp_engine *e, struct dp_target *target,
		    const struct dp_sites *sites, u64 *bad)
{
	int err = e->signal_free ?
			  dp_sites_restore(target, sites, bad) :
			  dp_strategy_interior.disarm(target, sites, bad);

	return err ? err : dp_strategy_trap.disarm(target, sites, bad);
}

int dp_engine_apply(struct dp_engine *e, struct dp_target *target, u64 *bad)
{
	const struct dp_sites sites = all_of(e);
	int err = take_out(e, target, &sites, bad);

	if (!err)
		err = jumps_by(e)->arm(target, &sites, bad);
	if (!err)
		err = dp_strategy_trap.arm(target, &sites, bad);
	return err;
}

bool dp_engine_is_quiesced(const struct dp_engine *e)
{
	return jumps_by(e)->stopped && dp_engine_jumps(e);
}

bool dp_engine_intercepted_call(const struct dp_engine *e, u64 addr,
				bool behind, u64 *to)
{
	const struct dp_sites sites = first_of(e);
	const struct dp_site_entry *s = dp_sites_find(&sites, addr);
	const struct dp_jump *j = s ? dp_view_jump(&e->view, s) : NULL;
	int n = s && s->intercept ? dp_jump_insns(j) : 0;

	if (n)
		*to = j->base + (behind ? j->insn[n - 1] + DP_SYSCALL_SIZE :
					  j->at[n - 1]);
	return n;
}

/* If arming needs all threads stopped, ceded jumps are not written again. */
static bool comes_back(const struct dp_engine *e)
{
	return !dp_engine_is_quiesced(e);
}

bool dp_engine_disturbed(const struct dp_engine *e, struct dp_target *target)
{
	const struct dp_sites sites = all_of(e);

	return dp_trap_lost(target, &sites) ||
	       dp_interior_disturbed(target, &sites, comes_back(e));
}

int dp_engine_cede(struct dp_engine *e, struct dp_target *target,
		   void (*tell)(void *arg, u64 addr, bool away), void *arg)
{
	const struct dp_sites sites = all_of(e);
	int err = dp_trap_return(target, &sites, tell, arg);

	return err ? err :
		     dp_interior_cede(target, &sites, comes_back(e), tell, arg);
}

bool dp_engine_inside(const struct dp_engine *e, u64 addr, u64 *to)
{
	const struct dp_sites sites = last_of(e);

	return dp_sites_inside(&sites, addr, to);
}

/* Some traps were refused earlier, where no jump is possible; others come from sites that
 * overlap in the layout. */
static int expect_no_traps(const struct dp_engine *e, u64 *bad)
{
	u32 i;

	for (i = e->batch.first; i < dp_batch_end(e); i++) {
		const struct dp_site *s = dp_order_site(e, i);

		if (s->mode == DP_MODE_JUMP || !s->first_probe ||
		    !s->region.nr || s->region.returns)
			continue;
		if (bad)
			*bad = s->addr;
		return -EOPNOTSUPP;
	}
	return 0;
}

int dp_engine_arm_linker(struct dp_engine *e, struct dp_target *target,
			 u64 *bad)
{
	int err = 0;
	u32 i;

	for (i = 0; i < e->view.nr_sites && !err; i++) {
		struct dp_site_entry *s = &e->view.sites[i];
		const struct dp_sites one = { .v = s, .n = 1 };

		if (!dp_view_is_linkers(&e->view, s))
			continue;
		s->wanted = DP_WANT_PLAN;
		err = dp_strategy_trap.arm(target, &one, bad);
		/* A thread that has just passed the site unprobed has set r_state by
		 * then. */
		if (!err)
			err = dp_text_sync(target);
	}
	return err;
}

static void undo(struct dp_engine *e, struct dp_target *target,
		 const struct dp_sites *sites)
{
	u32 i;

	if (!e->batch.later) {
		dp_view_disarm(&e->view, target, false, NULL);
		return;
	}
	for (i = 0; i < sites->n; i++)
		sites->v[i].wanted = DP_WANT_OFF;
	take_out(e, target, sites, NULL);
}

int dp_engine_arm(struct dp_engine *e, struct dp_target *target, u64 *bad)
{
	const struct dp_sites sites = last_of(e);
	int err;
	u32 i;

	/* As a breakpoint, a site that only begins another's jump early is of no use. */
	for (i = 0; i < sites.n; i++)
		sites.v[i].wanted =
			sites.v[i].mode == DP_MODE_JUMP ||
			((sites.v[i].first_probe || sites.v[i].intercept) &&
			 !e->signal_free);
	err = e->signal_free ? expect_no_traps(e, bad) : 0;
	if (!err)
		err = jumps_by(e)->arm(target, &sites, bad);
	if (!err)
		err = dp_strategy_trap.arm(target, &sites, bad);
	if (err)
		undo(e, target, &sites);
	else
		dp_engine_admit(e, true);
	return err;
}
