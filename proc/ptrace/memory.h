/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* memory: the target's memory, through a descriptor that outlives an exec. */
#ifndef DP_PROC_PTRACE_MEMORY_H
#define DP_PROC_PTRACE_MEMORY_H

#include "engine/text/target.h"
#include "port_types.h"

struct dp_process;

/** dp_memory_gone() - has what we have hold of no memory any more? It ends, or it has
 *  executed. */
bool dp_memory_gone(const struct dp_process *proc);
extern const struct dp_target_ops dp_process_target_ops;

#endif
