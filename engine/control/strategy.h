/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strategy: how the bytes of a site get into live text and out again.
 *
 * A plan (struct dp_site_entry with its patch) is complete before a strategy
 * sees it, and the hit half already knows the site.
 */
#ifndef DP_STRATEGY_H
#define DP_STRATEGY_H

#include "engine/layout.h"
#include "engine/control/target.h"

/**
 * struct dp_strategy - one way of arming
 * @name: as DPROBES_ARM and listings spell it
 * @arm: write the patch. Threads may be running in the text.
 * @disarm: write the original bytes back
 *
 * Both verify first that the text holds what they expect: -EBUSY if somebody
 * else has written there.
 */
struct dp_strategy {
	const char *name;
	int (*arm)(struct dp_target *target, struct dp_site_entry *site);
	int (*disarm)(struct dp_target *target, struct dp_site_entry *site);
};

/** dp_strategy_of() - the strategy for a site's mode */
const struct dp_strategy *dp_strategy_of(const struct dp_site_entry *site);

#define DP_BREAKPOINT 0xcc

#endif
