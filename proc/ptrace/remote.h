/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * remote: system calls that a stopped thread of the target makes for the tool.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_PTRACE_REMOTE_H
#define DP_PROC_PTRACE_REMOTE_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;
struct dp_remote;
struct dp_thread;

int dp_remote_begin(struct dp_process *proc, struct dp_remote **remote,
		    struct dp_diag *diag);
/** dp_remote_call() - Return: what the call returned; -ESRCH when it died */
long dp_remote_call(struct dp_remote *remote, long nr, u64 a, u64 b, u64 c,
		    u64 d, u64 e, u64 f);
/** dp_rseq_word() - address of the word that says which restartable sequence (rseq(2))
 *  a thread is in; 0: it has none */
u64 dp_rseq_word(const struct dp_thread *t);

/** dp_remote_scratch() - address of DP_REMOTE_SCRATCH bytes in the target, for arguments */
#define DP_REMOTE_SCRATCH 192
u64 dp_remote_scratch(const struct dp_remote *remote);
/** dp_remote_thread() - id of the thread that makes the calls */
pid_t dp_remote_thread(const struct dp_remote *remote);
void dp_remote_end(struct dp_remote *remote);

/**
 * dp_remote_send() - instead of that: let it call a function, and go home from
 * there by itself
 * @entry: of the function; its argument is @arg, its stack ours, and not aligned
 *
 * Signals are blocked until it is home, but for those that a probe can raise.
 */
void dp_remote_send(struct dp_remote *remote, u64 entry, u64 arg);

#endif
