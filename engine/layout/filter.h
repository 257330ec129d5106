/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* filter: what a thread says that is about to install a seccomp filter. */
#ifndef DP_LAYOUT_FILTER_H
#define DP_LAYOUT_FILTER_H

#include "port_types.h"

/*
 * A thread that is about to install a seccomp filter: the address of its registers
 * (struct dp_mcontext), with which it is sent home, and above that a number.
 */
#define DP_FILTER_NUMBER 48
/** dp_filter_regs() - the address */
static inline u64 dp_filter_regs(u64 ask)
{
	return ask & ((1ull << DP_FILTER_NUMBER) - 1);
}

/** dp_filter_answered() - is @ask answered, if @answered was the last that was? */
static inline bool dp_filter_answered(u64 ask, u64 answered)
{
	u64 ahead = (answered >> DP_FILTER_NUMBER) - (ask >> DP_FILTER_NUMBER);

	return (s64)(ahead << DP_FILTER_NUMBER) >= 0;
}

#endif
