/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rule: how a walk goes from a frame to its caller's.
 *
 *   CFA      the stack pointer before the call, to which the rule leads
 *   frame    the register that code may use as a frame pointer; the only one that walks follow
 *
 * The return address is in the word below the CFA, and the caller's stack pointer is the CFA.
 * Whatever a description says that is none of these is DP_RULE_NONE: a walk ends there.
 */
#ifndef DP_ARCH_RULE_H
#define DP_ARCH_RULE_H

#include "arch/x86/ptregs.h"

/** enum dp_rule_how - where the CFA is
 *  @DP_RULE_NONE: nothing is known; @DP_RULE_LAST: the code has no caller
 *  @DP_RULE_REG: register @base plus @cfa
 *  @DP_RULE_AT: what is in memory at register @base plus @cfa, plus @more
 *  @DP_RULE_PLT: of an entry of the PLT, whose second half, from @more on, has pushed one word more
 *          than @cfa
 *  @DP_RULE_SIGNAL: a signal has interrupted the caller; its registers are in a struct dp_ucontext
 *          at the stack pointer */
enum dp_rule_how {
	DP_RULE_NONE,
	DP_RULE_LAST,
	DP_RULE_REG,
	DP_RULE_AT,
	DP_RULE_PLT,
	DP_RULE_SIGNAL,
};

/** enum dp_rule_frame - where the caller's frame register is
 *  @DP_FRAME_SAME: it has not changed; @DP_FRAME_LOST: not known
 *  @DP_FRAME_AT_CFA: in memory at the CFA plus @frame; @DP_FRAME_AT_FRAME: at this register plus @frame */
enum dp_rule_frame {
	DP_FRAME_SAME,
	DP_FRAME_LOST,
	DP_FRAME_AT_CFA,
	DP_FRAME_AT_FRAME,
};

/* struct dp_rule: @ret: the return address is in the word below the CFA; or in the word below the red
 * zone that is below the CFA, and the thread goes on there itself: so has the agent an intercepted call */
#define DP_RULE_RET_BELOW 0xff
#define DP_RULE_RET_SKIPPED 0xfe

/**
 * struct dp_rule - of one or more instructions
 * @how: enum dp_rule_how; @base: the machine's number of a register
 * @frame_how: enum dp_rule_frame
 * @ret: number of the register that has the return address, or DP_RULE_RET_*
 */
struct dp_rule {
	u8 how, base, frame_how, ret;
	s32 cfa, more, frame;
};

/* The machine's numbers of the stack pointer and of the frame register */
#define DP_RULE_SP 4
#define DP_RULE_FRAME 5

/* DWARF's numbers */
#define DP_DWARF_FRAME 6
#define DP_DWARF_SP 7
#define DP_DWARF_PC 16

/** dp_rule_number() - the machine's number of a general register, by DWARF's */
static inline u8 dp_rule_number(u8 dwarf)
{
	/* ax dx cx bx si di bp sp; then as the machine has them */
	return dwarf < 8 ? 0x45763120u >> 4 * dwarf & 7 : dwarf;
}

/* An entry of the PLT has so many bytes; its code is aligned to them. */
#define DP_RULE_PLT_ENTRY 16

/* Where in a struct dp_ucontext a signal has put registers */
#define DP_SIGNAL_SP offsetof(struct dp_ucontext, mc.rsp)
#define DP_SIGNAL_PC offsetof(struct dp_ucontext, mc.rip)
#define DP_SIGNAL_FRAME offsetof(struct dp_ucontext, mc.rbp)

/* Likewise a word whose low half is the signal's number, which is this one for a breakpoint */
#define DP_SIGNAL_NUMBER \
	(offsetof(struct dp_sigframe, info) - offsetof(struct dp_sigframe, uc))
#define DP_SIGNAL_TRAP 5
#define DP_SIGNAL_CAUSE offsetof(struct dp_ucontext, mc.trapno)

/** dp_signal_register() - the same of a register by the machine's number */
static inline u32 dp_signal_register(u8 number)
{
#define AT(reg, field) offsetof(struct dp_ucontext, mc.field),
	static const u16 at[] = { DP_REGS_OF(AT) };
#undef AT

	return at[number & 15];
}

#endif
