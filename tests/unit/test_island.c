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

/* An island for the jump at @addr, with breakpoints at the bytes that are set in @traps */
static u64 island(u64 addr, u8 traps)
{
	struct dp_site s = { .addr = addr, .traps = traps };

	assert_int_equal(dp_island_find(&l, e, &s, holes, 1), 0);
	assert_in_range(s.island, holes[0].start, holes[0].end - DP_JUMP_SIZE);
	return s.island;
}

static void what_has_become_free_serves_again(void **state)
{
	u64 a = island(TEXT, 1 << 2), b = island(TEXT, 1 << 2),
	    c = island(TEXT, 1 << 2);

	assert_true(a < b && b < c);
	dp_island_drop(l, b);
	assert_int_equal(island(TEXT, 1 << 2), b);
	/* Then there is none before the last one. */
	assert_true(island(TEXT, 1 << 2) > c);
	dp_island_drop(l, c);
	dp_island_drop(l, a);
	assert_int_equal(island(TEXT, 1 << 2), a);
	assert_int_equal(island(TEXT, 1 << 2), c);
}

/* What another pattern has left may be no place for this one. */
static void each_pattern_finds_its_own(void **state)
{
	u64 a = island(TEXT, 1 << 1), b = island(TEXT, 1 << 3), c;

	dp_island_drop(l, a);
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
			dp_island_drop(l, at[i]);
		if (k == 3)
			first = most;
	}
	assert_int_equal(most, first);
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
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("island", tests, NULL, NULL);
}
