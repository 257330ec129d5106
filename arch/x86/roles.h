/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * roles: registers by the part that they play.
 *
 * Programs and handlers see struct dp_regs, which detours make. A signal, or the detour of
 * an intercepted call, leaves struct dp_mcontext.
 * The engine names no register; it calls these functions.
 *
 * Context of every function: any.
 */
#ifndef DP_ARCH_ROLES_H
#define DP_ARCH_ROLES_H

#include "arch/x86/arch_defs.h"
#include "arch/x86/bytes.h"
#include "arch/x86/ptregs.h"
#include "engine/insn/faults.h"

/*
 * Of both structures, for example dp_mcontext_pc() and dp_regs_pc():
 * pc      address of the thread's next instruction
 * sp      stack pointer
 * flags   for dp_branch_taken()
 * count   the counter of loop instructions, for dp_branch_taken()
 * ret     what a function returns, at its exit
 */
#define DP_ROLE(role, theirs, ours)                                       \
	static inline u64 dp_mcontext_##role(const struct dp_mcontext *m) \
	{                                                                 \
		return m->theirs;                                         \
	}                                                                 \
	static inline u64 dp_regs_##role(const struct dp_regs *r)         \
	{                                                                 \
		return r->ours;                                           \
	}
DP_ROLE(pc, rip, ip)
DP_ROLE(sp, rsp, sp)
DP_ROLE(flags, eflags, flags)
DP_ROLE(count, rcx, cx)
DP_ROLE(ret, rax, ax)
#undef DP_ROLE

static inline void dp_mcontext_set_pc(struct dp_mcontext *m, u64 pc)
{
	m->rip = pc;
}

static inline void dp_mcontext_set_sp(struct dp_mcontext *m, u64 sp)
{
	m->rsp = sp;
}

static inline void dp_regs_set_pc(struct dp_regs *r, u64 pc)
{
	r->ip = pc;
}

static inline void dp_regs_set_sp(struct dp_regs *r, u64 sp)
{
	r->sp = sp;
}

/** dp_mcontext_vectors() - address of the vector state that the kernel has saved; 0: the
 *  registers have it */
static inline u64 dp_mcontext_vectors(const struct dp_mcontext *m)
{
	return m->fpstate;
}

/** dp_mcontext_cause() - number of the exception that the processor has raised */
static inline u64 dp_mcontext_cause(const struct dp_mcontext *m)
{
	return m->trapno;
}

/** dp_mcontext_look() - the pc is about to change: up to then, @cause says that it is the trapped one */
static inline void dp_mcontext_look(struct dp_mcontext *m)
{
	__atomic_store_n(&m->trapno, m->rip, __ATOMIC_RELEASE);
}

/** dp_mcontext_trapped() - is the pc still the one at which a breakpoint has trapped? */
static inline bool dp_mcontext_trapped(u64 cause, u64 pc)
{
	return cause < 256 || cause == pc;
}

/**
 * dp_mcontext_unwound() - up to where an unwinder's instruction leaves the stack
 * @di: rdi has that address; else rcx points to the last word that is left
 */
static inline u64 dp_mcontext_unwound(const struct dp_mcontext *m, bool di)
{
	return di ? m->rdi : m->rcx + sizeof(u64);
}

static inline u64 dp_regs_unwound(const struct dp_regs *r, bool di)
{
	return di ? r->di : r->cx + sizeof(u64);
}

/** dp_mcontext_set_up() - the thread goes on in dp_call_fast_up() (entry.S)
 *  @frame, @stack: its arguments: struct dp_call_frame, struct dp_stack */
static inline void dp_mcontext_set_up(struct dp_mcontext *m, u64 frame,
				      u64 stack)
{
	m->rbx = frame;
	m->r12 = stack;
}

/** dp_mcontext_arg() - address of argument @n, from 0, of a system call */
static inline u64 *dp_mcontext_arg(struct dp_mcontext *m, u32 n)
{
	return DP_X86_ARG(m, n);
}

/** dp_regs_behind_syscall() - a system call leaves the address behind it in rcx */
static inline void dp_regs_behind_syscall(struct dp_regs *r, u64 pc)
{
	r->cx = pc;
}

/** dp_regs_exception() - the exception that passes the landing pad of a stub */
static inline u64 dp_regs_exception(const struct dp_regs *r)
{
	return r->ax;
}

/* Of a struct _Unwind_Exception: @private_2: the stack pointer with which the exception is caught */
#define DP_EXCEPTION_CATCHER 24

/** dp_regs_landing() - where an unwinder is about to set the stack pointer: behind the word at rcx */
static inline u64 dp_regs_landing(const struct dp_regs *r)
{
	return r->cx + sizeof(u64);
}

/** dp_regs_set_arg() - the first argument of a function that is about to be called */
static inline void dp_regs_set_arg(struct dp_regs *r, u64 value)
{
	r->di = value;
}

/* Registers before orig_ax. */
#define DP_REGS_GENERAL 15

/** dp_regs_take() - copy the registers that a handler may change, except the pc */
static inline void dp_regs_take(struct dp_regs *to, const struct dp_regs *from)
{
	dp_bytes_copy(to, from, DP_REGS_GENERAL * sizeof(u64));
	to->flags = from->flags;
	to->sp = from->sp;
}

#endif
