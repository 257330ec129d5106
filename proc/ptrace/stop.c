// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stop: hold every running thread of the target for a moment.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent. A thread asleep in a system call that
 * the kernel does not restart after a stop (epoll_wait and its like return EINTR) is left
 * asleep: it executes none of the target's text, and /proc tells where it is. Only if every
 * thread sleeps so is one of them woken. A thread whose call a stop has ended with EINTR is
 * sent back into the call at once, so that it restarts even if the tool dies.
 */
#include "arch/uregs.h"
#include "proc/tree.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/tree.h"
#include "sym/list.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define SEIZE_TRIES 3
#define ALL UINT_MAX /* threads */
#define STOP_DEADLINE_NS 5000000000ll
/* Threads are not held for much longer than this. */
#define RUN_OUT_NS 2000000ll
#define NAP_NS 200000
#define MOMENT_NS 20000
#define STARVED_NS 50000000ll /* without a CPU, at most */
#define END_NS 1000000000ll /* wait for the end of a killed thread */

static bool has_room(struct dp_process *proc)
{
	return !dp_kill_point_fails("stop: room") &&
	       !dp_list_reserve(&proc->threads, proc->nr_threads + 1,
				&proc->cap_threads, sizeof(*proc->threads));
}

static u64 running_options(const struct dp_process *proc)
{
	return proc->tree ? DP_TREE_OPTIONS : PTRACE_O_TRACESYSGOOD;
}

u64 dp_trace_options(const struct dp_process *proc)
{
	return running_options(proc) |
	       (proc->filtered ? PTRACE_O_SUSPEND_SECCOMP : 0);
}

/* Suspend a thread's filters, or put them in force again. Return: false if it has ended */
static bool suspends(const struct dp_process *proc, pid_t tid, bool suspend)
{
	return !proc->filtered || !ptrace(PTRACE_SETOPTIONS, tid, 0,
					  suspend ? dp_trace_options(proc) :
						    running_options(proc));
}

/* Why does PTRACE_SEIZE fail? An ending thread is ignored, but reaped if the tool traces it:
 * the process does not end before.
 * Return: 0 gone; 1 the tool traces it already; -ESRCH so it does, after an exec; -EBUSY
 * another tracer does; -EPERM */
static int not_seized(struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	if (dp_status_read(proc->pid, tid, &st))
		return 0;
	if (st.state == 'Z' || st.state == 'X') {
		dp_stop_ends(proc);
		return 0;
	}
	/* Only an exec gives a thread another id: the first thread's. */
	if ((pid_t)st.tracer == gettid())
		return tid == proc->pid ? -ESRCH : 1;
	return st.tracer ? -EBUSY : -EPERM;
}

/* Return: 1 seized; as not_seized(); -EAGAIN an exec in the process does not come to its end. */
static int seize_fresh(struct dp_process *proc, struct dp_seizer *seizer,
		       pid_t tid)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	bool ours = proc->nr_threads || proc->tree;
	int err, tries = 0;

	for (;;) {
		err = dp_seize(seizer, tid, running_options(proc), ours);
		if (err == -EINTR) {
			dp_stop_ends(proc);
			if (dp_now_ns() > deadline)
				return -EAGAIN;
			continue;
		}
		if (err != -EPERM)
			return !err;
		err = not_seized(proc, tid);
		/* The id may have been another thread's, until an exec. */
		if (err != -EPERM || ++tries == SEIZE_TRIES)
			return err;
	}
}

