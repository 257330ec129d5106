/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames: the stubs to which tracked calls return; see struct dp_frame.
 */
#ifndef DP_FRAMES_H
#define DP_FRAMES_H

#include "engine/layout/instance.h"

/* Calls that all return probes together can track at a time; threads keep some more
 * frames for themselves. */
#define DP_FRAMES_MOST (1u << 17)

/**
 * dp_frames_reserve() - make frames for one more probe
 * @n: instances of the probe
 * @base: address of the agent
 * Return: 0; -ENOMEM; why there can be no executable memory. Context: library
 * lock held.
 */
int dp_frames_reserve(u64 n, u64 base, struct dp_pair_facts *facts);
/** dp_frames_release() - give back the frames of a freed probe */
void dp_frames_release(u64 n);

/** dp_frame_pad - landing pad of all stubs: lib/x86/stubs.S */
extern const char dp_frame_pad[] __attribute__((visibility("hidden")));

/** dp_frames_let_pass() - the unwinders in the modules at @bases tell where they land: exceptions pass calls
 *  without a stop at each stub. Context: library lock held. */
void dp_frames_let_pass(const void *const *bases, u32 n);

/** dp_frames() - the table of all frames */
struct dp_frames *dp_frames(void);

/** dp_frame_of() - the frame that a return to @pc belongs to, or NULL */
struct dp_frame *dp_frame_of(u64 pc);

/** dp_frame_is_there() - does the frame's slot hold the address of its stub?
 *  Context: any; reads the slot through the kernel. */
bool dp_frame_is_there(const struct dp_frame *f);

/** dp_frame_home() - the program's own return address in a slot; 0: it cannot be read */
u64 dp_frame_home(u64 slot);

/* stubs.S: see struct dp_arena_control */
extern const char dp_handler_before[] __attribute__((visibility("hidden")));
extern const char dp_handler_after[] __attribute__((visibility("hidden")));

/** dp_frame_leave() - give up a frame that is in no list, and whose slot has the program's
 *  return address again. Context: the process has no other thread. */
void dp_frame_leave(struct dp_frame *f);
/** dp_frame_unbind() - an instance is about to be freed: give up the frame that is bound to it
 *  Context: no thread has the instance in hand. */
void dp_frame_unbind(struct dp_instance *ri);

#endif
