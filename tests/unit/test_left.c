// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * left: a signal handler does not come back to where calls are tracked, from any of the
 * instructions there: whatever was in hand is found, and all calls are accounted for.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "returns.h"
#include "leaving.h"

#define INSTANCES 4
#define OUTER 30
#define INNER 20

static struct dp_instance_pool *pool;
static struct dp_regs regs;
static struct dp_returned *coming;
static u64 number_of;
static u32 may_lose;

static void enter(u32 i)
{
	struct dp_frame *begun = NULL;

	regs = (struct dp_regs){ .sp = (u64)slot(i) };
	stack->sp = regs.sp;
	dp_return_enter(0, &regs, stack, &begun);
}

/* The outer call is tracked, and the thread has a stub of its own. */
static void begin_in_a_call(void)
{
	begin(NULL);
	pool = follow(0, INSTANCES);
	enter(40);
	enter(OUTER);
	come_back(40);
	memset(&seen, 0, sizeof(seen));
}

static u64 sum_of(const struct dp_instance *ri)
{
	return dp_instance_ended(ri, DP_CALL_RETURNED) +
	       dp_instance_ended(ri, DP_CALL_UNWOUND) +
	       dp_instance_ended(ri, DP_CALL_ABANDONED);
}

static u8 places[STUBS];

static void found(u64 stub)
{
	assert_in_range(stub, 1, STUBS - 1);
	assert_int_equal(places[stub], 0);
	places[stub] = 1;
}

static void find_list(u64 list)
{
	u32 n;

	for (n = (u32)list; n; n = dp_stub_frame(n)->next_free)
		found(n);
}

/* No stub is in two lists: two calls would return to it. One may be in none, where it goes to
 * all threads or comes from there, and is not used any more. */
static void all_stubs(void)
{
	u32 lost = 0;
	u64 at, n;

	memset(places, 0, sizeof(places));
	for (at = stack->frames; at; at = ((struct dp_frame *)at)->next)
		found(dp_stub_number((void *)at));
	for (n = 0; n < INSTANCES; n++) {
		const struct dp_frame *f =
			dp_stub_bound(dp_instance_at(pool, (u32)n));

		if (f)
			found(dp_stub_number(f));
	}
	find_list(stack->spare);
	find_list(stack->kept);
	find_list(stubs->free);
	find_list(stubs->abandoned);
	find_list(stubs->detached);
	for (n = 1; n < stubs->fresh; n++)
		lost += !places[n];
	assert_in_range(lost, 0, may_lose);
}

/* How many instances wait for a return? */
static u32 waiting(void)
{
	struct dp_instance *ri;
	struct dp_frame *f;
	u32 n = 0;

	for (f = (void *)stack->frames; f; f = (void *)f->next)
		for (ri = (void *)f->instances; ri && f->state == DP_FRAME_LIVE;
		     ri = (void *)ri->next)
			n++;
	return n;
}

static void all_accounted_for(void)
{
	struct dp_instance *ri;
	u32 i, inside = 0;
	bool is_inside;

	assert_int_equal(stack->instance | stack->rest | stack->taken |
				 stack->counter | stack->detached,
			 0);
	for (i = 0; i < INSTANCES; i++) {
		ri = dp_instance_at(pool, i);
		/* One that has no call yet is this thread's next. */
		is_inside = ri->used && !(ri->used & DP_INSTANCE_NEW);
		assert_int_equal(dp_instance_entered(ri) - sum_of(ri),
				 is_inside);
		assert_int_equal(dp_instance_is_inside(ri), is_inside);
		inside += is_inside;
	}
	/* The outer call has not been touched. */
	assert_in_range(inside, 1, 2);
	assert_int_equal(inside, waiting());
	all_stubs();
}

/* @ready: before each; @act: is left at each of its instructions; @check: afterwards. */
static void leave_everywhere(void (*ready)(void), void (*act)(void),
			     void (*check)(void))
{
	u32 i, n, lefts = 0;

	ready();
	n = leaving_count(act);
	all_accounted_for();
	for (i = 0; i < n; i++) {
		ready();
		if (!leaving_at(act, i))
			continue;
		lefts++;
		dp_abandoned_recover(stack);
		all_accounted_for();
		if (check)
			check();
		/* And it goes on: the outer call returns. */
		stack->busy = 0;
		assert_int_equal(come_back(OUTER), HOME + OUTER);
		assert_true(ended(pool, DP_CALL_RETURNED) >= 2);
	}
	assert_in_range(lefts, n - LEAVING_AROUND(n), n);
}

static void enter_inner(void)
{
	enter(INNER);
}

/* It is tracked, or it is as if it had not been made. */
static void inner_is_tracked_or_not(void)
{
	struct dp_frame *f = (void *)stack->frames;

	assert_int_equal(missed(pool), 0);
	if (f->slot == (u64)slot(OUTER)) {
		assert_int_equal(ended(pool, DP_CALL_RETURNED), 1);
		return;
	}
	assert_int_equal(f->slot, (u64)slot(INNER));
	assert_int_equal(f->state, DP_FRAME_LIVE);
	assert_int_equal(f->ret_addr, HOME + INNER);
}

