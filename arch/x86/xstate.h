/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* xstate: vector state that the kernel puts beside a signal frame (struct _xstate). */
#ifndef DP_ARCH_XSTATE_H
#define DP_ARCH_XSTATE_H

#include "arch/x86/regs.h"
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

#define DP_FPSTATE_XMM_SIZE 16

/** dp_xmm_live() - the low half of vector register @n, which still has it, because the hit half
 *  changes no vector register. A function: tools/check-hit knows it. */
static __attribute__((noinline, unused)) u64 dp_xmm_live(u32 n)
{
	u64 value = 0;

	switch (n) {
#define LIVE(number, name)                                              \
	case (number)-DP_REG_XMM:                                       \
		__asm__ volatile("movq %%" #name ", %0" : "=r"(value)); \
		break;
		DP_VECTOR_REGS(LIVE)
#undef LIVE
	}
	return value;
}

/**
 * dp_xmm() - the low half of vector register @n, of a thread that has hit
 * @fpstate: address of the vector state that the kernel has saved; 0: the registers have it
 */
static inline u64 dp_xmm(u64 fpstate, u32 n)
{
	u64 at = fpstate + DP_FPSTATE_XMM0 + (u64)n * DP_FPSTATE_XMM_SIZE;

	return fpstate ? *(const volatile u64 *)at : dp_xmm_live(n);
}

#endif
