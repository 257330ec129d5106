/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * masked_waits: the agent's table of masked waits, as the tool reads and changes it.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SIGNALS_MASKED_WAITS_H
#define DP_PROC_SIGNALS_MASKED_WAITS_H

#include "port_types.h"
#include "engine/layout/private.h"

struct dp_process;
struct dp_masked_waits;
struct dp_thread;

/**
 * struct dp_caller - pointers to the registers of a thread, or to those in a signal frame
 * @thread: the thread's key in the agent's tables: dp_thread_id()
 * @call: the system call that the thread is in
 * @handled: the registers are those of a signal frame: a handler runs now
 * @ret: the result of a call, or the number of a call about to be made
 * @args: the call's arguments
 * @others: other registers that may hold an argument on the way to a call
 */
#define DP_CALLER_ARGS 6
#define DP_CALLER_OTHERS 7
struct dp_caller {
	u64 thread;
	s64 call;
	bool handled;
	u64 *pc, *sp, *ret;
	u64 *args[DP_CALLER_ARGS];
	u64 *others[DP_CALLER_OTHERS];
};

/* The kernel restarts a call with this result unless a handler runs (linux/errno.h). */
#define DP_ERESTARTNOHAND 514

/** dp_thread_known() - the key of a stopped thread in the tables of the hit half */
u64 dp_thread_known(const struct dp_process *proc, const struct dp_thread *t);
/** dp_masked_waits_read() - a copy of the table of the agent at @base, for free().
 *  Return: NULL: not readable, or no memory */
struct dp_masked_waits *dp_masked_waits_read(const struct dp_process *proc,
					     u64 base);
/** dp_masked_waits_clear() - clear the entries of stopped threads. Registers of the other
 *  threads refer to their entries, and their returns read them. */
void dp_masked_waits_clear(const struct dp_process *proc,
			   struct dp_masked_waits *waits);
/** dp_masked_waits_has() - has @thread an entry? */
bool dp_masked_waits_has(const struct dp_masked_waits *waits, u64 thread);
/** dp_masked_waits_absent() - has a thread that is not stopped an entry? */
bool dp_masked_waits_absent(const struct dp_process *proc,
			    const struct dp_masked_waits *waits);
/** dp_masked_waits_in_kernel() - describe a masked wait that @c is in and that the agent has not
 *  seen. Return: false if there is none. */
bool dp_masked_waits_in_kernel(const struct dp_process *proc,
			       const struct dp_caller *c,
			       struct dp_kernel_wait *in_kernel);
/** dp_masked_waits_seen() - describe a masked wait that the agent has seen
 *  @caught: caught signals that are blocked in it */
struct dp_kernel_wait dp_masked_waits_seen(const struct dp_masked_wait *wait,
					   u64 caught);

/**
 * dp_masked_waits_take() - enter @caller's masked wait into the agent's table
 * @caller: its registers, which change: the call uses the entry's mask, and is made again
 * @was, @real: the virtual mask outside the call, and the kernel's mask
 * @inside: in: the thread's virtual mask; out: the virtual mask inside the call
 * Return: DP_MASKED_WAIT_CLOSED: block all signals of the thread until the call; _OPEN: do
 * not, as a handler runs or breakpoints are on the way; 0: no such wait; a negative errno.
 */
#define DP_MASKED_WAIT_CLOSED 1
#define DP_MASKED_WAIT_OPEN 2
int dp_masked_waits_take(const struct dp_process *proc,
			 struct dp_masked_waits *waits,
			 const struct dp_caller *caller, u64 was, u64 real,
			 u64 *inside);

/** dp_masked_waits_find() - find the masked wait that @caller is in
 *  @leave: put back the registers and stack words that refer to the entry
 *  Return: the entry; NULL: the caller is in no masked wait */
const struct dp_masked_wait *
dp_masked_waits_find(const struct dp_process *proc,
		     struct dp_masked_waits *waits,
		     const struct dp_caller *caller, bool leave);

#endif
