/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mask: virtual masks, which the program takes for its threads' signal masks. */
#ifndef DP_PORT_USER_SIGNALS_MASK_H
#define DP_PORT_USER_SIGNALS_MASK_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

#pragma GCC visibility push(hidden)

/** dp_mask_thread() - dp_thread_id() of this thread */
u64 dp_mask_thread(void);
/** dp_mask_whose() - the same, and DP_MASK_VM_CHILD if the thread is a CLONE_VM child's */
u64 dp_mask_whose(void);
/** dp_mask_catches() - is our action in force for the k-th caught signal? If not, the
 *  kernel has the program's action and masks. */
bool dp_mask_catches(u32 k);
/** dp_mask_caught() - the signals for which our action is in force */
u64 dp_mask_caught(void);
/** dp_mask_blocked() - caught signals in this thread's virtual mask */
u64 dp_mask_blocked(void);
/** dp_mask_defer() - defer a signal until this thread unblocks it.
 *  Return: false if there is no room. */
bool dp_mask_defer(const struct dp_siginfo *info);
/** dp_mask_defer_none() - this fork child has none of its parent's deferred signals */
void dp_mask_defer_none(void);
/** dp_mask_procmask() - make rt_sigprocmask(2) for the program. Return: its result */
s64 dp_mask_procmask(u64 how, u64 set, u64 old);
/** dp_mask_sigaction() - make rt_sigaction(2) for the program, for a signal whose action is
 *  the kernel's. Return: its result */
s64 dp_mask_sigaction(u64 sig, u64 from, u64 to);
/** dp_mask_pending() - make rt_sigpending(2) for the program. Return: its result */
s64 dp_mask_pending(u64 set, u64 size);
/** dp_mask_lend() - a CLONE_VM child is about to run with this thread's pointer */
void dp_mask_lend(void);
/** dp_mask_set_ignored() - this CLONE_VM child has set the action of the k-th caught signal
 *  @ignored: to SIG_IGN */
void dp_mask_set_ignored(u32 k, bool ignored);
/** dp_mask_ignores() - is the k-th caught signal to be ignored after an exec? */
bool dp_mask_ignores(u32 k);
/** dp_mask_pass_on() - give a thread that is about to begin this thread's virtual mask
 *  @whose: what dp_mask_whose() will be there */
void dp_mask_pass_on(u64 whose);
/** dp_mask_vm_child() - DP_MASK_VM_CHILD, if this thread is a CLONE_VM child's; or 0 */
u64 dp_mask_vm_child(void);
/** dp_mask_begin() - set the virtual mask of this new thread, whose dp_thread_id() its
 *  parent could not know */
void dp_mask_begin(u64 mask);
/** dp_mask_forget() - this thread is about to end */
void dp_mask_forget(void);
/** dp_mask_set_virtual() - set this thread's virtual mask, and let the deferred signals
 *  come that it opens. Return: false if there is no room. */
bool dp_mask_set_virtual(u64 mask);
/** dp_mask_enter_virtual() - the same, but deferred signals do not come yet */
bool dp_mask_enter_virtual(u64 mask);
/** dp_mask_defers() - has this thread deferred signals? */
bool dp_mask_defers(void);
/** dp_mask_get() - read a signal mask of the program. Return: 0, -EFAULT. */
int dp_mask_get(u64 *mask, u64 from);
/** dp_mask_give_back() - give the kernel the virtual masks of actions, and this thread's
 *  @mask: of the signal frame that restores the thread's; NULL: set it at once */
void dp_mask_give_back(u64 *mask);
/** dp_mask_real() - block in the kernel what the virtual mask blocks, and leave it the
 *  signals that are deferred, for an exec
 *  @real: false: undo that; the signals that wait come, and are deferred */
void dp_mask_real(bool real);

/** dp_mask_give_back_actions() - give the kernel the virtual masks of actions */
void dp_mask_give_back_actions(void);
/** dp_mask_after() - the set of blocked signals @was after rt_sigprocmask(how, mask) */
u64 dp_mask_after(u64 how, u64 mask, u64 was);
/** dp_mask_let_come() - let the deferred signals come that neither the virtual mask nor a mark
 *  in @real, the mask that is restored next, blocks */
void dp_mask_let_come(u64 real);

/* marks: masks of handlers, whose caught signals the kernel keeps as marks. */

/** dp_marks_blocked() - the caught signals for which the kernel's mask @mask has marks */
u64 dp_marks_blocked(u64 mask);
/** dp_marks_plain() - the program's mask for the kernel's, without the virtual mask */
u64 dp_marks_plain(u64 mask);
/** dp_marks_of() - the kernel's mask for the program's, with marks if it has caught signals
 *  that the thread's virtual mask, @table, has not; @table: 0 for the mask of an action */
u64 dp_marks_of(u64 mask, u64 table);
/** dp_marks_real() - the kernel's mask of this thread */
u64 dp_marks_real(void);
/** dp_marks_here() - the same, if it has marks; or 0 */
u64 dp_marks_here(void);
/** dp_marks_see_mask() - the program sets a mask. If the eight signals differ in it, no masks
 *  have marks from here on. */
void dp_marks_see_mask(u64 mask);
/** dp_marks_leave() - restore the action of NUDGE, and drop those on their way */
void dp_marks_leave(void);
/** dp_marks_procmask() - make rt_sigprocmask(2), if the thread's mask has marks
 *  @set: NULL: only ask. Return: false if it has none */
bool dp_marks_procmask(const u64 *set, u64 how, u64 *before);
/** dp_marks_defer() - defer a signal until the kernel lets a NUDGE come to this thread.
 *  Return: false if that cannot be. */
bool dp_marks_defer(const struct dp_siginfo *info);
/** dp_marks_nudged() - is @info a NUDGE? It lets come what @mask, of its frame, does not
 *  block. */
bool dp_marks_nudged(const struct dp_siginfo *info, u64 *mask);

/* action: virtual actions, those that the program has set for caught signals. */

/** dp_caught_index() - the k of a caught signal; DP_CAUGHT: @sig is not caught */
u32 dp_caught_index(u64 sig);

/** dp_action_get() - copy the virtual action of the k-th caught signal */
void dp_action_get(u32 k, struct dp_kernel_sigaction *action);

/** dp_action_set() - set a virtual action; @old, if not NULL, gets the former one */
void dp_action_set(u32 k, const struct dp_kernel_sigaction *action,
		   struct dp_kernel_sigaction *old);

/** dp_intercept_take_actions() - put our actions in force for this process */
void dp_intercept_take_actions(void);

#pragma GCC visibility pop

#endif
