/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stepout: threads in the agent, brought out of it while all others are held. */
#ifndef DP_PROC_ATTACH_STEPOUT_H
#define DP_PROC_ATTACH_STEPOUT_H

#include "port_types.h"

struct dp_process;
struct dp_thread;

/**
 * dp_stop_step_out() - bring stopped threads to where they can be moved, one instruction
 * after the other and no farther
 * @caught: signals that the agent catches; those that are coming are delivered, others
 *          wait
 * @out: may it stay there?
 */
void dp_stop_step_out(struct dp_process *proc, u64 caught,
		      bool (*out)(const void *arg, const struct dp_thread *t),
		      const void *arg);

/** dp_stop_step_undo() - what a tool that was ended in the middle of that has left of a thread
 *  which has not run since. @base: of the agent */
void dp_stop_step_undo(const struct dp_process *proc, u64 base);

#endif
