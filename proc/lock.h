/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lock: one tool at a time at one process.
 *
 * Context of every function: any process, may sleep for some seconds.
 */
#ifndef DP_PROC_LOCK_H
#define DP_PROC_LOCK_H

struct dp_diag;
struct dp_process;

/** enum dp_lock - work at a process that one tool does at a time; see lock.c */
enum dp_lock {
	DP_LOCK_AGENT, /* an agent is put in, is there, or is taken out */
	DP_LOCK_ORDER, /* the process is asked to do something: lib/service.h */
};

/**
 * dp_process_lock() - keep other tools out, as long as @proc is open
 *
 * It waits for some seconds; not for a tool whose probes are there already.
 * Return: 0; -EBUSY another tool has it; with words.
 */
int dp_process_lock(const struct dp_process *proc, enum dp_lock which,
		    struct dp_diag *diag);

/** dp_process_unlock() - before that */
void dp_process_unlock(const struct dp_process *proc, enum dp_lock which);

#endif
