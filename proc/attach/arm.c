// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arm: write probes into text, and take them out, while the agent stays. */
#include "proc/attach/attach.h"
#include "proc/attach/drain.h"
#include "proc/attach/area.h"
#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <dprobes/diag.h>
#include <errno.h>

/** struct arming - arguments of the two ways */
struct arming {
	dp_arm_fn *write;
	u64 bad;
};

/* No thread runs, or no library is unmapped meanwhile. */
static int write_now(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct arming *a = arg;

	dp_patched_compare(proc);
	return a->write(proc->engine, &proc->target, &a->bad);
}

/* The caller holds no thread. */
static int restore(struct dp_process *proc, const u32 *which, u32 n,
		   struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = dp_engine_restore(proc->engine, &proc->target, which, n);
	dp_stop_release(proc);
	return err;
}

/* A tracer that interrupts threads for dp_text_sync() lets go first. */
int dp_arm_stopped(void *arg, const u32 *which, u32 n, bool in)
{
	struct dp_process *proc = arg;
	int err, later = 0;

	if (!proc->signal_free)
		dp_sync_end(proc);
	err = in ? dp_quiesce_write(proc, which, n, NULL) :
		   restore(proc, which, n, NULL);
	if (!proc->signal_free)
		later = dp_sync_begin(proc, NULL);
	return err ? err : later;
}

/* No library is unmapped meanwhile: see arm_running(). */
int dp_arm_hold(void *arg, bool unowned, int (*work)(void *what), void *what)
{
	return work(what);
}

/* A signal-free process has no probe of loader events, and its threads are held for each write. */
static int arm_quiet(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	return write_now(proc, arg, diag);
}

static int arm_running(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct arming *a = arg;
	int err = dp_sync_begin(proc, diag);

	if (err)
		return err;
	if (a->write == dp_engine_commit)
		err = dp_engine_arm_linker(proc->engine, &proc->target,
					   &a->bad);
	if (!err) {
		dp_linker_hold(proc);
		err = write_now(proc, a, diag);
		dp_linker_release(proc);
	}
	dp_sync_end(proc);
	return err;
}

int dp_arm_write(struct dp_process *proc, dp_arm_fn *how, struct dp_diag *diag)
{
	struct arming a = { how, 0 };
	int err = dp_tracer_child(
		proc, proc->signal_free ? arm_quiet : arm_running, &a, diag);

	if (err == -EAGAIN)
		return dp_diag_set(
			diag, err,
			"a thread of process %d is where a jump has to be written and cannot be moved; try again, or without DPROBES_ARM=quiesce",
			proc->pid);
	if (!err || !a.bad)
		return err;
	if (err == -EOPNOTSUPP)
		return dp_diag_set(
			diag, err,
			"the probe at 0x%llx of process %d would have to be a breakpoint, because of another one, and its seccomp filter allows none; leave one of them out",
			(unsigned long long)a.bad, proc->pid);
	return dp_diag_set(
		diag, err,
		err == -EBUSY ?
			"the code at 0x%llx of process %d has been changed by someone else" :
			"cannot write to the code at 0x%llx of process %d",
		(unsigned long long)a.bad, proc->pid);
}

/** struct ceding - arguments of cede() */
struct ceding {
	void (*tell)(void *arg, u64 addr, bool away);
	void *arg;
};

static int cede(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	const struct ceding *y = arg;
	int err = dp_sync_begin(proc, diag);

	if (err)
		return err;
	dp_linker_hold(proc);
	dp_process_note_gone(proc);
	err = dp_engine_cede(proc->engine, &proc->target, y->tell, y->arg);
	dp_linker_release(proc);
	dp_sync_end(proc);
	return err;
}

int dp_process_cede(struct dp_process *proc,
		    void (*tell)(void *arg, u64 addr, bool away), void *arg)
{
	struct ceding y = { tell, arg };

	/* A signal-free process may have no breakpoint on the way. */
	if (proc->signal_free ||
	    !dp_engine_disturbed(proc->engine, &proc->target))
		return 0;
	dp_process_note_gone(proc);
	if (!dp_engine_disturbed(proc->engine, &proc->target))
		return 0;
	return dp_tracer_child(proc, cede, &y, NULL);
}

static int retract(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	int err = proc->signal_free ? 0 : dp_sync_begin(proc, diag);

	if (err)
		return err;
	dp_engine_retract(proc->engine, &proc->target, *(const u32 *)arg);
	if (!proc->signal_free)
		dp_sync_end(proc);
	return 0;
}

void dp_arm_retract(struct dp_process *proc, u32 pools)
{
	dp_tracer_child(proc, retract, &pools, NULL);
}
