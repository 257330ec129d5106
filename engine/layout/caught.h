/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* caught: the signals that the hit half catches. */
#ifndef DP_LAYOUT_CAUGHT_H
#define DP_LAYOUT_CAUGHT_H

#include "port_types.h"

/*
 * Signals that the breakpoints of jumps raise: SIGTRAP; and SIGILL, where a
 * breakpoint has to be another instruction than DP_BREAKPOINT (dp_jump_upward()).
 */
#define DP_CAUGHT_JUMPS 2
/* Where handlers in C run, their faults, too, and those of copies. */
#define DP_CAUGHT 5
static inline u32 dp_caught(u32 k)
{
	/* SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE; no table, for the sake of
	 * code that must not have data. */
	return (u32)(0x87b45ull >> 4 * k) & 15;
}

/** dp_caught_mask() - the first @n of them as a signal set */
static inline u64 dp_caught_mask(u32 n)
{
	u64 mask = 0;

	while (n-- > 0)
		mask |= 1ull << (dp_caught(n) - 1);
	return mask;
}

#endif
