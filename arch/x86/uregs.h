/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* uregs: arch/uregs.h for x86-64. Source: x86-64 psABI, A.2.1; ptrace(2). */
#ifndef DP_ARCH_X86_UREGS_H
#define DP_ARCH_X86_UREGS_H

#include <sys/user.h>
#include "arch/x86/calls.h"
#include "arch/x86/ptregs.h"
#include "port_types.h"

#define DP_X86_DF 0x400ull

static inline void dp_uregs_from(struct user_regs_struct *u,
				 const struct dp_regs *r)
{
#define FROM(reg, field) u->field = r->reg;
	DP_REGS_OF(FROM)
#undef FROM
	u->rip = r->ip;
	u->orig_rax = DP_NO_SYSCALL;
}

static inline u64 dp_uregs_pc(const struct user_regs_struct *r)
{
	return r->rip;
}

static inline void dp_uregs_set_pc(struct user_regs_struct *r, u64 pc)
{
	r->rip = pc;
}

static inline u64 dp_uregs_sp(const struct user_regs_struct *r)
{
	return r->rsp;
}

static inline void dp_uregs_set_sp(struct user_regs_struct *r, u64 sp)
{
	r->rsp = sp;
}

static inline u64 dp_uregs_thread(const struct user_regs_struct *r)
{
	return r->fs_base;
}

static inline s64 dp_uregs_call(const struct user_regs_struct *r)
{
	return (s64)r->orig_rax;
}

static inline void dp_uregs_leave_call(struct user_regs_struct *r)
{
	r->orig_rax = (unsigned long long)-1;
}

static inline s64 dp_uregs_ret(const struct user_regs_struct *r)
{
	return (s64)r->rax;
}

static inline u64 dp_uregs_number(const struct user_regs_struct *r)
{
	return r->rax;
}

static inline void dp_uregs_set_number(struct user_regs_struct *r, s64 nr)
{
	r->rax = (unsigned long long)nr;
}

static inline u64 dp_uregs_arg(const struct user_regs_struct *r, u32 n)
{
	return *DP_X86_ARG(r, n);
}

static inline void dp_uregs_set_first(struct user_regs_struct *r, u64 arg)
{
	r->rdi = arg;
}

static inline void dp_uregs_set_args(struct user_regs_struct *r,
				     const u64 args[6])
{
	r->rdi = args[0], r->rsi = args[1], r->rdx = args[2];
	r->r10 = args[3], r->r8 = args[4], r->r9 = args[5];
}

static inline void dp_uregs_spill(const struct user_regs_struct *r, u64 *words)
{
	const u64 spilt[DP_PLAIN_RETURN_WORDS] = { r->rdi, r->rsi, r->rdx,
						   r->r10, r->r8,  r->r9,
						   r->rax, r->rcx, r->r11,
						   r->rip };

	__builtin_memcpy(words, spilt, sizeof(spilt));
}

static inline void dp_uregs_retry(struct user_regs_struct *r, s64 nr)
{
	r->rax = (unsigned long long)nr;
	r->rip -= DP_SYSCALL_SIZE;
}

static inline void dp_uregs_clear_direction(struct user_regs_struct *r)
{
	r->eflags &= ~DP_X86_DF;
}

static inline void dp_uregs_end_intercept(struct user_regs_struct *r,
					  const u64 frame[8],
					  const u64 above[3])
{
	r->rdi = frame[1], r->rsi = frame[2], r->rdx = frame[3];
	r->r10 = frame[4], r->r8 = frame[5], r->r9 = frame[6];
	r->rax = frame[7];
	r->rsp = r->rbp + 3 * sizeof(u64) + DP_RED_ZONE_SIZE;
	r->rbp = above[0], r->r11 = r->eflags = above[1];
	r->rcx = r->rip = above[2];
	r->orig_rax = (unsigned long long)-1;
}

static inline u64 dp_uregs_above_intercept(const struct user_regs_struct *r)
{
	return r->rbp;
}

#define DP_UREGS_PLACES(r)                                                \
	.pc = (u64 *)&(r)->rip, .sp = (u64 *)&(r)->rsp,                   \
	.ret = (u64 *)&(r)->rax,                                          \
	.args = { (u64 *)&(r)->rdi, (u64 *)&(r)->rsi, (u64 *)&(r)->rdx,   \
		  (u64 *)&(r)->r10, (u64 *)&(r)->r8,  (u64 *)&(r)->r9 },  \
	.others = { (u64 *)&(r)->rcx, (u64 *)&(r)->rbx, (u64 *)&(r)->rbp, \
		    (u64 *)&(r)->r12, (u64 *)&(r)->r13, (u64 *)&(r)->r14, \
		    (u64 *)&(r)->r15 }

#endif
