// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_taken: a table of numbers, against an array that is searched from its start. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "tracer/taken.h"

#define KEYS 3000
#define STEPS 200000

static u64 seed;

static u64 randomly(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 33;
}

static void take(struct dp_taken *t, u64 key, u64 amount)
{
	struct dp_taken_entry *e = dp_taken_add(t, key, KEYS);

	assert_non_null(e);
	assert_int_equal(e->key, key);
	e->amount = amount;
	e->count = 1;
}

/* @is: the amount of each number, or 0 */
static void check_all(const struct dp_taken *t, const u64 *is)
{
	const struct dp_taken_entry *e;
	size_t n = 0, at = 0;
	u64 i;

	for (i = 0; i < KEYS; i++) {
		e = dp_taken_find(t, i * 16);
		n += is[i] != 0;
		assert_int_equal(e ? e->amount : 0, is[i]);
	}
	assert_int_equal(t->n, n);
	for (i = 0; i < t->size; i++)
		at += t->v[i].count != 0;
	assert_int_equal(at, n);
}

static void as_an_array(void **state)
{
	static u64 is[KEYS];
	struct dp_taken t = { 0 };
	struct dp_taken_entry *e;
	u64 i, key;

	memset(is, 0, sizeof(is));
	for (i = 0; i < STEPS; i++) {
		/* Now it grows, now it shrinks. */
		key = randomly() % KEYS;
		if (randomly() % 100 < (i / 20000 % 2 ? 20 : 80)) {
			is[key] = i + 1;
			take(&t, key * 16, i + 1);
		} else {
			e = dp_taken_find(&t, key * 16);
			assert_int_equal(e != NULL, is[key] != 0);
			if (e)
				dp_taken_drop(&t, e);
			is[key] = 0;
		}
		if (i % 5000 == 0)
			check_all(&t, is);
	}
	check_all(&t, is);
	dp_taken_free(&t);
	assert_null(dp_taken_find(&t, 0));
}

static void so_many_and_no_more(void **state)
{
	struct dp_taken t = { 0 };
	struct dp_taken_entry *e;
	u64 i;

	for (i = 0; i < 10; i++) {
		e = dp_taken_add(&t, i, 10);
		assert_non_null(e);
		e->count = 1;
	}
	assert_null(dp_taken_add(&t, 10, 10));
	assert_ptr_equal(dp_taken_add(&t, 3, 10), dp_taken_find(&t, 3));
	dp_taken_drop(&t, dp_taken_find(&t, 3));
	assert_non_null(dp_taken_add(&t, 10, 10));
	dp_taken_free(&t);
}

/* Whatever the numbers are, none of the usual patterns is slow: places are looked at, not seconds. */
static void patterns_are_spread(void **state)
{
	static const u64 steps[] = { 1,		 16,
				     4096,	 1ull << 32,
				     1ull << 48, 0x9e3779b97f4a7c15ull };
	struct dp_taken_entry *e;
	size_t i, k, longest, run;

	for (k = 0; k < sizeof(steps) / sizeof(steps[0]); k++) {
		struct dp_taken t = { 0 };

		for (i = 0; i < KEYS; i++) {
			e = dp_taken_add(&t, i * steps[k], KEYS);
			assert_non_null(e);
			e->count = 1;
		}
		for (i = run = longest = 0; i < t.size; i++) {
			run = t.v[i].count ? run + 1 : 0;
			longest = run > longest ? run : longest;
		}
		assert_in_range(longest, 1, 400);
		dp_taken_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_an_array),
		cmocka_unit_test(so_many_and_no_more),
		cmocka_unit_test(patterns_are_spread),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("taken", tests, NULL, NULL);
}
