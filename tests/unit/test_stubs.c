// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stubs: lists of free stubs, and tracked calls that have ended otherwise than by returning:
 * which are found, when, and what becomes of their stubs; in a world in memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "returns.h"

#define PATIENCE 16
#define OWN_STACK (8u << 20)
#define ELSEWHERE 0x405678

static void enter(u32 i)
{
	struct dp_frame *begun = NULL;
	struct dp_regs regs = { .sp = (u64)slot(i) };

	dp_return_enter(0, &regs, stack, &begun);
}

/* --- lists --- */

static u32 first_of(u64 list)
{
	return (u32)list;
}

static u32 changes_of(u64 list)
{
	return (u32)(list >> 32);
}

/* Take a stub, and keep it. */
static struct dp_frame *take(void)
{
	struct dp_frame *f = dp_stub_take(stack);

	assert_int_equal(stack->taken, f ? dp_stub_number(f) : 0);
	stack->taken = 0;
	return f;
}

/* Give it as one that is in hand. */
static void give(struct dp_frame *f)
{
	stack->taken = dp_stub_number(f);
	f->state = DP_FRAME_LIVE;
	dp_stub_give(stack, f);
	assert_int_equal(f->state, DP_FRAME_FREE);
	assert_int_equal(stack->taken, 0);
}

static void a_thread_keeps_a_few_stubs(void **state)
{
	struct dp_frame *f[DP_SPARE_FRAMES + 2];
	u32 i;

	for (i = 0; i < DP_SPARE_FRAMES + 2; i++) {
		f[i] = take();
		assert_int_equal(dp_stub_number(f[i]), i + 1);
	}
	for (i = 0; i < DP_SPARE_FRAMES + 2; i++)
		give(f[i]);
	assert_int_equal(stack->nr_spare, DP_SPARE_FRAMES);
	/* All others are everybody's, the last first. */
	assert_int_equal(first_of(stubs->free), DP_SPARE_FRAMES + 2);
	assert_int_equal(f[DP_SPARE_FRAMES + 1]->next_free,
			 DP_SPARE_FRAMES + 1);
	assert_int_equal(f[DP_SPARE_FRAMES]->next_free, 0);
	assert_int_equal(changes_of(stubs->free), 2);
	for (i = DP_SPARE_FRAMES; i--;)
		assert_ptr_equal(take(), f[i]);
	assert_int_equal(stack->nr_spare, 0);
	assert_ptr_equal(take(), f[DP_SPARE_FRAMES + 1]);
	assert_ptr_equal(take(), f[DP_SPARE_FRAMES]);
	/* Whoever has seen a list before notices that it has changed. */
	assert_int_equal(first_of(stubs->free), 0);
	assert_int_equal(changes_of(stubs->free), 4);
	assert_int_equal(stubs->fresh, DP_SPARE_FRAMES + 3);
	take();
	assert_int_equal(changes_of(stubs->free), 4);
}

static void stubs_of_abandoned_calls_are_used_last(void **state)
{
	struct dp_frame *f[3];
	u32 i;

	for (i = 0; i < 3; i++)
		f[i] = take();
	dp_stub_leave(f[0]);
	dp_stub_leave(f[1]);
	assert_int_equal(first_of(stubs->abandoned), 2);
	assert_int_equal(changes_of(stubs->abandoned), 2);
	for (i = 4; i < STUBS; i++)
		assert_int_equal(dp_stub_number(take()), i);
	stack->nr_spare = DP_SPARE_FRAMES;
	give(f[2]);
	stack->nr_spare = 0;
	assert_ptr_equal(take(), f[2]);
	assert_ptr_equal(take(), f[1]);
	assert_ptr_equal(take(), f[0]);
	assert_null(take());
	assert_int_equal(stubs->fresh, STUBS);
}

