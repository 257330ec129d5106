// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* borrowed: one thread of the target that is held to make calls, while the others run. */
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"

static int hold_all(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = dp_remote_begin(proc, &proc->borrowed_thread, diag);
	if (err)
		dp_stop_release(proc);
	return err;
}

int dp_borrowed_begin(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	if (proc->held || proc->frozen)
		return 0;
	/* A selector that permits its calls may be other threads' as well. */
	if (proc->dispatches)
		return hold_all(proc, diag);
	err = dp_stop_one(proc, diag);
	if (!err && dp_remote_begin(proc, &proc->borrowed_thread, NULL)) {
		/* That one cannot; among all of them there may be one. */
		dp_stop_release(proc);
		err = hold_all(proc, diag);
	}
	return err;
}

void dp_borrowed_end(struct dp_process *proc)
{
	if (!proc->borrowed_thread)
		return;
	dp_remote_end(proc->borrowed_thread);
	proc->borrowed_thread = NULL;
	dp_stop_release(proc);
}
