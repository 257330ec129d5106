// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * retprobe: calls that are tracked to their end through stubs, in a world in memory: what
 * their slots hold, which handlers are called, and what has become of each call.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "returns.h"

static u64 words[256];

static u64 get_task(void)
{
	return 4711;
}

static void one_call(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	struct dp_instance *ri = dp_instance_at(f, 0);
	struct dp_frame *frame;

	dp_arena.control.task = (u64)get_task;
	call(9);
	assert_int_equal(dp_fake_regs()->rip, site->copy);
	assert_true(is_stubs(*slot(9)));
	frame = frame_of(9);
	assert_int_equal(frame->ret_addr, HOME + 9);
	assert_int_equal(frame->slot, (u64)slot(9));
	assert_int_equal(frame->state, DP_FRAME_LIVE);
	assert_int_equal(frame->stack, (u64)stack);
	assert_int_equal(frame->instances, (u64)ri);
	assert_int_equal(ri->frame, (u64)frame);
	assert_int_equal(stack->frames, (u64)frame);
	assert_int_equal(seen.entries, 1);
	assert_int_equal(seen.instance, (u64)ri);
	assert_int_equal(seen.addr, HOME + 9);
	assert_int_equal(seen.now, HOME + 9);
	assert_int_equal(seen.task, 4711);
	assert_int_equal(seen.data, 0);
	assert_int_equal(((u64 *)(ri + 1))[2], CANARY);
	assert_int_equal(ri->used, DP_FAKE_PID);
	assert_int_equal(entered(f), 1);
	/* As of the hit before. */
	stack->x87 = stack->after = 1;
	assert_int_equal(come_back(9), HOME + 9);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(seen.stack.x87, 0);
	assert_int_equal(seen.stack.after, 0);
	assert_int_equal(seen.stack.regs,
			 (u64)slot(10) - sizeof(struct dp_returned));
	assert_int_equal(seen.ip, HOME + 9);
	assert_int_equal(seen.sp, (u64)slot(10));
	assert_int_equal(seen.data, 5);
	assert_int_equal(seen.stack.sp, (u64)slot(10));
	assert_int_equal(dp_stack_busy(&seen.stack), DP_BUSY_HANDLER);
	assert_int_equal(seen.stack.site, 0);
	assert_true(seen.stack.busy >= 2 * DP_BUSY_TURN);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(used(f), 0);
	assert_int_equal(frame->state, DP_FRAME_FREE);
	assert_int_equal(stack->frames, 0);
	assert_int_equal(stack->instance | stack->taken | stack->rest, 0);
	assert_int_equal(dp_stack_busy(stack), 0);
}

/* Inner ones return first, or another order is kept to by their stubs alone. */
static void several_calls(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);

	call(30);
	call(20);
	call(10);
	assert_int_equal(stack->frames, (u64)frame_of(10));
	assert_int_equal(frame_of(10)->next, (u64)frame_of(20));
	assert_int_equal(frame_of(20)->next, (u64)frame_of(30));
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(frame_of(10)->next, (u64)frame_of(30));
	assert_int_equal(come_back(10), HOME + 10);
	assert_int_equal(come_back(30), HOME + 30);
	assert_int_equal(seen.returns, 3);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 3);
	assert_int_equal(missed(f), 0);
	assert_int_equal(used(f), 0);
}

/* One slot, one stub: the probe that was hit first is told last. */
static void several_probes(void **state)
{
	struct dp_instance_pool *f = follow(0, 2), *g = follow(1, 2);

	call(9);
	assert_int_equal(seen.entries, 2);
	assert_int_equal(seen.addr, HOME + 9);
	assert_int_equal(stubs->fresh, 2);
	assert_int_equal(frame_of(9)->user, 61);
	assert_int_equal(come_back(9), HOME + 9);
	assert_int_equal(seen.returns, 2);
	assert_int_equal(seen.order[0], (u64)dp_instance_at(g, 0));
	assert_int_equal(seen.order[1], (u64)dp_instance_at(f, 0));
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(ended(g, DP_CALL_RETURNED), 1);
}

static void refused(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);

	veto = 1;
	call(9);
	assert_int_equal(*slot(9), HOME + 9);
	assert_int_equal(ended(f, DP_CALL_VETOED), 1);
	assert_int_equal(entered(f), 0);
	assert_int_equal(used(f), 0);
	assert_int_equal(stack->frames, 0);
	assert_int_equal(stack->taken, 0);
	/* Its stub is for the next one. */
	veto = 0;
	call(9);
	assert_int_equal(number(9), 1);
	assert_int_equal(stubs->fresh, 2);
	assert_int_equal(missed(f), 0);
}

