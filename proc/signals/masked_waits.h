/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * masked_waits: calls that wait under a signal mask of their own (the pselect class), seen from outside.
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
 * struct dp_caller - where the registers of a thread are, or those in a signal
 *                    frame
 * @thread: what it is known by: dp_thread_id()
 * @call: the system call that it is in
 * @handled: it is in a handler now: they are in a frame
 * @ret: of a call, and the number of one that is about to be made
 * @arg0 and so on: what is passed to it
 * @others: where code may have what it passes on to a call
 */
#define DP_CALLER_OTHERS 9
struct dp_caller {
	u64 thread;
	s64 call;
	bool handled;
	u64 *pc, *sp, *ret, *arg0, *arg3, *arg4, *arg5;
	u64 *others[DP_CALLER_OTHERS];
};

/* What sends a call back into its sleep, unless a signal is delivered: an error of
 * the kernel's own (linux/errno.h). */
#define DP_ERESTARTNOHAND 514

/** dp_thread_known() - what the hit half knows a stopped thread by */
u64 dp_thread_known(const struct dp_process *proc, const struct dp_thread *t);
/** dp_masked_waits_read() - the table of the agent at @base; free() it. NULL: failed */
struct dp_masked_waits *dp_masked_waits_read(const struct dp_process *proc,
					     u64 base);
/** dp_masked_waits_clear() - forget those of the threads that are stopped. What any other has in a
 *  register refers to its entry, and its return looks there. */
void dp_masked_waits_clear(const struct dp_process *proc,
			   struct dp_masked_waits *masked_waits);
bool dp_masked_waits_has(const struct dp_masked_waits *masked_waits,
			 u64 thread);
/** dp_masked_waits_absent() - is there one of a thread that is not stopped? Forgets the
 *  others. */
bool dp_masked_waits_absent(const struct dp_process *proc,
			    struct dp_masked_waits *masked_waits);
/** dp_masked_waits_in_kernel() - a call with a mask of its own that somebody is in, and that the
 *  agent has not seen. Return: false if there is none. */
bool dp_masked_waits_in_kernel(const struct dp_process *proc,
			       const struct dp_caller *c,
			       struct dp_kernel_wait *in_kernel);
/** dp_masked_waits_seen() - the same of one that the agent has seen
 *  @caught: signals that are ours, and blocked in it */
struct dp_kernel_wait dp_masked_waits_seen(const struct dp_masked_wait *wait,
					   u64 caught);

/**
 * dp_masked_waits_take() - enter one that somebody is in
 * @caller: its registers, which change: it is to make the call (again) with all
 *          signals blocked; but for one in a handler, and where breakpoints are on
 *          the way
 * @was, @real: the virtual mask outside, and the mask in the kernel
 * @inside: its virtual mask as yet, and from now on
 * Return: one of these; 0 it is in none, or none that matters; a negative errno.
 */
#define DP_MASKED_WAIT_CLOSED 1 /* @caller is to have all signals blocked */
#define DP_MASKED_WAIT_OPEN 2
int dp_masked_waits_take(const struct dp_process *proc,
			 struct dp_masked_waits *masked_waits,
			 const struct dp_caller *caller, u64 was, u64 real,
			 u64 *inside);

/** dp_masked_waits_leave() - put back the register that one has changed.
 *  Return: the call, or NULL if it is in none. */
const struct dp_masked_wait *
dp_masked_waits_leave(const struct dp_process *proc,
		      const struct dp_masked_waits *masked_waits,
		      const struct dp_caller *caller);
/** dp_masked_waits_find() - the same, and everything stays as it is */
const struct dp_masked_wait *
dp_masked_waits_find(const struct dp_process *proc,
		     const struct dp_masked_waits *masked_waits,
		     const struct dp_caller *caller);

#endif
