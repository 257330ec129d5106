/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* left: followed calls that have ended otherwise than by returning: see left.c. */
#ifndef DP_LEFT_H
#define DP_LEFT_H

#include "engine/layout/frame.h"
#include "engine/layout/stack.h"

/* Calls that were left and lie farther down: so many are looked at before a new one. */
#define DP_LEFT_STEPS 64

#pragma GCC visibility push(hidden)

static inline struct dp_frame *dp_left_frame(u64 addr)
{
	return (void *)addr;
}

/** dp_left_same() - a call is about to be made from @sp: one that was at the very same
 *  place is over */
void dp_left_same(struct dp_stack *stack, u64 sp);

/**
 * dp_left_any() - instances are short: are there some of calls that were left?
 *
 * Where there were none, as in a deep recursion, it is not looked again before so many
 * calls have been missed that looking costs them next to nothing.
 * Return: false if there were none.
 */
bool dp_left_any(struct dp_stack *stack);

/** dp_left_drop() - the thread that had @stack has ended, and its calls with it, but
 *  those on other stacks */
void dp_left_drop(struct dp_stack *stack);

/** dp_left_recover() - the hit half, or a handler, was left by siglongjmp: what was in
 *  hand is brought to an end. Context: the thread is in neither. */
void dp_left_recover(struct dp_stack *stack);

#pragma GCC visibility pop

#endif
