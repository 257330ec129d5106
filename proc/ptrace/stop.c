// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stop: hold every running thread of the target for a moment.
 *
 * PTRACE_SEIZE and PTRACE_INTERRUPT: no signal is sent. A thread asleep in a
 * system call that the kernel does not restart after a stop (epoll_wait and its
 * like return EINTR) is left asleep: it executes none of the target's text, and
 * /proc tells where it is. Where there is no other thread to act for us, one of
 * them is woken. Whatever has returned EINTR for our sake is sent back into its
 * call at once, so that not even the end of this tool lets it out.
 */
#include "engine/layout/base.h"
#include "arch/uregs.h"
#include "proc/family.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/family.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 10000
#define SPINS 100 /* looks before the first nap: some ten microseconds */
/* looks at one thread, between looks at the ends of others */
#define ENDS_EVERY 50
#define SEIZE_TRIES 3
#define STOP_DEADLINE_NS 5000000000ll
/* Threads are not held for much longer than this. */
#define RUN_OUT_NS 2000000ll
#define END_NS 1000000000ll /* of a thread that has been killed */
#define ERESTART_RESTARTBLOCK 516 /* linux/errno.h */

/* @wake: as a last resort, one that is asleep but can be woken */
static bool wanted(pid_t pid, pid_t tid, bool wake)
{
	struct dp_doing d;
	u64 sp, pc;

	if (!wake)
		return !dp_doing_asleep(pid, tid, &sp, &pc);
	return !dp_doing_read(pid, tid, &d) || !dp_doing_vfork(pid, tid, d.nr);
}

struct dp_thread *dp_stop_held(const struct dp_process *proc, pid_t tid)
{
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (proc->threads[i].tid == tid)
			return &proc->threads[i];
	return NULL;
}

static struct dp_thread *add_thread(struct dp_process *proc, pid_t tid)
{
	size_t want = proc->cap_threads ? proc->cap_threads * 2 : 16;
	struct dp_thread *bigger;

	if (proc->nr_threads == proc->cap_threads) {
		bigger = realloc(proc->threads, want * sizeof(*bigger));
		if (!bigger)
			return NULL;
		proc->threads = bigger;
		proc->cap_threads = want;
	}
	proc->threads[proc->nr_threads] = (struct dp_thread){ .tid = tid };
	return &proc->threads[proc->nr_threads++];
}

static bool is_stop_signal(int sig)
{
	return sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
	       sig == SIGTTOU;
}

bool dp_stop_nap(u32 n)
{
	const struct timespec nap = { 0, NAP_NS };

	if (n < SPINS)
		return false;
	nanosleep(&nap, NULL);
	return true;
}

bool dp_stop_lost(struct dp_process *proc, pid_t tid, int status)
{
	bool ended = !WIFSTOPPED(status);

	if (!ended && !(proc->family && status >> 16 == PTRACE_EVENT_EXEC))
		return false;
	if (proc->family)
		dp_family_deal(proc->family, tid, status, false);
	if (ended && tid == proc->pid &&
	    (proc->launched || proc->family || proc->held)) {
		proc->reaped = proc->exited = true;
		proc->status = status;
	}
	return true;
}

/* A stop for another reason: it goes on. Return: false if it has ended. */
static bool pass_on(struct dp_process *proc, pid_t tid, int status)
{
	if (proc->family)
		return dp_family_deal(proc->family, tid, status, false);
	if (dp_stop_lost(proc, tid, status))
		return false;
	/* A signal of its own was on the way: it goes first. */
	ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	return true;
}

static void note_stop(struct dp_process *proc, struct dp_thread *t, int status)
{
	t->group_stop = is_stop_signal(WSTOPSIG(status));
	proc->halted |= t->group_stop;
}