/* The first place in each page of stubs is the way to its frames. */
static void no_stub_begins_a_page(void **state)
{
	u32 i;

	stubs = dp_fake_frames(2 * DP_STUBS_A_PAGE + 1);
	for (i = 1; i < DP_STUBS_A_PAGE; i++)
		assert_int_equal(dp_stub_number(take()), i);
	for (i++; i < 2 * DP_STUBS_A_PAGE; i++)
		assert_int_equal(dp_stub_number(take()), i);
	assert_null(take());
}

static void a_stub_in_hand_is_given_back_once(void **state)
{
	struct dp_frame *f[DP_SPARE_FRAMES + 2], *another;
	u32 i;

	for (i = 0; i < DP_SPARE_FRAMES + 1; i++)
		f[i] = take();
	another = take();
	for (i = 0; i < DP_SPARE_FRAMES; i++)
		give(f[i]);
	/* It is in the list already, and not counted yet. */
	f[DP_SPARE_FRAMES]->next_free = stack->spare;
	stack->spare = dp_stub_number(f[DP_SPARE_FRAMES]);
	for (i = 0; i <= DP_SPARE_FRAMES; i++) {
		stack->taken = dp_stub_number(f[i]);
		dp_stub_recover(stack);
		assert_int_equal(stack->taken, 0);
		assert_int_equal(stack->nr_spare, DP_SPARE_FRAMES);
		assert_int_equal(stubs->free, 0);
	}
	stack->taken = dp_stub_number(another);
	dp_stub_recover(stack);
	assert_int_equal(stack->taken, 0);
	assert_int_equal(first_of(stubs->free), dp_stub_number(another));
}

static void a_kept_stub_is_free_when_the_next_is_kept(void **state)
{
	struct dp_frame *f = take(), *g = take();

	f->state = g->state = DP_FRAME_LIVE;
	dp_stub_keep(stack, f);
	assert_int_equal(f->state, DP_FRAME_FREE);
	assert_int_equal(stack->kept, dp_stub_number(f));
	assert_int_equal(stack->nr_spare, 0);
	dp_stub_keep(stack, g);
	assert_int_equal(g->state, DP_FRAME_FREE);
	assert_int_equal(stack->kept, dp_stub_number(g));
	assert_int_equal(stack->spare, dp_stub_number(f));
	assert_int_equal(stack->nr_spare, 1);
}

static void detached_frames_are_taken_all_at_once(void **state)
{
	struct dp_frame *f = take(), *g = take();

	assert_int_equal(dp_stub_take_detached(), 0);
	assert_int_equal(stubs->detached, 0);
	dp_stub_detach(f);
	dp_stub_detach(g);
	assert_int_equal(dp_stub_take_detached(), dp_stub_number(g));
	assert_int_equal(g->next_free, dp_stub_number(f));
	assert_int_equal(f->next_free, 0);
	assert_int_equal(first_of(stubs->detached), 0);
	assert_int_equal(changes_of(stubs->detached), 3);
	assert_int_equal(dp_stub_take_detached(), 0);
	assert_int_equal(changes_of(stubs->detached), 3);
}

/* --- calls that were left --- */

/* A thread with several stacks: the old call there is behind those farther down. */
static void an_old_call_at_the_place_is_over(void **state)
{
	struct dp_instance_pool *f = follow(0, 8);

	enter(30);
	enter(20);
	enter(10);
	*slot(20) = HOME + 20;
	enter(20);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	assert_int_equal(used(f), 3);
	assert_int_equal(first_of(stubs->abandoned), 2);
	assert_int_equal(stack->frames, (u64)frame_of(10));
	assert_int_equal(frame_of(10)->next, (u64)frame_of(20));
	assert_int_equal(frame_of(20)->next, (u64)frame_of(30));
	/* It came from a stub of its own, and that can still be returned to. */
	assert_int_equal(dp_stub_frame(2)->state, DP_FRAME_ABANDONED);
	assert_int_equal(dp_stub_frame(2)->ret_addr, HOME + 20);
}

#define FAR 70

