// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live: give the agent the signals and calls that it needs, all at one moment.
 *
 * All threads are held, and none is in the middle of what changes.
 */
#include "agent/image.h"
#include "arch/calls.h"
#include "arch/uregs.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/code/intercepts.h"
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/signals/masks.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>

#define REWIND_TRIES 100
/* Masks that a thread is about to change cannot be taken. */
#define LATE_PATIENCE_NS 2000000000ll

/* Note the program's actions where the hit half finds them. @ours: address of the action that
 * takes their place, 0: none yet */
static int note_actions(struct dp_process *proc, u64 ours)
{
	u64 to = proc->base + DP_PRIVATE_AT(actions[0].ring[0].action);
	int err = 0;
	u32 k;

	for (k = 0; !err && k < dp_engine_caught(proc->engine); k++)
		err = dp_masks_action(proc, dp_caught(k), ours,
				      to + k * sizeof(struct dp_actions));
	return err;
}

/* Write our action where a remote call finds it. @at: out: its address there */
static int write_action(struct dp_process *proc, u64 *at)
{
	struct dp_kernel_sigaction ours = {
		.handler = proc->base + dp_agent_trap_entry,
		.flags = DP_TRAP_FLAGS,
		.restorer = proc->base + dp_agent_trap_restorer,
		.mask = dp_marks_trap(proc->own_process),
	};

	*at = proc->base + DP_PRIVATE_SCRATCH;
	return dp_process_write(proc, *at, &ours, sizeof(ours));
}

/* The program's action is noted again in the same call: a thread that was asleep may
 * have set another. */
static int take_actions(struct dp_process *proc)
{
	u64 at;

	return write_action(proc, &at) ?: note_actions(proc, at);
}

int dp_live_trap_again(struct dp_process *proc)
{
	u64 at;
	int err = dp_borrowed_begin(proc, NULL);

	if (err)
		return err;
	err = write_action(proc, &at) ?: dp_masks_action(proc, SIGTRAP, at, 0);
	dp_borrowed_end(proc);
	return err;
}

/* Is the thread at the call itself, with a number of no interest, or one that
 * masked_waits.c handles? */
static bool is_dull_call(const struct dp_intercept *h,
			 const struct user_regs_struct *r)
{
	return h->nr == DP_PLAIN_CALL &&
	       dp_uregs_pc(r) == h->addr + h->len - DP_SYSCALL_SIZE &&
	       (!dp_intercepts_wanted((u32)dp_uregs_number(r)) ||
		dp_intercepts_masked_wait((u32)dp_uregs_number(r)));
}

/* Move threads that are between the beginning of an intercept and its system call back
 * to the beginning; but see masks.c. Return: 0; -EAGAIN a thread cannot be moved. */
static int rewind_calls(struct dp_process *proc)
{
	size_t i, k;

	for (i = 0; i < proc->nr_threads; i++)
		for (k = 0; k < proc->nr_intercepts; k++) {
			struct user_regs_struct *r = &proc->threads[i].regs;
			const struct dp_intercept *h = &proc->intercepts[k];

			if (dp_points_between(proc, dp_uregs_pc(r),
					      dp_uregs_sp(r)))
				return -EAGAIN;
			if (dp_uregs_pc(r) <= h->addr ||
			    dp_uregs_pc(r) >= h->addr + h->len ||
			    h->nr == DP_ANY_CALL ||
			    dp_call_is_masked_wait(h->nr) || is_dull_call(h, r))
				continue;
			if (!h->again)
				return -EAGAIN;
			dp_uregs_set_pc(r, h->addr);
			ptrace(PTRACE_SETREGS, proc->threads[i].tid, 0, r);
		}
	return 0;
}

/* Stop all threads, at a moment when none is in the middle of what will change. Threads
 * that have to be woken come last: a masked wait that is released again gets signals that
 * the thread blocks. */
static int stop_outside(struct dp_process *proc, struct dp_diag *diag)
{
	int err, tries = 0;

	do {
		err = dp_stop_alone(proc, diag);
		if (err)
			return err;
		err = rewind_calls(proc);
		if (!err && dp_stop_deaf(proc, diag))
			return -EAGAIN;
		if (!err)
			err = rewind_calls(proc);
		if (err)
			dp_stop_release(proc);
	} while (err && ++tries < REWIND_TRIES);
	return err ? dp_diag_set(
			     diag, err,
			     "process %d is always in a system call; try again",
			     proc->pid) :
		     0;
}