/* waitid(2) tells of stops, too, of a thread that is traced, whatever it is asked for. */
static bool has_ended(pid_t tid, int *status)
{
	siginfo_t info = { 0 };

	if (waitid(P_PID, (id_t)tid, &info,
		   WEXITED | WNOWAIT | WNOHANG | __WALL) ||
	    !info.si_pid)
		return false;
	return info.si_code != CLD_TRAPPED && info.si_code != CLD_STOPPED &&
	       waitpid(tid, status, __WALL | WNOHANG) == tid;
}

void dp_stop_ends(struct dp_process *proc)
{
	struct dp_thread *t;
	int status;
	pid_t *tids;
	size_t n, i;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return;
	for (i = 0; i < n; i++) {
		if (tids[i] == proc->pid || !has_ended(tids[i], &status))
			continue;
		t = dp_stop_held(proc, tids[i]);
		if (t)
			t->ended = true;
		dp_stop_lost(proc, tids[i], status);
	}
	free(tids);
}

/* A thread of ours that is nowhere to be found has executed a program, if the first one is ours
 * now. The report of an exec is for those that follow only. */
static bool has_executed(const struct dp_process *proc,
			 const struct dp_thread *t)
{
	struct dp_status st;

	return !proc->family && !t->ended && t->tid != proc->pid &&
	       !dp_status_read(proc->pid, proc->pid, &st) &&
	       (pid_t)st.tracer == gettid();
}

/* It has the first thread's number from then on, and is let go by that. */
static pid_t take_first(struct dp_process *proc, struct dp_thread *t)
{
	if (dp_stop_held(proc, proc->pid))
		t->ended = true;
	else
		t->tid = proc->pid;
	ptrace(PTRACE_INTERRUPT, proc->pid, 0, 0);
	return proc->pid;
}

/* Return: as dp_stop_seen(), and 0: not in time. */
static pid_t await(struct dp_process *proc, pid_t tid, int *status,
		   s64 deadline)
{
	pid_t got;
	u32 n;

	for (n = 1; !(got = dp_stop_seen(tid, status, WNOHANG)); n++) {
		if (dp_now_ns() > deadline)
			return 0;
		if (dp_stop_nap(n) && n % ENDS_EVERY == 0)
			dp_stop_ends(proc);
	}
	return got;
}

pid_t dp_stop_await(struct dp_process *proc, pid_t tid, int *status)
{
	return await(proc, tid, status, INT64_MAX);
}

/* Return: 1 stopped, 0 gone, -EAGAIN not in time, -ESRCH it has executed a program. */
static int wait_stop(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	int status, stopped = 1, gone = 0;
	pid_t tid = t->tid, got;

	for (;;) {
		got = await(proc, tid, &status, deadline);
		if (!got)
			return -EAGAIN;
		if (got < 0 && (gone || !has_executed(proc, t)))
			return gone;
		if (got < 0) {
			tid = take_first(proc, t);
			stopped = gone = -ESRCH;
			continue;
		}
		if (WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP) {
			note_stop(proc, t, status);
			return stopped;
		}
		/* Any other stop has made the kernel forget that this one was
		 * wanted, if it was by then. Wanted before it goes on it comes
		 * first: a call that was ended for it is seen to be. */
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		if (!pass_on(proc, tid, status))
			return gone;
	}
}

static u64 running_options(const struct dp_process *proc)
{
	return proc->family ? DP_FAMILY_OPTIONS : PTRACE_O_TRACESYSGOOD;
}

u64 dp_trace_options(const struct dp_process *proc)
{
	return running_options(proc) |
	       (proc->filtered ? PTRACE_O_SUSPEND_SECCOMP : 0);
}

bool dp_stop_suspends(const struct dp_process *proc, pid_t tid, bool suspend)
{
	return !proc->filtered || !ptrace(PTRACE_SETOPTIONS, tid, 0,
					  suspend ? dp_trace_options(proc) :
						    running_options(proc));
}

/* One that is just ending is no concern of ours; unless it was ours when it was
 * killed: then the process does not end before we have seen it.
 * Return: 0 gone; 1 it is ours already; -ESRCH so it is, for it has executed a program; -EBUSY
 * it is another's; -EPERM */
