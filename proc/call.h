/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call: a function of a process, called by one of its own threads.
 *
 * Context: tool process; threads of the other one are held for a moment.
 */
#ifndef DP_PROC_CALL_H
#define DP_PROC_CALL_H

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

#endif