/* No handlers but what counts. */
static void no_handlers(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);

	f->entry = f->handler = 0;
	call(9);
	assert_int_equal(entered(f), 1);
	assert_int_equal(come_back(9), HOME + 9);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(seen.entries | seen.returns, 0);
}

/* There are as many instances, or stubs, as there are. */
static void too_many(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);

	call(30);
	call(20);
	call(10);
	assert_int_equal(missed(f), 1);
	assert_int_equal(*slot(10), HOME + 10);
	assert_int_equal(stack->taken, 0);
	come_back(20);
	call(10);
	assert_true(is_stubs(*slot(10)));
	begin(state);
	f = follow(0, 4);
	stubs->nr = 3; /* the first is none */
	call(30);
	call(20);
	call(10);
	assert_int_equal(missed(f), 1);
	assert_int_equal(*slot(10), HOME + 10);
	assert_int_equal(used(f), 2);
	assert_int_equal(stack->instance, 0);
}

/* What was left by longjmp is seen when instances are short. */
static void left_by_longjmp(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);

	call(30);
	call(20);
	*slot(20) = 1234;
	call(10);
	assert_int_equal(missed(f), 0);
	assert_true(is_stubs(*slot(10)));
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	assert_int_equal(seen.returns, 0);
	/* Or when the next one is made at the very same place. */
	call(10);
	*slot(10) = HOME + 10;
	call(10);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 2);
	assert_int_equal(come_back(10), HOME + 10);
	assert_int_equal(come_back(30), HOME + 30);
}

/* A detour that has not counted */
static u64 call_out(struct dp_call_frame *f)
{
	f->number |= DP_CALLOUT_UNCOUNTED;
	return dp_hit_detour(f);
}

/* Through its stub, so that returns are predicted: the thread goes on there, and the
 * stub calls the copies. */
static void through_a_detour(void **state)
{
	struct dp_call_frame *frame = (void *)&words[128];
	u64 *cont = (u64 *)(frame + 1), *at = cont + 1 + DP_RED_ZONE / 8;
	struct dp_instance_pool *f = follow(0, 2);

	memset(words, 0, sizeof(words));
	frame->number = DP_CALLOUT_TRACKED;
	*at = HOME;
	*cont = 77;
	assert_int_equal(call_out(frame), 0);
	assert_true(is_stubs(*at));
	assert_int_equal(*cont, *at - DP_STUB_BACK);
	assert_int_equal(((struct dp_frame *)stack->frames)->cont, DETOUR + 24);
	/* Not for a second probe's sake, nor where none begins. */
	*cont = 77;
	assert_int_equal(call_out(frame), 0);
	assert_int_equal(*cont, 77);
	/* Nor where a handler sends the thread elsewhere. */
	begin(state);
	f = follow(0, 2);
	memset(words, 0, sizeof(words));
	frame->number = DP_CALLOUT_TRACKED;
	*at = HOME;
	*cont = 77;
	f->entry = 0;
	dp_fake_probe(1, 0, DP_KIND_KPROBE)->pre = (u64)get_task;
	assert_int_equal(call_out(frame), 1);
	assert_int_equal(*cont, 77);
	assert_int_equal(entered(f), 1);
	/* Nor where there is no such word. */
	frame->number = 0;
	begin(state);
	follow(0, 2);
	at = (u64 *)(frame + 1) + DP_RED_ZONE / 8;
	*at = HOME;
	assert_int_equal(call_out(frame), 0);
	assert_true(is_stubs(*at));
	assert_int_equal(*cont, 77);
}

static void unwound(void **state)
{
	struct dp_instance_pool *f = follow(0, 2), *g = follow(1, 2);
	struct dp_returned *at;

	g->unwind = 1;
	call(9);
	frame_of(9)->cont = 0x888000;
	at = returned(9);
	at->regs.ax = 0x5150;
	assert_int_equal(dp_return_unwound(at), 0x888000);
	assert_int_equal(at->back, HOME + 9);
	assert_int_equal(at->regs.di, 0x5150);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(seen.instance, (u64)dp_instance_at(g, 0));
	assert_int_equal(dp_instance_at(g, 0)->ending, DP_CALL_UNWOUND);
	assert_int_equal(ended(f, DP_CALL_UNWOUND), 1);
	assert_int_equal(ended(g, DP_CALL_UNWOUND), 1);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 0);
}

