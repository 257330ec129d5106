/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* follow: processes of a process tree get probes. Context: the tracing thread. */
#ifndef DP_PROC_TREE_FOLLOW_H
#define DP_PROC_TREE_FOLLOW_H

struct dp_tree;
struct dp_tree_event;
struct dp_process;

/** dp_tree_fail() - the process of an event cannot be probed: free @proc, if not NULL, and let
 *  the process go on without probes */
void dp_tree_fail(struct dp_tree *tree, const struct dp_tree_event *event,
		  struct dp_process *proc);

#endif
