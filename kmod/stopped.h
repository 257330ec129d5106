/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stopped: text that is written while no CPU does anything else. */
#ifndef DP_KMOD_STOPPED_H
#define DP_KMOD_STOPPED_H

#include "port_types.h"

/**
 * dp_kmod_stopped() - write the jumps of sites, or take them out: see struct dp_growth_ops
 * @engine: struct dp_engine
 *
 * The sites are breakpoints by then, whose hits go on in detours. So no task comes into the
 * bytes behind them; those that are there have left when each task has scheduled by itself.
 * Context: task, may sleep; dp_safe_hold() has been called.
 */
int dp_kmod_stopped(void *engine, const u32 *which, u32 n, bool in);

#endif