static int not_seized(struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	if (dp_status_read(proc->pid, tid, &st))
		return 0;
	if (st.state == 'Z' || st.state == 'X') {
		dp_stop_ends(proc);
		return 0;
	}
	/* By an exec the first thread's number, and nothing else, becomes another one's. */
	if ((pid_t)st.tracer == gettid())
		return tid == proc->pid ? -ESRCH : 1;
	return st.tracer ? -EBUSY : -EPERM;
}

/* Return: 1 seized; as not_seized(); -EAGAIN a thread executes a program, and does not come to
 * the end of that. */
static int seize_fresh(struct dp_process *proc, struct dp_seizer *seizer,
		       pid_t tid)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	bool ours = proc->nr_threads || proc->family;
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
		/* It may have been another thread, which was the first one before an exec. */
		if (err != -EPERM || ++tries == SEIZE_TRIES)
			return err;
	}
}

static int seize(struct dp_process *proc, struct dp_seizer *seizer, pid_t tid,
		 size_t *fresh)
{
	int got = 1;

	/* What it stands in then is not reported again: dp_process_renew() is its next word. */
	if (proc->family && (proc->execed[0] || proc->exited))
		return -ESRCH;
	if (!proc->family || ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		got = seize_fresh(proc, seizer, tid);
		if (got <= 0 && got != -ESRCH)
			return got;
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	}
	++*fresh;
	if (!add_thread(proc, tid))
		return -ENOMEM;
	return got < 0 ? got : 0;
}

/* @one: no more than one */
static int seize_new(struct dp_process *proc, bool wake, bool one,
		     size_t *fresh)
{
	struct dp_seizer seizer = { 0 };
	pid_t *tids;
	size_t n, i;
	int err = dp_tasks_list(proc->pid, &tids, &n);

	*fresh = 0;
	if (err)
		return err;
	for (i = 0; i < n && !err && !(one && *fresh); i++)
		if (!dp_stop_held(proc, tids[i]) &&
		    wanted(proc->pid, tids[i], wake))
			err = seize(proc, &seizer, tids[i], fresh);
	dp_seizer_end(&seizer);
	free(tids);
	return err;
}

static void drop_thread(struct dp_process *proc, size_t i)
{
	proc->threads[i] = proc->threads[--proc->nr_threads];
}

/* What does nothing without a handler. It is pending nevertheless, while we trace. */
#define DULL                                             \
	(1ull << (SIGCHLD - 1) | 1ull << (SIGCONT - 1) | \
	 1ull << (SIGURG - 1) | 1ull << (SIGWINCH - 1))

static bool signal_waits(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	if (dp_status_read(proc->pid, tid, &st))
		return true;
	return (st.pending | st.shared_pending) & ~st.blocked & ~st.ignored &
	       ~(DULL & ~st.caught);
}

/* A call's own signal mask stays in force until a signal is delivered, or none is
 * found. One that is open only there would come before the call, and not end it. */
static void end_own_mask(const struct dp_thread *t)
{
	u64 mask;

	if (dp_uregs_call(&t->regs) != SYS_epoll_pwait &&
	    dp_uregs_call(&t->regs) != SYS_epoll_pwait2)
		return;
	if (!ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
}

/* A filter may forbid restart_syscall, by which the kernel would go on. */
static bool restarts_otherwise(const struct dp_process *proc,
			       const struct dp_thread *t)
{
	return proc->no_restart && dp_uregs_call(&t->regs) >= 0 &&
	       dp_uregs_ret(&t->regs) == -ERESTART_RESTARTBLOCK;
}

/* A call with a timeout starts afresh: how long it has waited is not known. */
static void resume_call(const struct dp_process *proc, struct dp_thread *t)
{
	bool again = restarts_otherwise(proc, t);

	if (!again &&
	    (dp_uregs_call(&t->regs) < 0 || dp_uregs_ret(&t->regs) != -EINTR ||
	     !dp_doing_is_ended(dp_uregs_call(&t->regs))))
		return;
	end_own_mask(t);
	if (!again && signal_waits(proc, t->tid))
		return;
	dp_uregs_retry(&t->regs, dp_uregs_call(&t->regs));
	dp_uregs_leave_call(&t->regs);
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
}

static int wait_new(struct dp_process *proc, size_t from, s64 deadline)
{
	size_t i = from;

	while (i < proc->nr_threads) {
		struct dp_thread *t = &proc->threads[i];
		int got = wait_stop(proc, t, deadline);

		if (got < 0)
			return got;
		if (!got || ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) ||
		    !dp_stop_suspends(proc, t->tid, true))
			drop_thread(proc, i);
		else
			resume_call(proc, &proc->threads[i++]);
	}
	return 0;
}