/* The unwinder looks at the frame until it has come to the next. */
static void passed(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	u64 first;

	call(20);
	call(10);
	first = number(10);
	dp_return_passed(first);
	assert_int_equal(stack->sp, (u64)slot(11));
	assert_int_equal(ended(f, DP_CALL_UNWOUND), 1);
	assert_int_equal(seen.returns, 0);
	assert_int_equal(stack->kept, first);
	assert_int_equal(stack->nr_spare, 0);
	assert_int_equal(stack->frames, (u64)frame_of(20));
	dp_return_passed(number(20));
	assert_int_equal(stack->kept, number(20));
	assert_int_equal(stack->nr_spare, 1);
	assert_int_equal(stack->spare, first);
	assert_int_equal(stack->taken, 0);
}

/* A child in our memory takes no stack, which its parent would use, too. */
static void passed_in_a_child(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	u32 *owners = dp_at(dp_arena.control.owner_off);

	call(20);
	dp_fake_thread(1);
	dp_fake_vfork(false);
	dp_return_passed(number(20));
	assert_null(dp_stack_known());
	assert_int_equal(owners[1], 0);
	assert_int_equal(ended(f, DP_CALL_UNWOUND), 0);
	dp_fake_vfork(true);
	dp_return_passed(number(20));
	assert_int_equal(owners[1], DP_FAKE_PID + 1);
	assert_int_equal(ended(f, DP_CALL_UNWOUND), 1);
}

/* Its stack has been carried to another thread. */
static void on_another_thread(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	struct dp_frame *frame;

	call(20);
	call(10);
	frame = frame_of(10);
	dp_fake_thread(1);
	assert_int_equal(come_back(10), HOME + 10);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(frame->state, DP_FRAME_OVER);
	assert_int_equal(stack->frames, (u64)frame);
	assert_int_equal(used(f), 1);
	/* The thread that has it in its list finds it there. */
	dp_fake_thread(0);
	call(10);
	assert_int_equal(frame->state, DP_FRAME_LIVE);
	assert_int_equal(((struct dp_frame *)frame->next)->slot, (u64)slot(20));
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 0);
	assert_int_equal(come_back(10), HOME + 10);
	assert_int_equal(come_back(20), HOME + 20);
}

/* No stack for its handlers: it is missed, and goes home. The thread that had the instance has it no more. */
static void no_stack(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	u32 *owners = dp_at(dp_arena.control.owner_off), i;
	u64 there;

	call(20);
	dp_instance_at(f, 0)->used |= DP_INSTANCE_RESERVED;
	there = *slot(20);
	dp_fake_thread(1);
	for (i = 0; i < DP_STACKS; i++)
		owners[i] = DP_FAKE_PID;
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(seen.returns, 0);
	assert_int_equal(missed(f), 1);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(used(f), 0);
	*slot(20) = there;
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(stubs->late, 1);
	assert_int_equal(missed(f), 1);
}

/* It was taken for left, and returns all the same. */
static void too_late(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	u64 there, news = dp_arena.hit.news;

	call(20);
	there = *slot(20);
	*slot(20) = HOME + 20;
	call(20);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	come_back(20);
	*slot(20) = there;
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(returned(20)->regs.ip, HOME + 20);
	assert_int_equal(stubs->late, 1);
	assert_int_equal(stubs->late_addr, HOME + 20);
	assert_int_equal(stubs->late_user, 60);
	assert_int_equal(dp_arena.hit.news, news + 1);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
}

/* A child goes back as if there had been no probe. */
static void in_a_child(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);

	call(20);
	dp_fake_vfork(false);
	assert_int_equal(come_back(20), HOME + 20);
	dp_fake_vfork(true);
	*slot(20) = dp_stub_of((void *)stack->frames) + DP_STUB_BACK;
	dp_fake_fork();
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(seen.returns, 0);
	assert_int_equal(used(f), 1);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 0);
}

static void from_the_alternate_stack(void **state)
{
	follow(0, 2);
	call(20);
	dp_fake_altstack((u64)slots, sizeof(slots));
	dp_stack_ask_alternate();
	come_back(20);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(seen.alt_size, 0);
	dp_port_altstack(&seen.sp, &seen.alt_size);
	assert_int_equal(seen.alt_size, sizeof(slots));
	assert_int_equal(dp_fake_mask(), 0);
}

