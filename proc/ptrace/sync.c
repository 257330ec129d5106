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
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include <sys/ptrace.h>

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

/* Of glibc 2.35 and later, as signature too. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));
extern const unsigned int __rseq_size __attribute__((weak));
#define RSEQ_SIGNATURE 0x53053053

bool dp_rseq_likely(s32 *offset, u32 *signature)
{
	if (!&__rseq_size || !__rseq_size)
		return false;
	*offset = (s32)__rseq_offset;
	*signature = RSEQ_SIGNATURE;
	return true;
}

bool dp_rseq_common(const struct dp_process *proc, s32 *offset, u32 *signature)
{
	struct __ptrace_rseq_configuration conf;
	const struct dp_thread *t;
	s64 first = 0, other;

	for (t = proc->threads; t < proc->threads + proc->nr_threads; t++) {
		if (!dp_rseq_of(t, &conf))
			return false;
		other = (s64)(conf.rseq_abi_pointer -
			      dp_uregs_thread(&t->regs));
		if (other != (s32)other)
			return false;
		if (t > proc->threads &&
		    (other != first || conf.signature != *signature))
			return false;
		first = other;
		*signature = conf.signature;
	}
	*offset = (s32)first;
	return proc->nr_threads > 0;
}
