/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ptregs: registers as handlers in C see them, and from and to a signal frame. */
#ifndef DP_ARCH_PTREGS_H
#define DP_ARCH_PTREGS_H

#include "arch/x86/sigframe.h"

/* The public struct pt_regs; the library checks that they agree. */
struct dp_regs {
	u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8;
	u64 ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#define DP_USER_CS 0x33
#define DP_USER_SS 0x2b
#define DP_NO_SYSCALL (~0ull)

static inline void dp_regs_from(struct dp_regs *r, const struct dp_mcontext *m)
{
	r->r15 = m->r15;
	r->r14 = m->r14;
	r->r13 = m->r13;
	r->r12 = m->r12;
	r->bp = m->rbp;
	r->bx = m->rbx;
	r->r11 = m->r11;
	r->r10 = m->r10;
	r->r9 = m->r9;
	r->r8 = m->r8;
	r->ax = m->rax;
	r->cx = m->rcx;
	r->dx = m->rdx;
	r->si = m->rsi;
	r->di = m->rdi;
	r->orig_ax = DP_NO_SYSCALL;
	r->ip = m->rip;
	r->cs = DP_USER_CS;
	r->flags = m->eflags;
	r->sp = m->rsp;
	r->ss = DP_USER_SS;
}

/* All but ip. */
static inline void dp_regs_to(const struct dp_regs *r, struct dp_mcontext *m)
{
	m->r15 = r->r15;
	m->r14 = r->r14;
	m->r13 = r->r13;
	m->r12 = r->r12;
	m->rbp = r->bp;
	m->rbx = r->bx;
	m->r11 = r->r11;
	m->r10 = r->r10;
	m->r9 = r->r9;
	m->r8 = r->r8;
	m->rax = r->ax;
	m->rcx = r->cx;
	m->rdx = r->dx;
	m->rsi = r->si;
	m->rdi = r->di;
	m->eflags = r->flags;
	m->rsp = r->sp;
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
