/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pools: memory for copies, detours and islands, which a tool's engine asks for as it plans.
 *
 * Context: the tool; dp_pools_map() and dp_pools_share() between dp_remote_begin() and dp_remote_end().
 */
#ifndef DP_PROC_ATTACH_POOLS_H
#define DP_PROC_ATTACH_POOLS_H

#include "port_types.h"

struct dp_hole;
struct dp_process;

/** dp_pools_collect() - from now on pools are only noted, until dp_pools_map() */
void dp_pools_collect(struct dp_process *proc);
/** dp_pools_map() - map the pools that were noted. @there: descriptor in the target, of a file
 *  that begins with a hole as the agent's. Return: 0 or a negative errno: then none is mapped. */
long dp_pools_map(struct dp_process *proc, s32 there);
/** dp_pools_share() - the same, of a file of their own. Return: as above. */
long dp_pools_share(struct dp_process *proc);
/** dp_pools_write() - write the code that was made meanwhile. Return: 0 or a negative errno. */
int dp_pools_write(struct dp_process *proc);
/** dp_pools_drop() - forget pools that are not written */
void dp_pools_drop(struct dp_process *proc);

/** dp_pools_code() - map code for the target, private and never writable; @flags: of mmap().
 *  Return: 0 or a negative errno. */
int dp_pools_code(struct dp_process *proc, u64 addr, u64 size, int flags);

/* See struct dp_growth_ops; @arg: struct dp_process. Pools that come while none are noted are
 * mapped at once for Uprobes, whose caller can make remote calls, and else refused. */
int dp_pools_add(void *arg, u64 addr, u64 size);
int dp_pools_put(void *arg, u64 addr, const void *code, size_t len);
int dp_pools_holes(void *arg, struct dp_hole **holes, size_t *n);

#endif
