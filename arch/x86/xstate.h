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

/* Of the state that the kernel puts into a signal frame. Source: Intel SDM 1, 10.5.1. */
#define DP_FPSTATE_XMM0 160

/**
 * dp_xmm0() - the low half of xmm0, of a thread that has hit
 * @fpstate: where the kernel has put the registers, by address; 0: they are in place,
 *           because nothing here touches any
 *
 * The one instruction of the hit half that names a vector register, and it reads.
 */
static inline u64 dp_xmm0(u64 fpstate)
{
	u64 value;

	if (fpstate)
		return *(const volatile u64 *)(fpstate + DP_FPSTATE_XMM0);
	__asm__ volatile("movq %%xmm0, %0" : "=r"(value));
	return value;
}

#endif
