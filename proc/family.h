/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * family: processes that stay traced, and what becomes of them.
 *
 * Context of every function: tool process, the one thread that traces.
 */
#ifndef DP_PROC_FAMILY_H
#define DP_PROC_FAMILY_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_family;
struct dp_process;

enum dp_family_what {
	DP_FAMILY_NOTHING,
	DP_FAMILY_FORKED, /* @pid, by @proc, with memory of its own; it waits */
	DP_FAMILY_EXECED, /* @pid, which was @proc if it had probes; it waits */
	DP_FAMILY_EXITED, /* @pid, likewise, with wait(2) status @status */
};

struct dp_family_event {
	enum dp_family_what what;
	struct dp_process *proc;
	pid_t pid;
	int status;
	u32 maker_ns; /* id of the thread that forked, in its namespace */
	pid_t waiting; /* and that thread, if it waits, too */
	/* while the probes of @proc were being put in, or replaced */
	bool mixed;
};

/** dp_family_open() - nobody is followed yet. Blocks SIGCHLD.
 *  Return: 0 or a negative errno. */
int dp_family_open(struct dp_family **family);
/** dp_family_close() - whoever still is goes on unfollowed when the tool ends */
void dp_family_close(struct dp_family *family);
/** dp_family_add() - a process, and whatever it makes, from now on; one that has
 *  been launched, before dp_process_install(). Return: 0 or an errno. */
int dp_family_add(struct dp_family *family, struct dp_process *proc);
/** dp_family_any() - is there still anybody? */
bool dp_family_any(const struct dp_family *family);

/**
 * dp_family_next() - wait for something to happen
 * @timeout_ms: longest wait in ms. A signal that the caller handles ends it early.
 *
 * Who is in DP_FAMILY_FORKED or _EXECED waits for dp_process_fork() or
 * dp_process_renew(), or for dp_family_let_go(). It returns at once where
 * dp_family_trapped() would say so.
 */
enum dp_family_what dp_family_next(struct dp_family *family, int timeout_ms,
				   struct dp_family_event *event);

/** dp_family_trapped() - has a breakpoint's signal been handed on since this was asked
 *  last? It may be a dynamic linker's, who is about to ask. */
bool dp_family_trapped(struct dp_family *family);
/** dp_family_birth() - the first DP_FAMILY_FORKED of a process that has been heard of.
 *  Return: false: there is none. */
bool dp_family_birth(struct dp_family *family, const struct dp_process *proc,
		     struct dp_family_event *event);
/** dp_family_pass() - take notice of what has happened, without waiting */
void dp_family_pass(struct dp_family *family);
/** dp_family_let_go() - it goes on without probes, and is still followed */
void dp_family_let_go(struct dp_family *family,
		      const struct dp_family_event *event);

/**
 * dp_process_fork() - the process of DP_FAMILY_FORKED, with its parent's probes
 *
 * They are its own from then on: see dp_process_engine(). It waits for
 * dp_family_begin(); on failure it goes on.
 * Return: 0 or a negative errno with words.
 */
int dp_process_fork(struct dp_family *family,
		    const struct dp_family_event *event,
		    struct dp_process **child, struct dp_diag *diag);

/** dp_family_begin() - a process that waits goes on, and who is kept waiting for the
 *  event */
void dp_family_begin(struct dp_process *proc,
		     const struct dp_family_event *event);
/** dp_family_let_on() - only the latter, where there is no process any more */
void dp_family_let_on(const struct dp_family_event *event);

/**
 * dp_process_renew() - the process of DP_FAMILY_EXECED, as dp_process_launch()
 * leaves it: stopped before the first code of its own
 *
 * It waits for dp_process_install(), or dp_process_close(). On failure it goes on.
 * Return: as dp_process_attach().
 */
int dp_process_renew(struct dp_family *family,
		     const struct dp_family_event *event,
		     struct dp_process **proc, struct dp_diag *diag);

#endif
