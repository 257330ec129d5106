/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* doing: which system call a thread is asleep in. Context: tool process; may sleep. */
#ifndef DP_PROC_PTRACE_DOING_H
#define DP_PROC_PTRACE_DOING_H

#include <sys/types.h>
#include "port_types.h"

/** struct dp_doing - a system call that a thread is asleep in, and where it was made */
struct dp_doing {
	long nr;
	unsigned long long args[6], sp, pc;
};

/** dp_doing_read() - Return: false if it is in none, or has ended */
bool dp_doing_read(pid_t pid, pid_t tid, struct dp_doing *doing);
/** dp_doing_runs() - does it run, as far as can be told? */
bool dp_doing_runs(pid_t pid, pid_t tid);
/** dp_doing_masked() - has the call a signal mask of its own? */
bool dp_doing_masked(const struct dp_doing *doing);
/** dp_doing_vfork() - does it wait, in call @nr, for its vfork child to go? */
bool dp_doing_vfork(pid_t pid, pid_t tid, long nr);
/** dp_doing_asleep() - a thread that is left asleep because waking it would
 *  show; with its stack pointer and pc */
bool dp_doing_asleep(pid_t pid, pid_t tid, u64 *sp, u64 *pc);
/** dp_doing_is_ended() - does a stop end call @nr with EINTR? */
bool dp_doing_is_ended(long nr);

#endif