/* Only one that the thread was on is hidden from the kernel. */
static void beside_the_alternate_stack(void **state)
{
	follow(0, 2);
	call(20);
	dp_fake_altstack((u64)words, sizeof(words));
	dp_stack_ask_alternate();
	come_back(20);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(seen.alt_size, sizeof(words));
}

/* The thread has several stacks: calls farther down stay in front. */
static void in_the_order_of_their_slots(void **state)
{
	follow(0, 4);
	call(10);
	call(30);
	call(20);
	assert_int_equal(stack->frames, (u64)frame_of(10));
	assert_int_equal(frame_of(10)->next, (u64)frame_of(20));
	assert_int_equal(frame_of(20)->next, (u64)frame_of(30));
	assert_int_equal(frame_of(30)->next, 0);
}

#define FAR 70

/* But no hit looks at more than so many. */
static void far_down(void **state)
{
	static u64 far[FAR + 1];
	struct dp_frame *begun, *f;
	struct dp_regs regs = { 0 };
	u32 i, before = 0;

	stubs = dp_fake_frames(FAR + 2);
	follow(0, FAR + 1);
	for (i = FAR; i--;) {
		far[i] = HOME;
		regs.sp = (u64)&far[i];
		dp_return_enter(0, &regs, stack, &begun);
	}
	far[FAR] = HOME;
	regs.sp = (u64)&far[FAR];
	dp_return_enter(0, &regs, stack, &begun);
	for (f = (void *)stack->frames; f != begun; f = (void *)f->next)
		before++;
	assert_int_equal(before, DP_ABANDONED_STEPS - 1);
}

/* A return address that is a stub's, at another place: a call of its own. */
static void stub_at_another_slot(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	u64 there;

	call(20);
	there = *slot(20);
	*slot(10) = there;
	call(10);
	assert_int_not_equal(*slot(10), there);
	assert_int_equal(frame_of(10)->ret_addr, there);
	assert_int_equal(frame_of(20)->instances, (u64)dp_instance_at(f, 0));
	assert_int_equal(come_back(10), there);
	assert_int_equal(come_back(20), HOME + 20);
}

/* A handler was left by longjmp: the return that follows finds what it had in hand. */
static void after_a_handler_that_was_left(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	struct dp_instance *ri = dp_instance_at(f, 1);

	call(20);
	ri->used = stack->tid | DP_INSTANCE_NEW;
	stack->instance = (u64)ri;
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(seen.returns, 1);
	assert_int_equal(used(f), 0);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(entered(f), 1);
}

/* --- the usual call, without most of that --- */

static struct dp_call_frame *quick_frame(u32 i)
{
	struct dp_call_frame *at = (void *)&words[64];

	memset(at, 0, sizeof(*at));
	at->regs.sp = (u64)slot(i);
	stack->sp = at->regs.sp;
	stack->regs = (u64)at;
	return at;
}

static struct dp_quick quick_enter(u32 i)
{
	return dp_return_quick_enter(dp_probe(0), &quick_frame(i)->regs, stack);
}

/* A thread that keeps a stub for itself. */
static struct dp_instance_pool *quick(u32 n)
{
	struct dp_instance_pool *f = follow(0, n);
	u32 i;

	f->quick = 1;
	call(63);
	come_back(63);
	assert_int_equal(stack->nr_spare, 1);
	memset(&seen, 0, sizeof(seen));
	for (i = 0; i < SLOTS; i++)
		*slot(i) = HOME + i;
	return f;
}

