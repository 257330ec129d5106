/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* context: the contexts of hits, from outside. */
#ifndef DP_RING_CONTEXT_H
#define DP_RING_CONTEXT_H

#include "port_types.h"

struct dp_engine;
struct dp_target;

/**
 * dp_engine_settle() - discard records of threads that have ended before their
 *                      instruction completed
 * @target: where they were; @alive: is a thread still there?
 */
void dp_engine_settle(struct dp_engine *engine, struct dp_target *target,
		      bool (*alive)(void *arg, u32 tid), void *arg);
/** dp_engine_settle_all() - the process has ended, or is not probed any more: of all */
void dp_engine_settle_all(struct dp_engine *engine);

/**
 * dp_engine_fork_contexts() - a hit that the thread was in the middle of when it forked
 * goes on in the child; those of its parent's other threads do not
 * @target: the child, stopped
 */
void dp_engine_fork_contexts(struct dp_engine *child, struct dp_target *target,
			     u32 was, u32 is);

#endif
