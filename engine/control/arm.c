// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arm: all sites of an engine, or none. */
#include "engine/control/internal.h"
#include "engine/control/strategy.h"

int dp_engine_arm_hooks(struct dp_engine *e, struct dp_target *target)
{
	struct dp_sites sites = { e->view.sites, e->view.nr_sites };
	int err = dp_strategy_hook.arm(target, &sites, NULL);

	if (err)
		dp_strategy_hook.disarm(target, &sites, NULL);
	return err;
}

static const struct dp_strategy *jumps_by(const struct dp_engine *e)
{
	return e->arming == DP_ARM_QUIESCE ? &dp_strategy_quiesce :
					     &dp_strategy_interior;
}

int dp_engine_arm(struct dp_engine *e, struct dp_target *target, u64 *bad)
{
	struct dp_sites sites = { e->view.sites, e->view.nr_sites };
	int err = jumps_by(e)->arm(target, &sites, bad);

	if (!err)
		err = dp_strategy_trap.arm(target, &sites, bad);
	if (err)
		dp_view_disarm(&e->view, target, false, NULL);
	return err;
}
