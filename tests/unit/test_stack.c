// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stack: which stack the handlers of a thread get, and whether a thread is in a handler, in a
 * world in memory.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/hit/call.h"
#include "engine/instance/instance.h"
#include "port/fake/hit/world.h"
#include "port.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"

#define ENDED (DP_FAKE_PID + 99)
#define OTHER (DP_FAKE_PID + 1)
#define SP 0x7ff000
#define FRAME_WORDS 19 /* from stack_t to the stack pointer */
#define FARTHEST \
	16384 /* from the top, where a frame's stack_t is not looked for */

static u64 alternate[FARTHEST / 8 + 64];
static u32 *owners;

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT);
	dp_arena.control.own_process = 1;
	dp_fake_stacks();
	owners = dp_at(dp_arena.control.owner_off);
	memset(alternate, 0, sizeof(alternate));
	return 0;
}

static struct dp_stack *stack_at(u32 i)
{
	return (void *)(dp_arena.control.stack_base + (i + 1) * DP_STACK_SIZE -
			sizeof(struct dp_stack));
}

static void fill_owners(u32 tid)
{
	u32 i;

	for (i = 0; i < DP_STACKS; i++)
		owners[i] = tid;
}

static void each_its_own(void **state)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		dp_fake_thread(i);
		dp_fake_altstack(0x5000 + i, 0x1000);
		assert_ptr_equal(dp_stack_mine(), stack_at(i));
		assert_ptr_equal(dp_stack_known(), stack_at(i));
		assert_int_equal(owners[i], DP_FAKE_PID + i);
		assert_int_equal(dp_arena.hit.stacks, i + 1);
		assert_int_equal(stack_at(i)->tid, DP_FAKE_PID + i);
		assert_int_equal(stack_at(i)->thread, dp_port_thread_self());
		assert_int_equal(stack_at(i)->alt_sp, 0x5000 + i);
		assert_int_equal(stack_at(i)->alt_size, 0x1000);
		assert_int_equal(dp_stack_low(stack_at(i)),
				 dp_fake_seen.unlocked);
		assert_int_equal((u64)(stack_at(i) + 1),
				 dp_fake_seen.unlocked +
					 dp_fake_seen.unlocked_size);
	}
	/* One that has been left goes to the next, and others are still looked at. */
	dp_fake_thread(0);
	dp_stack_leave();
	assert_null(dp_stack_known());
	assert_int_equal(owners[0], 0);
	dp_fake_thread(3);
	assert_ptr_equal(dp_stack_mine(), stack_at(0));
	assert_int_equal(dp_arena.hit.stacks, 3);
}

/* It begins anew: what the thread that has ended was about is settled. */
static void of_a_thread_that_has_ended(void **state)
{
	struct dp_stack *stack = stack_at(2);
	struct dp_instance_pool *f;

	dp_fake_site(0, 0x401000);
	dp_fake_frames(1);
	dp_fake_probe(0, 0, DP_KIND_ENTER);
	f = dp_fake_instance_pool(0, 1);
	f->exits = 1;
	dp_instance_at(f, 0)->used = ENDED | DP_INSTANCE_NEW;
	*stack = (struct dp_stack){
		.tid = ENDED,
		.busy = DP_BUSY_HANDLER,
		.jumped = 1,
		.alt_off = 1,
		.task = 5,
		.instance = (u64)dp_instance_at(f, 0),
	};
	fill_owners(OTHER);
	owners[1] = OTHER | DP_OWNER_COMES;
	owners[2] = ENDED;
	assert_ptr_equal(dp_stack_mine(), stack);
	assert_int_equal(dp_instance_at(f, 0)->used, 0);
	assert_int_equal(dp_stack_busy(stack) | stack->jumped | stack->alt_off,
			 0);
	assert_int_equal(stack->task, 0);
}

