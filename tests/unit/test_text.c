// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* text: how jumps get into text and out again, from whatever is there, site by site. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "text.h"

static void breakpoints_are_written_no_farther_than_they_stand(void **state)
{
	u8 two[DP_JUMP_SIZE] = { 0xe9, 0xcc, 0x12, 0x34, 0x56 };

	sites.n = 2;
	memcpy(site[1].patch, two, DP_JUMP_SIZE);
	site[1].traps = 1 << 1;
	assert_int_equal(arm(), 0);
	assert_int_equal(wrote[0].len, DP_JUMP_SIZE);
	assert_int_equal(wrote[1].addr, site[1].addr);
	assert_int_equal(wrote[1].len, 2);
	expect(0, DP_SITE_THERE, patch);
	expect(1, DP_SITE_THERE, two);
	assert_int_equal(syncs, 3);
}

static void a_jump_cedes_and_comes_back(void **state)
{
	begin_armed();
	assert_false(dp_interior_disturbed(&target, &sites, true));
	put_foreign(1);
	assert_true(dp_interior_disturbed(&target, &sites, false));
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	assert_int_equal(told, 1);
	assert_int_equal(told_of, site[1].addr);
	assert_true(told_away);
	expect(0, DP_SITE_THERE, patch);
	expect(1, DP_SITE_CEDED, trapped);
	assert_false(dp_interior_disturbed(&target, &sites, true));
	/* The uprobe has gone. */
	bytes_of(1)[0] = orig[0];
	assert_false(dp_interior_disturbed(&target, &sites, false));
	assert_true(dp_interior_disturbed(&target, &sites, true));
	assert_int_equal(dp_interior_cede(&target, &sites, false, tell, NULL),
			 0);
	expect(1, DP_SITE_CEDED, orig);
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	assert_int_equal(told, 2);
	assert_int_equal(told_of, site[1].addr);
	assert_false(told_away);
	expect(1, DP_SITE_THERE, patch);
	expect(2, DP_SITE_THERE, patch);
}

/* It puts back what it found, which is our jump. */
static void no_jump_cedes_to_a_debugger(void **state)
{
	begin_armed();
	put_foreign(1);
	is_traced = true;
	assert_false(dp_interior_disturbed(&target, &sites, true));
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	assert_int_equal(told, 0);
	assert_int_equal(site[1].armed, DP_SITE_THERE);
	assert_int_equal(writes, 0);
}

static void nothing_comes_back_after_a_failed_write(void **state)
{
	begin_armed();
	put_foreign(1);
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	bytes_of(1)[0] = orig[0];
	put_foreign(2);
	fail_at = 1;
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 -EIO);
	expect(1, DP_SITE_CEDED, orig);
	assert_int_equal(site[2].armed, DP_SITE_CEDES);
}

static void the_others_come_back_where_one_cannot(void **state)
{
	begin_armed();
	put_foreign(1);
	put_foreign(2);
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	assert_int_equal(told, 2);
	bytes_of(1)[0] = bytes_of(2)[0] = orig[0];
	fail_at = 1;
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 -EIO);
	assert_int_equal(told, 3);
	assert_int_equal(told_of, site[2].addr);
	expect(2, DP_SITE_THERE, patch);
	assert_memory_equal(bytes_of(1), orig, DP_JUMP_SIZE);
}

/* A table may have room for more. */
static void sites_behind_the_last_are_left_alone(void **state)
{
	begin_armed();
	sites.n = SITES - 1;
	put_foreign(SITES - 1);
	assert_false(dp_interior_disturbed(&target, &sites, true));
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	assert_int_equal(told, 0);
	site[SITES - 1].armed = DP_SITE_CEDED;
	memcpy(bytes_of(SITES - 1), orig, DP_JUMP_SIZE);
	assert_false(dp_interior_disturbed(&target, &sites, true));
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	expect(SITES - 1, DP_SITE_CEDED, orig);
	/* One that another's jump would cover. */
	site[SITES - 1].patch_len = 0;
	site[0].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	expect(0, DP_SITE_OFF, orig);
	assert_int_equal(site[SITES - 1].armed, DP_SITE_CEDED);
	assert_int_equal(told, 0);
}

/* A tool was killed while it took the jump out, and then others came. */
static void foreign_bytes_stay(void **state)
{
	static const u8 foreign[DP_JUMP_SIZE] = { FOREIGN, 0x48, 0x89, 0xe5,
						  0x41 };

	begin_armed();
	site[0].wanted = site[1].wanted = DP_WANT_OFF;
	site[1].armed = DP_SITE_LEAVING;
	memcpy(bytes_of(1), foreign, DP_JUMP_SIZE);
	assert_int_equal(disarm(), -EBUSY);
	assert_int_equal(bad, site[1].addr);
	expect(0, DP_SITE_OFF, orig);
	expect(1, DP_SITE_THERE, foreign);
}

