// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_clock: stamps in another clock's time, with samples that are wrong by some ns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "tracer/clock.h"

#define BEGAN 1700000000000000000ll
#define RATE 2.5 /* ticks a ns */
#define FROM 5000000000ull

static u64 ticks_at(s64 ns)
{
	return FROM + (u64)((double)(ns - BEGAN) * RATE);
}

static struct dp_clock_sample sample_at(s64 ns, s64 error)
{
	return (struct dp_clock_sample){ ticks_at(ns), ns + error };
}

static s64 error_of(s64 most)
{
	return random() % (2 * most + 1) - most;
}

/* A reading each 10 ms, of hits each 100 ns up to 45 ms before it */
static void times_ascend_whatever_samples_are_wrong_by(void **state)
{
	struct dp_clock c = { .first = sample_at(BEGAN, 100) };
	s64 next = BEGAN + 1000, last = 0, now, ns;

	srandom(1);
	for (now = BEGAN + 50000000; now < BEGAN + 500000000; now += 10000000) {
		c.last = sample_at(now, error_of(800));
		for (; next < now - 45000000; next += 100) {
			ns = dp_clock_ns(&c, ticks_at(next));
			assert_true(ns >= last);
			assert_in_range(ns, next - 2000, next + 2000);
			last = ns;
		}
	}
}

static void an_earlier_stamp_keeps_its_time(void **state)
{
	struct dp_clock c = { .first = sample_at(BEGAN, 0),
			      .last = sample_at(BEGAN + 1000000000, 0) };

	assert_in_range(dp_clock_ns(&c, ticks_at(BEGAN + 900000)),
			BEGAN + 899998, BEGAN + 900002);
	assert_in_range(dp_clock_ns(&c, ticks_at(BEGAN + 100000)),
			BEGAN + 99998, BEGAN + 100002);
	/* And does not hide what the latest one was. */
	c.first.ns -= 500;
	c.last.ns -= 500;
	assert_in_range(dp_clock_ns(&c, ticks_at(BEGAN + 900010)),
			BEGAN + 899998, BEGAN + 900002);
}

static void a_clock_that_is_set_back_is_followed(void **state)
{
	struct dp_clock c = { .first = sample_at(BEGAN, 0),
			      .last = sample_at(BEGAN + 1000000000, 0) };
	s64 before = dp_clock_ns(&c, ticks_at(BEGAN + 900000000));

	c.last = sample_at(BEGAN + 2000000000, -20000000);
	assert_true(dp_clock_ns(&c, ticks_at(BEGAN + 900000001)) < before);
}

static void any_stamp_has_a_time(void **state)
{
	static const u64 edges[] = { 0, 1, FROM, 1ull << 62, 1ull << 63, ~0ull };
	struct dp_clock c = { .first = sample_at(BEGAN, 0),
			      .last = sample_at(BEGAN + 1000000000, 0) };
	size_t i;

	for (i = 0; i < sizeof(edges) / sizeof(*edges); i++)
		assert_true(dp_clock_ns(&c, edges[i]) >= 0);
	c.last = c.first;
	assert_int_equal(dp_clock_ns(&c, FROM + 1000), BEGAN);
}

static u64 fake_now, fake_step;

static u64 fake_ticks(void)
{
	/* The first reading takes long, as if it had been interrupted. */
	u64 t = fake_now;

	fake_now += fake_step;
	fake_step = fake_step > 10 ? 10 : fake_step;
	return t;
}

static void the_best_of_several_samples_is_taken(void **state)
{
	struct dp_clock_sample s;

	fake_now = 1000;
	fake_step = 1000000;
	s = dp_clock_sample(CLOCK_MONOTONIC, fake_ticks);
	/* The first lies at 501,000. */
	assert_true(s.ticks > 1000000);
	assert_true(s.ns > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_ascend_whatever_samples_are_wrong_by),
		cmocka_unit_test(an_earlier_stamp_keeps_its_time),
		cmocka_unit_test(a_clock_that_is_set_back_is_followed),
		cmocka_unit_test(any_stamp_has_a_time),
		cmocka_unit_test(the_best_of_several_samples_is_taken),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
