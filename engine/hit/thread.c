// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* thread: identify thread and CPU in the quickest way that control has found. */
#include "engine/hit/thread.h"
#include "engine/hit/hit.h"
#include "port.h"
#include "engine/layout/arena.h"

/* libc keeps the id beside the thread pointer, where control has verified that. */
u32 dp_hit_tid(void)
{
	u32 offset = dp_arena.control.tid_offset;

	return offset ? dp_port_thread_half(offset) : dp_port_tid();
}

/* From the thread's struct rseq, where every thread has one. That is quicker to read
 * than a segment's limit. */
u32 dp_hit_cpu(void)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return c->counts_alone ? dp_port_thread_half(c->rseq_offset) :
				 dp_port_cpu();
}