static void entries_can_be_left_anywhere(void **state)
{
	may_lose = 0;
	leave_everywhere(begin_in_a_call, enter_inner, inner_is_tracked_or_not);
}

static void begin_again(void)
{
	enter(INNER);
	coming = returned(INNER);
	number_of = coming->back;
	pool->quick = 1;
}

static void begin_in_an_inner_call(void)
{
	begin_in_a_call();
	begin_again();
}

static void come_back_inner(void)
{
	dp_return_hit(coming);
}

static void returns_can_be_left_anywhere(void **state)
{
	may_lose = 0;
	leave_everywhere(begin_in_an_inner_call, come_back_inner, NULL);
}

static void come_back_quickly(void)
{
	dp_return_quick_hit(coming, stack);
	dp_return_quick_end(stack);
}

static void quick_returns_can_be_left_anywhere(void **state)
{
	may_lose = 0;
	leave_everywhere(begin_in_an_inner_call, come_back_quickly, NULL);
}

static struct dp_call_frame room[2];

static void enter_quickly(void)
{
	room->regs.sp = (u64)slot(INNER);
	stack->sp = room->regs.sp;
	stack->regs = (u64)room;
	dp_return_quick_enter(dp_probe(0), &room->regs, stack);
	dp_return_quick_begin(0, stack);
}

static void begin_a_quick_call(void)
{
	begin_in_a_call();
	pool->quick = 1;
}

/* The instance has a stub from the call before. */
static void begin_another_quick_call(void)
{
	begin_a_quick_call();
	enter_quickly();
	coming = returned(INNER);
	come_back_quickly();
	*slot(INNER) = HOME + INNER;
	assert_int_equal(stack->spare, 0);
}

static void inner_is_quick_or_not(void)
{
	struct dp_frame *f = (void *)stack->frames;

	assert_int_equal(missed(pool), 0);
	if (f->slot == (u64)slot(OUTER))
		return;
	assert_int_equal(f->slot, (u64)slot(INNER));
	assert_int_equal(f->state, DP_FRAME_LIVE);
	assert_int_equal(f->ret_addr, HOME + INNER);
	assert_true(dp_instance_is_inside((void *)f->instances));
}

static void quick_entries_can_be_left_anywhere(void **state)
{
	may_lose = 0;
	leave_everywhere(begin_a_quick_call, enter_quickly,
			 inner_is_quick_or_not);
	leave_everywhere(begin_another_quick_call, enter_quickly,
			 inner_is_quick_or_not);
}

/* On the long way, the stub is in hand first. */
static void entries_with_bound_stubs_can_be_left_anywhere(void **state)
{
	may_lose = 0;
	leave_everywhere(begin_another_quick_call, enter_inner, NULL);
}

static void begin_in_a_quick_call(void)
{
	begin_another_quick_call();
	enter_quickly();
	coming = returned(INNER);
	number_of = coming->back;
}

static void bound_returns_can_be_left_anywhere(void **state)
{
	may_lose = 0;
	leave_everywhere(begin_in_a_quick_call, come_back_quickly, NULL);
	leave_everywhere(begin_in_a_quick_call, come_back_inner, NULL);
}

static void pass_inner(void)
{
	dp_return_passed(number_of);
}

static void exceptions_can_be_left_anywhere(void **state)
{
	may_lose = 1;
	leave_everywhere(begin_in_an_inner_call, pass_inner, NULL);
}

/* The stub of another exception is still to be looked at. */
static void begin_after_another_exception(void)
{
	begin_in_a_call();
	enter(INNER - 1);
	dp_return_passed(returned(INNER - 1)->back);
	begin_again();
}

static void exceptions_after_others_can_be_left_anywhere(void **state)
{
	may_lose = 1;
	leave_everywhere(begin_after_another_exception, pass_inner, NULL);
}

/* The call before it at the same place was left by longjmp. */
static void begin_beside_an_old_call(void)
{
	begin_in_a_call();
	enter(INNER);
	*slot(INNER) = HOME + INNER;
}

static void entries_over_old_calls_can_be_left_anywhere(void **state)
{
	may_lose = 1;
	leave_everywhere(begin_beside_an_old_call, enter_inner, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_can_be_left_anywhere),
		cmocka_unit_test(returns_can_be_left_anywhere),
		cmocka_unit_test(quick_returns_can_be_left_anywhere),
		cmocka_unit_test(quick_entries_can_be_left_anywhere),
		cmocka_unit_test(entries_with_bound_stubs_can_be_left_anywhere),
		cmocka_unit_test(bound_returns_can_be_left_anywhere),
		cmocka_unit_test(exceptions_can_be_left_anywhere),
		cmocka_unit_test(exceptions_after_others_can_be_left_anywhere),
		cmocka_unit_test(entries_over_old_calls_can_be_left_anywhere),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("left", tests, NULL, NULL);
}
