// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What a site may say of its bytes next, and what it may not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include "engine/text/state.h"
#include "engine/layout/site.h"

#define STATES 8
#define NONE 77

/* The table once more, as it is drawn: a row is from, a column to; the columns stand in the
 * order of their numbers. */
static const char *const table[STATES] = {
	[DP_SITE_OFF] = "=x-xxx--",	[DP_SITE_THERE] = "x=x--xx-",
	[DP_SITE_LEAVING] = "xx=-xx--", [DP_SITE_COMING] = "xxx=-x--",
	[DP_SITE_TRAPPED] = "x--x=x--", [DP_SITE_GONE] = "x----=--",
	[DP_SITE_CEDES] = "xxx--x=x",	[DP_SITE_CEDED] = "x----x-=",
};

static struct dp_site_entry at(u8 state)
{
	return (struct dp_site_entry){ .armed = state,
				       .wanted = DP_WANT_PLAN,
				       .returned = 1 };
}

static void expect_refused(u8 from, u8 to)
{
	struct dp_site_entry s = at(from);
	u64 was = dp_engine_impossible();

	assert_int_equal(dp_site_set_state(&s, to), -EINVAL);
	assert_int_equal(s.armed, from);
	assert_int_equal(s.wanted, DP_WANT_OFF);
	assert_int_equal(s.returned, 1);
	assert_int_equal(dp_engine_impossible(), was + 1);
}

static void expect_allowed(u8 from, u8 to)
{
	struct dp_site_entry s = at(from);
	u64 was = dp_engine_impossible();

	assert_int_equal(dp_site_set_state(&s, to), 0);
	assert_int_equal(s.armed, to);
	assert_int_equal(s.wanted, DP_WANT_PLAN);
	assert_int_equal(s.returned, to != DP_SITE_GONE);
	assert_int_equal(dp_engine_impossible(), was + (from >= STATES));
}

static void keeps_to_the_table(void **state)
{
	u8 from, to;

	for (from = 0; from < STATES; from++)
		for (to = 0; to < STATES; to++)
			if (table[from][to] != '-')
				expect_allowed(from, to);
			else
				expect_refused(from, to);
}

static void goes_to_no_other_state(void **state)
{
	u8 from;

	for (from = 0; from < STATES; from++) {
		expect_refused(from, STATES);
		expect_refused(from, 0xff);
	}
	expect_refused(NONE, NONE);
}

/* What a target has written there. */
static void leads_out_of_no_state(void **state)
{
	u8 to;

	for (to = 0; to < STATES; to++)
		if (to == DP_SITE_OFF || to == DP_SITE_GONE ||
		    to == DP_SITE_LEAVING)
			expect_allowed(NONE, to);
		else
			expect_refused(NONE, to);
	expect_allowed(STATES, DP_SITE_OFF);
}

static void mirrors_what_is_a_state(void **state)
{
	struct dp_site_entry s = at(DP_SITE_OFF), of = at(DP_SITE_OFF);
	u64 was = dp_engine_impossible();

	for (of.armed = STATES; of.armed-- > 0;) {
		assert_int_equal(dp_site_mirror_state(&s, &of), 0);
		assert_int_equal(s.armed, of.armed);
		assert_int_equal(s.returned, 1);
		if (!of.armed)
			break;
	}
	assert_int_equal(dp_engine_impossible(), was);
	of.armed = STATES;
	assert_int_equal(dp_site_mirror_state(&s, &of), -EINVAL);
	assert_int_equal(s.armed, DP_SITE_OFF);
	assert_int_equal(s.wanted, DP_WANT_OFF);
	assert_int_equal(dp_engine_impossible(), was + 1);
}

static const struct dp_site_entry jump = {
	.orig = { 0x55, 0x48, 0x89, 0xe5, 0x90 },
	.patch = { 0xe9, 0xcc, 0x12, 0x34, 0xcc },
	.patch_len = 5,
};

static void knows_its_bytes(void **state)
{
	static const struct {
		u8 now[5];
		enum dp_bytes are;
	} cases[] = {
		{ { 0x55, 0x48, 0x89, 0xe5, 0x90 }, DP_BYTES_ORIGINAL },
		{ { 0xe9, 0xcc, 0x12, 0x34, 0xcc }, DP_BYTES_PATCH },
		{ { 0xcc, 0xcc, 0x89, 0xe5, 0xcc }, DP_BYTES_BETWEEN },
		{ { 0xcc, 0xcc, 0x12, 0x34, 0xcc }, DP_BYTES_BETWEEN },
		{ { 0xcc, 0x48, 0x89, 0xe5, 0x90 }, DP_BYTES_BETWEEN },
		/* A breakpoint where neither has one. */
		{ { 0x55, 0x48, 0xcc, 0xe5, 0x90 }, DP_BYTES_MINGLED },
		{ { 0xe9, 0xcc, 0x12, 0xcc, 0xcc }, DP_BYTES_MINGLED },
		{ { 0xeb, 0x48, 0x89, 0xe5, 0x90 }, DP_BYTES_FOREIGN },
		{ { 0xcc, 0xcc, 0xcc, 0x00, 0xcc }, DP_BYTES_FOREIGN },
		{ { 0xe9, 0xcc, 0x12, 0x34, 0xcd }, DP_BYTES_FOREIGN },
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(dp_site_bytes(&jump, cases[i].now),
				 cases[i].are);
}

/* One byte is replaced: what is behind it is not the site's. */
static void looks_no_further_than_its_patch(void **state)
{
	struct dp_site_entry trap = jump;
	u8 now[5] = { 0xcc, 1, 2, 3, 4 };

	trap.patch[0] = 0xcc;
	trap.patch_len = 1;
	assert_int_equal(dp_site_bytes(&trap, now), DP_BYTES_PATCH);
	now[0] = 0x55;
	assert_int_equal(dp_site_bytes(&trap, now), DP_BYTES_ORIGINAL);
	now[0] = 0xf4;
	assert_int_equal(dp_site_bytes(&trap, now), DP_BYTES_FOREIGN);
	/* A target may write anything there. */
	trap = jump;
	trap.patch_len = 255;
	assert_int_equal(dp_site_bytes(&trap, trap.patch), DP_BYTES_PATCH);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_to_the_table),
		cmocka_unit_test(goes_to_no_other_state),
		cmocka_unit_test(leads_out_of_no_state),
		cmocka_unit_test(mirrors_what_is_a_state),
		cmocka_unit_test(knows_its_bytes),
		cmocka_unit_test(looks_no_further_than_its_patch),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
