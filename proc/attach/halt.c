// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * halt: a thread that waits in the agent goes back to its probe's instruction, and the process stops.
 *
 *   all threads held ─► "it halts" ─► one single step after the other, until the pc is the program's
 *                                 ─► SIGSTOP for this thread, the first that it takes ─► all released
 *
 * A hit of a breakpoint is in a signal handler: the way out goes through its sigreturn, after which
 * all registers and the mask are the program's. The steps end there, in front of the instruction. A tracer that
 * is killed between two steps leaves the kernel one to make: the agent drops its signal.
 */
#include "arch/arch.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/marks.h"
#include "engine/site/view.h"
#include "proc/core.h"
#include "proc/halt.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/stop.h"
#include "proc/signals/frames.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Some thousand instructions of the agent's take ten milliseconds or so. */
#define STEPS_NS 2000000000ll

/** struct halt - arguments of halt() */
struct halt {
	pid_t tid;
	u32 inside;
	bool there;
};

static bool waits(struct dp_arena *a, const struct halt *h)
{
	return h->inside &&
	       __atomic_load_n(&a->hit.core_tid, __ATOMIC_ACQUIRE) == h->inside;
}

/**
 * struct quiet - signals of the program's wait meanwhile, but for those of faults
 * @was: the thread's mask, if it was @changed
 */
struct quiet {
	const struct dp_view *view;
	u64 was;
	bool changed;
};

/* A handler of the program's has interrupted the agent: its return sets the mask. */
static int quieten_frame(void *arg, struct dp_sigframe *f, bool innermost)
{
	struct quiet *q = arg;

	if (!dp_view_owns(q->view, dp_mcontext_pc(&f->uc.mc)))
		return 0;
	q->was = f->uc.sigmask;
	f->uc.sigmask = dp_marks_trap(false);
	return q->changed = true;
}

/* In the handler of a breakpoint they wait anyway, and its end sets the program's mask. */
static void quieten(struct dp_process *proc, const struct dp_arena *a,
		    const struct dp_thread *t, struct quiet *q)
{
	const struct dp_maps *maps;
	u64 quiet = dp_marks_trap(false);

	if (a->hit.core_fpstate)
		return;
	if (dp_view_owns(q->view, dp_uregs_pc(&t->regs))) {
		q->changed = !ptrace(PTRACE_GETSIGMASK, t->tid, 8, &q->was) &&
			     !ptrace(PTRACE_SETSIGMASK, t->tid, 8, &quiet);
		return;
	}
	maps = dp_stop_maps(proc);
	if (maps)
		dp_frames_each(proc, t, maps, quieten_frame, q);
}

/* Handlers of the program's that have interrupted the agent run to their end. The thread still
 * waits there. */
static int end_handlers(struct dp_process *proc, const struct dp_view *view,
			struct dp_thread *t)
{
	s64 deadline = dp_now_ns() + STEPS_NS;

	while (!dp_view_owns(view, dp_uregs_pc(&t->regs))) {
		if (dp_now_ns() > deadline)
			return -EAGAIN;
		if (dp_stop_run_on(proc, t))
			return -ESRCH;
	}
	return 0;
}

/* The signal of a step comes from the processor, or from the end of a system call. */
static bool is_step(pid_t tid, int status)
{
	siginfo_t info;

	return WIFSTOPPED(status) && status >> 8 == SIGTRAP &&
	       !ptrace(PTRACE_GETSIGINFO, tid, 0, &info) &&
	       (info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT);
}

/* What the thread reports is reaped: were the tool to end now, the kernel would not send it the
 * signal of a step. Return: the signal that it is to have; -ESRCH; -EAGAIN */
