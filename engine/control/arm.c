// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arm: all sites of an engine, or none. */
#include "engine/control/internal.h"
#include "engine/control/strategy.h"

static int arm_mode(struct dp_engine *e, struct dp_target *target,
		    enum dp_mode mode, u64 *bad)
{
	u32 i;

	for (i = 0; i < e->view.nr_sites; i++) {
		struct dp_site_entry *s = &e->view.sites[i];
		int err;

		if (s->mode != mode)
			continue;
		err = dp_strategy_of(s)->arm(target, s);
		if (!err)
			continue;
		if (bad)
			*bad = s->addr;
		dp_view_disarm(&e->view, target, mode, NULL);
		return err;
	}
	return 0;
}

int dp_engine_arm_hooks(struct dp_engine *e, struct dp_target *target)
{
	return arm_mode(e, target, DP_MODE_JUMP, NULL);
}

int dp_engine_arm(struct dp_engine *e, struct dp_target *target, u64 *bad)
{
	return arm_mode(e, target, DP_MODE_TRAP, bad);
}
