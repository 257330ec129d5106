/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ptregs: registers as handlers in C see them, converted from and to a signal frame. */
#ifndef DP_ARCH_PTREGS_H
#define DP_ARCH_PTREGS_H

#include "arch/x86/sigframe.h"

/* The public struct pt_regs; the library checks that the two agree. */
struct dp_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	u64 ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#define DP_USER_CS 0x33
#define DP_USER_SS 0x2b
#define DP_NO_SYSCALL (~0ull)

/* Macros that stand for lists. X(field of struct dp_regs, field of struct dp_mcontext) */
/* clang-format off */
#define DP_REGS_OF(X)                                                   \
	X(r15, r15) X(r14, r14) X(r13, r13) X(r12, r12) X(bp, rbp)      \
	X(bx, rbx) X(r11, r11) X(r10, r10) X(r9, r9) X(r8, r8)          \
	X(ax, rax) X(cx, rcx) X(dx, rdx) X(si, rsi) X(di, rdi)          \
	X(flags, eflags) X(sp, rsp)
/* clang-format on */

static inline void dp_regs_from(struct dp_regs *r, const struct dp_mcontext *m)
{
#define FROM(reg, field) r->reg = m->field;
	DP_REGS_OF(FROM)
#undef FROM
	r->orig_ax = DP_NO_SYSCALL;
	r->ip = m->rip;
	r->cs = DP_USER_CS;
	r->ss = DP_USER_SS;
}

/* All but ip. */
static inline void dp_regs_to(const struct dp_regs *r, struct dp_mcontext *m)
{
#define TO(reg, field) m->field = r->reg;
	DP_REGS_OF(TO)
#undef TO
}

/** dp_regs_number() - a general register by the machine's number, 0 to 15 */
static inline u64 *dp_regs_number(struct dp_regs *r, u8 number)
{
	switch (number) {
	case 0:
		return &r->ax;
	case 1:
		return &r->cx;
	case 2:
		return &r->dx;
	case 3:
		return &r->bx;
	case 4:
		return &r->sp;
	case 5:
		return &r->bp;
	case 6:
		return &r->si;
	case 7:
		return &r->di;
	default: /* r8 to r11 and r12 to r15 stand in falling order */
		return number < 12 ? &r->r8 - (number - 8) :
				     &r->r12 - (number - 12);
	}
}

#endif
