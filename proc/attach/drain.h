/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain: is any thread still in, or on its way into, agent code? And moving it out.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_ATTACH_DRAIN_H
#define DP_PROC_ATTACH_DRAIN_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_maps;
struct dp_process;
struct dp_thread;
struct dp_view;

/**
 * struct dp_moves - which threads have to be somewhere else, and where
 * @from: is this a pc that must not stay?
 * @to: what it becomes. Return: false if it has to run on by itself
 * @counted: has one that is there hit the site that it goes back to? NULL: it does
 *           not matter
 * @trapped: is this what the kernel says of one that has met a breakpoint of ours?
 *           While its signal is on the way or being handled it stays. NULL: it is
 *           as any other
 * @agent: address of the agent, with @trapped: who is there may be changing the
 *         frame of its signal
 * @late: may a pc stay as long as others have to run on? NULL: none may
 * @ready: may threads be moved at all, or has one of them to run on? NULL: they may
 */
struct dp_moves {
	const void *arg;
	bool (*from)(const void *arg, u64 pc);
	bool (*to)(const void *arg, u64 pc, u64 *to);
	bool (*trapped)(const void *arg, u64 pc);
	u64 agent;
	bool (*counted)(const void *arg, u64 pc);
	bool (*late)(const void *arg, u64 pc);
	bool (*ready)(const struct dp_process *proc, const void *arg);
};

/** dp_threads_move() - move pcs, in registers and in signal frames.
 *  Return: true if nobody is left who would have to. */
bool dp_threads_move(struct dp_process *proc, const struct dp_moves *moves);
/** dp_threads_clear() - stop all threads, move them, and do @then while nobody runs.
 *  Return: what @then does, 0 or an error; 1 a thread has to run on; an error of stopping */
int dp_threads_clear(struct dp_process *proc, const struct dp_moves *moves,
		     int (*then)(void *arg), void *arg, struct dp_diag *diag);
/** dp_signal_coming() - is one of @caught (a mask) on its way to a thread that lets it come? */
bool dp_signal_coming(const struct dp_process *proc, pid_t tid, u64 caught);
/** dp_asleep_inside() - is a thread that was left asleep in a call of ours? */
bool dp_asleep_inside(const struct dp_process *proc,
		      const struct dp_view *view);
/** dp_drainable() - could all be moved out, or is somebody there who has to run on? */
bool dp_drainable(struct dp_process *proc, const struct dp_view *view);
/** dp_returns_inside() - will a signal handler of the program's, of one thread, return to
 *  where it has to run on? */
bool dp_returns_inside(const struct dp_process *proc,
		       const struct dp_view *view, const struct dp_maps *maps,
		       const struct dp_thread *t);
/** dp_drained() - Return: true if nobody is, but for intercepted calls' beginnings */
bool dp_drained(struct dp_process *proc, const struct dp_view *view);
/** dp_drain() - out of these, too, when all is about to end. Return: as above */
bool dp_drain(struct dp_process *proc, const struct dp_view *view);
/** dp_in_signal_handler() - is one running on the stack that @sp is on? Return:
 *  true also where that cannot be told. */
bool dp_in_signal_handler(const struct dp_process *proc,
			  const struct dp_maps *maps, u64 sp);

/* stepout: threads in the agent, brought out of it while all others are held. */

/**
 * dp_stop_step_out() - bring stopped threads to where they can be moved, one instruction
 * after the other and no farther
 * @caught: signals that the agent catches; those that are coming are delivered, others
 *          wait
 * @out: may it stay there?
 */
void dp_stop_step_out(struct dp_process *proc, u64 caught,
		      bool (*out)(const void *arg, const struct dp_thread *t),
		      const void *arg);

/** dp_stop_step_undo() - what a tool that was ended in the middle of that has left of a thread
 *  which has not run since. @base: of the agent */
void dp_stop_step_undo(const struct dp_process *proc, u64 base);

/* handlers: signal handlers of the program that have interrupted the agent. */

/** dp_handlers_end() - let threads run, one at a time, until such handlers have returned. As
 *  far as that goes in a moment. */
void dp_handlers_end(struct dp_process *proc, const struct dp_view *view);

#endif
