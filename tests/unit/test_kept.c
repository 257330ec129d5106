// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kept: rows of many keys, which the program that is probed has chosen. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <time.h>
#include "tracer/kept.h"

#define KEYS 60000u
#define SECONDS 3

static struct dp_kept kept = { .table = { .keys = 1, .row_words = 2 } };

/* KEYS rows, with one hit each */
static struct dp_kept_state make(u64 (*key)(u32 i))
{
	struct dp_kept_state state = { .rows = { .keys = 1, .row_words = 2 } };
	u32 i;

	state.rows.v = calloc(KEYS, sizeof(*state.rows.v));
	assert_non_null(state.rows.v);
	for (i = 0; i < KEYS; i++) {
		struct dp_kept_row *row = &state.rows.v[i];

		row->key = calloc(4, sizeof(u64));
		assert_non_null(row->key);
		row->words = row->key + 1;
		row->key[0] = key(i);
		row->words[0] = 1;
	}
	state.rows.n = KEYS;
	return state;
}

/* All of them are found again, in a time that does not grow with the square of their number. */
static void add_twice(u64 (*key)(u32 i))
{
	struct dp_kept_state from = make(key), to = { 0 };
	clock_t began = clock();
	u32 i;

	assert_int_equal(dp_kept_merge(&kept, &to, &from), 0);
	assert_int_equal(dp_kept_merge(&kept, &to, &from), 0);
	assert_true(clock() - began < SECONDS * CLOCKS_PER_SEC);
	assert_int_equal(to.rows.n, KEYS);
	for (i = 0; i < KEYS; i++)
		assert_int_equal(to.rows.v[i].words[0], 2);
	dp_kept_clear(&from);
	dp_kept_clear(&to);
}

static u64 small(u32 i)
{
	return i;
}

static u64 high(u32 i)
{
	return (u64)i << 48;
}

/* The product with a well-known odd number has zeros where a place is taken from. */
static u64 chosen(u32 i)
{
	const u64 odd = 0x9e3779b97f4a7c15ull;
	u64 inverse = odd, product = (u64)(i & 0x1fff) << 19 | (u64)(i >> 13)
								       << 51;
	u32 k;

	for (k = 0; k < 6; k++)
		inverse *= 2 - odd * inverse;
	assert_int_equal(odd * inverse, 1);
	return product * inverse ^ 1469598103934665603ull;
}

static void usual_keys(void **state)
{
	add_twice(small);
}

static void keys_of_high_bits(void **state)
{
	add_twice(high);
}

static void keys_that_are_chosen(void **state)
{
	add_twice(chosen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_keys),
		cmocka_unit_test(keys_of_high_bits),
		cmocka_unit_test(keys_that_are_chosen),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("kept", tests, NULL, NULL);
}
