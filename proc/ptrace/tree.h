/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tree: what proc/tree.h says, for those that hold the threads. Context: the tracing thread. */
#ifndef DP_PROC_PTRACE_TREE_H
#define DP_PROC_PTRACE_TREE_H

#include <sys/types.h>
#include "port_types.h"

struct dp_tree;
struct dp_process;

#define DP_TREE_OPTIONS                                                     \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | \
	 PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC)

/**
 * dp_tree_deal() - what waitpid(2) has said of a thread that is followed
 * @may_wait: nobody waits for this very thread, so that it may stay stopped
 * Return: false if it has ended, or has become another program.
 */
bool dp_tree_deal(struct dp_tree *tree, pid_t tid, int status, bool may_wait);

/** dp_tree_drop() - the object is about to go; the process is still followed */
void dp_tree_drop(struct dp_tree *tree, struct dp_process *proc);
/** dp_tree_let() - a stopped thread goes on; @group_stop: its process is stopped, for
 *  others than us */
void dp_tree_let(pid_t tid, bool group_stop);
/** dp_tree_join() - from now on @proc is among those that have probes. Return: 0; -ENOMEM. */
int dp_tree_join(struct dp_tree *tree, struct dp_process *proc);

#endif
