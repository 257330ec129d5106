/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mask: virtual signal masks, which the program takes for its own. */
#ifndef DP_PORT_USER_SIGNALS_MASK_H
#define DP_PORT_USER_SIGNALS_MASK_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

#pragma GCC visibility push(hidden)

/** dp_mask_thread() - what this thread is known by: dp_thread_id() */
u64 dp_mask_thread(void);
/** dp_mask_catches() - is our action in force for the k-th caught signal? Where it is
 *  not, its masks and actions are the kernel's business */
bool dp_mask_catches(u32 k);
/** dp_mask_caught() - the signals of which that is so */
u64 dp_mask_caught(void);
/** dp_mask_blocked() - caught signals in this thread's virtual mask */
u64 dp_mask_blocked(void);
/** dp_mask_defer() - keep a signal until this thread unblocks it.
 *  Return: false if there is no room. */
bool dp_mask_defer(const struct dp_siginfo *info);
/** dp_mask_procmask() - make rt_sigprocmask(2) for the program. Return: its result */
s64 dp_mask_procmask(u64 how, u64 set, u64 old);
/** dp_mask_sigaction() - make rt_sigaction(2), of another signal than a caught one */
s64 dp_mask_sigaction(u64 sig, u64 from, u64 to);
/** dp_mask_pending() - make rt_sigpending(2) */
s64 dp_mask_pending(u64 set, u64 size);
/** dp_mask_lend() - a child is about to run with our thread pointer */
void dp_mask_lend(void);
/** dp_mask_set_trap() - such a child has set its SIGTRAP action */
void dp_mask_set_trap(u64 handler);
/** dp_mask_ignores() - is the k-th caught signal to be ignored after an exec? */
bool dp_mask_ignores(u32 k);
/** dp_mask_pass_on() - a thread is about to be made that begins with our mask */
void dp_mask_pass_on(u64 thread);
/** dp_mask_begin() - this thread has just been made, with this mask, by one that
 *  could not tell what it would be known by */
void dp_mask_begin(u64 mask);
/** dp_mask_forget() - this thread is about to end */
void dp_mask_forget(void);
/** dp_mask_set_virtual() - this thread's virtual mask from now on; lets deferred signals
 *  come that it opens. Return: false if there is no room. */
bool dp_mask_set_virtual(u64 mask);
/** dp_mask_defers() - are any deferred for it? */
bool dp_mask_defers(void);
/** dp_mask_get() - a mask of the program's. Return: 0, -EFAULT. */
int dp_mask_get(u64 *mask, u64 from);
/** dp_mask_give_back() - give the kernel the virtual masks */
void dp_mask_give_back(u64 *mask);
/** dp_mask_real() - block in the kernel what the virtual mask blocks, or not any more: for
 *  what comes after an exec */
void dp_mask_real(bool real);

#pragma GCC visibility pop

/* action: the program's own actions for the signals that we catch. */

#pragma GCC visibility push(hidden)

/** dp_caught_index() - which caught signal is it? DP_CAUGHT: none */
u32 dp_caught_index(u64 sig);

/** dp_action_get() - copy of the program's action for the k-th caught signal */
void dp_action_get(u32 k, struct dp_kernel_sigaction *action);

/** dp_action_set() - replace it; @old, if not NULL, gets what it was */
void dp_action_set(u32 k, const struct dp_kernel_sigaction *action,
		   struct dp_kernel_sigaction *old);

/** dp_intercept_take_actions() - put our actions in force, for this process */
void dp_intercept_take_actions(void);

#pragma GCC visibility pop

#endif
