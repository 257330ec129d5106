/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * instance: those of a return probe: which are free, and how their calls ended.
 *
 * Context of every function: hit half, on the thread's handler stack. What a thread has
 * in hand is said in its struct dp_stack before it is done, for dp_abandoned_recover().
 */
#ifndef DP_INSTANCE_INSTANCE_H
#define DP_INSTANCE_INSTANCE_H

#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"

/* stub: what tracked calls return to, each with its frame: which is free, which is
 * whose. */

#pragma GCC visibility push(hidden)

/*
 * A signal's handler may leave the hit half between any two instructions, by
 * siglongjmp: @taken of the thread's stack is that stub which is in no list, or may be.
 * The order of what is written counts.
 */
static inline void dp_barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

static inline struct dp_frames *dp_stubs(void)
{
	return (void *)dp_arena.control.frames;
}

static inline struct dp_frame *dp_stub_frame(u64 number)
{
	return &((struct dp_frame *)dp_stubs()->table)[number];
}

static inline u32 dp_stub_number(const struct dp_frame *f)
{
	return (u32)(f - dp_stub_frame(0));
}

/** dp_stub_of() - the address of a frame's stub */
static inline u64 dp_stub_of(const struct dp_frame *f)
{
	return dp_stubs()->stubs + (u64)dp_stub_number(f) * DP_STUB_SIZE;
}

/** dp_stub_at() - does an address lie in the stubs? @offset: how far */
static inline bool dp_stub_at(u64 addr, u64 *offset)
{
	*offset = addr - dp_stubs()->stubs;
	return *offset < dp_stubs()->nr * DP_STUB_SIZE;
}

/** dp_stub_take_spare() - one that the thread has kept for itself. Context: it has
 *  one. */
static inline struct dp_frame *dp_stub_take_spare(struct dp_stack *stack)
{
	struct dp_frame *f = dp_stub_frame(stack->spare);

	stack->taken = stack->spare;
	dp_barrier();
	stack->spare = f->next_free;
	stack->nr_spare = f->next_free ? stack->nr_spare - 1 : 0;
	return f;
}

/** dp_stub_give_spare() - keep one. Context: there are fewer than DP_SPARE_FRAMES. */
static inline void dp_stub_give_spare(struct dp_stack *stack,
				      struct dp_frame *f)
{
	__atomic_store_n(&f->state, DP_FRAME_FREE, __ATOMIC_RELAXED);
	f->next_free = stack->spare;
	dp_barrier();
	stack->spare = dp_stub_number(f);
	dp_barrier();
	stack->nr_spare++;
	stack->taken = 0;
}

/** dp_stub_take() - any. Return: NULL if there are no more. */
struct dp_frame *dp_stub_take(struct dp_stack *stack);
/** dp_stub_give() - for the thread's own use, or anybody's */
void dp_stub_give(struct dp_stack *stack, struct dp_frame *f);
/** dp_stub_keep() - the same of one that the unwinder is still to look at: until it has
 *  come to the next */
void dp_stub_keep(struct dp_stack *stack, struct dp_frame *f);
/** dp_stub_detach() - nobody has it in his list, and somebody may return to it */
void dp_stub_detach(struct dp_frame *f);
/** dp_stub_take_detached() - all of them. Return: number of the first, 0 for none;
 *  @next_free leads on. */
u32 dp_stub_take_detached(void);
/** dp_stub_recover() - whoever was about to use or to give one was interrupted for good.
 *  Context: it is in no list of calls. */
void dp_stub_recover(struct dp_stack *stack);
/** dp_stub_leave() - of a call that was left: not before there are no others */
void dp_stub_leave(struct dp_frame *f);

static inline struct dp_instance *dp_instance_ptr(u64 addr)
{
	return (void *)addr;
}

static inline struct dp_instance_pool *
dp_instance_pool_of(const struct dp_instance *ri)
{
	return (void *)ri->instance_pool;
}

/** dp_instance_hint() - where to look first: a thread's calls return in turn, so the
 *  next one free is likely to be where the last one was, or behind it */
