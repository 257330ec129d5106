/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* confine: threads that wait for what becomes of their filter. Context: tool process. */
#ifndef DP_PROC_SECCOMP_CONFINE_H
#define DP_PROC_SECCOMP_CONFINE_H

#include "port_types.h"

struct dp_process;

/** dp_confine_waits() - does a thread at @pc wait for what becomes of its filter? */
bool dp_confine_waits(u64 base, u64 pc);
/** dp_confine_home() - those that are stopped there go to before their call.
 *  Return: 0; -ESRCH. */
int dp_confine_home(struct dp_process *proc, u64 base);
/** dp_confine_catch_up() - has it installed filters while we did not look? */
void dp_confine_catch_up(struct dp_process *proc);

#endif
