/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * tree: processes that stay traced, and what becomes of them.
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
	DP_TREE_FORKED, /* @pid, by @proc, with memory of its own; it waits */
	DP_TREE_EXECED, /* @pid, which was @proc if it had probes; it waits */
	DP_TREE_EXITED, /* @pid, likewise, with wait(2) status @status */
};

struct dp_tree_event {
	enum dp_tree_what what;
	struct dp_process *proc;
	pid_t pid;
	int status;
	u32 maker_ns; /* id of the thread that forked, in its namespace */
	pid_t waiting; /* and that thread, if it waits, too */
	/* while the probes of @proc were being put in, or replaced */
	bool mixed;
};

/** dp_tree_open() - nobody is followed yet. Blocks SIGCHLD.
 *  Return: 0 or a negative errno. */
int dp_tree_open(struct dp_tree **tree);
/** dp_tree_close() - whoever still is goes on unfollowed when the tool ends */
void dp_tree_close(struct dp_tree *tree);
/** dp_tree_add() - a process, and whatever it makes, from now on; one that has
 *  been launched, before dp_process_install(). Return: 0 or an errno. */
int dp_tree_add(struct dp_tree *tree, struct dp_process *proc);
/** dp_tree_any() - is there still anybody? */
bool dp_tree_any(const struct dp_tree *tree);

/**
 * dp_tree_next() - wait for something to happen
 * @timeout_ms: longest wait in ms. A signal that the caller handles ends it early.
 *
 * Who is in DP_TREE_FORKED or _EXECED waits for dp_process_fork() or
 * dp_process_renew(), or for dp_tree_let_go(). It returns at once where
 * dp_tree_trapped() would say so.
 */
enum dp_tree_what dp_tree_next(struct dp_tree *tree, int timeout_ms,
			       struct dp_tree_event *event);

/** dp_tree_trapped() - has a breakpoint's signal been handed on since this was asked
 *  last? It may be a dynamic linker's, who is about to ask. */
bool dp_tree_trapped(struct dp_tree *tree);
/** dp_tree_birth() - the first DP_TREE_FORKED of a process that has been heard of.
 *  Return: false: there is none. */
bool dp_tree_birth(struct dp_tree *tree, const struct dp_process *proc,
		   struct dp_tree_event *event);
/** dp_tree_pass() - take notice of what has happened, without waiting */
void dp_tree_pass(struct dp_tree *tree);
/** dp_tree_let_go() - it goes on without probes, and is still followed */
void dp_tree_let_go(struct dp_tree *tree, const struct dp_tree_event *event);

/**
 * dp_process_fork() - the process of DP_TREE_FORKED, with its parent's probes
 *
 * They are its own from then on: see dp_process_engine(). It waits for
 * dp_tree_begin(); on failure it goes on.
 * Return: 0 or a negative errno with words.
 */
int dp_process_fork(struct dp_tree *tree, const struct dp_tree_event *event,
		    struct dp_process **child, struct dp_diag *diag);

/** dp_tree_begin() - a process that waits goes on, and who is kept waiting for the
 *  event */
void dp_tree_begin(struct dp_process *proc, const struct dp_tree_event *event);
/** dp_tree_let_on() - only the latter, where there is no process any more */
void dp_tree_let_on(const struct dp_tree_event *event);

/**
 * dp_process_renew() - the process of DP_TREE_EXECED, as dp_process_launch()
 * leaves it: stopped before the first code of its own
 *
 * It waits for dp_process_install(), or dp_process_close(). On failure it goes on.
 * Return: as dp_process_attach().
 */
int dp_process_renew(struct dp_tree *tree, const struct dp_tree_event *event,
		     struct dp_process **proc, struct dp_diag *diag);

#endif