static u64 far[FAR + 1];

static void enter_far(u32 i)
{
	struct dp_frame *begun = NULL;
	struct dp_regs regs = { .sp = (u64)&far[i] };

	far[i] = HOME;
	dp_return_enter(0, &regs, stack, &begun);
}

/* No hit looks at more than so many calls. */
static void old_calls_are_looked_for_among_a_few(void **state)
{
	struct dp_instance_pool *f;
	u32 i;

	stubs = dp_fake_frames(2 * FAR + 4);
	f = follow(0, 2 * FAR);
	for (i = FAR; i--;)
		enter_far(i);
	enter_far(DP_ABANDONED_STEPS - 1);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 0);
	enter_far(DP_ABANDONED_STEPS - 2);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
}

/* Many calls are missed before all are looked at again. */
static void searches_that_find_nothing_are_rare(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	u32 i;

	enter(30);
	enter(20);
	enter(10);
	assert_int_equal(missed(f), 1);
	assert_int_equal(stack->patience, 2 * PATIENCE);
	*slot(20) = ELSEWHERE;
	for (i = 1; i <= 2 * PATIENCE; i++) {
		enter(10);
		assert_int_equal(stack->patience, 2 * PATIENCE - i);
	}
	assert_int_equal(missed(f), 1 + 2 * PATIENCE);
	enter(10);
	assert_int_equal(missed(f), 1 + 2 * PATIENCE);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	assert_int_equal(stack->patience, 0);
	assert_true(is_stubs(*slot(10)));
	/* One whose slot cannot be read is over, too. */
	dp_fake_bad((u64)slot(10), 8);
	enter(5);
	assert_int_equal(missed(f), 1 + 2 * PATIENCE);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 2);
}

/* On its way from the stub to the agent, a call's slot has the number of its frame. */
static void a_call_that_is_on_its_way_back_is_there(void **state)
{
	struct dp_instance_pool *f = follow(0, 1);

	enter(20);
	*slot(20) = dp_stub_number((void *)stack->frames);
	enter(10);
	assert_int_equal(missed(f), 1);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 0);
	assert_int_equal(used(f), 1);
}

/* --- threads that end --- */

/* The thread's stack is elsewhere, so these slots are a coroutine's. */
static void begin_coroutine(void)
{
	stack->thread = (u64)slot(SLOTS) + 2 * OWN_STACK;
}

static void calls_end_with_their_thread(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);

	enter(30);
	enter(20);
	stack->thread = (u64)slot(20) + OWN_STACK - 1;
	/* One is in hand of a handler that was left. */
	dp_instance_at(f, 3)->used = stack->tid | DP_INSTANCE_NEW;
	stack->instance = (u64)dp_instance_at(f, 3);
	dp_abandoned_drop(stack);
	assert_int_equal(stack->frames, 0);
	assert_int_equal(used(f), 0);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 2);
	assert_int_equal(stubs->detached, 0);
	assert_int_equal(stack->taken, 0);
	assert_int_equal(changes_of(stubs->abandoned), 2);
}

static void calls_of_coroutines_outlive_their_thread(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	struct dp_frame *there;

	begin_coroutine();
	enter(30);
	enter(20);
	there = frame_of(30);
	*slot(20) = ELSEWHERE;
	/* The first that can be one. */
	stack->thread = (u64)slot(30) + OWN_STACK;
	dp_abandoned_drop(stack);
	assert_int_equal(stack->frames, 0);
	assert_int_equal(stack->taken, 0);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	assert_int_equal(first_of(stubs->detached), dp_stub_number(there));
	assert_int_equal(there->next_free, 0);
	assert_int_equal(there->state, DP_FRAME_LIVE);
	assert_int_equal(there->stack, 0);
	/* Another thread goes on with it. */
	dp_fake_thread(1);
	assert_int_equal(come_back(30), HOME + 30);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 1);
	assert_int_equal(there->state, DP_FRAME_OVER);
	assert_int_equal(used(f), 0);
}

