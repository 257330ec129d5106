/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uframe: arch/uframe.h for x86-64. */
#ifndef DP_ARCH_X86_UFRAME_H
#define DP_ARCH_X86_UFRAME_H

#include <sys/user.h>
#include "arch/x86/arch_defs.h"
#include "arch/x86/roles.h"

#define DP_X86_USER_FLAGS 0x40cd5u /* AC OF DF SF ZF AF PF CF */

#define DP_UFRAME_PC offsetof(struct dp_sigframe, uc.mc.rip)
#define DP_UFRAME_FLAGS offsetof(struct dp_sigframe, uc.mc.eflags)

static inline void dp_uframe_fill(struct dp_mcontext *m,
				  const struct user_regs_struct *r)
{
	m->r8 = r->r8, m->r9 = r->r9, m->r10 = r->r10, m->r11 = r->r11;
	m->r12 = r->r12, m->r13 = r->r13, m->r14 = r->r14, m->r15 = r->r15;
	m->rdi = r->rdi, m->rsi = r->rsi, m->rbp = r->rbp, m->rbx = r->rbx;
	m->rdx = r->rdx, m->rax = r->rax, m->rcx = r->rcx, m->rsp = r->rsp;
	m->rip = r->rip, m->eflags = r->eflags;
	m->cs = (u16)r->cs, m->ss = (u16)r->ss;
}

static inline void dp_uframe_load(struct user_regs_struct *r,
				  const struct dp_mcontext *m)
{
	r->r8 = m->r8, r->r9 = m->r9, r->r10 = m->r10, r->r11 = m->r11;
	r->r12 = m->r12, r->r13 = m->r13, r->r14 = m->r14, r->r15 = m->r15;
	r->rdi = m->rdi, r->rsi = m->rsi, r->rbp = m->rbp, r->rbx = m->rbx;
	r->rdx = m->rdx, r->rax = m->rax, r->rcx = m->rcx, r->rsp = m->rsp;
	r->rip = m->rip;
	r->eflags = (r->eflags & ~(u64)DP_X86_USER_FLAGS) |
		    (m->eflags & DP_X86_USER_FLAGS);
	r->orig_rax = (unsigned long long)-1;
}

static inline bool dp_uframe_is_user(const struct dp_mcontext *m)
{
	return m->cs == DP_USER_CS;
}

static inline u64 dp_uframe_number(const struct dp_mcontext *m)
{
	return m->rax;
}

static inline u64 dp_uframe_arg(const struct dp_mcontext *m, u32 n)
{
	return *DP_X86_ARG(m, n);
}

#define DP_UFRAME_PLACES(m)                                           \
	.pc = &(m)->rip, .sp = &(m)->rsp,                             \
	.ret = &(m)->rax, .args = { &(m)->rdi, &(m)->rsi, &(m)->rdx,  \
				    &(m)->r10, &(m)->r8,  &(m)->r9 }, \
	.others = { &(m)->rcx, &(m)->rbx, &(m)->rbp, &(m)->r12,       \
		    &(m)->r13, &(m)->r14, &(m)->r15 }

#endif