static void which_is_taken(void **state)
{
	/* Unused ones first */
	owners[0] = ENDED;
	assert_ptr_equal(dp_stack_mine(), stack_at(1));
	/* An earlier thread of this id ended while it took one. */
	begin(state);
	fill_owners(OTHER);
	owners[3] = DP_FAKE_PID | DP_OWNER_COMES;
	assert_ptr_equal(dp_stack_mine(), stack_at(3));
	begin(state);
	fill_owners(OTHER);
	assert_null(dp_stack_mine());
	/* There are fewer in this process. */
	begin(state);
	dp_arena.control.nr_stacks = 3;
	fill_owners(OTHER);
	owners[3] = 0;
	assert_null(dp_stack_mine());
	owners[2] = 0;
	assert_ptr_equal(dp_stack_mine(), stack_at(2));
	/* There is no memory. */
	begin(state);
	dp_fake_bad(dp_arena.control.stack_base, DP_STACK_SIZE);
	assert_null(dp_stack_mine());
	assert_null(dp_stack_known());
	/* Handlers for another process */
	begin(state);
	dp_arena.control.self_offset = 0;
	assert_null(dp_stack_mine());
}

/* A child's calls in memory that is its parent's leave the parent its stack. */
static void children(void **state)
{
	struct dp_stack *stack = dp_stack_mine();

	dp_fake_vfork(false);
	dp_fake_altstack(0x5000, 0x1000);
	dp_stack_leave();
	dp_stack_ask_alternate();
	assert_ptr_equal(dp_stack_known(), stack);
	assert_int_equal(stack->alt_size, 0);
	dp_fake_vfork(true);
	dp_fake_fork();
	dp_stack_leave();
	dp_stack_ask_alternate();
	assert_int_equal(owners[0], DP_FAKE_PID);
	assert_int_equal(stack->alt_size, 0);
}

static u64 own_low(const struct dp_stack *stack)
{
	return (u64)stack - DP_STACK_SIZE;
}

static void expect_zone(const struct dp_stack *stack, u64 low, u64 high)
{
	assert_int_equal(stack->zone, low);
	assert_int_equal(stack->zone_size, high - low);
}

static void alternate_stacks(void **state)
{
	struct dp_mcontext regs = { 0 };
	struct dp_trap trap = { .regs = &regs,
				.alt_sp = 0x6000,
				.alt_size = 0x2000 };
	struct dp_stack *stack;

	dp_mcontext_set_sp(&regs, 0x9000);
	/* Nothing is noted before a stack is taken, nor while it is hidden. */
	dp_stack_ask_alternate();
	dp_stack_alternate(&trap);
	stack = dp_stack_mine();
	dp_fake_altstack(0x5000, 0x1000);
	stack->alt_off = 1;
	dp_stack_ask_alternate();
	dp_stack_alternate(&trap);
	assert_int_equal(stack->alt_sp | stack->alt_size, 0);
	stack->alt_off = 0;
	dp_stack_ask_alternate();
	assert_int_equal(stack->alt_sp, 0x5000);
	assert_int_equal(stack->alt_size, 0x1000);
	dp_stack_alternate(&trap);
	assert_int_equal(stack->alt_sp, 0x6000);
	assert_int_equal(stack->alt_size, 0x2000);
	expect_zone(stack, 0x8000, own_low(stack));
}

/* Neither the alternate stack nor the handlers' is in it. */
static void zones(void **state)
{
	struct dp_stack *stack = dp_stack_mine();
	u64 low = own_low(stack);

	stack->alt_sp = 0x6000;
	stack->alt_size = 0x2000;
	dp_stack_set_zone(stack, 0x5fff);
	expect_zone(stack, 0, 0x6000);
	dp_stack_set_zone(stack, 0x8000);
	expect_zone(stack, 0x8000, low);
	dp_stack_set_zone(stack, (u64)stack);
	expect_zone(stack, (u64)stack, ~0ull);
	dp_stack_set_zone(stack, 0x6000);
	assert_int_equal(stack->zone_size, 0);
	dp_stack_set_zone(stack, 0x7fff);
	assert_int_equal(stack->zone_size, 0);
	dp_stack_set_zone(stack, low);
	assert_int_equal(stack->zone_size, 0);
	stack->alt_size = 0;
	dp_stack_set_zone(stack, 0x6000);
	expect_zone(stack, 0, low);
}

