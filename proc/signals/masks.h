/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * masks: caught signals out of the signal masks of a process, and back into them.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SIGNALS_MASKS_H
#define DP_PROC_SIGNALS_MASKS_H

#include "port_types.h"

struct dp_arena_control;
struct dp_process;
struct dp_remote;
struct dp_view;

#define DP_SIGTRAP_BIT (1ull << 4)

/** dp_masks_note() - calls with a mask of their own that stopped threads are in: of use
 *  between our actions and dp_masks_take(). Return: 0, -EFAULT, -ENOMEM. */
int dp_masks_note(struct dp_process *proc);
/** dp_masks_forget_noted() - they are long over */
void dp_masks_forget_noted(struct dp_process *proc, u64 base);
/** dp_masks_in_force() - tell the hit half that actions and masks are all ours, or not
 *  for certain any more. Return: 0, -EFAULT. */
int dp_masks_in_force(struct dp_process *proc, u64 base, bool all);
/** dp_masks_take() - SIGTRAP out of the masks of stopped threads, from the @from-th on */
int dp_masks_take(struct dp_process *proc, size_t from);
/** dp_masks_return() - and back, for those whose virtual mask has it
 *  @late: once more when the intercepts are out, for threads that were not stopped yet */
void dp_masks_return(struct dp_process *proc, const struct dp_view *view,
		     bool late);

/**
 * dp_masks_settle() - let those go first who go back to sleep
 *
 * The kernel has their usual mask in force until then. The others are held, so
 * that no signal of theirs comes meanwhile.
 */
void dp_masks_settle(struct dp_process *proc);

/** dp_masks_waking() - is a stopped thread, in a call with a mask of its own, about
 *  to get a signal that the call's mask lets through? */
bool dp_masks_waking(const struct dp_process *proc, u64 base);
/** dp_masks_absent() - does the virtual mask of a thread that is not stopped have it, or
 *  does one sleep under a mask that is ours? */
bool dp_masks_absent(const struct dp_process *proc, u64 base);
/** dp_masks_take_actions(), dp_masks_return_actions() - the same for the masks of
 *  signal actions */
int dp_masks_take_actions(struct dp_process *proc, struct dp_remote *remote);
int dp_masks_return_actions(struct dp_process *proc, struct dp_remote *remote,
			    const struct dp_arena_control *control);

#endif
