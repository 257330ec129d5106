// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exit_unwind: which tracked calls an unwinder leaves, in a world in memory; and counts that a
 * signal handler has left for good.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "exit_calls.h"
#include "leaving.h"

/* Which were left, and which were not? */
static void unwinding_ends_calls_that_are_still_there(void **state)
{
	u64 stack[8];
	int i;

	for (i = 0; i < 8; i++)
		stack[i] = 0x400000 + i;
	for (i = 1; i < 8; i++)
		enter(PLAIN, &stack[i]);
	stack[2] = 0x400077;
	stack[4] = 0x400088; /* where the unwinder has put its destination */
	unwind((u64 *)((char *)&stack[1] + 1), &stack[4]);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNWOUND), 2);
	stack[2] = 0x400002;
	for (i = 1; i < 8; i++)
		leave(PLAIN_EXIT, &stack[i], 0);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 5);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNSEEN), 2);
}

/* The stack pointer is to be @until, which another call lies at. */
static void unwinding_ends_where_it_says(void **state)
{
	struct dp_mcontext regs;
	struct dp_hit hit;
	u64 stack[8];
	int i;

	probe_at(UNWINDER)->way = DP_WAY_UNTIL_DI;
	for (i = 0; i < 8; i++) {
		stack[i] = 0x400000 + i;
		enter(PLAIN, &stack[i]);
	}
	stack[4] = 0x400099;
	hit = at_slot(&regs, &stack[2]);
	regs.rdi = (u64)&stack[5];
	dp_exit_instance_unwind(UNWINDER, &hit);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNWOUND), 2);
	leave(PLAIN_EXIT, &stack[1], 0);
	leave(PLAIN_EXIT, &stack[5], 0);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 2);
	/* No part at all, or one that ends where no stack can be. */
	hit.sp = (u64)&stack[7];
	regs.rdi = (u64)&stack[7];
	dp_exit_instance_unwind(UNWINDER, &hit);
	probe_at(UNWINDER)->way = DP_WAY_UNTIL_CX;
	regs.rcx = (u64)&stack[6];
	dp_exit_instance_unwind(UNWINDER, &hit);
	hit.sp = (1ull << (DP_INSTANCE_SLOT_BITS + 3)) - 16;
	regs.rcx = hit.sp + 16;
	dp_exit_instance_unwind(UNWINDER, &hit);
	assert_int_equal(tally(PLAIN, DP_TALLY_UNWOUND), 2);
}

/* Unwind from a place to another, with an alternate stack that the kernel knows. Return: how
 * many calls have been unwound. */
static u64 unwound_beside(u64 *stack, u32 from, u32 to, u32 alt, u32 words)
{
	struct dp_mcontext regs;
	struct dp_hit hit;
	u64 before;
	u32 i;

	setup(NULL);
	probe_at(UNWINDER)->way = DP_WAY_UNTIL_DI;
	dp_fake_altstack((u64)&stack[alt], words * 8);
	for (i = 0; i < 8; i++)
		enter(PLAIN, &stack[i]);
	before = tally(PLAIN, DP_TALLY_UNWOUND);
	hit = at_slot(&regs, &stack[from]);
	hit.alt_size = DP_ALT_UNKNOWN;
	regs.rdi = (u64)&stack[to];
	dp_exit_instance_unwind(UNWINDER, &hit);
	return tally(PLAIN, DP_TALLY_UNWOUND) - before;
}

/* From one stack to the other nothing is known of what lies between. */
static void unwinding_stays_on_a_stack(void **state)
{
	u64 stack[8];
	int i;

	for (i = 0; i < 8; i++)
		stack[i] = 0x400000 + i;
	assert_int_equal(unwound_beside(stack, 1, 5, 3, 4), 0);
	assert_int_equal(unwound_beside(stack, 1, 5, 0, 3), 0);
	assert_int_equal(unwound_beside(stack, 1, 5, 4, 4), 0);
	assert_int_equal(unwound_beside(stack, 1, 5, 5, 3), 4);
	assert_int_equal(unwound_beside(stack, 1, 5, 0, 1), 4);
	assert_int_equal(unwound_beside(stack, 1, 5, 0, 2), 0);
	assert_int_equal(unwound_beside(stack, 1, 5, 1, 4), 4);
	assert_int_equal(unwound_beside(stack, 1, 5, 0, 8), 4);
}