/* A signal's frame, so far from the top of the alternate stack of @size bytes */
static void put_frame(u64 size, u64 from_top, u64 sp)
{
	u64 *word = (u64 *)((u64)alternate + size - from_top);

	memset(alternate, 0, sizeof(alternate));
	word[0] = (u64)alternate;
	word[1] = word[FRAME_WORDS - 2] = 1;
	word[2] = size;
	word[FRAME_WORDS - 1] = sp;
}

static void frames_of_signals(void **state)
{
	static const struct {
		u64 size, more, from_top;
		bool found;
	} cases[] = {
		{ 512, 0, FRAME_WORDS * 8, true },
		{ 512, 0, FRAME_WORDS * 8 + 8, true },
		{ 512, 0, FRAME_WORDS * 8 - 8, false },
		{ 512, 0, 512, true },
		{ 512, 3, 320, true },
		{ sizeof(alternate), 0, FARTHEST - 8, true },
		{ sizeof(alternate), 0, FARTHEST, false },
	};
	u64 sp;
	u32 i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_frame(cases[i].size, cases[i].from_top, SP + i);
		*(u64 *)((u64)alternate + cases[i].size - cases[i].from_top +
			 16) += cases[i].more;
		assert_int_equal(
			dp_port_interrupted((u64)alternate,
					    cases[i].size + cases[i].more, &sp),
			cases[i].found);
		if (cases[i].found)
			assert_int_equal(sp, SP + i);
	}
	/* Another stack's */
	put_frame(512, 320, SP);
	assert_false(dp_port_interrupted((u64)alternate, 504, &sp));
	assert_false(dp_port_interrupted((u64)alternate + 8, 504, &sp));
}

enum { NO_FRAME = 1 };

/* Is a thread in a handler by its stack pointer, and by that of the frame that it is above? */
static void nested(void **state)
{
	struct dp_stack *s = dp_stack_mine();
	u64 low = dp_stack_low(s), high = (u64)(s + 1), alt = (u64)alternate;
	const struct {
		u64 sp, hit_sp, frame;
		u32 busy, jumped;
		bool in;
	} cases[] = {
		{ low, SP, NO_FRAME, 0, 0, true },
		{ high - 1, SP, NO_FRAME, 0, 0, true },
		{ low - 1, SP, NO_FRAME, 0, 0, false },
		{ high, SP, NO_FRAME, 0, 0, false },
		{ SP, SP, NO_FRAME, DP_BUSY_HANDLER, 0, false },
		{ SP, SP, NO_FRAME, DP_BUSY_SELF, 0, true },
		{ SP, SP, NO_FRAME, DP_BUSY_HANDLER, 1, true },
		{ SP + 1, SP, NO_FRAME, DP_BUSY_HANDLER, 1, false },
		{ SP, SP, low, DP_BUSY_HANDLER, 0, false },
		{ alt, SP, low, 0, 0, false },
		{ alt, SP, low, DP_BUSY_HANDLER, 0, true },
		{ alt, SP, high - 1, DP_BUSY_HANDLER, 0, true },
		{ alt, SP, low - 1, DP_BUSY_HANDLER, 0, false },
		{ alt, SP, high, DP_BUSY_HANDLER, 0, false },
		{ alt, SP, NO_FRAME, DP_BUSY_HANDLER, 0, true },
		{ alt, alt + 8, NO_FRAME, DP_BUSY_HANDLER, 0, false },
	};
	u32 i;

	s->alt_sp = alt;
	s->alt_size = sizeof(alternate);
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put_frame(sizeof(alternate), 320, cases[i].frame);
		if (cases[i].frame == NO_FRAME)
			memset(alternate, 0, sizeof(alternate));
		s->busy = cases[i].busy;
		s->jumped = cases[i].jumped;
		s->sp = cases[i].hit_sp;
		if (dp_stack_nested(s, cases[i].sp) != cases[i].in)
			fail_msg("case %u", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_its_own, begin),
		cmocka_unit_test_setup(of_a_thread_that_has_ended, begin),
		cmocka_unit_test_setup(which_is_taken, begin),
		cmocka_unit_test_setup(children, begin),
		cmocka_unit_test_setup(alternate_stacks, begin),
		cmocka_unit_test_setup(zones, begin),
		cmocka_unit_test_setup(frames_of_signals, begin),
		cmocka_unit_test_setup(nested, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
