/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* follow: the calls that a return probe follows through stubs. */
#ifndef DP_LAYOUT_FOLLOW_H
#define DP_LAYOUT_FOLLOW_H

#include "port_types.h"

/**
 * struct dp_follow - a return probe's pool of instances; in the library's memory
 * @user: the struct kretprobe; @handler, @entry: its handlers, 0 for none, and
 *        what they need
 * @nmissed: where calls without an instance are counted, an int
 * @pool: address of the first instance; they are @stride bytes apart
 * @probe: index of its probe
 * @data_size: bytes behind each
 * @unwind: the handler is called for calls that an exception ends, too
 * @quick: its handlers touch general registers only, and there is not much to do for
 *         each call
 * @away: instances in use, or fewer; kept only where there are more than
 *        DP_FOLLOW_SCAN
 */
struct dp_follow {
	u64 user;
	u64 handler, entry;
	u64 nmissed;
	u64 pool;
	u32 stride, nr;
	u32 data_size;
	u32 probe;
	u8 handler_needs, entry_needs;
	u8 unwind, quick;
	u8 pad[4];
	s64 away;
};

/* So many are looked through for a free one; a count comes before more. */
#define DP_FOLLOW_SCAN 1024

/** enum dp_call_end - how a followed call has ended */
enum dp_call_end {
	DP_CALL_RETURNED,
	DP_CALL_UNWOUND, /* by an exception, or the end of its thread */
	DP_CALL_ABANDONED, /* by longjmp, or with its thread */
	DP_CALL_VETOED, /* by the entry handler, before it was followed */
	DP_CALL_ENDS,
	DP_CALL_JUMPED = DP_CALL_ENDS, /* to another function; not counted apart */
};

/* Of @used: the entry handler has not agreed yet */
#define DP_INSTANCE_NEW 0x80000000u

/**
 * struct dp_instance - one call that is followed; begins as the library's struct
 * kretprobe_instance does
 * @frame: address of its struct dp_frame
 * @next: address of the frame's next instance, of a probe that was hit before
 * @follow: address of its struct dp_follow
 * @index: of it in its pool
 * @used: id of the thread that took it, 0: it is free; @ending: enum dp_call_end, while its handler runs
 * @entered, @ended: calls that it has followed, and how they ended. Who has the
 *                   instance counts; the sums are those of the probe.
 */
struct dp_instance {
	u64 user, ret_addr, task;
	u64 frame, next, follow;
	u32 index, used;
	u64 ending;
	u64 entered, ended[DP_CALL_ENDS];
};

static inline struct dp_instance *dp_instance_at(const struct dp_follow *f,
						 u32 i)
{
	return (struct dp_instance *)(f->pool + (u64)i * f->stride);
}

#endif
