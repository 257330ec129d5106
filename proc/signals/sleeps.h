/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sleeps: calls that sleep under a signal mask of their own, seen from outside.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SIGNALS_SLEEPS_H
#define DP_PROC_SIGNALS_SLEEPS_H

#include "port_types.h"
#include "engine/layout/private.h"

struct dp_process;
struct dp_sleeps;
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
/** dp_sleeps_read() - the table of the agent at @base; free() it. NULL: failed */
struct dp_sleeps *dp_sleeps_read(const struct dp_process *proc, u64 base);
/** dp_sleeps_clear() - forget those of the threads that are stopped. What any other has in a
 *  register refers to its entry, and its return looks there. */
void dp_sleeps_clear(const struct dp_process *proc, struct dp_sleeps *sleeps);
bool dp_sleeps_has(const struct dp_sleeps *sleeps, u64 thread);
/** dp_sleeps_absent() - is there one of a thread that is not stopped? Forgets the
 *  others. */
bool dp_sleeps_absent(const struct dp_process *proc, struct dp_sleeps *sleeps);
/** dp_sleeps_native() - a call with a mask of its own that somebody is in, and that the
 *  agent has not seen. Return: false if there is none. */
bool dp_sleeps_native(const struct dp_process *proc, const struct dp_caller *c,
		      struct dp_native *native);
/** dp_sleeps_left() - the same of one that the agent has seen
 *  @caught: signals that are ours, and blocked in it */
struct dp_native dp_sleeps_left(const struct dp_sleep *sleep, u64 caught);

/**
 * dp_sleeps_take() - enter one that somebody is in
 * @caller: its registers, which change: it is to make the call (again) with all
 *          signals blocked; but for one in a handler, and where breakpoints are on
 *          the way
 * @was, @real: what it believes to be blocked outside, and what is
 * @inside: what it believes as yet, and from now on
 * Return: one of these; 0 it is in none, or none that matters; a negative errno.
 */
#define DP_SLEEP_CLOSED 1 /* @caller is to have all signals blocked */
#define DP_SLEEP_OPEN 2
int dp_sleeps_take(const struct dp_process *proc, struct dp_sleeps *sleeps,
		   const struct dp_caller *caller, u64 was, u64 real,
		   u64 *inside);

/** dp_sleeps_leave() - put back the register that one has changed.
 *  Return: the call, or NULL if it is in none. */
const struct dp_sleep *dp_sleeps_leave(const struct dp_process *proc,
				       const struct dp_sleeps *sleeps,
				       const struct dp_caller *caller);
/** dp_sleeps_find() - the same, and everything stays as it is */
const struct dp_sleep *dp_sleeps_find(const struct dp_process *proc,
				      const struct dp_sleeps *sleeps,
				      const struct dp_caller *caller);

#endif
