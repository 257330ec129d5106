/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seize: PTRACE_SEIZE that comes back when it has to wait. */
#ifndef DP_PROC_PTRACE_SEIZE_H
#define DP_PROC_PTRACE_SEIZE_H

#include <signal.h>
#include <sys/types.h>
#include <time.h>
#include "port_types.h"

/** struct dp_seizer - what one seizing of threads needs; zeroed, and ended by dp_seizer_end() */
struct dp_seizer {
	bool begun;
	timer_t timer;
	sigset_t mask;
};

/**
 * dp_seize() - PTRACE_SEIZE, which must not wait for what waits for us
 * @traces: does the caller trace threads of that process already?
 *
 * Context: one thread of the tool's at a time, or of a library's process.
 * Return: 0; -EINTR a thread executes a program, and may be waiting for the end of one that
 * the caller traces: dp_stop_ends(), and again; what ptrace(2) gives.
 */
int dp_seize(struct dp_seizer *s, pid_t tid, u64 options, bool traces);

/** dp_seizer_end() - none are to be seized any more */
void dp_seizer_end(struct dp_seizer *s);

#endif
