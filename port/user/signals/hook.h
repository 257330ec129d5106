/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hook: system calls of the program that pass through the agent. */
#ifndef DP_SIGNALS_HOOK_H
#define DP_SIGNALS_HOOK_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/site.h"

#pragma GCC visibility push(hidden)

/**
 * dp_confine() - a system call is about to be made: should it install a seccomp filter,
 * wait for the tool, which looks whether probes can go on under that
 * @site: of the hook; @regs: as they are then
 *
 * May not return: the tool takes the probes away, and sends the thread to before the
 * call.
 */
void dp_confine(const struct dp_site_entry *site, struct dp_mcontext *regs);

/** dp_hook_undo_exec() - an exec has failed */
void dp_hook_undo_exec(void);

/** struct dp_hook_regs - registers of a hooked system call, as saved by signals.S */
struct dp_hook_regs {
	u64 nr;
	u64 args[6];
	u64 ret;
};

/**
 * dp_hook_before() - a hooked system call is about to be made
 * Return: non-zero if it was answered here, with the result in @regs->ret.
 */
int dp_hook_before(struct dp_hook_regs *regs);

/** dp_hook_after() - it has returned, with @regs->ret */
void dp_hook_after(struct dp_hook_regs *regs);

#pragma GCC visibility pop

#endif
