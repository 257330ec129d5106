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
/* Of the threads that hit */
#ifdef __KERNEL__
#define DP_HIT_CS 0x10
#define DP_HIT_SS 0x18
#else
#define DP_HIT_CS DP_USER_CS
#define DP_HIT_SS DP_USER_SS
#endif

/* Macros that stand for lists. X(field of struct dp_regs, field of struct dp_mcontext), by the
 * machine's numbers of the registers, 0 to 15; and the flags */
/* clang-format off */
#define DP_REGS_OF(X)                                                   \
	X(ax, rax) X(cx, rcx) X(dx, rdx) X(bx, rbx)                     \
	X(sp, rsp) X(bp, rbp) X(si, rsi) X(di, rdi)                     \
	X(r8, r8) X(r9, r9) X(r10, r10) X(r11, r11)                     \
	X(r12, r12) X(r13, r13) X(r14, r14) X(r15, r15)                 \
	X(flags, eflags)
/* clang-format on */

static inline void dp_regs_from(struct dp_regs *r, const struct dp_mcontext *m)
{
#define FROM(reg, field) r->reg = m->field;
	DP_REGS_OF(FROM)
#undef FROM
	r->orig_ax = DP_NO_SYSCALL;
	r->ip = m->rip;
	r->cs = DP_HIT_CS;
	r->ss = DP_HIT_SS;
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
#define AT(reg, field) __builtin_offsetof(struct dp_regs, reg),
	static const u8 at[] = { DP_REGS_OF(AT) };
#undef AT

	return (u64 *)((char *)r + at[number & 15]);
}

/** dp_regs_value() - its value; 0 for any other number */
static inline u64 dp_regs_value(struct dp_regs *r, u8 number)
{
	return number < 16 ? *dp_regs_number(r, number) : 0;
}

#endif