/* Until a look at the threads finds no new one. */
static int stop_rounds(struct dp_process *proc, bool wake)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	size_t fresh, had;
	int err, got;

	do {
		had = proc->nr_threads;
		err = seize_new(proc, wake && !had, wake, &fresh);
		got = wait_new(proc, had, deadline);
		err = err ?: got;
	} while (!err && fresh && dp_now_ns() < deadline);
	return err;
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

int dp_stop_all(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held || proc->frozen)
		return 0;
	proc->halted = false;
	err = stop_rounds(proc, false);
	if (!err && !proc->nr_threads)
		err = stop_rounds(proc, true);
	if (!err)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

int dp_stop_again(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held || proc->frozen)
		return 0;
	err = stop_rounds(proc, false);
	if (!err)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

/* A thread that waits in vfork or posix_spawn: somebody else, with signals and
 * signal actions of his own, runs in its memory until then. */
static bool is_shared(const struct dp_process *proc)
{
	bool shared = false;
	pid_t *tids;
	size_t n, i;
	struct dp_doing d;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return false;
	for (i = 0; i < n && !shared; i++)
		shared = !dp_stop_held(proc, tids[i]) &&
			 dp_doing_read(proc->pid, tids[i], &d) &&
			 dp_doing_vfork(proc->pid, tids[i], d.nr);
	free(tids);
	return shared;
}

/* Its memory goes first. */
bool dp_process_ended(const struct dp_process *proc)
{
	struct pollfd p = { proc->pidfd, POLLIN, 0 };

	return poll(&p, 1, 0) > 0 || dp_memory_gone(proc);
}

int dp_stop_alone(struct dp_process *proc, struct dp_diag *diag)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	struct timespec nap = { 0, 200000 };
	int err;

	do {
		err = dp_stop_all(proc, diag);
		if (err || proc->held || (proc->nr_threads && !is_shared(proc)))
			return err;
		/* Of one thread in vfork that has come out of it by now. */
		if (!proc->nr_threads && dp_process_ended(proc))
			return no_stop(proc, -ESRCH, diag);
		if (proc->frozen)
			break;
		dp_stop_release(proc);
		if (proc->family)
			dp_family_pass(proc->family);
		nanosleep(&nap, NULL);
	} while (dp_now_ns() < deadline);
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d has another process running in its memory (vfork), which has not come to its exec; try again",
		proc->pid);
}

/* One that sleeps under a mask of its own has another that does not show. */
static bool is_deaf(pid_t pid, pid_t tid)
{
	struct dp_status st;
	struct dp_doing d;

	if (dp_doing_read(pid, tid, &d) && dp_doing_masked(&d))
		return true;
	return !dp_status_read(pid, tid, &st) &&
	       st.blocked & dp_caught_mask(DP_CAUGHT);
}

