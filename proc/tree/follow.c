// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* follow: processes join a process tree, and go on after a fork or an exec. */
#include "proc/attach/attach.h"
#include "proc/tree.h"
#include "proc/proc.h"
#include "proc/ptrace/tree.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/tree/follow.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/ptrace.h>

/* Repeat until a pass finds no new thread: a seized thread's children are seized from birth. */
static int seize_all(struct dp_process *proc)
{
	struct dp_seizer seizer = { 0 };
	bool fresh;
	int err, got;

	do {
		pid_t *tids;
		size_t n, i;

		fresh = false;
		err = dp_tasks_list(proc->pid, &tids, &n);
		for (i = 0; !err && i < n; i++) {
			while ((got = dp_seize(&seizer, tids[i],
					       DP_TREE_OPTIONS, true)) ==
			       -EINTR)
				dp_stop_ends(proc);
			fresh |= !got;
		}
		free(tids);
	} while (!err && fresh);
	dp_seizer_end(&seizer);
	return err;
}

int dp_tree_add(struct dp_tree *f, struct dp_process *proc)
{
	int err = dp_tree_join(f, proc);

	if (err)
		return err;
	if (!proc->held)
		return seize_all(proc);
	return ptrace(PTRACE_SETOPTIONS, proc->pid, 0, dp_trace_options(proc)) ?
		       -errno :
		       0;
}

int dp_tree_part(struct dp_tree *f, struct dp_process *proc,
		 struct dp_diag *diag)
{
	int err = 0;

	if (!proc->exited && !proc->execed[0])
		err = dp_stop_alone(proc, diag) ?: dp_stop_more(proc, diag);
	if (err)
		return err;
	dp_kill_point("tree: parts");
	dp_tree_drop(f, proc, true);
	proc->tree = NULL;
	dp_stop_release(proc);
	return 0;
}

void dp_tree_begin(struct dp_process *proc, const struct dp_tree_event *event)
{
	dp_process_let_go(proc);
	dp_tree_let_on(event);
}

void dp_tree_fail(struct dp_tree *f, const struct dp_tree_event *event,
		  struct dp_process *proc)
{
	bool ended = proc && proc->reaped;
	int status = ended ? proc->status : 0;

	if (proc) {
		proc->base = 0;
		proc->held = false;
		dp_process_close(proc);
	}
	dp_tree_let_go(f, event);
	if (ended)
		dp_tree_deal(f, event->pid, status, false);
}

int dp_process_renew(struct dp_tree *tree, const struct dp_tree_event *event,
		     struct dp_process **out, struct dp_diag *diag)
{
	struct dp_process *proc = dp_process_new();
	int err;

	if (!proc) {
		dp_tree_let_go(tree, event);
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	proc->pid = event->pid;
	err = dp_launch_again(proc, diag);
	if (!err)
		err = dp_tree_add(tree, proc);
	if (err)
		dp_tree_fail(tree, event, proc);
	else
		*out = proc;
	return err;
}
