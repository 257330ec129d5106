/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stub: what followed calls return to, each with its frame: which is free, which is
 * whose. */
#ifndef DP_STUB_H
#define DP_STUB_H

#include "engine/layout/frame.h"
#include "engine/layout/stack.h"
#include "engine/hit/arena.h"
#include "arch/x86/arch_defs.h"

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
/** dp_stub_orphan() - nobody has it in his list, and somebody may return to it */
void dp_stub_orphan(struct dp_frame *f);
/** dp_stub_take_orphans() - all of them. Return: number of the first, 0 for none;
 *  @next_free leads on. */
u32 dp_stub_take_orphans(void);
/** dp_stub_recover() - whoever was about to use or to give one was interrupted for good.
 *  Context: it is in no list of calls. */
void dp_stub_recover(struct dp_stack *stack);
/** dp_stub_leave() - of a call that was left: not before there are no others */
void dp_stub_leave(struct dp_frame *f);

#pragma GCC visibility pop

#endif
