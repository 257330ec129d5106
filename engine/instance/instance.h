/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * instance: the instances and stubs of return probes, and how their calls end.
 *
 * Context of every function: hit half, on the thread's handler stack. A thread notes in
 * its struct dp_stack what it has in hand before it changes that.
 * dp_abandoned_recover() reads the notes.
 */
#ifndef DP_INSTANCE_INSTANCE_H
#define DP_INSTANCE_INSTANCE_H

#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"

/* stub: the stubs that tracked calls return to, with their frames; which are free. */

#pragma GCC visibility push(hidden)

/*
 * A signal handler may leave the hit half between any two instructions, by siglongjmp.
 * So the order of stores counts. @taken of the thread's stack is the frame that is in
 * no list, or may be in none.
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

/** dp_stub_returned() - the frame of the stub to which a call with this return address
 *  returns, or NULL */
static inline struct dp_frame *dp_stub_returned(u64 addr)
{
	u64 offset;

	return dp_stub_at(addr, &offset) &&
			       offset % DP_STUB_SIZE == DP_STUB_BACK ?
		       dp_stub_frame(offset / DP_STUB_SIZE) :
		       NULL;
}

/** dp_stub_home() - the program's own return address, where a stub may stand for it */
static inline u64 dp_stub_home(u64 addr)
{
	const struct dp_frame *f = dp_stub_returned(addr);

	return f ? f->ret_addr : addr;
}

/** dp_stub_take_spare() - take a stub that the thread has kept. Context: it has one. */
static inline struct dp_frame *dp_stub_take_spare(struct dp_stack *stack)
{
	struct dp_frame *f = dp_stub_frame(stack->spare);

	stack->taken = stack->spare;
	dp_barrier();
	stack->spare = f->next_free;
	stack->nr_spare = f->next_free ? stack->nr_spare - 1 : 0;
	return f;
}

/** dp_stub_give_spare() - keep a stub. Context: fewer than DP_SPARE_FRAMES are kept. */
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

/** dp_stub_bound() - the frame that waits for the next call of an instance, or NULL
 *  Context: the instance is in hand. */
static inline struct dp_frame *dp_stub_bound(const struct dp_instance *ri)
{
	struct dp_frame *f = (void *)ri->frame;

	return f && f->state == DP_FRAME_BOUND && f->instances == (u64)ri ?
		       f :
		       NULL;
}

/** dp_stub_unbind() - take that frame in hand. Return: NULL: there is none. */
struct dp_frame *dp_stub_unbind(struct dp_stack *stack, struct dp_instance *ri);

/** dp_stub_take() - take any free stub. Return: NULL if there is none. */
struct dp_frame *dp_stub_take(struct dp_stack *stack);
/** dp_stub_give() - free a stub, for the thread's own use or any thread's */
void dp_stub_give(struct dp_stack *stack, struct dp_frame *f);
/** dp_stub_keep() - free a stub when the unwinder, which looks at its frame, has come to
 *  the next */
void dp_stub_keep(struct dp_stack *stack, struct dp_frame *f);
/** dp_stub_detach() - note a frame that is in no thread's list
 *  A coroutine may still return to its stub. */
void dp_stub_detach(struct dp_frame *f);
/** dp_stub_take_detached() - take all detached frames. Return: number of the first, 0
 *  for none; @next_free leads on. */
u32 dp_stub_take_detached(void);
/** dp_stub_recover() - free the stub in hand of a thread that was interrupted for good
 *  Context: its frame is in no list of calls. */
void dp_stub_recover(struct dp_stack *stack);
/** dp_stub_leave() - free an abandoned call's stub, to be used again last */
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

/** dp_instance_hint() - where to look for a free instance first
 *  A thread's calls return in turn: the next free one is likely where the last was, or
 *  behind. */
static inline u32 *dp_instance_hint(struct dp_stack *stack,
				    const struct dp_instance_pool *f)
{
	return &stack->hints[f->probe % DP_HINTS];
}

/** dp_instance_take() - a free instance becomes @stack->instance. Return: NULL, there is
 *  none. */
struct dp_instance *dp_instance_take(struct dp_instance_pool *f,
				     struct dp_stack *stack);
/** dp_instance_search() - the same for a pool of at most DP_INSTANCE_SCAN instances */
struct dp_instance *dp_instance_search(struct dp_instance_pool *f,
				       struct dp_stack *stack);

/** dp_instance_give() - free an instance; @stack: or NULL
 *  After the last store its pool may be freed. */
static inline void dp_instance_give(struct dp_stack *stack,
				    struct dp_instance *ri)
{
	struct dp_instance_pool *f = dp_instance_pool_of(ri);