/* When the next thread ends, those that have returned meanwhile are taken from the others. */
static void detached_calls_that_have_returned_are_dropped(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	struct dp_frame *over, *there;

	begin_coroutine();
	enter(30);
	over = frame_of(30);
	dp_abandoned_drop(stack);
	assert_int_equal(first_of(stubs->detached), dp_stub_number(over));
	dp_fake_thread(1);
	come_back(30);
	dp_fake_thread(0);
	/* No call is left to be detached: nothing is looked at. */
	dp_abandoned_drop(stack);
	assert_int_equal(first_of(stubs->detached), dp_stub_number(over));
	enter(20);
	there = frame_of(20);
	*slot(20) = (u64)dp_stub_number(there);
	dp_abandoned_drop(stack);
	assert_int_equal(first_of(stubs->detached), dp_stub_number(there));
	assert_int_equal(there->next_free, 0);
	assert_int_equal(over->state, DP_FRAME_FREE);
	assert_int_equal(stack->spare, dp_stub_number(over));
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 0);
	assert_int_equal(stack->detached | stack->taken, 0);
	/* One that is not there any more is not looked at here. */
	*slot(20) = ELSEWHERE;
	enter(10);
	dp_abandoned_drop(stack);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 0);
	assert_int_equal(used(f), 2);
}

/* But when instances are short. */
static void detached_calls_are_looked_at_when_instances_are_short(void **state)
{
	struct dp_instance_pool *f = follow(0, 2);
	struct dp_frame *there;

	begin_coroutine();
	enter(30);
	enter(20);
	there = frame_of(20);
	dp_abandoned_drop(stack);
	assert_int_not_equal(first_of(stubs->detached), 0);
	enter(10);
	assert_int_equal(missed(f), 1);
	assert_int_equal(stack->patience, 2 * PATIENCE);
	assert_int_equal(used(f), 2);
	stack->patience = 0;
	*slot(30) = ELSEWHERE;
	enter(10);
	assert_int_equal(missed(f), 1);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	assert_int_equal(first_of(stubs->detached), dp_stub_number(there));
	assert_int_equal(there->next_free, 0);
	assert_int_equal(stack->detached, 0);
	/* One of the thread's own and one of these are two. */
	*slot(10) = *slot(20) = ELSEWHERE;
	enter(5);
	assert_int_equal(missed(f), 1);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 3);
	assert_int_equal(first_of(stubs->detached), 0);
}

/* --- what was in hand --- */

static void frames_in_hand_of_one_that_was_left_are_detached_again(void **state)
{
	struct dp_frame *f = take(), *g = take(), *h = take();

	f->next_free = dp_stub_number(g);
	g->next_free = 0;
	f->state = g->state = DP_FRAME_LIVE;
	stack->detached = dp_stub_number(f);
	dp_abandoned_recover(stack);
	assert_int_equal(first_of(stubs->detached), dp_stub_number(g));
	assert_int_equal(g->next_free, dp_stub_number(f));
	assert_int_equal(f->next_free, 0);
	assert_int_equal(stack->taken | stack->detached, 0);
	assert_int_equal(h->state, DP_FRAME_FREE);
}

/* Several waited for the return: all of them are ended, the one in hand as it was about to. */
static void instances_of_one_that_was_left_are_all_ended(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	struct dp_instance *ri;
	struct dp_frame *frame;
	u32 i;

	enter(20);
	enter(20);
	enter(20);
	enter(30);
	frame = frame_of(20);
	ri = (void *)frame->instances;
	/* It has been unlinked, and the first is being handled. */
	stack->frames = (u64)frame_of(30);
	frame->state = DP_FRAME_FREE;
	stack->taken = dp_stub_number(frame);
	stack->instance = stack->rest = (u64)ri;
	ri->ending = DP_CALL_UNWOUND;
	dp_abandoned_recover(stack);
	assert_int_equal(ended(f, DP_CALL_UNWOUND), 1);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 2);
	assert_int_equal(used(f), 1);
	assert_int_equal(stack->spare, dp_stub_number(frame));
	assert_int_equal(stack->instance | stack->rest | stack->taken, 0);
	/* What another thread has by now is not touched. */
	for (i = 0; i < 4; i++)
		if (!dp_instance_at(f, i)->used)
			break;
	ri = dp_instance_at(f, i);
	ri->used = stack->tid + 1;
	stack->instance = (u64)ri;
	dp_abandoned_recover(stack);
	assert_int_equal(ri->used, stack->tid + 1);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 2);
	assert_int_equal(used(f), 2);
}

