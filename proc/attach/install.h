/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* install: an agent in a process, and whose it is. */
#ifndef DP_PROC_ATTACH_INSTALL_H
#define DP_PROC_ATTACH_INSTALL_H

#include <sys/types.h>
#include "port_types.h"
#include "engine/plan/plan.h"

struct dp_process;

/** dp_tool_of() - the process that is the tool */
pid_t dp_tool_of(const struct dp_process *proc);
/** dp_has_fsgsbase() - are there instructions that read a thread pointer? */
bool dp_has_fsgsbase(void);
/** dp_mapping_of() - where what an engine is built from is, in it and here */
struct dp_mapping dp_mapping_of(const struct dp_process *proc);

#endif
