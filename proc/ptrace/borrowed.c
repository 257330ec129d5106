// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* borrowed: a thread of the target that makes remote calls while the others run. */
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"

int dp_borrowed_alone(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = dp_remote_begin(proc, diag);
	if (err)
		dp_stop_release(proc);
	return err;
}

int dp_borrowed_begin(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held)
		return 0;
	/* Threads may share a selector, so that it would permit calls of others, too. */
	if (proc->dispatches)
		return dp_borrowed_alone(proc, diag);
	err = dp_stop_one(proc, diag);
	if (!err && dp_remote_begin(proc, NULL)) {
		/* That thread cannot make calls; another one may. */
		dp_stop_release(proc);
		err = dp_borrowed_alone(proc, diag);
	}
	return err;
}

void dp_borrowed_end(struct dp_process *proc)
{
	if (!proc->remote)
		return;
	dp_remote_end(proc);
	dp_stop_release(proc);
}