/* A word that can be no address of code is not looked for. */
static void only_addresses_of_code_are_looked_for(void **state)
{
	u64 stack[8];
	int i;

	for (i = 0; i < 8; i++)
		stack[i] = 0;
	stack[1] = 0xffff;
	stack[2] = 0x10000;
	stack[3] = (u64)&stack[7];
	stack[4] = (u64)&stack[4];
	stack[5] = (u64)&stack[0];
	for (i = 0; i < 8; i++)
		enter(PLAIN, &stack[i]);
	unwind(&stack[0], &stack[7]);
	/* That at the last one needs no word. Below the stack may be code. */
	assert_int_equal(tally(PLAIN, DP_TALLY_UNWOUND), 3);
	leave(PLAIN_EXIT, &stack[1], 0);
	leave(PLAIN_EXIT, &stack[3], 0);
	leave(PLAIN_EXIT, &stack[4], 0);
	assert_int_equal(dp_fake_count_calls(PLAIN_EXIT), 3);
}

/* --- counts that are left --- */

static u64 place[1];
static void enter_plain(void)
{
	enter(PLAIN, place);
}

static void leave_plain(void)
{
	leave(PLAIN_EXIT, place, 0);
}

/* Of two calls, the first of which was left: each that has been counted has ended, or one is
 * told to be in doubt. */
static void expect_two(bool entered)
{
	u64 ends = dp_fake_count_calls(PLAIN_EXIT) +
		   tally(PLAIN, DP_TALLY_ABANDONED);
	u64 calls = dp_fake_count_calls(PLAIN),
	    cut = tally(PLAIN, DP_TALLY_CUT);

	assert_in_range(cut, 0, 1);
	assert_in_range(calls, ends, ends + cut);
	assert_in_range(calls, entered ? 2 : 1, 2);
	assert_int_equal(in_use(), 0);
	assert_int_equal(tally(PLAIN, DP_TALLY_DAMAGED), 0);
	assert_int_equal(tally(PLAIN, DP_TALLY_INSTANCES), 0);
}

/* @act: is left at each of its instructions; @entered: the first call has begun before */
static void leave_everywhere(bool entered, void (*act)(void))
{
	u32 i, n, lefts = 0;

	setup(NULL);
	if (entered)
		enter(PLAIN, place);
	n = leaving_count(act);
	for (i = 0; i < n; i++) {
		setup(NULL);
		if (entered)
			enter(PLAIN, place);
		if (!leaving_at(act, i))
			continue;
		enter(PLAIN, place);
		leave(PLAIN_EXIT, place, 0);
		expect_two(entered);
		lefts++;
	}
	assert_in_range(lefts, n - LEAVING_AROUND(n), n);
}

static void exits_can_be_left_anywhere(void **state)
{
	leave_everywhere(true, leave_plain);
}

static void entries_can_be_left_anywhere(void **state)
{
	leave_everywhere(false, enter_plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			unwinding_ends_calls_that_are_still_there, setup),
		cmocka_unit_test_setup(unwinding_ends_where_it_says, setup),
		cmocka_unit_test_setup(unwinding_stays_on_a_stack, setup),
		cmocka_unit_test_setup(only_addresses_of_code_are_looked_for,
				       setup),
		cmocka_unit_test(exits_can_be_left_anywhere),
		cmocka_unit_test(entries_can_be_left_anywhere),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("exit_unwind", tests, NULL, NULL);
}