static void a_jump_may_leave_a_breakpoint(void **state)
{
	begin_armed();
	site[1].wanted = DP_WANT_TRAP;
	assert_int_equal(disarm(), 0);
	expect(0, DP_SITE_THERE, patch);
	expect(1, DP_SITE_TRAPPED, trapped);
	/* It stays, also where a debugger has taken it away for a while. */
	bytes_of(1)[0] = orig[0];
	assert_int_equal(disarm(), 0);
	expect(1, DP_SITE_TRAPPED, orig);
	bytes_of(1)[0] = DP_BREAKPOINT;
	site[1].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	expect(1, DP_SITE_OFF, orig);
}

/* Other sites may have breakpoints in the bytes behind it. */
static void a_breakpoint_that_is_not_there_need_not_go(void **state)
{
	u8 others[DP_JUMP_SIZE] = { 0x55, 0xcc, 0x89, 0xe5, 0xcc };

	site[1].wanted = DP_WANT_OFF;
	site[1].armed = DP_SITE_TRAPPED;
	memcpy(bytes_of(1), others, DP_JUMP_SIZE);
	assert_int_equal(disarm(), 0);
	expect(1, DP_SITE_OFF, others);
	site[1].armed = DP_SITE_TRAPPED;
	bytes_of(1)[0] = others[0] = FOREIGN;
	assert_int_equal(disarm(), -EBUSY);
	assert_int_equal(bad, site[1].addr);
	expect(1, DP_SITE_TRAPPED, others);
}

static void a_ceded_jump_has_nothing_to_take_out(void **state)
{
	begin_armed();
	put_foreign(1);
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	writes = 0;
	assert_int_equal(disarm(), 0);
	expect(1, DP_SITE_CEDED, trapped);
	site[1].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	expect(1, DP_SITE_OFF, trapped);
	assert_int_equal(writes, 0);
}

/* Whatever stands behind: arming looks at all of it. */
static void a_ceded_jump_begins_anew_when_its_first_byte_is_back(void **state)
{
	u8 others[DP_JUMP_SIZE] = { 0x55, 0xcc, 0x89, 0xe5, 0x41 };

	begin_armed();
	put_foreign(1);
	assert_int_equal(dp_interior_cede(&target, &sites, true, tell, NULL),
			 0);
	memcpy(bytes_of(1), others, DP_JUMP_SIZE);
	assert_int_equal(disarm(), 0);
	expect(1, DP_SITE_OFF, others);
	assert_int_equal(arm(), -EBUSY);
	assert_int_equal(bad, site[1].addr);
	expect(1, DP_SITE_OFF, others);
}

static void one_write_restores_where_nobody_runs(void **state)
{
	begin_armed();
	site[1].wanted = DP_WANT_OFF;
	assert_int_equal(dp_sites_restore(&target, &sites, &bad), 0);
	expect(1, DP_SITE_OFF, orig);
	assert_int_equal(writes, 1);
	assert_int_equal(wrote[0].addr, site[1].addr);
	assert_int_equal(wrote[0].len, DP_JUMP_SIZE);
	/* From behind a uprobe, whose byte is not ours to write. */
	put_foreign(2);
	site[2].wanted = DP_WANT_OFF;
	assert_int_equal(dp_sites_restore(&target, &sites, &bad), 0);
	expect(2, DP_SITE_OFF, trapped);
}

/* The text goes between a look and the write that follows it. */
static void text_that_goes_is_not_written_to(void **state)
{
	site[1].unowned = 1;
	lost = site[1].addr;
	reads_left = 1;
	assert_int_equal(arm(), -EFAULT);
	assert_int_equal(bad, site[1].addr);
	expect(1, DP_SITE_OFF, orig);
	begin(NULL);
	sites.may_go = true;
	site[1].unowned = 1;
	lost = site[1].addr;
	reads_left = 1;
	assert_int_equal(arm(), 0);
	expect(1, DP_SITE_GONE, orig);
	expect(0, DP_SITE_THERE, patch);
	expect(3, DP_SITE_THERE, patch);
	/* Any other error does not say so. */
	begin(NULL);
	sites.may_go = true;
	site[1].unowned = 1;
	lost = site[1].addr;
	lost_error = -EIO;
	reads_left = 1;
	assert_int_equal(arm(), -EIO);
	expect(1, DP_SITE_OFF, orig);
}