static void quick_call(void **state)
{
	struct dp_instance_pool *f = quick(2);
	struct dp_quick q = quick_enter(20);
	struct dp_instance *ri = (void *)q.instance;
	u64 *cont = (u64 *)((struct dp_call_frame *)stack->regs + 1);
	struct dp_returned *at;

	assert_non_null(ri);
	assert_int_equal(q.handler, (u64)entry);
	assert_int_equal(ri->ret_addr, HOME + 20);
	assert_int_equal(*(u64 *)(ri + 1), 0);
	assert_int_equal(*slot(20), HOME + 20);
	*cont = 77;
	dp_return_quick_begin(0, stack);
	assert_true(is_stubs(*slot(20)));
	assert_int_equal(*cont, *slot(20) - DP_STUB_BACK);
	assert_int_equal(frame_of(20)->cont, DETOUR + 24);
	assert_int_equal(frame_of(20)->ret_addr, HOME + 20);
	assert_int_equal(stack->nr_spare, 0);
	assert_int_equal(entered(f), 2);
	assert_int_equal(seen.entries, 0);
	assert_int_equal(ri->ending, DP_CALL_RETURNED);
	at = returned(20);
	q = dp_return_quick_hit(at, stack);
	assert_int_equal(q.instance, (u64)ri);
	assert_int_equal(q.handler, (u64)handler);
	assert_int_equal(ri->ending, DP_CALL_RETURNED);
	assert_int_equal(at->back, HOME + 20);
	assert_int_equal(at->regs.ip, HOME + 20);
	assert_int_equal(stack->frames, 0);
	assert_int_equal(stack->nr_spare, 0);
	dp_return_quick_end(stack);
	assert_ptr_equal(dp_stub_bound(ri), ri->frame);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 2);
	assert_int_equal(used(f), 0);
	assert_int_equal(stack->instance | stack->taken, 0);
}

/* A usual call; its frame is bound to its instance then. */
static struct dp_frame *call_quickly(u32 i)
{
	struct dp_frame *f;

	assert_int_not_equal(quick_enter(i).instance, 0);
	dp_return_quick_begin(0, stack);
	f = frame_of(i);
	assert_int_not_equal(dp_return_quick_hit(returned(i), stack).instance,
			     0);
	dp_return_quick_end(stack);
	*slot(i) = HOME + i;
	return f;
}

/* The next call has the same frame, by whatever way it is made, or returns. */
static void bound(void **state)
{
	struct dp_instance_pool *f = quick(2);
	struct dp_instance *ri;
	struct dp_frame *frame = call_quickly(20);

	assert_int_equal(stack->spare, 0);
	assert_ptr_equal(call_quickly(21), frame);
	ri = (void *)frame->instances;
	assert_ptr_equal(dp_stub_bound(ri), frame);
	call(22);
	assert_ptr_equal(frame_of(22), frame);
	assert_null(dp_stub_bound(ri));
	assert_int_equal(stack->taken, 0);
	assert_int_equal(come_back(22), HOME + 22);
	assert_int_equal(stack->spare, dp_stub_number(frame));
	assert_int_equal(entered(f), 4);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 4);
	/* There was none: no stub is lost. */
	assert_int_equal(stubs->fresh, 2);
}

/* A second probe's instance has a frame of its own, and joins that of the first. */
static void bound_beside_another(void **state)
{
	struct dp_instance_pool *f = quick(2), *g = follow(1, 2);
	struct dp_frame *frame = call_quickly(20);
	struct dp_instance *ri = (void *)frame->instances;

	/* The instance is the second probe's: its hits come last. */
	ri->used = 1;
	call(30);
	assert_ptr_not_equal(frame_of(30), frame);
	assert_int_equal(come_back(30), HOME + 30);
	ri->used = 0;
	assert_ptr_equal(dp_stub_bound(ri), frame);
	*dp_instance_hint(stack, f) = ri->index;
	*slot(30) = dp_stub_of(dp_stub_take(stack)) + DP_STUB_BACK;
	frame_of(30)->ret_addr = HOME + 30;
	frame_of(30)->slot = (u64)slot(30);
	frame_of(30)->instances = 0;
	frame_of(30)->stack = (u64)stack;
	frame_of(30)->next = 0;
	frame_of(30)->state = DP_FRAME_LIVE;
	stack->frames = (u64)frame_of(30);
	stack->taken = 0;
	call(30);
	assert_ptr_not_equal(frame_of(30), frame);
	assert_int_equal(stack->spare, dp_stub_number(frame));
	assert_int_equal(used(f) + used(g), 2);
	assert_int_equal(come_back(30), HOME + 30);
	assert_null(dp_stub_bound(ri));
}

#define OTHERS (DP_FAKE_PID + 7)

/* What other threads have reserved is taken when there is no other, and when all have seen that: but not
 * one that is held. */
