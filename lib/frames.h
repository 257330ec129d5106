/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames: what tracked calls return to; see struct dp_frame.
 */
#ifndef DP_FRAMES_H
#define DP_FRAMES_H

#include "engine/layout/instance.h"

/* So many calls can be tracked at a time, by all return probes together; some
 * more, which threads keep for themselves. */
#define DP_FRAMES_MOST (1u << 17)

/**
 * dp_frames_reserve() - see that there are enough
 * @n: instances of one more probe
 * @base: address of the agent that serves them
 * Return: 0; -ENOMEM; why there can be no executable memory. Context: library
 * lock held.
 */
int dp_frames_reserve(u64 n, u64 base);
/** dp_frames_release() - those of a probe that is no more */
void dp_frames_release(u64 n);

/** dp_frames() - all of them */
struct dp_frames *dp_frames(void);

/** dp_frame_of() - the frame that a return to @pc belongs to, or NULL */
struct dp_frame *dp_frame_of(u64 pc);

/** dp_frame_is_there() - is the address of its stub at its place?
 *  Context: any; asks the kernel. */
bool dp_frame_is_there(const struct dp_frame *f);

/* stubs.S: see struct dp_arena_control */
extern const char dp_handler_before[] __attribute__((visibility("hidden")));
extern const char dp_handler_after[] __attribute__((visibility("hidden")));

/** dp_frame_leave() - it is in no list any more, and its slot is the program's own
 *  again. Context: nobody else is in the process. */
void dp_frame_leave(struct dp_frame *f);

#endif
