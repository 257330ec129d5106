/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tree: the process tree, for code that stops threads. Context: the tracing thread. */
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
 * struct dp_traced - what is done with threads of a process that is traced for itself alone
 * @begin: a thread is stopped, perhaps for the first time
 * @trap: a thread has stopped for SIGTRAP. Return: the signal that it gets, or 0; negative: it stays
 *        stopped, and is asked for again
 * @full: no more traps are taken until the tool has seen to these
 *
 * Children of the process are let go as they are born.
 */
struct dp_traced {
	void (*begin)(struct dp_traced *traced, pid_t tid);
	int (*trap)(struct dp_traced *traced, pid_t tid);
	bool full;
};

/** dp_tree_alone() - of an empty tree: it has one process, which is traced for itself alone */
void dp_tree_alone(struct dp_tree *tree, struct dp_traced *traced);

/**
 * dp_tree_deal() - handle what waitpid(2) has said of a thread of the process tree
 * @may_wait: the thread may stay stopped, as no caller waits for it
 * Return: false if the thread has ended, or has executed another program.
 */
bool dp_tree_deal(struct dp_tree *tree, pid_t tid, int status, bool may_wait);

/** dp_tree_drop() - forget an object that is about to be freed; its process is still followed,
 *  unless it @parts */
void dp_tree_drop(struct dp_tree *tree, struct dp_process *proc, bool parts);
/** dp_tree_let() - let a stopped thread go on; @group_stop: it stays in its group stop */
void dp_tree_let(pid_t tid, bool group_stop);
/** dp_tree_join() - add @proc to the tree's processes with probes. Return: 0; -ENOMEM. */
int dp_tree_join(struct dp_tree *tree, struct dp_process *proc);

#endif
