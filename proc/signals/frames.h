/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * frames: the signal frames on the stacks of a stopped thread.
 *
 * Context of every function: tool process, one thread at a time per object.
 */
#ifndef DP_PROC_SIGNALS_FRAMES_H
#define DP_PROC_SIGNALS_FRAMES_H

#include "port_types.h"

struct dp_maps;
struct dp_process;
struct dp_sigframe;
struct dp_thread;

/**
 * dp_frame_fn - look at a signal frame, and change it
 * @innermost: its handler runs now; the others have been interrupted
 * Return: 0 to go on.
 */
typedef int dp_frame_fn(void *arg, struct dp_sigframe *frame, bool innermost);

/**
 * dp_frames_each() - call @fn for each frame, from the innermost outwards
 * @maps: of the process, now
 *
 * What @fn changes is written back, but for the siginfo.
 * Return: 0, or what @fn returned.
 */
int dp_frames_each(struct dp_process *proc, const struct dp_thread *thread,
		   const struct dp_maps *maps, dp_frame_fn *fn, void *arg);

#endif
