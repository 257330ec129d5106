/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain: find threads in the agent, or on their way into it, and move them out.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_DRAIN_H
#define DP_PROC_ATTACH_DRAIN_H

#include "port_types.h"
#include "proc/ptrace/stop.h"

struct dp_diag;
struct dp_maps;
struct dp_process;
struct dp_view;

/**
 * struct dp_moves - which threads have to be moved, and where to
 * @from: is this a pc that must not stay?
 * @to: the pc that it becomes. Return: false if the thread has to run on by itself. NULL: any has
 * @trapped: is this the pc that the kernel reports after a breakpoint of ours? While the
 *           signal is on its way or being handled, it stays. NULL: no such case
 * @agent: address of the agent, with @trapped: a thread there may be changing the frame of
 *         its signal
 * @late: may a pc stay as long as other threads have to run on? NULL: none may
 * @ready: may threads be moved at all, or does one have to run on? NULL: they may
 */
struct dp_moves {
	const void *arg;
	bool (*from)(const void *arg, u64 pc);
	bool (*to)(const void *arg, u64 pc, u64 *to);
	bool (*trapped)(const void *arg, u64 pc);
	u64 agent;
	bool (*late)(const void *arg, u64 pc);
	bool (*ready)(const struct dp_process *proc, const void *arg);
};

/** dp_threads_move() - move pcs, in registers and in signal frames.
 *  Return: true if no thread is left that has to move. */
bool dp_threads_move(struct dp_process *proc, const struct dp_moves *moves);
/** dp_threads_clear() - stop all threads, move them, and call @then while none runs.
 *  Return: what @then returns, 0 or an error; 1 a thread has to run on; an error of
 *  stopping */
int dp_threads_clear(struct dp_process *proc, const struct dp_moves *moves,
		     dp_work_fn *then, void *arg, struct dp_diag *diag);
/** dp_asleep_inside() - does a thread that was not stopped sleep in a call of the agent? */
bool dp_asleep_inside(const struct dp_process *proc,
		      const struct dp_view *view);
/** dp_drained() - move threads out of the agent, but not from the start of an intercept.
 *  Return: true if no other thread is left there */
bool dp_drained(struct dp_process *proc, const struct dp_view *view);
/** dp_drain() - the same, from the start of an intercept, too. Return: true if none is
 *  left */
bool dp_drain(struct dp_process *proc, const struct dp_view *view);
/** dp_in_signal_handler() - does a signal handler run on the stack of @sp? Return: true
 *  also where that cannot be told. */
bool dp_in_signal_handler(const struct dp_process *proc,
			  const struct dp_maps *maps, u64 sp);

#endif