	if (stack)
		*dp_instance_hint(stack, f) = ri->index;
	if (f->nr > DP_INSTANCE_SCAN)
		__atomic_fetch_sub(&f->away, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&ri->held, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&ri->used, 0, __ATOMIC_RELEASE);
}

/** dp_instance_tally() - increment @counter of the instance in hand
 *  It counts as soon as @stack says so. */
static inline void dp_instance_tally(struct dp_stack *stack, u64 *counter)
{
	stack->sum = *counter + 1;
	dp_barrier();
	stack->counter = (u64)counter;
	dp_barrier();
	*counter = stack->sum;
	dp_barrier();
}

/** dp_instance_put_away() - free the instance in hand */
static inline void dp_instance_put_away(struct dp_stack *stack,
					struct dp_instance *ri)
{
	dp_instance_give(stack, ri);
	dp_barrier();
	stack->counter = 0;
	stack->instance = 0;
}

/** dp_instance_step() - the call of the instance in hand is tracked from now on, or not any more */
static inline void dp_instance_step(struct dp_instance *ri)
{
	__atomic_store_n(&ri->calls, ri->calls + 1, __ATOMIC_RELEASE);
	dp_barrier();
}

/** dp_instance_conclude() - the instance in hand has no call any more */
static inline void dp_instance_conclude(struct dp_stack *stack,
					struct dp_instance *ri)
{
	if (dp_instance_is_inside(ri))
		dp_instance_step(ri);
	dp_instance_put_away(stack, ri);
}

/** dp_instance_end() - the call of the instance in hand has ended, or was vetoed */
static inline void dp_instance_end(struct dp_stack *stack,
				   struct dp_instance *ri, enum dp_call_end how)
{
	if (how != DP_CALL_RETURNED && how < DP_CALL_ENDS)
		dp_instance_tally(stack, &ri->otherwise[how]);
	dp_instance_conclude(stack, ri);
}

/** dp_instance_next() - take the next instance of @stack->rest in hand, to be ended
 *  Return: NULL, that was all. */
struct dp_instance *dp_instance_next(struct dp_stack *stack);

/** dp_instance_is_at_slot() - is its call tracked, and known by its slot? */
static inline bool dp_instance_is_at_slot(const struct dp_instance *ri)
{
	return __atomic_load_n(&ri->used, __ATOMIC_ACQUIRE) ==
	       DP_INSTANCE_AT_SLOT;
}

/** dp_instance_claim() - take an instance at a slot in hand, to be ended
 *  Return: false: another thread was first. */
bool dp_instance_claim(struct dp_stack *stack, struct dp_instance *ri);

/** dp_instance_miss() - count a call for which there is no instance */
static inline void dp_instance_miss(const struct dp_instance_pool *f)
{
	__atomic_fetch_add((u32 *)f->nmissed, 1, __ATOMIC_RELAXED);
}

/** dp_instance_fill() - prepare the instance in hand for a call; @back: its return
 *  address */
void dp_instance_fill(struct dp_instance *ri, struct dp_stack *stack,
		      const struct dp_instance_pool *f, u64 back);

/** dp_instance_enter() - the call of the instance in hand is tracked from now on
 *  @used: the new value of its @used */
static inline void dp_instance_enter(struct dp_stack *stack,
				     struct dp_instance *ri, u32 used)
{
	dp_instance_step(ri);
	__atomic_store_n(&ri->used, used, __ATOMIC_RELEASE);
}

#pragma GCC visibility pop

/* abandoned: tracked calls that have ended otherwise than by returning: see abandoned.c. */

/* Calls farther down the stack to look at before a new one, at most */
#define DP_ABANDONED_STEPS 64

#pragma GCC visibility push(hidden)

static inline struct dp_frame *dp_abandoned_frame(u64 addr)
{
	return (void *)addr;
}

/** dp_abandoned_same() - end the call that had its slot at @sp: a new call is made there */
void dp_abandoned_same(struct dp_stack *stack, u64 sp);

/** dp_abandoned_take() - as dp_instance_take(); if none is free, ends abandoned calls
 *  first */
struct dp_instance *dp_abandoned_take(struct dp_instance_pool *f,
				      struct dp_stack *stack);

/** dp_abandoned_drop() - end the calls of @stack's ended thread, but not those of
 *  coroutines */
void dp_abandoned_drop(struct dp_stack *stack);

/** dp_abandoned_recover() - siglongjmp has left the hit half or a handler: finish what
 *  was in hand
 *  Context: the thread is in neither. */
void dp_abandoned_recover(struct dp_stack *stack);

#pragma GCC visibility pop

#endif
