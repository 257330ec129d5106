/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call: have one of a process's own threads call a function there.
 *
 * Context: tool process; threads of the other process are held for a moment.
 */
#ifndef DP_PROC_CALL_H
#define DP_PROC_CALL_H

#include <stdbool.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/**
 * struct dp_call - a function of the process
 * @entry: its address. It gets @arg, and runs on the stack of a thread of the program,
 *         below what the thread uses; the stack need not be aligned. It returns.
 * @word_addr, @word: the caller has written @word there. A thread makes the call only if it
 *         finds the word, which proves that its memory is the one that the caller means.
 */
struct dp_call {
	u64 entry, arg;
	u64 word_addr, word;
};

/**
 * dp_process_call() - have an opened process call a function of its own
 *
 * Borrows a thread that sleeps in a system call of libc, and so most likely holds no
 * lock. The thread is released at once. It resumes its system call by itself, whatever
 * becomes of the tool; a timeout of that call starts afresh.
 * Return: 0, it is on its way; -EAGAIN no thread sleeps so; -ESRCH, also if the process has
 * executed; -EPERM, -EBUSY another tracer traces it, -EOPNOTSUPP.
 */
int dp_process_call(struct dp_process *proc, const struct dp_call *call,
		    struct dp_diag *diag);

/* child: a child in the caller's memory, which traces in place of the calling thread. */

/**
 * struct dp_child - work for a tracer child
 * @work: the function that the child calls, with @arg
 * @name: the child's name in /proc, for the next tool; NULL: as its parent
 * @outlives: if the parent is killed, the child goes on to the end of @work. Otherwise the
 *            child is killed, too, and does not begin if it comes too late.
 */
struct dp_child {
	void (*work)(void *arg);
	void *arg;
	const char *name;
	bool outlives;
};

/**
 * dp_child_run() - have a child do the work, in the caller's memory and with its files
 *
 * A process that traces gets SIGCHLD, and any wait() of its threads sees what it stops.
 * The child has no handler and waits for nothing else, and a tool that is killed does not
 * end the child's work halfway. The calling thread sleeps meanwhile, so the work may use
 * all that the thread may, locks included; but the child has a process id of its own.
 *
 * Such a child cannot stop the process whose memory it shares: for that lib/helper.c
 * executes an image of its own.
 *
 * Context: may sleep. Makes system calls by no function of libc that a probe could be on.
 * Return: 0; -ENOMEM, -EAGAIN: the work was not begun; -EINTR: the child has been killed.
 */
int dp_child_run(const struct dp_child *child);

#endif
