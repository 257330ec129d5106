/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* attach: take hold of a running process, looking only. */
#ifndef DP_PROC_ATTACH_ATTACH_H
#define DP_PROC_ATTACH_ATTACH_H

#include <sys/types.h>

struct dp_diag;
struct dp_process;

/** dp_process_attach_as() - in the name of another process, which is the tool */
int dp_process_attach_as(pid_t pid, pid_t tool, struct dp_process **proc,
			 struct dp_diag *diag);
/** dp_process_look() - what an attach looks at before it touches anything. Return:
 *  as dp_process_attach(). */
int dp_process_look(struct dp_process *proc, pid_t pid, struct dp_diag *diag);
int dp_process_open_mem(struct dp_process *proc, struct dp_diag *diag);

#endif
