// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* await: wait for the next stop of a traced thread, its end, or its exec. */
#include "proc/ptrace/process.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/tree.h"
#include <errno.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAP_NS 10000
#define SPINS 100 /* looks before the first nap: some ten microseconds */
/* looks at one thread per dp_stop_ends() */
#define ENDS_EVERY 50

/* Pause after look @n: nothing at first, then a sleep. No sched_yield(): on a loaded machine other
 * tasks would have the CPU for milliseconds. Return: has the caller slept? */
static bool pause_after(u32 n)
{
	if (n < SPINS)
		return false;
	dp_nap(NAP_NS);
	return true;
}

bool dp_stop_lost(struct dp_process *proc, pid_t tid, int status)
{
	bool ended = !WIFSTOPPED(status);

	if (!ended && !(proc->tree && status >> 16 == PTRACE_EVENT_EXEC))
		return false;
	if (proc->tree)
		dp_tree_deal(proc->tree, tid, status, false);
	if (ended && tid == proc->pid &&
	    (proc->launched || proc->tree || proc->held)) {
		proc->reaped = proc->exited = true;
		proc->status = status;
	}
	return true;
}

/* Handle a stop for another reason. Return: false if the thread has ended. */
static bool pass_on(struct dp_process *proc, pid_t tid, int status)
{
	if (proc->tree)
		return dp_tree_deal(proc->tree, tid, status, false);
	if (dp_stop_lost(proc, tid, status))
		return false;
	/* A signal of the program's stopped the thread: deliver it first. */
	ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
	return true;
}

/* Of a traced thread waitid(2) reports stops, too, even without WSTOPPED. */
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
	pid_t tid;

	dp_each_task(tid, proc->pid) {
		if (tid == proc->pid || !has_ended(tid, &status))
			continue;
		t = dp_stop_held(proc, tid);
		if (t)
			t->ended = true;
		dp_stop_lost(proc, tid, status);
	}
}

/* A stopped thread that has vanished has executed a program if the first thread is traced by
 * us now. PTRACE_EVENT_EXEC reports come only in a process tree. */
static bool has_executed(const struct dp_process *proc,
			 const struct dp_thread *t)
{
	struct dp_status st;

	return !proc->tree && !t->ended && t->tid != proc->pid &&
	       !dp_status_read(proc->pid, proc->pid, &st) &&
	       (pid_t)st.tracer == gettid();
}

/* After its exec the thread has the first thread's id, and is released by that id. */
static pid_t take_first(struct dp_process *proc, struct dp_thread *t)
{
	if (dp_stop_held(proc, proc->pid))
		t->ended = true;
	else
		t->tid = proc->pid;
	ptrace(PTRACE_INTERRUPT, proc->pid, 0, 0);
	return proc->pid;
}

pid_t dp_await_until(struct dp_process *proc, pid_t tid, int *status,
		     s64 deadline)
{
	pid_t got;
	u32 n;

	for (n = 1; !(got = dp_stop_seen(tid, status, WNOHANG)); n++) {
		if (dp_now_ns() > deadline)
			return 0;
		if (pause_after(n) && n % ENDS_EVERY == 0)
			dp_stop_ends(proc);
	}
	return got;
}

pid_t dp_stop_await(struct dp_process *proc, pid_t tid, int *status)
{
	return dp_await_until(proc, tid, status, INT64_MAX);
}

void dp_stop_note(struct dp_process *proc, struct dp_thread *t, int status)
{
	t->group_stop = dp_stops_group(WSTOPSIG(status));
	proc->halted |= t->group_stop;
}

int dp_await_stop(struct dp_process *proc, struct dp_thread *t, s64 deadline)
{
	int status, stopped = 1, gone = 0;
	pid_t tid = t->tid, got;

	for (;;) {
		got = dp_await_until(proc, tid, &status, deadline);
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
			dp_stop_note(proc, t, status);
			return stopped;
		}
		/* Any other stop drops a pending PTRACE_INTERRUPT. Renewed before
		 * the thread goes on, its stop comes first, and shows a call that
		 * was interrupted for it. */
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
		if (!pass_on(proc, tid, status))
			return gone;
	}
}

void dp_stop_reap(const struct dp_process *proc)
{
	struct dp_status st;
	pid_t tid;

	if (proc->tree || dp_status_read(proc->pid, proc->pid, &st) ||
	    st.state != 'Z')
		return;
	dp_each_task(tid, proc->pid)
		if (tid != proc->pid || !proc->launched)
			waitpid(tid, NULL, __WALL | WNOHANG);
}

pid_t dp_stop_wait(pid_t tid, int *status)
{
	pid_t got;

	do
		got = waitpid(tid, status, __WALL);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool is_for_signal(const siginfo_t *info)
{
	return info->si_code == CLD_TRAPPED && !(info->si_status >> 8) &&
	       info->si_status != (SIGTRAP | 0x80);
}

/* A child that the tool does not trace has stopped: nothing to be told, and it would come first
 * each time. */
static bool is_strange(const siginfo_t *info)
{
	siginfo_t stop;

	return info->si_pid && info->si_code == CLD_STOPPED &&
	       !waitid(P_PID, (id_t)info->si_pid, &stop,
		       WSTOPPED | WNOHANG | __WALL);
}

pid_t dp_stop_seen(pid_t tid, int *status, int flags)
{
	siginfo_t info;

	do {
		info.si_pid = 0;
		if (waitid(tid < 0 ? P_ALL : P_PID, tid < 0 ? 0 : (id_t)tid,
			   &info,
			   WEXITED | WSTOPPED | WNOWAIT | __WALL | flags))
			return -1;
	} while (is_strange(&info));
	if (!info.si_pid)
		return 0;
	if (!is_for_signal(&info))
		return waitpid(info.si_pid, status, __WALL | flags);
	*status = info.si_status << 8 | 0x7f;
	return info.si_pid;
}

bool dp_child_try(bool (*works)(pid_t child))
{
	pid_t us = getpid(), child = fork();
	bool yes;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == us)
			pause();
		_exit(0);
	}
	yes = child > 0 && works(child);
	if (child > 0) {
		kill(child, SIGKILL);
		dp_stop_wait(child, NULL);
	}
	return yes;
}