int dp_stop_more(struct dp_process *proc, bool deaf, struct dp_diag *diag)
{
	size_t had = proc->nr_threads, fresh = 0, n, i;
	struct dp_seizer seizer = { 0 };
	pid_t *tids;
	int err, got;

	if (proc->held)
		return 0;
	err = dp_tasks_list(proc->pid, &tids, &n);
	if (err)
		return no_stop(proc, err, diag);
	for (i = 0; i < n && !err; i++)
		if (!dp_stop_held(proc, tids[i]) &&
		    wanted(proc->pid, tids[i], true) &&
		    (!deaf || is_deaf(proc->pid, tids[i])))
			err = seize(proc, &seizer, tids[i], &fresh);
	dp_seizer_end(&seizer);
	free(tids);
	got = wait_new(proc, had, dp_now_ns() + STOP_DEADLINE_NS);
	err = err ?: got;
	if (!err)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err, diag);
}

/* @got: from wait_stop() */
static int is_stopped(struct dp_process *proc, struct dp_thread *t, int got)
{
	if (got <= 0 || ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs) ||
	    !dp_stop_suspends(proc, t->tid, true))
		return -ESRCH;
	resume_call(proc, t);
	return 0;
}

int dp_stop_take(struct dp_process *proc, struct dp_thread *t, int status)
{
	note_stop(proc, t, status);
	return is_stopped(proc, t, 1);
}

int dp_stop_halt(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
	return is_stopped(proc, t, wait_stop(proc, t, deadline));
}

/* Let one thread run for a moment, the others held. Return: 0 stopped again. */
static int run_on(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	struct timespec moment = { 0, 20000 };
	int got, tries = 0;

	/* One that SIGSTOP has stopped has another stop to come: it was
	 * interrupted as well. And one that got a signal has been interrupted
	 * behind it, perhaps in the call that came next. */
	do {
		if (!dp_stop_suspends(proc, t->tid, false) ||
		    ptrace(PTRACE_CONT, t->tid, 0, 0))
			return -ESRCH;
		nanosleep(&moment, NULL);
		got = wait_stop(proc, t, 0);
		if (got == -EAGAIN)
			return dp_stop_halt(proc, t, deadline);
		if (is_stopped(proc, t, got))
			return -ESRCH;
	} while (++tries < 4);
	return 0;
}

int dp_stop_run_on(struct dp_process *proc, struct dp_thread *t)
{
	return run_on(proc, t, dp_now_ns() + STOP_DEADLINE_NS);
}

/* In a stopped process a signal that a probe has raised waits for SIGCONT. */
static bool has_trapped(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	return proc->halted && !dp_status_read(proc->pid, tid, &st) &&
	       st.pending & ~st.blocked & dp_caught_mask(DP_CAUGHT);
}

void dp_stop_run_out(struct dp_process *proc, size_t from,
		     bool (*inside)(const void *arg, u64 pc), const void *arg)
{
	s64 deadline = dp_now_ns() + RUN_OUT_NS;
	size_t i = from;

	if (proc->held)
		return;
	while (i < proc->nr_threads && dp_now_ns() < deadline) {
		if (!inside(arg, dp_uregs_pc(&proc->threads[i].regs)) &&
		    !has_trapped(proc, proc->threads[i].tid))
			i++;
		else if (run_on(proc, &proc->threads[i],
				dp_now_ns() + STOP_DEADLINE_NS))
			drop_thread(proc, i);
	}
}

int dp_stop_one(struct dp_process *proc, struct dp_diag *diag)
{
	s64 deadline = dp_now_ns() + STOP_DEADLINE_NS;
	struct timespec nap = { 0, 200000 };
	bool wake = false;
	size_t fresh = 1;
	int err = 0, got;

	/* One that ends meanwhile is no one; when none is left to stop, one has
	 * to be woken. */
	while (!err && !proc->nr_threads && dp_now_ns() < deadline) {
		wake |= !fresh;
		err = seize_new(proc, wake, true, &fresh);
		got = wait_new(proc, 0, deadline);
		err = err ?: got;
		if (!err && wake && !fresh)
			nanosleep(&nap, NULL);
	}
	if (!err && proc->nr_threads)
		return 0;
	dp_stop_release(proc);
	return no_stop(proc, err ? err : -EAGAIN, diag);
}

