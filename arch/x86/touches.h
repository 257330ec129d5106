/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* touches: registers that a handler touches, and those by which its code is followed. */
#ifndef DP_X86_TOUCHES_H
#define DP_X86_TOUCHES_H

#include "port_types.h"

/* General registers by number: as many; the stack pointer; the frame pointer; of a function's result;
 * of its second argument */
#define DP_GPRS 16
#define DP_GPR_SP 4
#define DP_GPR_FP 5
#define DP_GPR_RESULT 0
#define DP_GPR_ARG2 6

/* @touches of struct dp_probe_entry has a bit for each general register, by its number. That of the
 * stack pointer: it is read from the argument. One more: the instruction pointer is. */
#define DP_TOUCHES_SP (1u << DP_GPR_SP)
#define DP_TOUCHES_IP (1u << 16)

/* Registers that a handler may touch which pairs.S calls with r9 in use: rax, rcx, rdx, rsi, rdi, r8; and all that
 * it can save: r9 to r11, besides, and the stack pointer and the instruction pointer */
#define DP_TOUCHES_FEW 0x1c7u
#define DP_TOUCHES_SOME (0xfc7u | DP_TOUCHES_SP | DP_TOUCHES_IP)

/** dp_touches_slot() - where struct dp_regs has general register @n */
static inline u8 dp_touches_slot(u32 n)
{
	static const u8 slots[DP_GPRS] = { 80, 88, 96, 40, 152, 32, 104, 112,
					   72, 64, 56, 48, 24,	16, 8,	 0 };

	return slots[n];
}

/** dp_touches_field() - what a handler touches that accesses its argument
 *  @offset: of the byte in struct dp_regs; @stores: it may write there
 *  Return: ~0: what the detour of a followed handler has not, or cannot put back. */
static inline u32 dp_touches_field(u64 offset, bool stores)
{
	u32 n;

	for (n = 0; n < DP_GPRS; n++)
		if (offset - dp_touches_slot(n) < 8)
			return n == DP_GPR_SP && stores ? ~0u : 1u << n;
	return offset - 128 < 8 && !stores ? DP_TOUCHES_IP : ~0u;
}

#endif
