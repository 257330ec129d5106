// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sync: make every thread of the target see what was written to its text.
 *
 * membarrier(2) does that, and has to be called by the target: one thread is
 * held for the time of a batch and makes the calls, the others run on.
 */
#include "proc/private.h"
#include "proc/step.h"
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

static long barrier(struct dp_process *proc, int command)
{
	return dp_remote_call(proc->sync, SYS_membarrier, (u64)command, 0, 0, 0,
			      0, 0);
}

int dp_sync_begin(struct dp_process *proc, struct dp_diag *diag)
{
	long ret;
	int err;

	if (proc->held || proc->frozen)
		return 0;
	err = dp_stop_one(proc, diag);
	if (!err && dp_remote_begin(proc, &proc->sync, NULL)) {
		/* That one cannot; among all of them there may be one. */
		dp_stop_release(proc);
		err = dp_stop_alone(proc, diag);
		if (!err)
			err = dp_remote_begin(proc, &proc->sync, diag);
		if (err)
			dp_stop_release(proc);
	}
	if (err)
		return err;
	ret = barrier(proc,
		      MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE);
	dp_step("sync: begun");
	if (!ret)
		return 0;
	dp_sync_end(proc);
	return dp_diag_set(diag, (int)ret,
			   "process %d cannot synchronise its CPUs: %s",
			   proc->pid, strerror((int)-ret));
}

int dp_sync(struct dp_process *proc)
{
	if (!proc->sync)
		return 0;
	dp_step("sync");
	return (int)barrier(proc, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE);
}

void dp_sync_end(struct dp_process *proc)
{
	if (!proc->sync)
		return;
	dp_remote_end(proc->sync);
	proc->sync = NULL;
	dp_stop_release(proc);
}

static int rseq_of(const struct dp_thread *t, s64 *offset, u32 *signature)
{
	struct __ptrace_rseq_configuration conf = { 0 };

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof(conf),
		   &conf) <= 0 ||
	    !conf.rseq_abi_pointer)
		return -ENOENT;
	*offset = (s64)(conf.rseq_abi_pointer - t->regs.fs_base);
	*signature = conf.signature;
	return 0;
}

bool dp_rseq_common(const struct dp_process *proc, s32 *offset, u32 *signature)
{
	s64 first = 0, other;
	u32 sig;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++) {
		if (rseq_of(&proc->threads[i], &other, &sig) ||
		    other != (s32)other)
			return false;
		if (i && (other != first || sig != *signature))
			return false;
		first = other;
		*signature = sig;
	}
	*offset = (s32)first;
	return proc->nr_threads > 0;
}
