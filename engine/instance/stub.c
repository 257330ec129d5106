// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stub: lists of free stubs.
 *
 * Every thread keeps a few stubs for itself. All threads share two lists, of free stubs
 * and of stubs of abandoned calls, and the stubs that were never used.
 */
#include "engine/layout/instance.h"
#include "engine/layout/handler.h"
#include "engine/instance/instance.h"

#define INDEX 0xffffffffull

/* The stamp above the number tells a list that has changed meanwhile and looks the
 * same. */
static struct dp_frame *pop(u64 *list)
{
	u64 was = __atomic_load_n(list, __ATOMIC_ACQUIRE), next;

	do {
		if (!(was & INDEX))
			return NULL;
		next = ((was & ~INDEX) + INDEX + 1) |
		       dp_stub_frame((u32)was)->next_free;
	} while (!__atomic_compare_exchange_n(
		list, &was, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	return dp_stub_frame((u32)was);
}

static void push(u64 *list, struct dp_frame *f)
{
	u64 was = __atomic_load_n(list, __ATOMIC_ACQUIRE), next;

	do {
		f->next_free = (u32)was;
		next = ((was & ~INDEX) + INDEX + 1) | dp_stub_number(f);
	} while (!__atomic_compare_exchange_n(
		list, &was, next, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
}

/* The first place in each page of stubs is not a stub. */
static struct dp_frame *fresh(void)
{
	struct dp_frames *all = dp_stubs();
	u64 n = __atomic_load_n(&all->fresh, __ATOMIC_RELAXED), number;

	do {
		number = n + !(n % DP_STUBS_A_PAGE);
		if (number >= __atomic_load_n(&all->nr, __ATOMIC_ACQUIRE))
			return NULL;
	} while (!__atomic_compare_exchange_n(&all->fresh, &n, number + 1,
					      false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	return dp_stub_frame(number);
}

struct dp_frame *dp_stub_take(struct dp_stack *stack)
{
	struct dp_frame *f;

	if (stack->spare)
		return dp_stub_take_spare(stack);
	f = pop(&dp_stubs()->free);
	if (!f)
		f = fresh();
	if (!f)
		f = pop(&dp_stubs()->abandoned);
	if (f)
		stack->taken = dp_stub_number(f);
	return f;
}

struct dp_frame *dp_stub_unbind(struct dp_stack *stack, struct dp_instance *ri)
{
	struct dp_frame *f = dp_stub_bound(ri);

	if (!f)
		return NULL;
	stack->taken = dp_stub_number(f);
	dp_barrier();
	f->state = DP_FRAME_FREE;
	dp_barrier();
	return f;
}

void dp_stub_give(struct dp_stack *stack, struct dp_frame *f)
{
	if (stack->nr_spare < DP_SPARE_FRAMES) {
		dp_stub_give_spare(stack, f);
		return;
	}
	__atomic_store_n(&f->state, DP_FRAME_FREE, __ATOMIC_RELAXED);
	stack->taken = 0;
	push(&dp_stubs()->free, f);
}

static bool is_spare(const struct dp_stack *stack, u32 number)
{
	u32 n = stack->spare, left = DP_SPARE_FRAMES + 1;

	while (n && n != number && left--)
		n = dp_stub_frame(n)->next_free;
	return n == number;
}

void dp_stub_recover(struct dp_stack *stack)
{
	u32 number = stack->taken;

	stack->taken = 0;
	if (number != stack->kept && !is_spare(stack, number))
		dp_stub_give(stack, dp_stub_frame(number));
}

/* At each instruction a thread may leave for good. No stub is ever in two places then: one that
 * is in hand and kept is kept. */
void dp_stub_keep(struct dp_stack *stack, struct dp_frame *f)
{
	u32 before = stack->kept;

	__atomic_store_n(&f->state, DP_FRAME_FREE, __ATOMIC_RELAXED);
	stack->kept = dp_stub_number(f);
	dp_barrier();
	stack->taken = before;
	dp_barrier();
	if (before)
		dp_stub_give(stack, dp_stub_frame(before));
}

void dp_stub_leave(struct dp_frame *f)
{
	push(&dp_stubs()->abandoned, f);
}

void dp_stub_detach(struct dp_frame *f)
{
	push(&dp_stubs()->detached, f);
}

u32 dp_stub_take_detached(void)
{
	u64 *list = &dp_stubs()->detached;
	u64 was = __atomic_load_n(list, __ATOMIC_ACQUIRE);

	while (was & INDEX &&
	       !__atomic_compare_exchange_n(list, &was,
					    (was & ~INDEX) + INDEX + 1, false,
					    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		;
	return (u32)was;
}
