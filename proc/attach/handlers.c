// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * handlers: signal handlers of the program that have interrupted the agent.
 *
 * A frame that leads into a system call of the agent cannot be moved: the work behind the
 * call is not done yet. So the handler has to return. It runs with all other threads
 * held, from one of its system calls to the next; the last is rt_sigreturn. A handler
 * that waits for a held thread is stopped again where it is.
 */
#include "engine/site/view.h"
#include "arch/uregs.h"
#include "proc/attach/drain.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/tree.h"
#include "sym/sym.h"
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define END_NS 2000000ll /* of one handler; all together get ten times that */
#define STOP_NS 1000000000ll

/* Return: 1 stopped; 0 gone; -EAGAIN not in time. */
static int next_stop(struct dp_process *proc, pid_t tid, s64 deadline,
		     int *status)
{
	pid_t got;
	u32 n = 0;

	while ((got = dp_stop_seen(tid, status, WNOHANG)) == 0) {
		if (dp_now_ns() > deadline)
			return -EAGAIN;
		dp_stop_nap(++n);
	}
	return got == tid && !dp_stop_lost(proc, tid, *status);
}

static bool is_call(int status)
{
	return WSTOPSIG(status) == (SIGTRAP | 0x80);
}

/* From a stop for the whole process, an event of the process tree, or a late call to a stop
 * of our own. */
static int stop_again(struct dp_process *proc, struct dp_thread *t, int status)
{
	if (status >> 16 == PTRACE_EVENT_STOP)
		return dp_stop_take(proc, t, status);
	if (!proc->tree || !(status >> 16))
		ptrace(PTRACE_CONT, t->tid, 0, 0);
	else if (!dp_tree_deal(proc->tree, t->tid, status, false))
		return -ESRCH;
	return dp_stop_halt(proc, t, dp_now_ns() + STOP_NS);
}

/* Run to the next stop that is not for a signal. Return: as next_stop(). */
static int next_call(struct dp_process *proc, struct dp_thread *t, s64 deadline,
		     int *status)
{
	int got, sig = 0;

	do {
		if (ptrace(PTRACE_SYSCALL, t->tid, 0, sig))
			return 0;
		got = next_stop(proc, t->tid, deadline, status);
		sig = WSTOPSIG(*status);
	} while (got == 1 && !is_call(*status) && !(*status >> 16));
	return got;
}

/* Halt a running thread. Its first stop may be at a call. */
static int halt_late(struct dp_process *proc, struct dp_thread *t)
{
	int got, status;

	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	got = next_stop(proc, t->tid, dp_now_ns() + STOP_NS, &status);
	if (got == 1 && !is_call(status) && !(status >> 16)) {
		ptrace(PTRACE_CONT, t->tid, 0, WSTOPSIG(status));
		return dp_stop_halt(proc, t, dp_now_ns() + STOP_NS);
	}
	return got == 1 ? stop_again(proc, t, status) : -ESRCH;
}

/* Run to behind the return of a handler. Return: 1 held there; 0 held elsewhere; -ESRCH. */
static int to_return(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	bool returns = false;
	int got, status;

	for (;;) {
		got = next_call(proc, t, deadline, &status);
		if (got == -EAGAIN)
			return halt_late(proc, t);
		if (got == 0)
			return -ESRCH;
		if (status >> 16 || dp_now_ns() > deadline)
			return stop_again(proc, t, status);
		if (ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
			return -ESRCH;
		if (returns)
			return dp_stop_suspends(proc, t->tid, true) ? 1 :
								      -ESRCH;
		returns = dp_uregs_call(&t->regs) == SYS_rt_sigreturn;
	}
}

/* Return: 0 the thread is held again; -ESRCH. */
static int end_handlers(struct dp_process *proc, const struct dp_view *view,
			const struct dp_maps *maps, struct dp_thread *t)
{
	s64 deadline = dp_now_ns() + END_NS;
	int got;

	do {
		if (!dp_stop_suspends(proc, t->tid, false))
			return -ESRCH;
		dp_kill_point("handlers: run");
		got = to_return(proc, t, deadline);
		dp_kill_point("handlers: end");
	} while (got == 1 && dp_returns_inside(proc, view, maps, t));
	return got < 0 ? got : 0;
}

void dp_handlers_end(struct dp_process *proc, const struct dp_view *view)
{
	s64 deadline = dp_now_ns() + 10 * END_NS;
	struct dp_maps maps;
	size_t i = 0;

	if (proc->held || dp_maps_read(proc->pid, &maps))
		return;
	while (i < proc->nr_threads && dp_now_ns() < deadline) {
		struct dp_thread *t = &proc->threads[i];

		if (dp_returns_inside(proc, view, &maps, t) &&
		    end_handlers(proc, view, &maps, t))
			*t = proc->threads[--proc->nr_threads];
		else
			i++;
	}
	dp_maps_free(&maps);
}
