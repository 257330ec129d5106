// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_island: islands of jumps that come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

#define TEXT 0x7f0000000000ull
#define ROUNDS 20000
#define SITES 13

static const struct dp_hole holes[] = { { .start = TEXT + 0x10000,
					  .end = TEXT + 0x40000000 } };
static struct dp_engine *e;
static struct dp_islands *l;

static int begin(void **state)
{
	e = calloc(1, sizeof(*e));
	e->nr_caught = DP_CAUGHT;
	e->need.pools[0].addr = TEXT + 0x40000000;
	e->need.pools[0].size = 1 << 20;
	e->need.nr_pools = 1;
	l = NULL;
	return 0;
}

static int end(void **state)
{
	dp_islands_free(l);
	free(e);
	return 0;
}

/* Where the jump at @addr can lead, with breakpoints at the bytes that are set in @traps, and with
 * that room; or 0 */
static u64 find(u64 addr, u8 traps, u32 before, u32 after)
{
	const struct dp_island_room room = { before, after };
	struct dp_site s = { .addr = addr, .traps = traps };
	u8 jmp[DP_JUMP_SIZE];
	int err = dp_island_find(&l, e, &s, &room, holes, 1), b;

	assert_in_range(err, 0, 1);
	if (err) {
		assert_int_equal(s.last, 0);
		return 0;
	}
	assert_in_range(s.island - before, holes[0].start,
			holes[0].end - before - after);
	assert_int_equal(dp_emit_jmp(jmp, addr, s.island), DP_JUMP_SIZE);
	for (b = 1; b < DP_JUMP_SIZE - 1; b++)
		if (traps >> b & 1)
			assert_int_equal(jmp[b], DP_BREAKPOINT);
	dp_island_claim(l, s.island - before, before + after);
	return s.island;
}

static u64 island(u64 addr, u8 traps)
{
	u64 at = find(addr, traps, 0, DP_JUMP_SIZE);

	assert_true(at);
	return at;
}

static void what_has_become_free_serves_again(void **state)
{
	u64 a = island(TEXT, 1 << 2), b = island(TEXT, 1 << 2),
	    c = island(TEXT, 1 << 2);

	assert_true(a < b && b < c);
	dp_island_drop(l, b, DP_JUMP_SIZE);
	assert_int_equal(island(TEXT, 1 << 2), b);
	/* Then there is none before the last one. */
	assert_true(island(TEXT, 1 << 2) > c);
	dp_island_drop(l, c, DP_JUMP_SIZE);
	dp_island_drop(l, a, DP_JUMP_SIZE);
	assert_int_equal(island(TEXT, 1 << 2), a);
	assert_int_equal(island(TEXT, 1 << 2), c);
}

/* What another pattern has left may be no place for this one. */
static void each_pattern_finds_its_own(void **state)
{
	u64 a = island(TEXT, 1 << 1), b = island(TEXT, 1 << 3), c;

	dp_island_drop(l, a, DP_JUMP_SIZE);
	c = island(TEXT, 1 << 3);
	assert_true(c != a && c != b);
	assert_int_equal(island(TEXT, 1 << 1), a);
}

/* Of code that is there again and again, and elsewhere */
static void memory_stays_what_it_is(void **state)
{
	u64 at[SITES], first = 0, most = 0;
	int i, k;

	for (k = 0; k < ROUNDS; k++) {
		u64 code = TEXT + (k % 3) * 4096;

		for (i = 0; i < SITES; i++) {
			at[i] = island(code + (u64)i * 24,
				       (u8)(1 << (1 + i % 4)));
			most = at[i] > most ? at[i] : most;
		}
		for (i = 0; i < SITES; i++)
			dp_island_drop(l, at[i], DP_JUMP_SIZE);
		if (k == 3)
			first = most;
	}
	assert_int_equal(most, first);
}

/** struct piece - what is in use: [@at, @at + @len) */
struct piece {
	u64 at;
	u32 len;
};

#define PIECES 300

static void expect_apart(const struct piece *v, int n, int i)
{
	int k;

	for (k = 0; k < n; k++)
		if (k != i && v[k].len)
			assert_true(v[k].at + v[k].len <= v[i].at ||
				    v[i].at + v[i].len <= v[k].at);
}

static struct piece random_piece(unsigned int *seed)
{
	u64 addr = TEXT + (u64)rand_r(seed) % 4096;
	u8 traps =
		(u8)(1 << (1 + rand_r(seed) % 4) | 1 << (1 + rand_r(seed) % 4));
	bool detour = rand_r(seed) & 1;
	u32 before = detour ? (u32)rand_r(seed) % 400 : 0,
	    after = detour ? 6 + (u32)rand_r(seed) % 700 : DP_JUMP_SIZE;
	u64 at = find(addr, traps, before, after);

	assert_true(at || detour);
	return (struct piece){ at - before, at ? before + after : 0 };
}

static void nothing_overlaps(void **state)
{
	struct piece v[PIECES] = { 0 };
	unsigned int seed = 23;
	int round, i, found = 0;

	for (round = 0; round < ROUNDS; round++) {
		i = rand_r(&seed) % PIECES;
		if (v[i].len)
			dp_island_drop(l, v[i].at, v[i].len);
		v[i] = random_piece(&seed);
		found += v[i].len > DP_JUMP_SIZE;
		expect_apart(v, PIECES, i);
	}
	/* A breakpoint in the last byte leads out of the hole. */
	assert_in_range(found, ROUNDS / 4, ROUNDS / 3);
}

