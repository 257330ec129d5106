/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* fork: a fork child of a probed process becomes a probed process of its own. */
#ifndef DP_PROC_TREE_FORK_H
#define DP_PROC_TREE_FORK_H

struct dp_process;

/** dp_process_hold() - it is stopped, with one thread. Return: 0 or an errno. */
int dp_process_hold(struct dp_process *proc);
void dp_process_let_go(struct dp_process *proc);

#endif
