/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * instance: those of a return probe: which are free, and how their calls ended.
 *
 * Context of every function: hit half, on the thread's handler stack. What a thread has
 * in hand is said in its struct dp_stack before it is done, for dp_left_recover().
 */
#ifndef DP_INSTANCE_H
#define DP_INSTANCE_H

#include "engine/layout/follow.h"
#include "engine/layout/stack.h"
#include "engine/instance/stub.h"

#pragma GCC visibility push(hidden)

static inline struct dp_instance *dp_instance_ptr(u64 addr)
{
	return (void *)addr;
}

static inline struct dp_follow *dp_instance_follow(const struct dp_instance *ri)
{
	return (void *)ri->follow;
}

/** dp_instance_hint() - where to look first: a thread's calls return in turn, so the
 *  next one free is likely to be where the last one was, or behind it */
static inline u32 *dp_instance_hint(struct dp_stack *stack,
				    const struct dp_follow *f)
{
	return &stack->hints[f->probe % DP_HINTS];
}

/** dp_instance_take() - a free one becomes @stack->instance. Return: NULL, there is
 *  none. */
struct dp_instance *dp_instance_take(struct dp_follow *f,
				     struct dp_stack *stack);
/** dp_instance_search() - the same for a probe with at most DP_FOLLOW_SCAN of them */
struct dp_instance *dp_instance_search(struct dp_follow *f,
				       struct dp_stack *stack);

/** dp_instance_give() - it is free. Its pool may be freed when the last word is said.
 *  @stack: or NULL */
static inline void dp_instance_give(struct dp_stack *stack,
				    struct dp_instance *ri)
{
	struct dp_follow *f = dp_instance_follow(ri);

	if (stack)
		*dp_instance_hint(stack, f) = ri->index;
	if (f->nr > DP_FOLLOW_SCAN)
		__atomic_fetch_sub(&f->away, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ri->used, 0, __ATOMIC_RELEASE);
}

/** dp_instance_tally() - @counter of the instance that is in hand. As soon as @stack
 *  says so, it counts. */
static inline void dp_instance_tally(struct dp_stack *stack, u64 *counter)
{
	stack->sum = *counter + 1;
	dp_barrier();
	stack->counter = (u64)counter;
	dp_barrier();
	*counter = stack->sum;
}

/** dp_instance_put_away() - the one in hand is free */
static inline void dp_instance_put_away(struct dp_stack *stack,
					struct dp_instance *ri)
{
	dp_instance_give(stack, ri);
	dp_barrier();
	stack->counter = 0;
	stack->instance = 0;
}

/** dp_instance_end() - the call of the one in hand has ended */
static inline void dp_instance_end(struct dp_stack *stack,
				   struct dp_instance *ri, enum dp_call_end how)
{
	dp_instance_tally(stack, &ri->ended[how]);
	dp_instance_put_away(stack, ri);
}

/** dp_instance_next() - take in hand the next of those in @stack->rest, which are to be
 *  ended. Return: NULL, that was all. */
struct dp_instance *dp_instance_next(struct dp_stack *stack);

#pragma GCC visibility pop

#endif