/* The intercepts are armed first. They pass everything on for each signal whose action
 * is not ours yet. From then on the kernel's state and the tables add up, so the tool may
 * end anywhere in between. */
static int switch_over(struct dp_process *proc)
{
	int err = note_actions(proc, 0);

	if (!err)
		err = dp_masks_note(proc);
	if (!err)
		err = dp_engine_arm_intercepts(proc->engine, &proc->target);
	dp_kill_point("install: intercepts");
	if (!err)
		err = take_actions(proc);
	dp_kill_point("install: action");
	if (!err)
		err = dp_masks_take_actions(proc);
	return err ? err : (int)dp_area_settle(proc);
}

/* Is @pc in code that leads to an intercepted call, or in the agent? */
static bool before_call(const void *arg, u64 pc)
{
	const struct dp_process *proc = arg;
	const struct dp_points *p = &proc->points;
	size_t i;

	for (i = 0; i < proc->nr_intercepts; i++)
		if (pc > proc->intercepts[i].addr &&
		    pc < proc->intercepts[i].addr + proc->intercepts[i].len)
			return true;
	return pc - proc->base < DP_AGENT_TEXT ||
	       (p->enter && pc - p->maker < p->maker_len);
}

/* A thread that was left asleep may have woken up since, and blocked a signal before
 * that was ours. From here on none can. */
static int take_late(struct dp_process *proc, struct dp_diag *diag)
{
	size_t had = proc->nr_threads;
	int err = dp_stop_again(proc, diag);

	if (!err)
		err = dp_stop_deaf(proc, diag);
	if (err || proc->nr_threads == had)
		return err;
	proc->patience = LATE_PATIENCE_NS;
	if (!dp_stop_run_out(proc, had, before_call, proc))
		err = -EAGAIN;
	proc->patience = 0;
	return err ?: dp_masks_take(proc, had);
}

/* Take all threads' masks, and set the word that tells so. */
static int take_masks(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_masks_take(proc, 0);

	dp_kill_point("install: masks");
	if (!err)
		err = dp_masks_in_force(proc, proc->base, true);
	dp_kill_point("install: in force");
	return err ? err : take_late(proc, diag);
}

static int go_live_stopped(struct dp_process *proc, void *arg,
			   struct dp_diag *diag)
{
	int err = stop_outside(proc, diag);

	if (err)
		return err;
	/* From here on the intercepts notice a filter install. */
	if (dp_process_filters_came(proc, 0)) {
		dp_stop_release(proc);
		return dp_diag_set(
			diag, -EAGAIN,
			"process %d has just installed a seccomp filter; try again",
			proc->pid);
	}
	if (dp_dispatch_any(proc)) {
		dp_stop_release(proc);
		return dp_diag_set(
			diag, -EAGAIN,
			"process %d has just begun to dispatch its system calls (prctl PR_SET_SYSCALL_USER_DISPATCH); try again",
			proc->pid);
	}
	proc->vetted = true;
	err = dp_remote_begin(proc, diag);
	proc->vetted = false;
	if (!err) {
		err = switch_over(proc);
		dp_remote_end(proc);
		if (!err)
			err = take_masks(proc, diag);
		if (err && diag && !diag->text[0])
			dp_diag_set(diag, err, "cannot prepare process %d: %s",
				    proc->pid, strerror(-err));
	}
	dp_stop_release(proc);
	proc->passed = !err;
	return err;
}

/* Settle the arena of a process without intercepts. */
static int settle_stopped(struct dp_process *proc, void *arg,
			  struct dp_diag *diag)
{
	int err = dp_borrowed_alone(proc, diag);

	if (err)
		return err;
	err = (int)dp_area_settle(proc);
	dp_borrowed_end(proc);
	return err;
}

int dp_live_go(struct dp_process *proc, struct dp_diag *diag)
{
	if (!proc->signal_free)
		return dp_tracer_child(proc, go_live_stopped, NULL, diag);
	return proc->own_process ?
		       dp_tracer_child(proc, settle_stopped, NULL, diag) :
		       0;
}
