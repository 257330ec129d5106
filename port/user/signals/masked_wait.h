/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* masked_wait: calls that wait under a mask of their own (the pselect class). */
#ifndef DP_SIGNALS_MASKED_WAIT_H
#define DP_SIGNALS_MASKED_WAIT_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/layout/private.h"

#pragma GCC visibility push(hidden)

/**
 * dp_masked_wait_enter() - one is about to be made
 * @site: of the intercept before it; @nr: its number
 * @regs: as they are then; that which has the mask may change
 */
void dp_masked_wait_enter(const struct dp_site_entry *site, u64 nr,
			  struct dp_mcontext *regs);
/** dp_masked_wait_return() - one may just have returned */
void dp_masked_wait_return(struct dp_mcontext *regs);
/** dp_masked_wait_come_through() - the same of one that another function makes; @site: of
 *  the intercept behind that */
void dp_masked_wait_come_through(const struct dp_site_entry *site,
				 const struct dp_mcontext *regs);
/** dp_masked_wait_of() - the call that a signal has interrupted or kept from going to
 *  sleep; or NULL */
struct dp_masked_wait *dp_masked_wait_of(struct dp_mcontext *regs);
/** dp_masked_wait_in_kernel() - the same, of one that was made without us and lets @sig come. Only
 *  while our actions come or go. */
const struct dp_kernel_wait *
dp_masked_wait_in_kernel(const struct dp_mcontext *regs, s32 sig);
/**
 * dp_masked_wait_delay() - a signal comes between the beginning of a call that opens it
 * and the call itself
 * Return: true if it waits for the call.
 */
bool dp_masked_wait_delay(const struct dp_siginfo *info,
			  struct dp_ucontext *uc);
/** dp_masked_wait_again() - what has interrupted a call was nothing to it */
void dp_masked_wait_again(const struct dp_siginfo *info,
			  struct dp_ucontext *uc);
/** dp_masked_wait_give_back() - a fork child leaves: its handlers return from such calls to
 *  the virtual mask outside */
void dp_masked_wait_give_back(void);
/** dp_masked_wait_forget() - there is no such thread any more, or none yet */
void dp_masked_wait_forget(u64 thread);

#pragma GCC visibility pop

#endif
