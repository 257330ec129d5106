/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* semaphore: words of the program that tell it that its tracepoints are probed. */
#ifndef DP_LAYOUT_SEMAPHORE_H
#define DP_LAYOUT_SEMAPHORE_H

#include "port_types.h"

#define DP_SEMAPHORES 512

/** enum dp_semaphore_state - what the tool has done to a semaphore, or is about to do */
enum dp_semaphore_state {
	DP_SEMAPHORE_FREE,
	DP_SEMAPHORE_RAISING, /* it was @was before */
	DP_SEMAPHORE_RAISED,
	DP_SEMAPHORE_LOWERING, /* it was @was before */
};

/**
 * struct dp_semaphore - one that the tool has raised by one; the tool writes it
 * @addr: of 16 bits
 * @code: of a tracepoint that has it; @inode, @offset, @dev_major, @dev_minor: what is mapped there.
 *        Something else there: the semaphore has gone
 * @state: enum dp_semaphore_state
 *
 * A fork child has its own copies of this and of the semaphore.
 */
struct dp_semaphore {
	u64 addr;
	u64 code, inode, offset;
	u32 dev_major, dev_minor;
	u32 state, was;
};

/** dp_semaphore_is_up() - has the tool raised a semaphore that is @now, and not lowered it? Others
 *  may change it, too: it is lowered only if that can be told. */
static inline bool dp_semaphore_is_up(const struct dp_semaphore *s, u32 now)
{
	switch (s->state) {
	case DP_SEMAPHORE_RAISED:
		return now;
	case DP_SEMAPHORE_RAISING:
		return now == s->was + 1;
	case DP_SEMAPHORE_LOWERING:
		return now && now == s->was;
	default:
		return false;
	}
}

#endif
