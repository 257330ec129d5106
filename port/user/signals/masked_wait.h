/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* masked_wait: system calls that sleep under a mask of their own (the pselect class). */
#ifndef DP_SIGNALS_MASKED_WAIT_H
#define DP_SIGNALS_MASKED_WAIT_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/layout/private.h"

#pragma GCC visibility push(hidden)

/**
 * dp_masked_wait_enter() - a masked wait may be about to begin
 * @site: of the intercept before the call; @nr: number of the call
 * @regs: of the thread; the register with the mask may change
 */
void dp_masked_wait_enter(const struct dp_site_entry *site, u64 nr,
			  struct dp_mcontext *regs);
/** dp_masked_wait_return() - a masked wait may have returned */
void dp_masked_wait_return(struct dp_mcontext *regs);
/** dp_masked_wait_come_through() - a masked wait that musl's __syscall_cp() made may have
 *  returned; @site: of the intercept behind the call of that function */
void dp_masked_wait_come_through(const struct dp_site_entry *site,
				 const struct dp_mcontext *regs);
/** dp_masked_wait_of() - the masked wait that a signal has interrupted, or has kept from
 *  sleeping; or NULL */
struct dp_masked_wait *dp_masked_wait_of(struct dp_mcontext *regs);
/** dp_masked_wait_in_kernel() - the interrupted masked wait that did not pass through the
 *  agent and lets @sig come; or NULL. Only while our actions come or go. */
const struct dp_kernel_wait *
dp_masked_wait_in_kernel(const struct dp_mcontext *regs, s32 sig);
/**
 * dp_masked_wait_delay() - keep a signal that has come too early for a masked wait
 * Return: true if the signal waits in the kernel for the call that opens it.
 */
bool dp_masked_wait_delay(const struct dp_siginfo *info,
			  struct dp_ucontext *uc);
/** dp_masked_wait_again() - restart a masked wait that a signal should not have ended */
void dp_masked_wait_again(const struct dp_siginfo *info,
			  struct dp_ucontext *uc);
/** dp_masked_wait_give_back() - a fork child leaves: handlers that run in masked waits will
 *  return to the virtual mask outside them */
void dp_masked_wait_give_back(void);
/** dp_masked_wait_forget() - drop the entries of a thread that has ended or not begun */
void dp_masked_wait_forget(u64 thread);

#pragma GCC visibility pop

#endif
