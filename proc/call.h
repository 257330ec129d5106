/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call: a function of a process, called by one of its own threads.
 *
 * Context: tool process; threads of the other one are held for a moment.
 */
#ifndef DP_PROC_CALL_H
#define DP_PROC_CALL_H

#include <stdbool.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/**
 * struct dp_call - a function of the process's own
 * @entry: its address: it gets @arg, runs on the stack of a thread of the program
 *         below what that one uses, which it need not find aligned, and returns
 * @word_addr, @word: it is called only by a thread that finds this word there. So the
 *         caller, who has written it, knows that it is the memory that he means.
 */
struct dp_call {
	u64 entry, arg;
	u64 word_addr, word;
};

/**
 * dp_process_call() - have a process that has been opened call a function of its own
 *
 * A thread is borrowed that sleeps in a system call of libc, so that it most
 * likely holds no lock. It is let go at once, and afterwards goes back into its
 * call by itself, whatever becomes of us; a timeout of that starts afresh.
 * Return: 0, it is on its way; -EAGAIN no thread sleeps so; -ESRCH, also if it has
 * executed; -EPERM, -EBUSY traced by somebody else, -EOPNOTSUPP.
 */
int dp_process_call(struct dp_process *proc, const struct dp_call *call,
		    struct dp_diag *diag);

/* child: a child in our memory, which traces in place of the calling thread. */

/**
 * struct dp_child - what it is to do
 * @work: what it calls, with @arg
 * @name: what it is called in /proc, for the next tool; NULL: as its parent
 * @outlives: it goes on to the end of @work if the parent is killed; else it is killed,
 *            too, and does not begin if it comes too late
 */
struct dp_child {
	void (*work)(void *arg);
	void *arg;
	const char *name;
	bool outlives;
};

/**
 * dp_child_run() - have the work done by a child that shares our memory and files
 *
 * A process that traces gets SIGCHLD, and any wait() of its threads sees what it stops. The
 * child has no handler and waits for nothing else; and a tool that is killed does not end
 * in the middle of what the child does. The calling thread sleeps meanwhile, so the work may
 * use all that the thread may, locks included; but the child's process id is another.
 *
 * The one thing that such a child cannot do is stop the process whose memory it shares:
 * for that lib/helper.c executes an image of its own.
 *
 * Context: may sleep. Makes system calls by no function of libc that a probe could be on.
 * Return: 0; -ENOMEM, -EAGAIN: the work was not begun; -EINTR: the child has been killed.
 */
int dp_child_run(const struct dp_child *child);

#endif
