/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xstate: vector state as the kernel puts it beside a signal's frame (struct _xstate). */
#ifndef DP_ARCH_XSTATE_H
#define DP_ARCH_XSTATE_H

#include "port_types.h"

/* Without what the software's bytes say: the part that every processor has. */
#define DP_XSTATE_LEGACY 512
#define DP_XSTATE_SOFTWARE 464
#define DP_XSTATE_MAGIC 0x46505853
#define DP_XSTATE_MOST 16384

/** dp_xstate_size() - bytes of the state at @state, as far as it is believed */
static inline u64 dp_xstate_size(u64 state)
{
	const u32 *software = (const u32 *)(state + DP_XSTATE_SOFTWARE);

	if (software[0] != DP_XSTATE_MAGIC || software[1] > DP_XSTATE_MOST)
		return DP_XSTATE_LEGACY;
	return software[1];
}

#endif