static int seize(struct dp_process *proc, struct dp_seizer *seizer, pid_t tid)
{
	int got = 1;

	/* The stop of an exec is not reported again: dp_process_renew() comes next. */
	if (proc->tree && (proc->execed[0] || proc->exited))
		return -ESRCH;
	/* A thread that is seized, and in no list, would stay stopped. */
	if (!has_room(proc))
		return -ENOMEM;
	if (!proc->tree || ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		got = seize_fresh(proc, seizer, tid);
		if (got <= 0 && got != -ESRCH)
			return got;
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	proc->threads[proc->nr_threads++] = (struct dp_thread){ .tid = tid };
	return got < 0 ? got : 0;
}

/* Is a thread to be stopped? */
typedef bool wanted_fn(pid_t pid, pid_t tid);

/* It need not be woken. */
static bool is_awake(pid_t pid, pid_t tid)
{
	u64 sp, pc;

	return !dp_thread_state_asleep(pid, tid, &sp, &pc);
}

/* It does not sleep, or can be woken. */
static bool can_stop(pid_t pid, pid_t tid)
{
	struct dp_thread_state d;

	return !dp_thread_state_read(pid, tid, &d) ||
	       !dp_thread_state_vfork(pid, tid, d.nr);
}

/* In a masked wait /proc shows the mask of the wait, not the thread's usual one. */
static bool is_deaf(pid_t pid, pid_t tid)
{
	struct dp_status st;
	struct dp_thread_state d;

	if (dp_thread_state_read(pid, tid, &d) && dp_thread_state_masked(&d))
		return true;
	return can_stop(pid, tid) && !dp_status_read(pid, tid, &st) &&
	       st.blocked & dp_caught_mask(DP_CAUGHT);
}

/* A thread that has just woken up shows no mask by which to tell what it will do. */
static bool is_awake_or_deaf(pid_t pid, pid_t tid)
{
	return is_awake(pid, tid) || is_deaf(pid, tid);
}

static void drop_thread(struct dp_process *proc, size_t i)
{
	proc->threads[i] = proc->threads[--proc->nr_threads];
}

/* Read the registers of a thread after dp_await_stop(), which returned @got. */
static int is_stopped(struct dp_process *proc, struct dp_thread *t, int got)
{
	if (got <= 0 || ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) ||
	    !suspends(proc, t->tid, true))
		return -ESRCH;
	if (proc->tree && proc->traced)
		proc->traced->begin(proc->traced, t->tid);
	dp_resume_call(proc, t);
	return 0;
}

static int wait_new(struct dp_process *proc, size_t from, s64 deadline)
{
	size_t i = from;

	while (i < proc->nr_threads) {
		struct dp_thread *t = &proc->threads[i];
		int got = dp_await_stop(proc, t, deadline);

		if (got < 0)
			return got;
		if (is_stopped(proc, t, got))
			drop_thread(proc, i);
		else
			i++;
	}
	return 0;
}

/* Stop @most threads that are @wanted. @bother: another tracer is an error.
 * Return: how many were seized; a negative errno. */
static int stop_some(struct dp_process *proc, wanted_fn *wanted, u32 most,
		     bool bother, s64 deadline)
{
	size_t n, i, had = proc->nr_threads, fresh;
	struct dp_seizer seizer = { 0 };
	pid_t *tids;
	int err = dp_tasks_list(proc->pid, &tids, &n), got;

	for (i = 0; i < n && !err && proc->nr_threads - had < most; i++) {
		if (dp_stop_held(proc, tids[i]) || !wanted(proc->pid, tids[i]))
			continue;
		err = seize(proc, &seizer, tids[i]);
		err = err != -EBUSY || bother ? err : 0;
	}
	dp_seizer_end(&seizer);
	free(tids);
	fresh = proc->nr_threads - had;
	got = wait_new(proc, had, deadline);
	return err ?: got ?: (int)fresh;
}

/* Repeat until a pass finds no new thread. */
static int stop_rounds(struct dp_process *proc, bool wake)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	int got;

	do
		got = stop_some(proc,
				wake && !proc->nr_threads ? can_stop : is_awake,
				wake ? 1 : ALL, true, deadline);
	while (got > 0 && dp_now_ns() < deadline);
	return got < 0 ? got : 0;
}

static int no_stop(const struct dp_process *proc, int err, struct dp_diag *diag)
{
	if (err == -EAGAIN)
		dp_diag_set(
			diag, err,
			"process %d does not stop: a thread of it is stuck in the kernel; try again",
			proc->pid);
	else if (err == -EBUSY)
		dp_diag_set(
			diag, err,
			"process %d is being traced by someone else; end that first, then any dprobes on it cleans up",
			proc->pid);
	else if (err == -ESRCH)
		dp_diag_set(diag, err,
			    dp_process_replaced(proc) ?
				    "process %d executes another program" :
				    "process %d has ended",
			    proc->pid);
	else
		dp_diag_set(diag, err, "cannot stop process %d: %s", proc->pid,
			    strerror(-err));
	return err;
}

/* @err: of stopping; if negative, no thread stays stopped. Return: 0; @err, with words. */
static int ended_with(struct dp_process *proc, int err, struct dp_diag *diag)
{
	if (err >= 0)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

int dp_stop_all(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held)
		return 0;
	proc->halted = false;
	err = stop_rounds(proc, false);
	if (!err && !proc->nr_threads)
		err = stop_rounds(proc, true);
	return ended_with(proc, err, diag);
}