/* It was left before anything else was done: its call is over. */
static void a_frame_that_was_only_unlinked_is_free(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);
	struct dp_frame *frame;

	enter(30);
	enter(20);
	frame = frame_of(20);
	stack->frames = frame->next;
	stack->taken = dp_stub_number(frame);
	dp_abandoned_recover(stack);
	assert_int_equal(ended(f, DP_CALL_ABANDONED), 1);
	assert_int_equal(used(f), 1);
	assert_int_equal(frame->state, DP_FRAME_FREE);
	assert_int_equal(stack->spare, dp_stub_number(frame));
	assert_int_equal(stack->taken, 0);
}

/* Its frame was not unlinked yet: the call is still to return. */
static void a_call_whose_frame_is_listed_goes_on(void **state)
{
	struct dp_instance_pool *f = follow(0, 4);

	enter(30);
	enter(20);
	stack->taken = dp_stub_number(frame_of(30));
	stack->instance = frame_of(30)->instances;
	dp_abandoned_recover(stack);
	assert_int_equal(used(f), 2);
	assert_int_equal(stack->taken | stack->instance, 0);
	assert_int_equal(stack->nr_spare, 0);
	assert_int_equal(frame_of(30)->state, DP_FRAME_LIVE);
	assert_int_equal(come_back(20), HOME + 20);
	assert_int_equal(come_back(30), HOME + 30);
	assert_int_equal(ended(f, DP_CALL_RETURNED), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_thread_keeps_a_few_stubs, begin),
		cmocka_unit_test_setup(stubs_of_abandoned_calls_are_used_last,
				       begin),
		cmocka_unit_test_setup(no_stub_begins_a_page, begin),
		cmocka_unit_test_setup(a_stub_in_hand_is_given_back_once,
				       begin),
		cmocka_unit_test_setup(
			a_kept_stub_is_free_when_the_next_is_kept, begin),
		cmocka_unit_test_setup(detached_frames_are_taken_all_at_once,
				       begin),
		cmocka_unit_test_setup(an_old_call_at_the_place_is_over, begin),
		cmocka_unit_test_setup(old_calls_are_looked_for_among_a_few,
				       begin),
		cmocka_unit_test_setup(searches_that_find_nothing_are_rare,
				       begin),
		cmocka_unit_test_setup(a_call_that_is_on_its_way_back_is_there,
				       begin),
		cmocka_unit_test_setup(calls_end_with_their_thread, begin),
		cmocka_unit_test_setup(calls_of_coroutines_outlive_their_thread,
				       begin),
		cmocka_unit_test_setup(
			detached_calls_that_have_returned_are_dropped, begin),
		cmocka_unit_test_setup(
			detached_calls_are_looked_at_when_instances_are_short,
			begin),
		cmocka_unit_test_setup(
			frames_in_hand_of_one_that_was_left_are_detached_again,
			begin),
		cmocka_unit_test_setup(
			instances_of_one_that_was_left_are_all_ended, begin),
		cmocka_unit_test_setup(a_frame_that_was_only_unlinked_is_free,
				       begin),
		cmocka_unit_test_setup(a_call_whose_frame_is_listed_goes_on,
				       begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stubs", tests, NULL, NULL);
}
