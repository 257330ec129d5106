/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Registers of a probed thread, with the kernel's field names.
 *
 * Handlers get a pointer to one. What they leave in it is in force when the
 * thread goes on: general registers and flags always, @ip only if the
 * pre_handler returns non-zero. @cs and @ss are there to be read.
 */
#ifndef DPROBES_REGS_H
#define DPROBES_REGS_H

#ifdef __cplusplus
extern "C" {
#endif

/* The system's <asm/ptrace.h> has a structure of this name and layout, with
 * other names in it. Whoever needs both includes this one first. */
#ifdef _ASM_X86_PTRACE_H
#error "include <dprobes/regs.h> before <asm/ptrace.h>"
#endif
#define _ASM_X86_PTRACE_H

/**
 * struct pt_regs - general registers, in the order in which the kernel saves them
 * @orig_ax: -1 in a handler
 * @ip: in a pre_handler the probe's address plus one, as behind an int3, in
 *      every mode; in a post_handler where the thread goes on; in a return
 *      handler the address that the function returns to
 *
 * Source: Linux, arch/x86/include/asm/ptrace.h.
 */
struct pt_regs {
	unsigned long r15;
	unsigned long r14;
	unsigned long r13;
	unsigned long r12;
	unsigned long bp;
	unsigned long bx;
	unsigned long r11;
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long flags;
	unsigned long sp;
	unsigned long ss;
};

/** regs_return_value() - what a function has returned, or what a call will have
 *  returned if a return handler changes it. Context: any. */
static __inline__ unsigned long regs_return_value(const struct pt_regs *regs)
{
	return regs->ax;
}

/** instruction_pointer() - @regs->ip. Context: any. */
static __inline__ unsigned long instruction_pointer(const struct pt_regs *regs)
{
	return regs->ip;
}

static __inline__ void instruction_pointer_set(struct pt_regs *regs,
					       unsigned long ip)
{
	regs->ip = ip;
}

static __inline__ unsigned long kernel_stack_pointer(const struct pt_regs *regs)
{
	return regs->sp;
}

static __inline__ unsigned long user_stack_pointer(const struct pt_regs *regs)
{
	return regs->sp;
}

static __inline__ unsigned long frame_pointer(const struct pt_regs *regs)
{
	return regs->bp;
}

/**
 * regs_get_kernel_argument() - an argument, at a function's first instruction
 * @n: 0 to 5: those that the System V ABI passes in registers; 0 for others
 */
static __inline__ unsigned long
regs_get_kernel_argument(const struct pt_regs *regs, unsigned int n)
{
	switch (n) {
	case 0:
		return regs->di;
	case 1:
		return regs->si;
	case 2:
		return regs->dx;
	case 3:
		return regs->cx;
	case 4:
		return regs->r8;
	case 5:
		return regs->r9;
	default:
		return 0;
	}
}

#ifdef __cplusplus
}
#endif
#endif
