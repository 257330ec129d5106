/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * masks: take caught signals out of the signal masks of a process, and put them back.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SIGNALS_MASKS_H
#define DP_PROC_SIGNALS_MASKS_H

#include "port_types.h"

struct dp_arena_control;
struct dp_process;
struct dp_view;

#define DP_SIGTRAP_BIT (1ull << 4)

/** dp_masks_note() - tell the agent the masked waits that stopped threads are in, for the time
 *  from the agent's actions to dp_masks_take(). Return: 0; -ENOMEM; as dp_process_write(). */
int dp_masks_note(struct dp_process *proc);
/** dp_masks_forget_noted() - clear the masked waits that dp_masks_note() has written */
void dp_masks_forget_noted(struct dp_process *proc, u64 base);
/** dp_masks_in_force() - tell the hit half whether all actions are the agent's and all masks
 *  lack the caught signals. Return: as dp_process_write(). */
int dp_masks_in_force(struct dp_process *proc, u64 base, bool all);
/** dp_masks_take() - take caught signals out of the masks of stopped threads, from the
 *  @from-th on */
int dp_masks_take(struct dp_process *proc, size_t from);
/** dp_masks_return() - set the masks of stopped threads to their virtual masks
 *  @late: the intercepts are out; only threads that were not stopped the first time
 *  Return: 0; -ENOMEM, -ESRCH: no mask has been set. */
int dp_masks_return(struct dp_process *proc, const struct dp_view *view,
		    bool late);

/**
 * dp_masks_settle() - release first the threads that resume a masked wait
 *
 * Each gets its deferred signals once it sleeps again, under the mask of the wait. The other
 * threads stay held meanwhile, so that they send no signal.
 */
void dp_masks_settle(struct dp_process *proc);

/** dp_masks_waking() - is a signal pending for a stopped thread in a masked wait, that the
 *  mask of the wait lets through? */
bool dp_masks_waking(const struct dp_process *proc, u64 base);
/** dp_masks_absent() - has a thread that is not stopped a caught signal in its virtual mask, or
 *  an entry among the agent's masked waits? True also if there is no memory to look. */
bool dp_masks_absent(const struct dp_process *proc, u64 base);
/** dp_masks_action() - rt_sigaction(2) by a remote call; @from, @to: addresses there, or 0
 *  Return: of the call */
int dp_masks_action(struct dp_process *proc, u32 sig, u64 from, u64 to);
/** dp_masks_take_actions(), dp_masks_return_actions() - the same for the masks (sa_mask) of
 *  signal actions. Return: 0 or a negative errno. */
int dp_masks_take_actions(struct dp_process *proc);
int dp_masks_return_actions(struct dp_process *proc,
			    const struct dp_arena_control *control);

#endif
