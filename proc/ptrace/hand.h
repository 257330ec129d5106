/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hand: one thread of the target that is held to make calls, while the others run. */
#ifndef DP_PROC_PTRACE_HAND_H
#define DP_PROC_PTRACE_HAND_H

struct dp_diag;
struct dp_process;

/** dp_hand_begin() - hold a thread and make it ready for remote calls: @proc->hand.
 *  None if all of them are held already. */
int dp_hand_begin(struct dp_process *proc, struct dp_diag *diag);
void dp_hand_end(struct dp_process *proc);

#endif
