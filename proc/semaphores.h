/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * semaphores: words by which a program learns that its tracepoints are probed.
 *
 * Who probes a tracepoint adds one to its semaphore, and takes that off again. The program tests the
 * word before it computes arguments. What this tool has raised is noted in the process, in memory that
 * a fork child has a copy of: the next tool, or the child, lowers what a dead tool has raised.
 *
 *   note: RAISING, was 0 ─► semaphore: 1 ─► note: RAISED … note: LOWERING, was 1 ─► semaphore: 0 ─► no note
 *
 * Whoever comes in between can tell from the word whether the step was made. Another tool can raise or
 * lower it at the same time: nothing in it is atomic, for any tool.
 *
 * Context of every function: tool process; may sleep.
 */
#ifndef DP_PROC_SEMAPHORES_H
#define DP_PROC_SEMAPHORES_H

#include <stddef.h>
#include "port_types.h"

struct dp_diag;
struct dp_process;

/** struct dp_semaphore_use - @addr: of a semaphore; @code: of a tracepoint that has it */
struct dp_semaphore_use {
	u64 addr, code;
};

/**
 * dp_semaphores_set() - raise these semaphores, each by one, and lower all others that are raised
 * @base: of the agent, or of the engine of a process that probes itself
 * @uses: may name a semaphore several times
 *
 * Return: 0; with words, and the others are as wanted: -EFAULT one cannot be written, -ENOSPC there are
 * more than DP_SEMAPHORES; -ENOMEM.
 */
int dp_semaphores_set(struct dp_process *proc, u64 base,
		      const struct dp_semaphore_use *uses, size_t n,
		      struct dp_diag *diag);

/** dp_semaphores_forget() - of code that has gone (dp_process_mark_gone()), forget the semaphores: they
 *  have gone, too, and new ones may be in their places */
void dp_semaphores_forget(struct dp_process *proc);

/** dp_semaphores_lower() - lower all that the agent at @base has a note of, whoever made the note */
void dp_semaphores_lower(const struct dp_process *proc, u64 base);

#endif
