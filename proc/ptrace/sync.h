/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sync: every thread of the target sees what was written to its text. */
#ifndef DP_PROC_PTRACE_SYNC_H
#define DP_PROC_PTRACE_SYNC_H

#include "port_types.h"

struct dp_diag;
struct dp_process;

/** dp_sync_begin() - text will be written: see whether threads can be interrupted.
 *  Return: 0, or as dp_stop_all(), with words. */
int dp_sync_begin(struct dp_process *proc, struct dp_diag *diag);
/** dp_sync() - everybody sees what has been written. Nothing is to be done where all of
 *  them are held, or before dp_sync_begin(). */
int dp_sync(struct dp_process *proc);
void dp_sync_end(struct dp_process *proc);
/** dp_rseq_common() - where the struct rseq of every stopped thread is, from its
 *  thread pointer. Return: false if one has none, or they differ. */
bool dp_rseq_common(const struct dp_process *proc, s32 *offset, u32 *signature);

#endif
