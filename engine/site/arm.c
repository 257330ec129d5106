// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arm: what is armed before all else: intercepts, and the probe of loader events. */
#include "arch/arch.h"
#include "engine/site/instances.h"
#include "engine/text/strategy.h"
#include "engine/layout/site.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"

void dp_engine_set_arming(struct dp_engine *e, enum dp_arming arming)
{
	e->arming = arming;
}

int dp_engine_arm_intercepts(struct dp_engine *e, struct dp_target *target)
{
	const struct dp_sites sites = dp_view_sites(&e->view);
	int err = dp_strategy_intercept.arm(target, &sites, NULL);

	if (err)
		dp_view_disarm(&e->view, target, true, NULL);
	return err;
}

bool dp_engine_intercepted_call(const struct dp_engine *e, u64 addr,
				bool behind, u64 *to)
{
	const struct dp_site *site = dp_engine_find(e, addr);
	const struct dp_site_entry *s = site ? dp_entry_of(e, site) : NULL;
	const struct dp_jump *j = s ? dp_view_jump(&e->view, s) : NULL;
	int n = s && s->intercept ? dp_jump_insns(j) : 0;

	if (n)
		*to = j->base + (behind ? j->insn[n - 1] + DP_SYSCALL_SIZE :
					  j->at[n - 1]);
	return n;
}

int dp_engine_arm_linker(struct dp_engine *e, struct dp_target *target,
			 u64 *bad)
{
	u32 i, bad_one;
	int err = 0;

	for (i = 0; i < e->nr_probes && !err; i++) {
		if (e->probes[i].kind != DP_KIND_LINKER || !e->probes[i].fresh)
			continue;
		*bad = e->sites[e->probes[i].site].addr;
		err = dp_live_commit(e, target, &i, 1, &bad_one);
		/* A thread that has just passed the site unprobed has set r_state by
		 * then. */
		if (!err)
			err = dp_text_sync(target);
	}
	return err;
}

int dp_engine_write_jumps(struct dp_engine *e, struct dp_target *target,
			  const u32 *which, u32 n)
{
	struct dp_sites sites = dp_view_sites(&e->view);

	sites.which = which;
	sites.n = n;
	return dp_strategy_quiesce.arm(target, &sites, NULL);
}

int dp_engine_restore(struct dp_engine *e, struct dp_target *target,
		      const u32 *which, u32 n)
{
	struct dp_sites sites = dp_view_sites(&e->view);
	int err;

	sites.which = which;
	sites.n = n;
	err = dp_strategy_trap.disarm(target, &sites, NULL);
	return err ? err : dp_sites_restore(target, &sites, NULL);
}
