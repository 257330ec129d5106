/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xmm: what is in the vector registers of a thread that has hit. */
#ifndef DP_ARCH_XMM_H
#define DP_ARCH_XMM_H

#include "port_types.h"

/* Of the state that the kernel puts into a signal frame. Source: Intel SDM 1, 10.5.1. */
#define DP_FPSTATE_XMM0 160

/**
 * dp_xmm0() - the low half of xmm0
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
