/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree: the process tree: processes that stay traced, and their events.
 *
 * Context of every function: tool process, the one thread that traces.
 */
#ifndef DP_PROC_TREE_H
#define DP_PROC_TREE_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_tree;
struct dp_process;

enum dp_tree_what {
	DP_TREE_NOTHING,
	DP_TREE_FORKED, /* @pid, a fork child of @proc; it waits */
	DP_TREE_EXECED, /* @pid, which was @proc if it had probes; it waits */
	DP_TREE_EXITED, /* @pid, likewise, with wait(2) status @status */
};

struct dp_tree_event {
	enum dp_tree_what what;
	struct dp_process *proc;
	pid_t pid;
	int status;
	u32 maker_ns; /* id, in its own namespace, of the thread that forked */
	pid_t waiting; /* that thread, if it waits, too */
	/* forked while the probes of @proc were being installed or taken out */
	bool mixed;
};

/** dp_tree_open() - an empty process tree. Blocks SIGCHLD.
 *  Return: 0 or a negative errno. */
int dp_tree_open(struct dp_tree **tree);
/** dp_tree_close() - processes still in the tree run on unfollowed when the tool ends */
void dp_tree_close(struct dp_tree *tree);
/** dp_tree_add() - follow a process, and all that it makes from now on; a launched one
 *  before dp_process_install(). Return: 0 or a negative errno. */
int dp_tree_add(struct dp_tree *tree, struct dp_process *proc);
/** dp_tree_any() - is any process still followed? */
bool dp_tree_any(const struct dp_tree *tree);

/**
 * dp_tree_next() - wait for an event
 * @timeout_ms: longest wait in ms. A signal that the caller handles ends it early.
 *
 * The process of DP_TREE_FORKED or _EXECED waits for dp_process_fork() or
 * dp_process_renew(), or for dp_tree_let_go(). It returns at once where
 * dp_tree_trapped() would be true.
 */
enum dp_tree_what dp_tree_next(struct dp_tree *tree, int timeout_ms,
			       struct dp_tree_event *event);

/** dp_tree_trapped() - has a breakpoint's signal been passed on since the last call?
 *  The breakpoint may be a loader event, about to wait for the tool. */
bool dp_tree_trapped(struct dp_tree *tree);
/** dp_tree_birth() - the first known DP_TREE_FORKED of @proc.
 *  Return: false: there is none. */
bool dp_tree_birth(struct dp_tree *tree, const struct dp_process *proc,
		   struct dp_tree_event *event);
/** dp_tree_pass() - take in what has happened, without waiting */
void dp_tree_pass(struct dp_tree *tree);
/** dp_tree_let_go() - let the process of an event run without probes; it is still
 *  followed */
void dp_tree_let_go(struct dp_tree *tree, const struct dp_tree_event *event);

/**
 * dp_process_fork() - open the process of DP_TREE_FORKED, with its parent's probes
 *
 * The child owns these probes from then on: see dp_process_engine(). It waits for
 * dp_tree_begin(); on failure it goes on.
 * Return: 0 or a negative errno with words.
 */
int dp_process_fork(struct dp_tree *tree, const struct dp_tree_event *event,
		    struct dp_process **child, struct dp_diag *diag);

/**
 * dp_tree_part() - follow a process no longer: none of its threads is traced
 *
 * One that is stopped stays so, and another tracer may come. If it is a child of the tool's, its end
 * is still an event, without @proc.
 * Return: 0; as dp_process_attach(), and it is still followed.
 */
int dp_tree_part(struct dp_tree *tree, struct dp_process *proc,
		 struct dp_diag *diag);

/** dp_tree_begin() - let a waiting process go on, and the thread that waits because of
 *  the event */
void dp_tree_begin(struct dp_process *proc, const struct dp_tree_event *event);
/** dp_tree_let_on() - let only that thread go on, where the process has ended */
void dp_tree_let_on(const struct dp_tree_event *event);

/**
 * dp_process_renew() - open the process of DP_TREE_EXECED, as dp_process_launch() leaves
 * it: stopped before the first code of its own
 *
 * It waits for dp_process_let_go(), or dp_process_close(). On failure it goes on.
 * Return: as dp_process_attach().
 */
int dp_process_renew(struct dp_tree *tree, const struct dp_tree_event *event,
		     struct dp_process **proc, struct dp_diag *diag);

#endif