/* Nor is what comes to its place between two steps. */
static void other_text_in_its_place_is_not_written_to(void **state)
{
	u8 others[DP_JUMP_SIZE];
	u32 step;

	memset(others, FOREIGN, sizeof(others));
	for (step = 1; step < 4; step++) {
		begin(NULL);
		site[1].unowned = 1;
		sites.may_go = is_replaced = true;
		lost = site[1].addr;
		reads_left = step;
		assert_int_equal(arm(), 0);
		expect(0, DP_SITE_THERE, patch);
		expect(1, DP_SITE_GONE, others);
		expect(3, DP_SITE_THERE, patch);
	}
	for (step = 1; step < 5; step++) {
		begin(NULL);
		begin_armed();
		site[1].unowned = 1;
		site[0].wanted = site[1].wanted = DP_WANT_OFF;
		sites.may_go = is_replaced = true;
		lost = site[1].addr;
		reads_left = step;
		assert_int_equal(disarm(), 0);
		expect(0, DP_SITE_OFF, orig);
		expect(1, DP_SITE_GONE, others);
		expect(3, DP_SITE_THERE, patch);
	}
}

/* Those of other sites, which the jump has covered: they stand before it, and after. */
static void breakpoints_inside_a_jump_stay(void **state)
{
	static const u8 held[DP_JUMP_SIZE] = { 0x55, 0xcc, 0x89, 0xe5, 0xcc };
	u32 i;

	for (i = 2; i < 4; i++) {
		site[i].leader = 1;
		site[i].addr = site[0].addr + (i == 2 ? 1 : 4);
		jumps[1].member[i - 1] = i + 1;
	}
	site[2].mode = DP_MODE_TRAP;
	site[2].armed = DP_SITE_THERE;
	site[3].wanted = DP_WANT_TRAP;
	site[3].armed = DP_SITE_TRAPPED;
	memcpy(bytes_of(0), held, DP_JUMP_SIZE);
	assert_int_equal(arm(), 0);
	expect(0, DP_SITE_THERE, patch);
	writes = 0;
	site[0].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	expect(0, DP_SITE_OFF, held);
	site[0].wanted = DP_WANT_PLAN;
	assert_int_equal(arm(), 0);
	/* One that is no longer wanted goes with the jump. */
	site[3].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	assert_int_equal(site[3].armed, DP_SITE_OFF);
	expect(0, DP_SITE_THERE, patch);
	site[0].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	assert_int_equal(bytes_of(0)[1], DP_BREAKPOINT);
	assert_int_equal(bytes_of(0)[4], orig[4]);
}

static void the_first_failure_is_told(void **state)
{
	begin_armed();
	site[0].wanted = site[1].wanted = DP_WANT_OFF;
	bytes_of(0)[0] = FOREIGN;
	fail_at = 1;
	assert_int_equal(disarm(), -EBUSY);
	assert_int_equal(bad, site[0].addr);
	assert_int_equal(site[0].armed, DP_SITE_THERE);
	assert_int_equal(site[1].armed, DP_SITE_LEAVING);
	fail_at = 1;
	bytes_of(0)[0] = patch[0];
	assert_int_equal(disarm(), -EIO);
	assert_int_equal(bad, site[0].addr);
	fail_at = 5;
	assert_int_equal(disarm(), -EIO);
	assert_int_equal(bad, site[0].addr);
	assert_int_equal(disarm(), 0);
	expect(0, DP_SITE_OFF, orig);
	expect(1, DP_SITE_OFF, orig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(
			breakpoints_are_written_no_farther_than_they_stand,
			begin),
		cmocka_unit_test_setup(a_jump_cedes_and_comes_back, begin),
		cmocka_unit_test_setup(no_jump_cedes_to_a_debugger, begin),
		cmocka_unit_test_setup(nothing_comes_back_after_a_failed_write,
				       begin),
		cmocka_unit_test_setup(the_others_come_back_where_one_cannot,
				       begin),
		cmocka_unit_test_setup(sites_behind_the_last_are_left_alone,
				       begin),
		cmocka_unit_test_setup(foreign_bytes_stay, begin),
		cmocka_unit_test_setup(a_jump_may_leave_a_breakpoint, begin),
		cmocka_unit_test_setup(
			a_breakpoint_that_is_not_there_need_not_go, begin),
		cmocka_unit_test_setup(a_ceded_jump_has_nothing_to_take_out,
				       begin),
		cmocka_unit_test_setup(
			a_ceded_jump_begins_anew_when_its_first_byte_is_back,
			begin),
		cmocka_unit_test_setup(one_write_restores_where_nobody_runs,
				       begin),
		cmocka_unit_test_setup(text_that_goes_is_not_written_to, begin),
		cmocka_unit_test_setup(
			other_text_in_its_place_is_not_written_to, begin),
		cmocka_unit_test_setup(breakpoints_inside_a_jump_stay, begin),
		cmocka_unit_test_setup(the_first_failure_is_told, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
