// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* landing: exceptions pass tracked calls; slots of a stack in memory, deeper ones have lower numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "returns.h"

#define OUTER 40
#define MIDDLE 30
#define INNER 20

/* As a struct _Unwind_Exception */
static u64 exception[4];
static struct dp_instance_pool *pool;
static u64 addrs[SLOTS];

static int begin_with_three(void **state)
{
	static const u32 at[] = { OUTER, MIDDLE, INNER };
	u32 i;

	begin(state);
	memset(exception, 0, sizeof(exception));
	dp_arena.control.first_stack = (u64)slot(SLOTS);
	stack->thread = 0;
	pool = follow(0, 8);
	for (i = 0; i < 3; i++) {
		call(at[i]);
		addrs[at[i]] = *slot(at[i]);
	}
	return 0;
}

/* The search has come to the innermost call's stub. */
static void search(void)
{
	dp_return_bare((u64)slot(5), (u64)slot(INNER), (u64)exception);
}

/* The unwinder, whose stack pointer is at slot 6, puts its destination below the new stack pointer. */
static void land_with(u64 *sp, u64 *with)
{
	struct dp_regs regs = { .sp = (u64)slot(6),
				.cx = (u64)(sp - 1),
				.ax = (u64)with };

	sp[-1] = 0x1234567;
	assert_int_equal(dp_return_landed(0, &regs), 0);
}

static void land(u32 above)
{
	land_with(slot(above) + 1, exception);
}

static bool has_stub(u32 i)
{
	return *slot(i) == addrs[i];
}

static bool is_bare(u32 i)
{
	return *slot(i) == HOME + i;
}

static void bare_while_it_passes(void **state)
{
	search();
	/* Where the unwinder is, it still reads the stub's address. */
	assert_true(has_stub(INNER));
	assert_true(is_bare(MIDDLE));
	assert_true(is_bare(OUTER));
	/* The inner function's own cleanup */
	land_with(slot(10), exception);
	assert_true(is_bare(INNER));
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 0);
	land(INNER);
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 1);
	assert_true(is_bare(MIDDLE));
	/* The middle one has ended, too, and the outer one catches. */
	exception[3] = (u64)(slot(MIDDLE) + 1);
	land(MIDDLE);
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 2);
	assert_true(has_stub(OUTER));
	assert_int_equal(stack->bare_high, 0);
	assert_int_equal(come_back(OUTER), HOME + OUTER);
	assert_int_equal(ended(pool, DP_CALL_RETURNED), 1);
	assert_int_equal(ended(pool, DP_CALL_ABANDONED), 0);
	assert_int_equal(used(pool), 0);
	assert_int_equal(seen.returns, 1);
}

/* Calls that have ended are not taken for abandoned ones when instances are short, and nor are bare ones. */
static void bare_calls_are_there(void **state)
{
	u32 i;

	search();
	for (i = 0; i < 8; i++) {
		*slot(4) = HOME + 4;
		call(4);
	}
	assert_int_equal(entered(pool), 11);
	assert_int_equal(ended(pool, DP_CALL_ABANDONED), 7);
	stack->patience = 0;
	pool->nr = 4;
	call(3);
	assert_int_equal(missed(pool), 1);
	assert_int_equal(ended(pool, DP_CALL_ABANDONED), 7);
	assert_true(is_bare(MIDDLE));
}

/* One whose probe wants to hear of exceptions keeps its stub, and is left to its landing pad. */
static void stubs_of_those_that_want_to_hear(void **state)
{
	pool->unwind = 1;
	search();
	assert_true(has_stub(MIDDLE));
	assert_true(has_stub(OUTER));
	assert_int_equal(stack->bare_high, 0);
	land(MIDDLE);
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 0);
}

/* Another exception, in a cleanup, is caught there. */
static void another_exception(void **state)
{
	u64 other[4] = { 0 };

	search();
	other[3] = (u64)(slot(15) + 1);
	land_with(slot(15) + 1, other);
	assert_true(is_bare(MIDDLE));
	assert_true(has_stub(INNER));
	/* It met stubs of its own. Whoever is bare has its stub again where it is caught. */
	dp_return_bare((u64)slot(5), (u64)slot(8), (u64)other);
	assert_true(is_bare(INNER));
	land_with(slot(15) + 1, other);
	assert_true(has_stub(INNER));
	assert_true(has_stub(MIDDLE));
	assert_true(has_stub(OUTER));
	assert_int_equal(stack->bare_high, 0);
}

/* What is behind the end of the stack, or below the unwinder, is not touched. */
static void only_on_this_stack(void **state)
{
	dp_arena.control.first_stack = (u64)slot(OUTER);
	search();
	assert_true(is_bare(MIDDLE));
	assert_true(has_stub(OUTER));
	exception[3] = (u64)(slot(INNER) + 1);
	land(INNER);
	assert_true(has_stub(MIDDLE));
	/* No stack of the thread's own */
	dp_arena.control.first_stack = (u64)slot(4);
	search();
	assert_true(has_stub(MIDDLE));
	dp_return_bare((u64)slot(35), (u64)slot(INNER), (u64)exception);
	assert_true(has_stub(OUTER));
}

static void from_the_alternate_stack(void **state)
{
	search();
	stack->alt_sp = (u64)slot(0);
	stack->alt_size = 10 * sizeof(u64);
	exception[3] = (u64)(slot(MIDDLE) + 1);
	land(MIDDLE);
	/* Who knows what was in between? */
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 0);
	assert_true(has_stub(OUTER));
}

static void in_a_handler_or_a_child(void **state)
{
	stack->busy = dp_stack_turn(stack, DP_BUSY_SELF);
	search();
	assert_true(has_stub(MIDDLE));
	stack->busy = dp_stack_turn(stack, 0);
	dp_fake_vfork(false);
	search();
	assert_true(has_stub(MIDDLE));
	dp_fake_vfork(true);
	search();
	assert_true(is_bare(MIDDLE));
}

/* A stub's own pad ends its call. */
static void stubs_have_a_pad(void **state)
{
	struct dp_regs regs = { .sp = (u64)slot(6), .cx = (u64)slot(INNER) };

	dp_arena.control.frame_pad = 0x4444;
	search();
	*slot(INNER) = 0x4444;
	assert_int_equal(dp_return_landed(0, &regs), 0);
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 0);
	*slot(INNER) = 0x4445;
	assert_int_equal(dp_return_landed(0, &regs), 0);
	assert_int_equal(ended(pool, DP_CALL_UNWOUND), 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(bare_while_it_passes, begin_with_three),
		cmocka_unit_test_setup(bare_calls_are_there, begin_with_three),
		cmocka_unit_test_setup(stubs_of_those_that_want_to_hear,
				       begin_with_three),
		cmocka_unit_test_setup(another_exception, begin_with_three),
		cmocka_unit_test_setup(stubs_have_a_pad, begin_with_three),
		cmocka_unit_test_setup(only_on_this_stack, begin_with_three),
		cmocka_unit_test_setup(from_the_alternate_stack,
				       begin_with_three),
		cmocka_unit_test_setup(in_a_handler_or_a_child,
				       begin_with_three),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
