/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* thread: which one this is. */
#ifndef DP_HIT_THREAD_H
#define DP_HIT_THREAD_H

#include "port_types.h"
#include "port.h"

#pragma GCC visibility push(hidden)

/** dp_hit_thread() - the thread pointer: where its thread-local memory is told from */
static inline u64 dp_hit_thread(void)
{
	return dp_port_thread_self();
}

/** dp_hit_cpu() - where this thread is, or was a moment ago */
u32 dp_hit_cpu(void);
/** dp_hit_tid() - thread id, in the target's namespace */
u32 dp_hit_tid(void);

#pragma GCC visibility pop

#endif