int dp_stop_again(struct dp_process *proc, struct dp_diag *diag)
{
	if (proc->held)
		return 0;
	return ended_with(proc, stop_rounds(proc, false), diag);
}

/* Does a thread wait in vfork or posix_spawn? Its CLONE_VM child, with signals and signal
 * actions of its own, runs in the target's memory meanwhile. */
static bool is_shared(const struct dp_process *proc)
{
	pid_t tid;

	dp_each_task(tid, proc->pid)
		if (!dp_stop_held(proc, tid) && !can_stop(proc->pid, tid))
			return true;
	return false;
}

/* An ending process loses its memory first, before the pidfd tells its end. */
bool dp_process_ended(const struct dp_process *proc)
{
	struct pollfd p = { proc->pidfd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0 || dp_memory_gone(proc);
}

int dp_stop_alone(struct dp_process *proc, struct dp_diag *diag)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	int err;

	do {
		err = dp_stop_all(proc, diag);
		if (err || proc->held || (proc->nr_threads && !is_shared(proc)))
			return err;
		/* The only thread may have waited in vfork, and may have ended since. */
		if (!proc->nr_threads && dp_process_ended(proc))
			return no_stop(proc, -ESRCH, diag);
		dp_stop_release(proc);
		if (proc->tree)
			dp_tree_pass(proc->tree);
		dp_nap(NAP_NS);
	} while (dp_now_ns() < deadline);
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has another process running in its memory (vfork), which has not come to its exec; try again",
		proc->pid);
}

int dp_stop_more(struct dp_process *proc, struct dp_diag *diag)
{
	if (proc->held)
		return 0;
	return ended_with(proc,
			  stop_some(proc, can_stop, ALL, true,
				    dp_now_ns() + STOP_DEADLINE_NS),
			  diag);
}

int dp_stop_deaf(struct dp_process *proc, struct dp_diag *diag)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	int got;

	if (proc->held)
		return 0;
	do
		got = stop_some(proc, is_awake_or_deaf, ALL, true, deadline);
	while (got > 0 && dp_now_ns() < deadline);
	return ended_with(proc, got, diag);
}

int dp_stop_rest(struct dp_process *proc, struct dp_diag *diag)
{
	size_t had;
	int err;

	do {
		had = proc->nr_threads;
		err = dp_stop_more(proc, diag);
	} while (!err && proc->nr_threads > had);
	return err;
}

/* Stop a held thread again that was let run. Return: 0; -ESRCH it does not stop any more */
static int halt(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	return is_stopped(proc, t, dp_await_stop(proc, t, deadline));
}

/* CPU time of all threads of the process, in ns; -1: not known */
static s64 cpu_time(const struct dp_process *proc)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(proc->pid, &clock) || clock_gettime(clock, &t))
		return -1;
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* On a busy machine a thread may wait for a CPU much longer than a moment: interrupted before
 * it gets one, it would be where it was. */
static void let_work(const struct dp_process *proc, pid_t tid)
{
	s64 before = cpu_time(proc), deadline = dp_now_ns() + STARVED_NS;

	do
		dp_nap(MOMENT_NS);
	while (before >= 0 && cpu_time(proc) - before < MOMENT_NS &&
	       dp_thread_state_runs(proc->pid, tid) && dp_now_ns() < deadline);
}

int dp_stop_run_on(struct dp_process *proc, struct dp_thread *t)
{
	int got, tries = 0;

	/* A thread in a group stop has one more stop to report: that of the
	 * interrupt. A thread that got a signal was interrupted behind it,
	 * perhaps in its next call. */
	do {
		if (!suspends(proc, t->tid, false) ||
		    ptrace(PTRACE_CONT, t->tid, 0, 0))
			return -ESRCH;
		let_work(proc, t->tid);
		got = dp_await_stop(proc, t, 0);
		if (got == -EAGAIN)
			return halt(proc, t, dp_now_ns() + STOP_DEADLINE_NS);
		if (is_stopped(proc, t, got))
			return -ESRCH;
	} while (++tries < 4);
	return 0;
}

/* In a stopped process a signal that a probe has raised waits for SIGCONT. */
static bool has_trapped(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	return proc->halted && !dp_status_read(proc->pid, tid, &st) &&
	       st.pending & ~st.blocked & dp_caught_mask(DP_CAUGHT);
}

