/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stopped: text that is written while no CPU does anything else. */
#ifndef DP_KMOD_STOPPED_H
#define DP_KMOD_STOPPED_H

#include "port_types.h"

/**
 * dp_kmod_stopped() - write the jumps of sites: see struct dp_growth_ops, @traps_first
 * @engine: struct dp_engine
 * @in: true
 *
 * A site in which a task stays is left as it is, and tried again later.
 * Context: task, may sleep; dp_safe_hold() has been called.
 */
int dp_kmod_stopped(void *engine, const u32 *which, u32 n, bool in);

#endif
