/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* recover: what a tool that was ended left in a process. Context: tool process; may sleep. */
#ifndef DP_PROC_ATTACH_RECOVER_H
#define DP_PROC_ATTACH_RECOVER_H

#include <sys/types.h>
#include "port_types.h"

struct dp_diag;
struct dp_maps;
struct dp_process;

/** dp_recover_any() - is anything of ours among these mappings? */
bool dp_recover_any(const struct dp_maps *maps);
/** dp_recover_needed() - is anything of ours in one that has just been looked at? */
bool dp_recover_needed(const struct dp_process *proc);
int dp_recover(struct dp_process *proc, struct dp_diag *diag);
/** dp_arena_load() - copy of the arena found in a process. Return: 0; -ENOENT. */
int dp_arena_load(const struct dp_process *proc, void **arena, size_t *size,
		  u64 *addr);
/** dp_tool_start() - start time of a process, 0 if there is none */
u64 dp_tool_start(pid_t pid);
/** dp_recover_taken() - does a tool that lives probe it, with what is in there?
 *  Return: true, with words. */
bool dp_recover_taken(const struct dp_process *proc, struct dp_diag *diag);

#endif