static inline u32 *dp_instance_hint(struct dp_stack *stack,
				    const struct dp_instance_pool *f)
{
	return &stack->hints[f->probe % DP_HINTS];
}

/** dp_instance_take() - a free one becomes @stack->instance. Return: NULL, there is
 *  none. */
struct dp_instance *dp_instance_take(struct dp_instance_pool *f,
				     struct dp_stack *stack);
/** dp_instance_search() - the same for a probe with at most DP_INSTANCE_SCAN of them */
struct dp_instance *dp_instance_search(struct dp_instance_pool *f,
				       struct dp_stack *stack);

/** dp_instance_give() - it is free. Its pool may be freed when the last word is said.
 *  @stack: or NULL */
static inline void dp_instance_give(struct dp_stack *stack,
				    struct dp_instance *ri)
{
	struct dp_instance_pool *f = dp_instance_pool_of(ri);

	if (stack)
		*dp_instance_hint(stack, f) = ri->index;
	if (f->nr > DP_INSTANCE_SCAN)
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
	dp_instance_tally(
		stack, &ri->ended[how < DP_CALL_ENDS ? how : DP_CALL_RETURNED]);
	dp_instance_put_away(stack, ri);
}

/** dp_instance_next() - take in hand the next of those in @stack->rest, which are to be
 *  ended. Return: NULL, that was all. */
struct dp_instance *dp_instance_next(struct dp_stack *stack);

/** dp_instance_is_at_slot() - is its call followed, and known by its slot? */
static inline bool dp_instance_is_at_slot(const struct dp_instance *ri)
{
	return __atomic_load_n(&ri->used, __ATOMIC_ACQUIRE) ==
	       DP_INSTANCE_AT_SLOT;
}

/** dp_instance_claim() - such a one comes in hand, to be ended. Return: false: another
 *  thread was first. */
bool dp_instance_claim(struct dp_stack *stack, struct dp_instance *ri);

/** dp_instance_miss() - there is none for a call */
static inline void dp_instance_miss(const struct dp_instance_pool *f)
{
	__atomic_fetch_add((u32 *)f->nmissed, 1, __ATOMIC_RELAXED);
}

/** dp_instance_fill() - the one in hand will be that of a call; @back: where it returns to */
void dp_instance_fill(struct dp_instance *ri, struct dp_stack *stack,
		      const struct dp_instance_pool *f, u64 back);

/** dp_instance_enter() - the call of the one in hand is followed from now on
 *  @used: what says so */
static inline void dp_instance_enter(struct dp_stack *stack,
				     struct dp_instance *ri, u32 used)
{
	dp_instance_tally(stack, &ri->entered);
	dp_barrier();
	__atomic_store_n(&ri->used, used, __ATOMIC_RELEASE);
	dp_barrier();
	stack->counter = 0;
}

#pragma GCC visibility pop

/* abandoned: tracked calls that have ended otherwise than by returning: see abandoned.c. */

/* Calls that were left and lie farther down: so many are looked at before a new one. */
#define DP_ABANDONED_STEPS 64

#pragma GCC visibility push(hidden)

static inline struct dp_frame *dp_abandoned_frame(u64 addr)
{
	return (void *)addr;
}

/** dp_abandoned_same() - a call is about to be made from @sp: one that was at the very same
 *  place is over */
void dp_abandoned_same(struct dp_stack *stack, u64 sp);

/** dp_abandoned_take() - as dp_instance_take(); where instances are short, also one of a call
 *  that was left */
struct dp_instance *dp_abandoned_take(struct dp_instance_pool *f,
				      struct dp_stack *stack);

/** dp_abandoned_drop() - the thread that had @stack has ended, and its calls with it, but
 *  those on other stacks */
void dp_abandoned_drop(struct dp_stack *stack);

/** dp_abandoned_recover() - the hit half, or a handler, was left by siglongjmp: what was in
 *  hand is brought to an end. Context: the thread is in neither. */
void dp_abandoned_recover(struct dp_stack *stack);

#pragma GCC visibility pop

#endif
