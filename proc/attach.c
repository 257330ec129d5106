// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* attach: take hold of a running process, looking only. */
#include "proc/private.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Kernel threads, and processes that are at their end, say ENOENT for their program;
 * to whoever may not know, EACCES. Return: 0 it has one; an errno. */
static int no_program(pid_t pid)
{
	char path[64], exe[8];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, exe, sizeof(exe)) < 0 ? errno : 0;
}

int dp_process_look(struct dp_process *proc, pid_t pid, struct dp_diag *diag)
{
	struct dp_status st;
	int err, hidden;

	proc->pid = pid;
	if (pid <= 0 || dp_status_read(pid, pid, &st))
		return dp_diag_set(diag, -ESRCH, "no process %d", pid);
	if (pid == dp_tool_of(proc))
		return dp_diag_set(diag, -EINVAL,
				   "process %d is this dprobes itself", pid);
	if (st.state == 'Z' || st.state == 'X')
		return dp_diag_set(
			diag, -ESRCH,
			"process %d has ended, or its first thread has; probe one whose first thread runs",
			pid);
	hidden = no_program(pid);
	if (hidden && dp_status_kernel(pid))
		return dp_diag_set(diag, -EOPNOTSUPP,
				   "process %d is a kernel thread", pid);
	if (hidden == ENOENT)
		return dp_diag_set(diag, -ESRCH, "process %d has ended", pid);
	err = dp_process_open_mem(proc, diag);
	if (!err)
		err = dp_check_process(proc, diag);
	return err ? err : dp_gadgets_find(proc, diag);
}

/* @left: has an earlier tool left anything? */
static int take_hold(struct dp_process *proc, pid_t pid, bool *left,
		     struct dp_diag *diag)
{
	int err = dp_process_look(proc, pid, diag);

	/* Before anything is done that needs to know. */
	if (!err)
		dp_filters_read(proc);
	if (!err)
		err = dp_dispatch_look(proc, diag);
	/* An earlier tool's hooks stand where ours will. */
	*left = !err && dp_recover_needed(proc);
	if (*left) {
		err = dp_recover(proc, diag);
		if (!err)
			err = dp_gadgets_find(proc, diag);
	}
	return err;
}

static int attach(pid_t pid, pid_t tool, struct dp_process **out, bool *left,
		  struct dp_diag *diag)
{
	struct dp_process *proc;
	bool again;
	int err;

	do {
		proc = dp_process_new();
		if (!proc)
			return dp_diag_set(diag, -ENOMEM, "out of memory");
		proc->tool = tool;
		err = take_hold(proc, pid, left, diag);
		again = err && dp_process_replaced(proc);
		if (err && !again && dp_process_ended(proc))
			err = dp_diag_set(diag, -ESRCH,
					  "process %d has ended", pid);
		if (err)
			dp_process_close(proc);
	} while (again);
	if (!err)
		*out = proc;
	return err;
}

int dp_process_attach_as(pid_t pid, pid_t tool, struct dp_process **proc,
			 struct dp_diag *diag)
{
	bool left;

	return attach(pid, tool, proc, &left, diag);
}

int dp_process_attach(pid_t pid, struct dp_process **proc, struct dp_diag *diag)
{
	return dp_process_attach_as(pid, 0, proc, diag);
}

int dp_process_clean(pid_t pid, struct dp_diag *diag)
{
	struct dp_process *proc;
	bool left;
	int err = attach(pid, 0, &proc, &left, diag);

	if (err)
		return err;
	dp_process_close(proc);
	return left;
}
