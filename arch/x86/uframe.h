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
#define FILL(reg, field) m->field = r->field;
	DP_REGS_OF(FILL)
#undef FILL
	m->rip = r->rip;
	m->cs = (u16)r->cs, m->ss = (u16)r->ss;
}

static inline void dp_uframe_load(struct user_regs_struct *r,
				  const struct dp_mcontext *m)
{
	u64 others = r->eflags & ~(u64)DP_X86_USER_FLAGS;

#define LOAD(reg, field) r->field = m->field;
	DP_REGS_OF(LOAD)
#undef LOAD
	r->eflags = others | (m->eflags & DP_X86_USER_FLAGS);
	r->rip = m->rip;
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