static int await_step(struct dp_process *proc, struct dp_thread *t,
		      s64 deadline)
{
	int status, got = dp_await_until(proc, t->tid, &status, deadline);
	bool step;

	if (!got)
		return -EAGAIN;
	if (got < 0 || dp_stop_lost(proc, t->tid, status))
		return -ESRCH;
	step = is_step(t->tid, status);
	if (!(status >> 16))
		waitpid(t->tid, &status, __WALL | WNOHANG);
	if (ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	return step || status >> 16 ? 0 : WSTOPSIG(status);
}

/* A thread that its tracer leaves at a step makes one more. It is stopped anew, in front of the same instruction. */
static int end_steps(struct dp_process *proc, struct dp_thread *t)
{
	if (ptrace(PTRACE_INTERRUPT, t->tid, 0, 0) ||
	    ptrace(PTRACE_CONT, t->tid, 0, 0))
		return -ESRCH;
	return dp_await_stop(proc, t, dp_now_ns() + STEPS_NS) > 0 ? 0 : -ESRCH;
}

static int step_out(struct dp_process *proc, const struct dp_view *view,
		    struct dp_thread *t)
{
	s64 deadline = dp_now_ns() + STEPS_NS;
	int sig = 0;

	while (sig >= 0 && dp_view_owns(view, dp_uregs_pc(&t->regs))) {
		if (dp_now_ns() > deadline)
			return -EAGAIN;
		if (ptrace(PTRACE_SINGLESTEP, t->tid, 0, sig))
			return -ESRCH;
		sig = await_step(proc, t, deadline);
		dp_kill_point("halt: stepped");
	}
	/* It is at the program's code already; so it has this signal behind the stop. */
	if (sig > 0)
		syscall(SYS_tgkill, proc->pid, t->tid, sig);
	return sig < 0 ? sig : 0;
}

static void say_led(struct dp_led *led, u32 tid, const struct quiet *q)
{
	led->number++;
	led->masked = q->changed;
	led->mask = q->was;
	__atomic_store_n(&led->tid, tid, __ATOMIC_RELEASE);
}

static int lead_out(struct dp_process *proc, struct dp_arena *a,
		    struct dp_thread *t, const struct halt *h)
{
	struct dp_view view;
	struct quiet q = { .view = &view };
	int err;

	if (!dp_process_view(proc, &view))
		return -ESRCH;
	quieten(proc, a, t, &q);
	err = end_handlers(proc, &view, t);
	__atomic_store_n(&a->control.halted_tid, h->inside, __ATOMIC_RELEASE);
	say_led(&a->control.led, h->inside, &q);
	dp_process_core_end(proc, h->inside);
	dp_kill_point("halt: told");
	if (!err)
		err = step_out(proc, &view, t);
	if (!err)
		err = end_steps(proc, t);
	if (q.changed)
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &q.was);
	dp_kill_point("halt: led out");
	__atomic_store_n(&a->control.halted_tid, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&a->control.led.tid, 0, __ATOMIC_RELEASE);
	return err;
}

/* The thread takes it before it executes anything, and the others follow. */
static int stop(struct dp_process *proc, const struct halt *h)
{
	if (h->there)
		return syscall(SYS_tgkill, proc->pid, h->tid, SIGSTOP) ?
			       -errno :
			       0;
	return kill(proc->pid, SIGSTOP) ? -errno : 0;
}

static int halt(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct dp_arena *a = dp_process_probed(proc);
	struct halt *h = arg;
	struct dp_thread *t;
	int err = dp_stop_all(proc, diag);

	if (!err && !dp_stop_held(proc, h->tid))
		err = dp_stop_more(proc, diag);
	if (err)
		return err;
	dp_kill_point("halt: held");
	t = dp_stop_held(proc, h->tid);
	if (!a || dp_memory_gone(proc))
		err = -ESRCH;
	h->there = !err && t && waits(a, h);
	if (h->there)
		err = lead_out(proc, a, t, h);
	if (!err)
		err = stop(proc, h);
	dp_kill_point("halt: stopped");
	dp_stop_release(proc);
	return err;
}

int dp_process_stop(const struct dp_process *proc)
{
	return syscall(SYS_pidfd_send_signal, proc->pidfd, SIGSTOP, NULL, 0) ?
		       -errno :
		       0;
}

static const char *words(int err)
{
	switch (err) {
	case -ESRCH:
		return "the process has ended, or executed another program";
	case -EAGAIN:
		return "the thread does not come out of the agent";
	default:
		return strerror(-err);
	}
}

int dp_process_halt(struct dp_process *proc, u32 tid, u32 inside, bool *there,
		    struct dp_diag *diag)
{
	struct halt h = { .tid = (pid_t)tid, .inside = inside };
	int err = dp_tracer_child_always(proc, halt, &h, diag);

	*there = h.there;
	/* Whatever has come of it, no thread waits for it any longer. */
	if (err)
		dp_process_core_end(proc, inside);
	if (err && diag && !diag->text[0])
		dp_diag_set(diag, err, "%s", words(err));
	return err;
}
