/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* lodge: what a process has when the agent in it is a library's: proc/lodge.h. */
#ifndef DP_PROC_ATTACH_LODGE_H
#define DP_PROC_ATTACH_LODGE_H

struct dp_process;

void dp_lodge_free(struct dp_process *proc);

#endif
