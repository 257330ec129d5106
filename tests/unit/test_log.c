// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log: records on their way into the rings, in a world in memory, with other writers
 * between any two instructions of this one.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"
#include "engine/ring/log.h"
#include "port/fake/hit/kernel.h"
#include "port/fake/hit/world.h"
#include "port.h"
#include "steps.h"

/* A record is put, or lost, in fewer instructions, unless somebody keeps it in a loop. */
#define AT_ONCE 400
#define MANY 100000

static struct dp_context mine = {
	.tid = 7,
	.probe = 1,
	.ticks = 9,
	.vm = { .major = 2,
		.minor = 3,
		.end = DP_VM_EXCEPTION,
		.facility = 4,
		.truncated = true,
		.lp = 3,
		.exception = DP_EX_SEG_FAULT,
		.parm = { 5, 6 },
		.log = (u8[]){ "abc" } },
};
static struct dp_context other = { .tid = 8, .vm.exception = 1 };
static u32 steps_done, comes_at;

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_site(0, 0x401000);
	dp_fake_probe(0, 0, DP_KIND_PLAIN);
	dp_fake_probe(1, 0, DP_KIND_PLAIN);
	return 0;
}

static void put_mine(void)
{
	dp_log_commit(&mine);
}

static void another_comes(void)
{
	if (steps_done++ == comes_at)
		dp_log_commit(&other);
}

/* Put a record, while another one is put before the @at-th instruction. Return: how many
 * instructions that has taken */
static u32 put_among(u32 at)
{
	steps_done = 0;
	comes_at = at;
	steps(put_mine, another_comes);
	return steps_done;
}

static void all_of_a_record(void **state)
{
	static const struct dp_record want = {
		.ticks = 9,
		.probe = 1,
		.tid = 7,
		.cpu = 3,
		.major = 2,
		.minor = 3,
		.exception = DP_EX_SEG_FAULT,
		.len = 3,
		.facility = 4,
		.flags = DP_RECORD_TRUNCATED,
		.parm = { 5, 6 },
	};
	const struct dp_record *r;

	dp_fake_cpu(3);
	dp_log_commit(&mine);
	r = dp_fake_record();
	assert_non_null(r);
	assert_memory_equal(r, &want, sizeof(want));
	assert_memory_equal(r + 1, "abc", 3);
	/* What is left of an exception that did not end the program is none of it. */
	dp_log_commit(&other);
	r = dp_fake_record();
	assert_int_equal(r->exception, 0);
	assert_int_equal(r->flags, 0);
}

static void in_parts(void **state)
{
	static const struct dp_log_part parts[] = { { "ab", 2 }, { "cde", 3 } };
	struct dp_record head = { .len = 5 };
	const struct dp_record *r;

	dp_log_put(&head, NULL, parts, 2, true);
	r = dp_fake_record();
	assert_int_equal(r->len, 5);
	assert_memory_equal(r + 1, "abcde", 5);
}

static void each_cpu_its_own(void **state)
{
	dp_fake_cpu(1);
	dp_log_commit(&mine);
	dp_fake_cpu(2);
	dp_log_commit(&other);
	assert_int_equal(dp_fake_record()->cpu, 2);
	assert_int_equal(dp_fake_record()->cpu, 1);
	assert_null(dp_fake_record());
}

/* Whenever it comes, neither is lost. */
static void another_in_between(void **state)
{
	u32 at = 0, sum;

	do {
		put_among(at);
		sum = dp_fake_record()->tid;
		sum += dp_fake_record()->tid;
		assert_int_equal(sum, 7 + 8);
		assert_null(dp_fake_record());
	} while (++at < steps_done);
	assert_in_range(at, 50, MANY / 10);
}

static void full(void **state)
{
	u32 i;

	for (i = 0; i < DP_FAKE_SLOTS; i++)
		dp_log_commit(&other);
	assert_in_range(put_among(MANY), 10, AT_ONCE);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_LOST), 1);
	for (i = 0; i < DP_FAKE_SLOTS; i++)
		assert_int_equal(dp_fake_record()->tid, 8);
	assert_null(dp_fake_record());
}

/* By a fork child: a slot that is never to be had again */
static void spoiled(void **state)
{
	struct dp_ring *ring = dp_at(dp_arena.control.ring_off);
	struct dp_slot *slot = (void *)(ring + 1);

	slot->turn = 1ull << 62;
	assert_in_range(put_among(MANY), AT_ONCE, MANY);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_LOST), 1);
	assert_int_equal(ring->next, 0);
}

static u32 waits;

/* The tool, while a thread waits: reads a record at the third wait. */
static void reads(void)
{
	dp_kernel.ticks += 100;
	if (++waits == 3)
		dp_fake_record();
	assert_in_range(waits, 1, 3);
}

static void dies(void)
{
	if (++waits == 3)
		dp_arena.control.tool_futex |= DP_TOOL_DIED;
	assert_in_range(waits, 1, 3);
}

static void leaves(void)
{
	if (++waits == 3)
		dp_private.leaving = 1;
	assert_in_range(waits, 1, 3);
}

static void fill_up(void (*tool)(void))
{
	u32 i;

	waits = 0;
	dp_arena.control.block = 1;
	dp_kernel.tool = tool;
	for (i = 0; i < DP_FAKE_SLOTS; i++)
		dp_log_commit(&other);
	assert_int_equal(waits, 0);
}

/* Its time is one at which the reader has not seen later records yet. */
static void waits_for_room(void **state)
{
	const struct dp_record *r;
	u32 i;

	fill_up(reads);
	dp_log_commit(&mine);
	assert_int_equal(waits, 3);
	for (i = 1; i < DP_FAKE_SLOTS; i++)
		assert_int_equal(dp_fake_record()->tid, 8);
	r = dp_fake_record();
	assert_int_equal(r->tid, 7);
	assert_in_range(r->ticks, 9 + 300, 9 + 400);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_LOST), 0);
}

static void nobody_reads_any_more(void **state)
{
	fill_up(*state);
	dp_log_commit(&mine);
	assert_int_equal(waits, 3);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_LOST), 1);
	/* Nor will anybody. */
	dp_log_wait();
	dp_log_commit(&mine);
	assert_int_equal(waits, 3);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_LOST), 2);
	dp_private.leaving = 0;
}

static int it_dies(void **state)
{
	*state = dies;
	return begin(state);
}

static int it_leaves(void **state)
{
	*state = leaves;
	return begin(state);
}

static void discarded(void **state)
{
	dp_probe_state(1)->count = 5;
	dp_log_discard(&mine);
	assert_null(dp_fake_record());
	assert_int_equal(dp_probe_state(1)->count, 4);
	assert_int_equal(dp_fake_tally(1, DP_TALLY_DISCARDED), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_of_a_record, begin),
		cmocka_unit_test_setup(in_parts, begin),
		cmocka_unit_test_setup(each_cpu_its_own, begin),
		cmocka_unit_test_setup(another_in_between, begin),
		cmocka_unit_test_setup(full, begin),
		cmocka_unit_test_setup(spoiled, begin),
		cmocka_unit_test_setup(waits_for_room, begin),
		cmocka_unit_test_setup(nobody_reads_any_more, it_dies),
		cmocka_unit_test_setup(nobody_reads_any_more, it_leaves),
		cmocka_unit_test_setup(discarded, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
