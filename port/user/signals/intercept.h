/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* intercept: system calls of the program that pass through the agent. */
#ifndef DP_SIGNALS_INTERCEPT_H
#define DP_SIGNALS_INTERCEPT_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/site.h"

#pragma GCC visibility push(hidden)

/**
 * dp_filter_install() - if a system call would install a seccomp filter, ask the tool first
 * @site: of the intercept; @regs: of the thread, before the call
 *
 * Waits until the tool has looked whether probes can go on under the filter. May not return:
 * the tool takes the probes away, and sends the thread to before the call.
 */
void dp_filter_install(const struct dp_site_entry *site,
		       struct dp_mcontext *regs);

/**
 * struct dp_observed_frame - what signals.S makes of a call from the detour of an observed call
 * @regs: general registers, as in struct dp_mcontext, without pc and stack pointer
 * @back: where the call returns to in the detour; @number: what the detour told
 */
struct dp_observed_frame {
	u64 regs[19];
	u64 back;
	u32 number, pad;
};

/** dp_intercept_detour() - a detour of an observed call has called out. Context: as the
 *  thread. */
void dp_intercept_detour(struct dp_observed_frame *frame);

/**
 * dp_intercept_observe() - an intercepted system call is about to be made, or has returned
 * @site: of the intercept; @regs: of the thread; changed where the call's are to differ
 * @after: the call has returned
 * Return: true if the agent answered the call instead, with the result in @regs.
 */
bool dp_intercept_observe(const struct dp_site_entry *site,
			  struct dp_mcontext *regs, bool after);

/** dp_intercept_undo_exec() - an exec has failed */
void dp_intercept_undo_exec(void);

/** struct dp_intercept_regs - registers of an intercepted system call, as saved by signals.S */
struct dp_intercept_regs {
	u64 nr;
	u64 args[6];
	u64 ret;
};

/**
 * dp_intercept_before() - an intercepted system call is about to be made
 * Return: non-zero if the agent answered the call, with the result in @regs->ret.
 */
int dp_intercept_before(struct dp_intercept_regs *regs);

/** dp_intercept_after() - an intercepted system call has returned, with @regs->ret */
void dp_intercept_after(struct dp_intercept_regs *regs);

#pragma GCC visibility pop

#endif