static void reserved_by_others(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	struct dp_instance *a = dp_instance_at(f, 0), *b = dp_instance_at(f, 1);
	u32 before = dp_fake_seen.barriers;

	a->used = OTHERS | DP_INSTANCE_RESERVED;
	call(30);
	assert_int_equal(b->used, DP_FAKE_PID);
	assert_int_equal(f->shared, DP_POOL_RESERVES);
	assert_int_equal(come_back(30), HOME + 30);
	b->used = OTHERS | DP_INSTANCE_RESERVED;
	b->held = 1;
	call(20);
	assert_int_equal(missed(f), 0);
	assert_int_equal(a->used, DP_FAKE_PID);
	assert_int_equal(dp_fake_seen.barriers, before + 1);
	assert_int_equal(f->shared, DP_POOL_SHARES);
	call(10);
	assert_int_equal(missed(f), 1);
	b->held = 0;
	call(9);
	assert_int_equal(missed(f), 1);
	assert_int_equal(b->used, DP_FAKE_PID);
	assert_int_equal(dp_fake_seen.barriers, before + 1);
	come_back(9);
	come_back(20);
	assert_int_equal(used(f), 0);
}

/* Without a barrier it is not known whether the other thread has taken it. */
static void reserved_for_good(void **state)
{
	struct dp_instance_pool *f = follow(0, 1);

	dp_instance_at(f, 0)->used = OTHERS | DP_INSTANCE_RESERVED;
	dp_fake_seen.no_barriers = 1;
	call(20);
	assert_int_equal(missed(f), 1);
	assert_int_equal(f->shared, DP_POOL_REVOKES);
	/* Another thread is about to: this one asks as well. */
	dp_fake_seen.no_barriers = 0;
	call(20);
	assert_int_equal(missed(f), 1);
	assert_int_equal(f->shared, DP_POOL_SHARES);
	assert_int_equal(come_back(20), HOME + 20);
}

/* One's own is taken at once. A handler was left that had it: its stub may be another's from now on, so it is
 * reserved no more. */
static void reserved_by_oneself(void **state)
{
	struct dp_instance_pool *f = follow(0, 1);
	struct dp_instance *ri = dp_instance_at(f, 0);
	u32 before = dp_fake_seen.barriers;

	ri->used = DP_FAKE_PID | DP_INSTANCE_RESERVED;
	ri->held = 1;
	stack->instance = (u64)ri;
	dp_abandoned_recover(stack);
	assert_int_equal(ri->held | ri->used, 0);
	ri->used = DP_FAKE_PID | DP_INSTANCE_RESERVED;
	call(20);
	assert_int_equal(missed(f), 0);
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(dp_fake_seen.barriers, before);
}

static void quick_refused(void **state)
{
	struct dp_instance_pool *f = quick(2);

	assert_int_not_equal(quick_enter(20).instance, 0);
	dp_return_quick_begin(1, stack);
	assert_int_equal(*slot(20), HOME + 20);
	assert_int_equal(ended(f, DP_CALL_VETOED), 1);
	assert_int_equal(used(f), 0);
	/* A handler has changed the stack pointer: not through the stub. */
	assert_int_not_equal(quick_enter(20).instance, 0);
	words[0] = 0;
	((struct dp_call_frame *)stack->regs)->regs.sp = (u64)slot(19);
	*(u64 *)((struct dp_call_frame *)stack->regs + 1) = 77;
	dp_return_quick_begin(0, stack);
	assert_int_equal(*(u64 *)((struct dp_call_frame *)stack->regs + 1), 77);
	assert_true(is_stubs(*slot(19)));
}

/* Whatever is not like most is for the long way, and nothing has been done. */
static void not_quick(void **state)
{
	struct dp_instance_pool *f = quick(1);
	struct dp_probe_entry *p = (struct dp_probe_entry *)dp_probe(0);
	u32 spare = stack->spare;

	f->quick = 0;
	assert_int_equal(quick_enter(20).instance, 0);
	assert_int_equal(quick_enter(20).handler, 0);
	f->quick = 1;
	p->kind = DP_KIND_KPROBE;
	assert_int_equal(quick_enter(20).instance, 0);
	p->kind = DP_KIND_RETURN;
	stack->spare = 0;
	assert_int_equal(quick_enter(20).instance, 0);
	stack->spare = spare;
	/* Its caller is a stub. */
	*slot(20) = DP_FAKE_STUBS + 2 * DP_STUB_SIZE;
	assert_int_equal(quick_enter(20).instance, 0);
	*slot(20) = HOME + 20;
	/* Others lie there already, or farther down. */
	call(20);
	*slot(20) = HOME + 20;
	assert_int_equal(quick_enter(20).instance, 0);
	assert_int_equal(quick_enter(21).instance, 0);
	/* No instance. */
	assert_int_equal(quick_enter(19).instance, 0);
	assert_int_equal(missed(f), 0);
	assert_int_equal(stack->instance, 0);
}