bool dp_stop_run_out(struct dp_process *proc, size_t from,
		     bool (*inside)(const void *arg, u64 pc), const void *arg)
{
	s64 deadline = dp_now_ns() + RUN_OUT_NS + proc->patience;
	size_t i = from;

	if (proc->held)
		return true;
	while (i < proc->nr_threads && dp_now_ns() < deadline) {
		if (!inside(arg, dp_uregs_pc(&proc->threads[i].regs)) &&
		    !has_trapped(proc, proc->threads[i].tid))
			i++;
		else if (dp_stop_run_on(proc, &proc->threads[i]))
			drop_thread(proc, i);
	}
	return i >= proc->nr_threads;
}

int dp_stop_one(struct dp_process *proc, struct dp_diag *diag)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	bool wake = false;
	int got = 1;

	/* The seized thread may end meanwhile: try again. If all threads sleep,
	 * wake one. */
	while (got >= 0 && !proc->nr_threads && dp_now_ns() < deadline) {
		wake |= !got;
		got = stop_some(proc, wake ? can_stop : is_awake, 1, true,
				deadline);
		if (!got && wake)
			dp_nap(NAP_NS);
	}
	if (got >= 0 && !proc->nr_threads)
		got = -EAGAIN;
	return ended_with(proc, got, diag);
}

int dp_stop_this(struct dp_process *proc, pid_t tid, struct dp_diag *diag)
{
	struct dp_seizer seizer = { 0 };
	int err = seize(proc, &seizer, tid), got;

	dp_seizer_end(&seizer);
	got = wait_new(proc, 0, dp_now_ns() + STOP_DEADLINE_NS);
	if (!err && !got && proc->nr_threads == 1)
		return 0;
	err = err ?: got;
	dp_stop_release(proc);
	return err && err != -EAGAIN ? no_stop(proc, err, diag) : -EAGAIN;
}

/* Release a thread. If the thread has been killed it is reaped: an exec, or the end of the
 * process, waits for that. */
static void let(struct dp_process *proc, const struct dp_thread *t)
{
	s64 deadline = dp_now_ns() + END_NS;
	int status, sig = 0;

	if (proc->tree) {
		dp_tree_let(t->tid, t->group_stop);
		return;
	}
	while (ptrace(PTRACE_DETACH, t->tid, 0, sig) && errno == ESRCH &&
	       t->tid != proc->pid &&
	       dp_await_until(proc, t->tid, &status, deadline) > 0 &&
	       !dp_stop_lost(proc, t->tid, status))
		sig = status >> 16 ? 0 : WSTOPSIG(status);
}

int dp_stop_pass(struct dp_process *proc, bool bother, struct dp_diag *diag)
{
	size_t had = proc->nr_threads;
	struct dp_status st;
	int err = -EBUSY;

	if (!bother || dp_status_read(proc->pid, proc->pid, &st) ||
	    !st.tracer || (pid_t)st.tracer == gettid())
		err = stop_some(proc, dp_thread_state_runs, ALL, bother,
				dp_now_ns() + STOP_DEADLINE_NS);
	while (proc->nr_threads > had)
		let(proc, &proc->threads[--proc->nr_threads]);
	return err < 0 ? no_stop(proc, err, diag) : 0;
}

void dp_stop_release_one(struct dp_process *proc, pid_t tid)
{
	struct dp_thread *t = dp_stop_held(proc, tid);

	if (!t)
		return;
	let(proc, t);
	drop_thread(proc, (size_t)(t - proc->threads));
}

void dp_stop_release(struct dp_process *proc)
{
	size_t i;

	if (proc->held)
		return;
	for (i = 0; i < proc->nr_threads; i++)
		let(proc, &proc->threads[i]);
	proc->nr_threads = 0;
	proc->outdated = true;
}

const struct dp_maps *dp_stop_maps(struct dp_process *proc)
{
	/* In a long stop mappings change by remote calls: read them again. */
	if (proc->outdated || proc->held)
		dp_maps_free(&proc->maps);
	proc->outdated = false;
	return dp_last_maps(proc);
}

const struct dp_maps *dp_last_maps(struct dp_process *proc)
{
	if (proc->maps.n)
		return &proc->maps;
	if (dp_maps_read(proc->pid, &proc->maps))
		return NULL;
	proc->outdated = !proc->nr_threads;
	return &proc->maps;
}
