// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sync: make every thread of the target see what was written to its text.
 *
 * A stop makes a running thread pass through the kernel, where its CPU drops the instructions
 * that it has fetched; a sleeping thread returns from there anyway. membarrier(2) would do
 * the same, but the target has to call it. Its first call takes some milliseconds in a
 * process of several threads.
 */
#include "arch/uregs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <sys/ptrace.h>

#ifndef PTRACE_GET_RSEQ_CONFIGURATION
#define PTRACE_GET_RSEQ_CONFIGURATION 0x420f
#endif

int dp_sync_begin(struct dp_process *proc, struct dp_diag *diag)
{
	int err = 0;

	if (!proc->held && !proc->passed)
		err = dp_stop_pass(proc, true, diag);
	proc->passed = false;
	proc->syncs = !err && !proc->held;
	dp_kill_point("sync: begun");
	return err;
}

int dp_sync(struct dp_process *proc)
{
	if (!proc->syncs)
		return 0;
	dp_kill_point("sync");
	return dp_stop_pass(proc, false, NULL);
}

void dp_sync_end(struct dp_process *proc)
{
	proc->syncs = false;
}

static int rseq_of(const struct dp_thread *t, s64 *offset, u32 *signature)
{
	struct __ptrace_rseq_configuration conf = { 0 };

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof(conf),
		   &conf) <= 0 ||
	    !conf.rseq_abi_pointer)
		return -ENOENT;
	*offset = (s64)(conf.rseq_abi_pointer - dp_uregs_thread(&t->regs));
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
