// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* attach: open a running process, only reading it. */
#include "proc/attach/attach.h"
#include "proc/attach_other.h"
#include "proc/code/intercepts.h"
#include "proc/facts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/remote.h"
#include "proc/seccomp/filters.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* how long a thread that executes a program may take to become the first thread */
#define EXEC_NS 500000000
#define NAP_NS 1000000

/* readlink() of a kernel thread's program, or an exiting process's, fails with ENOENT;
 * without permission, with EACCES. Return: 0 it has a program; an errno. */
static int no_program(pid_t pid)
{
	char exe[8];

	return readlink(dp_path("/proc/%d/exe", pid).s, exe, sizeof(exe)) < 0 ?
		       errno :
		       0;
}

/* Does the process have running threads besides its first one? */
static bool has_others(pid_t pid)
{
	struct dp_status st;
	pid_t tid;

	dp_each_task(tid, pid)
		if (tid != pid && !dp_status_read(pid, tid, &st) &&
		    st.state != 'Z' && st.state != 'X')
			return true;
	return false;
}

/* @st: its state becomes 0 if it cannot be read */
static bool runs(pid_t pid, struct dp_status *st)
{
	if (dp_status_read(pid, pid, st))
		*st = (struct dp_status){ 0 };
	return st->state && st->state != 'Z' && st->state != 'X';
}

/* A thread that executes a program becomes the first thread once all others have ended.
 * Return: 0; -ESRCH the process has ended; -EOPNOTSUPP the first thread is gone for good */
static int first_thread(pid_t pid, struct dp_status *st)
{
	s64 deadline = dp_now_ns() + EXEC_NS;

	for (;;) {
		if (runs(pid, st))
			return 0;
		/* During an exec the process exists, but its status cannot be read. */
		if (kill(pid, 0) && errno == ESRCH)
			return -ESRCH;
		if (!st->state || has_others(pid))
			dp_nap(NAP_NS);
		else
			return runs(pid, st) ? 0 : -ESRCH;
		if (dp_now_ns() > deadline)
			return st->state ? -EOPNOTSUPP : -ESRCH;
	}
}

static int find(struct dp_process *proc, pid_t pid, struct dp_diag *diag)
{
	struct dp_status st;
	int err, hidden;

	proc->pid = pid;
	if (pid <= 0 || dp_status_read(pid, pid, &st))
		return dp_diag_set(diag, -ESRCH, "no process %d", pid);
	if (pid == dp_tool_of(proc))
		return dp_diag_set(diag, -EINVAL,
				   "process %d is this dprobes itself", pid);
	err = first_thread(pid, &st);
	if (err == -ESRCH)
		return dp_diag_set(diag, err, "process %d has ended", pid);
	if (err)
		return dp_diag_set(
			diag, err,
			"the first thread of process %d has ended, while others run; probe one whose first thread runs",
			pid);
	hidden = no_program(pid);
	if (hidden && dp_status_kernel(pid))
		return dp_diag_set(diag, -EOPNOTSUPP,
				   "process %d is a kernel thread", pid);
	if (hidden == ENOENT)
		return dp_diag_set(diag, -ESRCH, "process %d has ended", pid);
	proc->ns_pid = st.ns_pid;
	return dp_process_open_mem(proc, diag);
}

static int look(struct dp_process *proc, struct dp_diag *diag)
{
	return dp_check_process(proc, diag) ?: dp_kind_find(proc, diag);
}

int dp_process_look(struct dp_process *proc, pid_t pid, struct dp_diag *diag)
{
	return find(proc, pid, diag) ?: look(proc, diag);
}

static int take_hold(struct dp_process *proc, pid_t pid, struct dp_diag *diag)
{
	int err = find(proc, pid, diag);

	/* Another tool may be about to change what look() reads. */
	if (!err)
		err = dp_process_lock(proc, DP_LOCK_AGENT, diag);
	dp_kill_point("attach: locked");
	if (!err)
		err = look(proc, diag);
	/* All further steps depend on the filters. */
	if (!err)
		dp_filters_read(proc);
	if (!err)
		err = dp_dispatch_look(proc, diag) ?:
			      dp_dispatch_sound(proc, diag);
	/* An earlier tool's intercepts are where ours will be. */
	proc->recovered = !err && dp_recover_needed(proc);
	if (proc->recovered)
		err = dp_recover(proc, diag) ?: dp_kind_find(proc, diag);
	return err;
}

int dp_process_lost(pid_t pid, struct dp_diag *diag)
{
	struct dp_status st;

	if (first_thread(pid, &st))
		return dp_diag_set(diag, -ESRCH, "process %d has ended", pid);
	return dp_diag_set(
		diag, -EAGAIN,
		"process %d executes one program after the other, and none of them stays long enough; try again",
		pid);
}

