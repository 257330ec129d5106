/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * freeze: hold a process while its agent is replaced by another one.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_FREEZE_H
#define DP_PROC_FREEZE_H

#include "port_types.h"

struct dp_diag;
struct dp_engine;
struct dp_process;

/**
 * dp_process_freeze() - stop it until dp_process_thaw(), so that its probes can be
 * replaced: dp_process_detach(), then dp_process_reinstall()
 *
 * Who waits in the linker goes back to where that has called.
 * Return: 0 or a negative errno with words; then it runs.
 */
int dp_process_freeze(struct dp_process *proc, struct dp_diag *diag);

/** dp_process_may_leave() - of one that is frozen: could it be detached, or is a thread in a
 *  signal handler that will return into the agent? */
bool dp_process_may_leave(struct dp_process *proc);
void dp_process_thaw(struct dp_process *proc);
/** dp_process_reinstall() - as dp_process_install(), of an engine that inherits from
 *  the one before, which has to be there until dp_process_thaw() */
int dp_process_reinstall(struct dp_process *proc, struct dp_engine *engine,
			 struct dp_diag *diag);

#endif
