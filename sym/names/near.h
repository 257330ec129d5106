/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* near: the names that a mistyped one was probably meant to be. Context: any. Pure. */
#ifndef DP_SYM_NAMES_NEAR_H
#define DP_SYM_NAMES_NEAR_H

#include "port_types.h"

struct dp_diag;

#define DP_NEAR_MAX 3

/** struct dp_near - the names most like one that was not found */
struct dp_near {
	const char *want;
	const char *name[DP_NEAR_MAX];
	unsigned int cost[DP_NEAR_MAX];
	size_t n;
};
void dp_near_offer(struct dp_near *near, const char *name);
void dp_near_say(const struct dp_near *near, struct dp_diag *diag);

#endif