bool dp_process_executes(const struct dp_process *proc)
{
	s64 deadline = dp_now_ns() + EXEC_NS;
	struct dp_status st;

	while (!first_thread(proc->pid, &st)) {
		if (dp_process_replaced(proc))
			return true;
		/* In the middle of an exec the first thread has already lost its memory. */
		if (no_program(proc->pid) != ENOENT ||
		    dp_status_kernel(proc->pid) || dp_now_ns() > deadline)
			return false;
		dp_nap(NAP_NS);
	}
	return false;
}

/* During an exec neither the process nor its file can be found for moments. */
static bool is_elsewhere(const struct dp_process *proc, pid_t pid, int err)
{
	struct dp_status st;

	if (!err || pid <= 0)
		return false;
	return dp_process_executes(proc) ||
	       ((err == -ESRCH || err == -ENOENT) && !first_thread(pid, &st));
}

int dp_process_attach_as(pid_t pid, pid_t tool, struct dp_process **out,
			 struct dp_diag *diag)
{
	struct dp_process *proc;
	s64 deadline = dp_now_ns() + DP_EXECS_NS;
	bool again;
	int err = dp_limits_descriptors(diag);

	if (err)
		return err;
	do {
		proc = dp_process_new();
		if (!proc)
			return dp_diag_set(diag, -ENOMEM, "out of memory");
		proc->tool = tool;
		err = take_hold(proc, pid, diag);
		again = is_elsewhere(proc, pid, err);
		if (!again && err && dp_process_ended(proc))
			err = dp_diag_set(diag, -ESRCH, "process %d has ended",
					  pid);
		if (again && dp_now_ns() > deadline) {
			again = false;
			err = dp_process_lost(pid, diag);
		}
		if (err)
			dp_process_close(proc);
		if (again)
			dp_nap(NAP_NS);
	} while (again);
	if (!err)
		*out = proc;
	return err;
}

int dp_process_attach(pid_t pid, struct dp_process **proc, struct dp_diag *diag)
{
	return dp_process_attach_as(pid, 0, proc, diag);
}

int dp_process_clean(pid_t pid, struct dp_diag *diag)
{
	struct dp_process *proc;
	int err = dp_process_attach(pid, &proc, diag);

	if (err)
		return err;
	err = proc->recovered;
	dp_process_close(proc);
	return err;
}

static int no_permission(const struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_facts facts = { .n = 0 };
	const char *before = ": ";
	size_t i;

	dp_facts_permission(&facts, proc->pid);
	dp_diag_set(diag, -EPERM, "no permission to probe process %d",
		    proc->pid);
	for (i = 0; i < facts.n; i++) {
		if (facts.v[i].state != DP_FACT_NO)
			continue;
		dp_diag_add(diag, "%s%s; %s", before, facts.v[i].text,
			    facts.v[i].remedy);
		before = "; ";
	}
	return -EPERM;
}

int dp_process_open_mem(struct dp_process *proc, struct dp_diag *diag)
{
	proc->pidfd = (int)syscall(SYS_pidfd_open, proc->pid, 0);
	if (proc->pidfd < 0)
		return dp_diag_set(diag, -errno,
				   errno == ESRCH || errno == EINVAL ?
					   "no process %d" :
					   "cannot watch process %d",
				   proc->pid);
	fcntl(proc->pidfd, F_SETFD, FD_CLOEXEC);
	proc->mem =
		open(dp_path("/proc/%d/mem", proc->pid).s, O_RDWR | O_CLOEXEC);
	/* Some kernels open that of their own threads, which is empty. */
	if (proc->mem >= 0 && dp_status_kernel(proc->pid))
		return dp_diag_set(diag, -ESRCH,
				   "process %d is a kernel thread", proc->pid);
	if (proc->mem >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return no_permission(proc, diag);
	if (errno == ESRCH || errno == ENOENT)
		return dp_diag_set(diag, -ESRCH, "process %d has ended",
				   proc->pid);
	return dp_diag_set(diag, -errno,
			   "cannot open the memory of process %d: %s",
			   proc->pid, strerror(errno));
}

int dp_process_open(pid_t pid, struct dp_process **out, struct dp_diag *diag)
{
	struct dp_process *proc = dp_process_new();
	int err;

	if (!proc)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	proc->pid = pid;
	err = dp_process_open_mem(proc, diag);
	if (err)
		dp_process_close(proc);
	else
		*out = proc;
	return err;
}

struct dp_process *dp_process_new(void)
{
	struct dp_process *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->target.ops = &dp_process_target_ops;
	proc->pidfd = proc->mem = proc->awake = proc->unsettled = -1;
	return proc;
}
