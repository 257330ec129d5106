/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* private: state that a fork child takes along and then owns. */
#ifndef DP_LAYOUT_PRIVATE_H
#define DP_LAYOUT_PRIVATE_H

#include "port_types.h"
#include "engine/layout/action.h"
#include "engine/layout/caught.h"
#include "engine/layout/mask.h"
#include "engine/layout/sleep.h"

#define DP_CLONES 64

#define DP_HELD 32

#define DP_HOOK_STACKS 16
#define DP_HOOK_STACK_WORDS 126

/**
 * struct dp_stepped - the thread that the tool is bringing out of the agent
 * @thread: 0: none; @mask: its signal mask
 * @masked: the one that it has for the stepping only, or 0
 * @own: does it step by itself, too?
 *
 * It counts once the tool has ended: see port/user/signals/stepped.c.
 */
struct dp_stepped {
	u64 thread, mask, masked, own;
};

/**
 * struct dp_private - state that a fork child takes along and then owns
 * @in_force: our signal actions are, all of them, and the masks are ours. Until then,
 *            and from when that ends, the kernel is asked: see dp_mask_catches()
 * @in_masks: for each caught signal a bit a signal: the program's action for
 *            that one blocks it
 * @stepped: see struct dp_stepped
 * @masks: threads that block a caught signal, or once did: a hash table. None is
 *         ever really blocked.
 * @held: signals that wait for their thread to unblock them
 * @actions: the program's own for the caught signals. @current is the stamp of
 *           the one in force, at ring[stamp % RING]; @next the last one taken
 * @clones: threads that are making a process, and how: flags of clone(2)
 * @sleeps: calls with a mask of their own; @serial of the last one; @unknowns: how many
 *          are not known
 * @natives: those that have not passed here, for the time between
 * @stacks: for the work of hooks, where the program's own are small
 */
struct dp_private {
	u64 in_force;
	u64 in_masks[DP_CAUGHT];
	struct dp_stepped stepped;
	u64 masks[DP_MASKS];
	struct dp_held {
		u64 thread; /* 0: free */
		u64 info[16];
	} held[DP_HELD];
	struct dp_clone {
		u64 thread; /* 0: free */
		u64 flags;
		u64 sp; /* with which the child begins */
		u64 believed; /* to be blocked */
	} clones[DP_CLONES];
	struct dp_actions {
		u32 current;
		u32 next;
		struct dp_action_slot {
			u32 stamp;
			u32 pad;
			struct dp_kernel_sigaction action;
		} ring[DP_ACTION_RING];
	} actions[DP_CAUGHT];
	u64 serial, unknowns;
	struct dp_sleep sleeps[DP_SLEEPS];
	struct dp_native natives[DP_SLEEPS];
	struct dp_hook_stack {
		u64 busy, pad;
		u64 words[DP_HOOK_STACK_WORDS];
	} stacks[DP_HOOK_STACKS];
};

#endif