/* Stubs there are, but another call lies there, or there is no instance. */
static void not_quick_beside_others(void **state)
{
	struct dp_instance_pool *f = quick(3);
	u32 i, others[3];

	for (i = 61; i < 64; i++)
		call(i);
	for (i = 61; i < 64; i++)
		come_back(i);
	assert_int_equal(stack->nr_spare, 3);
	call(20);
	*slot(20) = HOME + 20;
	assert_int_equal(quick_enter(20).instance, 0);
	assert_int_equal(quick_enter(21).instance, 0);
	for (i = 0; i < f->nr; i++)
		others[i] = dp_instance_at(f, i)->used;
	for (i = 0; i < f->nr; i++)
		dp_instance_at(f, i)->used = 1;
	assert_int_equal(quick_enter(19).instance, 0);
	assert_int_equal(stack->instance, 0);
	for (i = 0; i < f->nr; i++)
		dp_instance_at(f, i)->used = others[i];
	assert_int_not_equal(quick_enter(19).instance, 0);
}

static void not_quick_back(void **state)
{
	struct dp_instance_pool *f = quick(3), *g;
	struct dp_frame *inner;
	struct dp_returned *at;
	u64 outer;

	call(30);
	call(20);
	outer = number(30);
	inner = frame_of(20);
	/* Not the innermost. */
	at = returned(30);
	assert_int_equal(dp_return_quick_hit(at, stack).instance, 0);
	assert_int_equal(dp_return_quick_hit(at, stack).handler, 0);
	assert_int_equal(at->back, outer);
	at = returned(20);
	f->quick = 0;
	assert_int_equal(dp_return_quick_hit(at, stack).instance, 0);
	f->quick = 1;
	inner->state = DP_FRAME_OVER;
	assert_int_equal(dp_return_quick_hit(at, stack).instance, 0);
	inner->state = DP_FRAME_LIVE;
	assert_int_equal(stack->instance | stack->taken, 0);
	assert_int_not_equal(dp_return_quick_hit(at, stack).instance, 0);
	dp_return_quick_end(stack);
	/* More than one waits. */
	g = follow(1, 2);
	g->quick = 1;
	*slot(20) = HOME + 20;
	call(20);
	assert_int_equal(used(g), 1);
	at = returned(20);
	assert_int_equal(dp_return_quick_hit(at, stack).instance, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_call, begin),
		cmocka_unit_test_setup(several_calls, begin),
		cmocka_unit_test_setup(several_probes, begin),
		cmocka_unit_test_setup(refused, begin),
		cmocka_unit_test_setup(no_handlers, begin),
		cmocka_unit_test_setup(too_many, begin),
		cmocka_unit_test_setup(left_by_longjmp, begin),
		cmocka_unit_test_setup(through_a_detour, begin),
		cmocka_unit_test_setup(unwound, begin),
		cmocka_unit_test_setup(passed, begin),
		cmocka_unit_test_setup(passed_in_a_child, begin),
		cmocka_unit_test_setup(on_another_thread, begin),
		cmocka_unit_test_setup(no_stack, begin),
		cmocka_unit_test_setup(too_late, begin),
		cmocka_unit_test_setup(in_a_child, begin),
		cmocka_unit_test_setup(from_the_alternate_stack, begin),
		cmocka_unit_test_setup(beside_the_alternate_stack, begin),
		cmocka_unit_test_setup(in_the_order_of_their_slots, begin),
		cmocka_unit_test_setup(far_down, begin),
		cmocka_unit_test_setup(stub_at_another_slot, begin),
		cmocka_unit_test_setup(after_a_handler_that_was_left, begin),
		cmocka_unit_test_setup(quick_call, begin),
		cmocka_unit_test_setup(bound, begin),
		cmocka_unit_test_setup(bound_beside_another, begin),
		cmocka_unit_test_setup(reserved_by_others, begin),
		cmocka_unit_test_setup(reserved_for_good, begin),
		cmocka_unit_test_setup(reserved_by_oneself, begin),
		cmocka_unit_test_setup(quick_refused, begin),
		cmocka_unit_test_setup(not_quick, begin),
		cmocka_unit_test_setup(not_quick_beside_others, begin),
		cmocka_unit_test_setup(not_quick_back, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
