/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xstate: vector state that the kernel puts beside a signal frame (struct _xstate). */
#ifndef DP_ARCH_XSTATE_H
#define DP_ARCH_XSTATE_H

#include "port_types.h"

/* Size of the legacy part, which every processor has; offset of the kernel's software bytes
 * in that part, their magic, and the largest size that is believed. */
#define DP_XSTATE_LEGACY 512
#define DP_XSTATE_SOFTWARE 464
#define DP_XSTATE_MAGIC 0x46505853
#define DP_XSTATE_MOST 16384

/** dp_xstate_size() - bytes of the state at @state; the legacy part, where its software bytes
 *  are not plausible */
static inline u64 dp_xstate_size(u64 state)
{
	const u32 *software = (const u32 *)(state + DP_XSTATE_SOFTWARE);

	if (software[0] != DP_XSTATE_MAGIC || software[1] > DP_XSTATE_MOST)
		return DP_XSTATE_LEGACY;
	return software[1];
}

/* Offset in the state. Source: Intel SDM 1, 10.5.1. */
#define DP_FPSTATE_XMM0 160

/**
 * dp_xmm0() - the low half of xmm0, of a thread that has hit
 * @fpstate: address of the vector state that the kernel has saved; 0: the register still
 *           has it, because the hit half changes no vector register
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