static void a_detour_begins_a_line_where_it_can(void **state)
{
	int i;

	for (i = 0; i < 64; i++) {
		assert_int_equal(find(TEXT + (u64)i * 7, 1 << 2, 100, 200) % 64,
				 0);
		assert_int_equal(find(TEXT + (u64)i * 7, 1 << 1, 100, 200) % 64,
				 (i * 7 + DP_JUMP_SIZE + DP_BREAKPOINT) % 64);
	}
}

/* An island finds a place, where they leave room for it. */
static void detours_do_not_take_the_few_addresses_of_others(void **state)
{
	u64 i;

	assert_int_equal(find(TEXT, 1 << 1 | 1 << 2 | 1 << 3, 100, 200), 0);
	for (i = 0; i < 2000; i++)
		find(TEXT + 16 * i, 1 << 1 | 1 << 4, 100, 200);
	for (i = 0; i < 2000; i++)
		assert_true(find(TEXT + 16 * i + 1, 0x1e, 0, DP_JUMP_SIZE));
}

static void room_of_a_detour_serves_again(void **state)
{
	u64 a = find(TEXT, 1 << 1, 100, 200), b = find(TEXT, 1 << 1, 100, 200),
	    c = find(TEXT, 1 << 1, 100, 200);

	assert_true(a < b && b < c);
	dp_island_drop(l, b - 100, 300);
	assert_int_equal(find(TEXT, 1 << 1, 100, 200), b);
	assert_true(find(TEXT, 1 << 1, 100, 200) > c);
	/* Not all of it is free again. */
	dp_island_drop(l, a - 99, 299);
	assert_true(find(TEXT, 1 << 1, 100, 200) > c);
	dp_island_drop(l, a - 100, 1);
	assert_int_equal(find(TEXT, 1 << 1, 100, 200), a);
}

/* A hole that is as large as what is looked for, and one byte smaller at either end */
static void fits_into_its_hole(void **state)
{
	const u64 only = find(TEXT, 1 << 1 | 1 << 3, 100, 200);
	const struct dp_island_room room = { 100, 200 };
	struct dp_hole hole;
	int smaller;

	for (smaller = 0; smaller < 3; smaller++) {
		struct dp_site s = { .addr = TEXT, .traps = 1 << 1 | 1 << 3 };

		dp_islands_free(l);
		l = NULL;
		hole = (struct dp_hole){ .start = only - 100 + (smaller == 1),
					 .end = only + 200 - (smaller == 2) };
		assert_int_equal(dp_island_find(&l, e, &s, &room, &hole, 1),
				 smaller != 0);
		assert_int_equal(s.island, smaller ? 0 : only);
	}
}

static void a_detour_that_has_no_room_leaves_it(void **state)
{
	assert_int_equal(find(TEXT, 1 << 1 | 1 << 2, 1 << 30, 200), 0);
	assert_true(find(TEXT, 1 << 1 | 1 << 2, 0, DP_JUMP_SIZE));
}

#define KERNEL 0xffffffff81000000ull
#define MODULES 0xffffffffc0000000ull

/* At the top of the address space, where windows end beyond it */
static void a_kernel_has_islands(void **state)
{
	static const struct dp_island_room room = { 0, DP_JUMP_SIZE };
	const struct dp_hole hole = { .start = MODULES + 0x100000,
				      .end = MODULES + 0x2000000 };
	u64 at[2] = { 0 };
	u8 jmp[DP_JUMP_SIZE];
	int i;

	e->need.pools[0].addr = MODULES;
	e->need.pools[0].size = 0x100000;
	for (i = 0; i < 64; i++) {
		struct dp_site s = { .addr = i & 1 ? MODULES + 0x2000 :
						     KERNEL + i,
				     .traps = 1 << 1 | 1 << 3 };

		assert_int_equal(dp_island_find(&l, e, &s, &room, &hole, 1), 0);
		assert_in_range(s.island, hole.start, hole.end - DP_JUMP_SIZE);
		assert_int_equal(dp_emit_jmp(jmp, s.addr, s.island),
				 DP_JUMP_SIZE);
		assert_int_equal(jmp[1], DP_BREAKPOINT);
		assert_int_equal(jmp[3], DP_BREAKPOINT);
		dp_island_claim(l, s.island, DP_JUMP_SIZE);
		assert_true(s.island != at[0] && s.island != at[1]);
		at[i & 1] = s.island;
		if (i % 7 < 6)
			continue;
		dp_island_drop(l, s.island, DP_JUMP_SIZE);
		at[i & 1] = 0;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			what_has_become_free_serves_again, begin, end),
		cmocka_unit_test_setup_teardown(each_pattern_finds_its_own,
						begin, end),
		cmocka_unit_test_setup_teardown(memory_stays_what_it_is, begin,
						end),
		cmocka_unit_test_setup_teardown(nothing_overlaps, begin, end),
		cmocka_unit_test_setup_teardown(
			a_detour_begins_a_line_where_it_can, begin, end),
		cmocka_unit_test_setup_teardown(
			detours_do_not_take_the_few_addresses_of_others, begin,
			end),
		cmocka_unit_test_setup_teardown(
			a_detour_that_has_no_room_leaves_it, begin, end),
		cmocka_unit_test_setup_teardown(room_of_a_detour_serves_again,
						begin, end),
		cmocka_unit_test_setup_teardown(fits_into_its_hole, begin, end),
		cmocka_unit_test_setup_teardown(a_kernel_has_islands, begin,
						end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("island", tests, NULL, NULL);
}
