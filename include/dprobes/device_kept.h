/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* device_kept: what /dev/dprobes keeps of hits, for requests of device.h. See dprobes(4). */
#ifndef DPROBES_DEVICE_KEPT_H
#define DPROBES_DEVICE_KEPT_H

#include <linux/types.h>

/** Frames of a stack, at most */
#define DP_DEVICE_FRAMES 128

/** enum dp_device_stack_end - why a stack has no more frames
 *  @DP_DEVICE_STACK_NONE: there is no such stack: for that of the hit, there was no room
 *  @DP_DEVICE_STACK_COMPLETE: the last one is the outermost
 *  @DP_DEVICE_STACK_UNKNOWN: the kernel's unwinder does not know how the last one's code has come there
 *  @DP_DEVICE_STACK_DEEP: there are more than DP_DEVICE_FRAMES */
enum dp_device_stack_end {
	DP_DEVICE_STACK_NONE = 0,
	DP_DEVICE_STACK_COMPLETE = 1,
	DP_DEVICE_STACK_UNKNOWN = 2,
	DP_DEVICE_STACK_DEEP = 5,
};

/**
 * struct dp_device_stack - a stack that hits have had, by the number that "push backtrace" gives; only with
 *			    DP_DEVICE_ADDRESSES. After DP_DEVICE_COMMIT
 * @frames: address of @nr addresses of 64 bits: of the probed instruction, and of what has called it, outwards
 * @exact: out: a bit for each: its code goes on there, as what is probed does, or what was interrupted; 0: that is behind a call
 * @lost: out: hits of the session for whose stacks there was no room. The number of their stacks is 0
 * @nr: in: how many there is room for, at most DP_DEVICE_FRAMES; out: how many have been written, the innermost first
 * @all: out: how many the stack has; @end: out: enum dp_device_stack_end
 */
struct dp_device_stack {
	__u64 frames, exact[DP_DEVICE_FRAMES / 64], lost;
	__u32 number, nr, all, end;
};

#endif
