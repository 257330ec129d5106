/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hooks: system calls that pass through the agent. Context: tool process. */
#ifndef DP_PROC_ATTACH_HOOKS_H
#define DP_PROC_ATTACH_HOOKS_H

#include "port_types.h"

struct dp_process;
struct dp_syscalls;

/** dp_hooks_find() - those of a text's system calls that pass through the agent.
 *  Return: 0, or what reading it gives. */
int dp_hooks_find(struct dp_process *proc, const struct dp_syscalls *calls);
/** dp_hooks_add() - one more; @len bytes of whole instructions */
void dp_hooks_add(struct dp_process *proc, u64 addr, const u8 *code, u32 nr,
		  u32 len, bool again);
/** dp_hooks_call() - the numbers of those calls, one by one; -1: no more */
long dp_hooks_call(size_t i);
/** dp_hooks_wanted() - is it one of those calls? */
bool dp_hooks_wanted(u32 nr);
/** dp_hooks_sleeps() - does it have a signal mask of its own? */
bool dp_hooks_sleeps(u32 nr);

#endif
