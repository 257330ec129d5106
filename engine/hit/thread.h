/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* thread: identify the current thread and CPU. */
#ifndef DP_HIT_THREAD_H
#define DP_HIT_THREAD_H

#include "port_types.h"
#include "port.h"

#pragma GCC visibility push(hidden)

/** dp_hit_thread() - the thread pointer, the base of thread-local memory */
static inline u64 dp_hit_thread(void)
{
	return dp_port_thread_self();
}

/** dp_hit_cpu() - the CPU that this thread runs on, or ran on a moment ago */
u32 dp_hit_cpu(void);
/** dp_hit_tid() - this thread's id, in the target's namespace */
u32 dp_hit_tid(void);

#pragma GCC visibility pop

#endif
