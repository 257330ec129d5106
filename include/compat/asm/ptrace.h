/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Registers, with the names that kernel code uses. */
#ifndef DP_ASM_PTRACE_H
#define DP_ASM_PTRACE_H

/* The system's header has a struct pt_regs of its own and is left out. */
#include <stdbool.h>
#include <dprobes/regs.h>

/* A probed function stands for one of the kernel. */
#define user_mode(regs) ((void)(regs), 0)

#define PT_REGS_PARM1(x) ((x)->di)
#define PT_REGS_PARM2(x) ((x)->si)
#define PT_REGS_PARM3(x) ((x)->dx)
#define PT_REGS_PARM4(x) ((x)->cx)
#define PT_REGS_PARM5(x) ((x)->r8)
#define PT_REGS_PARM6(x) ((x)->r9)
#define PT_REGS_RET(x) ((x)->sp)
#define PT_REGS_FP(x) ((x)->bp)
#define PT_REGS_RC(x) ((x)->ax)
#define PT_REGS_SP(x) ((x)->sp)
#define PT_REGS_IP(x) ((x)->ip)

static inline void regs_set_return_value(struct pt_regs *regs,
					 unsigned long value)
{
	regs->ax = value;
}

/** override_function_with_return() - of a pre_handler at a function's entry: the function
 *  is not executed, and returns what regs_set_return_value() says. The handler has to
 *  return 1. */
extern const char dp_compat_just_return[] __attribute__((visibility("default")));
static inline void override_function_with_return(struct pt_regs *regs)
{
	regs->ip = (unsigned long)dp_compat_just_return;
}

static inline int is_syscall_success(const struct pt_regs *regs)
{
	return regs->ax < (unsigned long)-4095;
}

/** regs_get_kernel_stack_nth() - a word of the stack, @n words from its top */
static inline unsigned long
regs_get_kernel_stack_nth(const struct pt_regs *regs, unsigned int n)
{
	return ((const unsigned long *)regs->sp)[n];
}

/** regs_get_register() - one at a byte offset into struct pt_regs, or 0 */
static inline unsigned long regs_get_register(const struct pt_regs *regs,
					      unsigned int offset)
{
	if (offset > sizeof(*regs) - sizeof(long))
		return 0;
	return *(const unsigned long *)((const char *)regs + offset);
}

static inline bool regs_irqs_disabled(const struct pt_regs *regs)
{
	return !(regs->flags & 0x200);
}

#endif