int dp_stop_this(struct dp_process *proc, pid_t tid, struct dp_diag *diag)
{
	struct dp_seizer seizer = { 0 };
	size_t fresh = 0;
	int err = seize(proc, &seizer, tid, &fresh), got;

	dp_seizer_end(&seizer);
	got = wait_new(proc, 0, dp_now_ns() + STOP_DEADLINE_NS);
	if (!err && !got && proc->nr_threads == 1)
		return 0;
	err = err ?: got;
	dp_stop_release(proc);
	return err && err != -EAGAIN ? no_stop(proc, err, diag) : -EAGAIN;
}

/* One that has been killed while it was ours is waited for: so does an exec, or the end of its
 * process; and the first one, if it comes to that, for the others. */
static void let(struct dp_process *proc, const struct dp_thread *t)
{
	s64 deadline = dp_now_ns() + END_NS;
	int status, sig = 0;

	if (proc->family) {
		dp_family_let(t->tid, t->group_stop);
		return;
	}
	while (ptrace(PTRACE_DETACH, t->tid, 0, sig) && errno == ESRCH &&
	       t->tid != proc->pid &&
	       await(proc, t->tid, &status, deadline) > 0 &&
	       !dp_stop_lost(proc, t->tid, status))
		sig = status >> 16 ? 0 : WSTOPSIG(status);
}

void dp_stop_reap(const struct dp_process *proc)
{
	struct dp_status st;
	pid_t *tids;
	size_t n, i;

	if (proc->family || dp_status_read(proc->pid, proc->pid, &st) ||
	    st.state != 'Z' || dp_tasks_list(proc->pid, &tids, &n))
		return;
	for (i = 0; i < n; i++)
		if (tids[i] != proc->pid || !proc->launched)
			waitpid(tids[i], NULL, __WALL | WNOHANG);
	free(tids);
}

/* @bother: about somebody else who traces it */
static int seize_running(struct dp_process *proc, bool bother)
{
	struct dp_seizer seizer = { 0 };
	size_t fresh, n, i;
	struct dp_status st;
	pid_t *tids;
	int err = dp_tasks_list(proc->pid, &tids, &n), got;

	if (err)
		return err;
	if (bother && !dp_status_read(proc->pid, proc->pid, &st) && st.tracer &&
	    (pid_t)st.tracer != gettid())
		err = -EBUSY;
	for (i = 0; i < n && !err; i++) {
		if (dp_stop_held(proc, tids[i]) ||
		    !dp_doing_runs(proc->pid, tids[i]))
			continue;
		got = seize(proc, &seizer, tids[i], &fresh);
		err = bother || got != -EBUSY ? got : 0;
	}
	dp_seizer_end(&seizer);
	free(tids);
	return err;
}

int dp_stop_pass(struct dp_process *proc, bool bother, struct dp_diag *diag)
{
	size_t had = proc->nr_threads;
	int err = seize_running(proc, bother), got;

	got = wait_new(proc, had, dp_now_ns() + STOP_DEADLINE_NS);
	err = err ?: got;
	while (proc->nr_threads > had)
		let(proc, &proc->threads[--proc->nr_threads]);
	return err ? no_stop(proc, err, diag) : 0;
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

	if (proc->held || proc->frozen)
		return;
	for (i = 0; i < proc->nr_threads; i++)
		let(proc, &proc->threads[i]);
	proc->nr_threads = 0;
	proc->outdated = true;
}

const struct dp_maps *dp_stop_maps(struct dp_process *proc)
{
	/* It may be held for long, and much be done meanwhile. */
	if (proc->outdated || proc->held || proc->frozen)
		dp_maps_free(&proc->maps);
	proc->outdated = false;
	return dp_last_maps(proc);
}

const struct dp_maps *dp_last_maps(struct dp_process *proc)
{
	if (!proc->maps.n && dp_maps_read(proc->pid, &proc->maps))
		return NULL;
	return &proc->maps;
}
