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

#define QUIET_TRIES 200

static bool is_inside(const void *engine, u64 pc)
{
	u64 to;

	return dp_engine_inside(engine, pc, &to);
}

static bool to_copy(const void *engine, u64 pc, u64 *to)
{
	return dp_engine_inside(engine, pc, to);
}

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

static int arm_stopped(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	const struct dp_moves moves = { .arg = proc->engine,
					.from = is_inside,
					.to = to_copy };
	int err = 1, tries;

	/* A thread that was just being created, or woke up, is asleep or stopped in the
	 * next try. */
	for (tries = 0; err > 0 && tries < QUIET_TRIES; tries++)
		err = dp_threads_clear(proc, &moves, write_now, arg, diag);
	if (err <= 0)
		return err;
	return dp_diag_set(
		diag, -EAGAIN,
		"a thread of process %d is where a jump has to be written and cannot be moved; try again, or without DPROBES_ARM=quiesce",
		proc->pid);
}

static int arm_running(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct arming *a = arg;
	int err = dp_sync_begin(proc, diag);

	if (err)
		return err;
	if (a->write == dp_engine_arm)
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
		proc,
		dp_engine_is_quiesced(proc->engine) ? arm_stopped : arm_running,
		&a, diag);

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

int dp_process_apply(struct dp_process *proc, struct dp_diag *diag)
{
	return dp_arm_write(proc, dp_engine_apply, diag);
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
