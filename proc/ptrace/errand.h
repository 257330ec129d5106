/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* errand: work that is not to end in the middle when the tool is killed. */
#ifndef DP_PROC_PTRACE_ERRAND_H
#define DP_PROC_PTRACE_ERRAND_H

#include <sys/types.h>

struct dp_process;

/**
 * dp_errand() - @work(@arg), which stops threads and lets them go again; by a child in
 * our memory if the end of who traces could be the end of @proc
 * Return: what @work does; -ENOMEM, -EAGAIN: it was not called; -EINTR the child has
 * been killed.
 */
int dp_errand(const struct dp_process *proc, int (*work)(void *arg), void *arg);

/** dp_errands_begin() - several follow one another: what each prepares once for all */
void dp_errands_begin(struct dp_process *proc);
void dp_errands_end(struct dp_process *proc);
/** dp_errand_wait() - for the end of a tracer that is about to end: an errand of a tool that
 *  was killed, or such a tool itself */
void dp_errand_wait(pid_t tracer);

#endif
