// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* open: open a process's memory, or explain why it cannot be. */
#include "proc/attach/attach.h"
#include "proc/facts.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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
