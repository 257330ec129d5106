// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* strategy: single breakpoints and intercepts, and which sites have to do with an address. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "text.h"

static void only_a_breakpoint(u32 i)
{
	site[i].mode = DP_MODE_TRAP;
	site[i].patch_len = 1;
	site[i].patch[0] = DP_BREAKPOINT;
	site[i].jump = 0;
}

static int trap_arm(void)
{
	return dp_strategy_trap.arm(&target, &sites, &bad);
}

static int trap_disarm(void)
{
	return dp_strategy_trap.disarm(&target, &sites, &bad);
}

static void begin_traps(void)
{
	u32 i;

	for (i = 0; i < SITES; i++)
		only_a_breakpoint(i);
}

static void breakpoints_come_and_go(void **state)
{
	u32 i;

	begin_traps();
	site[3].mode = DP_MODE_JUMP;
	site[3].wanted = DP_WANT_TRAP;
	assert_int_equal(trap_arm(), 0);
	for (i = 0; i < 3; i++)
		expect(i, DP_SITE_THERE, trapped);
	expect(3, DP_SITE_TRAPPED, trapped);
	assert_int_equal(writes, 4);
	assert_int_equal(trap_arm(), 0);
	assert_int_equal(trap_disarm(), 0);
	assert_int_equal(writes, 4);
	site[0].wanted = site[2].wanted = DP_WANT_OFF;
	assert_int_equal(trap_disarm(), 0);
	expect(0, DP_SITE_OFF, orig);
	expect(1, DP_SITE_THERE, trapped);
	expect(2, DP_SITE_OFF, orig);
	/* A debugger that met it may put it back. */
	assert_int_equal(site[0].returned, 1);
	assert_int_equal(site[1].returned, 0);
	assert_int_equal(extracts, 0);
}

static void arming_ends_at_the_first_failure(void **state)
{
	begin_traps();
	bytes_of(1)[0] = FOREIGN;
	assert_int_equal(trap_arm(), -EBUSY);
	assert_int_equal(bad, site[1].addr);
	assert_int_equal(site[0].armed, DP_SITE_THERE);
	assert_int_equal(site[1].armed, DP_SITE_OFF);
	assert_int_equal(site[2].armed, DP_SITE_OFF);
	bytes_of(1)[0] = orig[0];
	fail_at = 1;
	assert_int_equal(trap_arm(), -EIO);
	assert_int_equal(bad, site[1].addr);
	assert_int_equal(site[1].armed, DP_SITE_OFF);
}

static void disarming_goes_on_past_failures(void **state)
{
	u32 i;

	begin_traps();
	assert_int_equal(trap_arm(), 0);
	for (i = 0; i < SITES; i++)
		site[i].wanted = DP_WANT_OFF;
	bytes_of(1)[0] = FOREIGN;
	lost = site[2].addr;
	assert_int_equal(trap_disarm(), -EBUSY);
	assert_int_equal(bad, site[1].addr);
	expect(0, DP_SITE_OFF, orig);
	assert_int_equal(site[1].armed, DP_SITE_THERE);
	assert_int_equal(site[1].returned, 0);
	assert_int_equal(site[2].armed, DP_SITE_THERE);
	expect(3, DP_SITE_OFF, orig);
	/* A killed tool had not written this one yet. */
	memcpy(bytes_of(1), orig, DP_JUMP_SIZE);
	sites.may_go = true;
	lost = site[2].addr;
	reads_left = 0;
	writes = 0;
	assert_int_equal(trap_disarm(), 0);
	expect(1, DP_SITE_OFF, orig);
	assert_int_equal(site[2].armed, DP_SITE_GONE);
	assert_int_equal(writes, 0);
}

static void breakpoints_that_uprobes_took_are_put_back(void **state)
{
	begin_traps();
	site[3].mode = DP_MODE_JUMP;
	site[3].wanted = DP_WANT_TRAP;
	assert_int_equal(trap_arm(), 0);
	assert_false(dp_trap_lost(&target, &sites));
	bytes_of(3)[0] = orig[0];
	assert_false(dp_trap_lost(&target, &sites));
	bytes_of(2)[0] = orig[0];
	assert_true(dp_trap_lost(&target, &sites));
	is_traced = true;
	assert_false(dp_trap_lost(&target, &sites));
	is_traced = false;
	sites.n = 2;
	assert_false(dp_trap_lost(&target, &sites));
	assert_int_equal(dp_trap_return(&target, &sites, tell, NULL), 0);
	assert_int_equal(told, 0);
	sites.n = SITES;
	assert_int_equal(dp_trap_return(&target, &sites, tell, NULL), 0);
	assert_int_equal(told, 1);
	assert_int_equal(told_of, site[2].addr);
	assert_false(told_away);
	expect(2, DP_SITE_THERE, trapped);
	bytes_of(1)[0] = orig[0];
	bytes_of(2)[0] = orig[0];
	fail_at = 1;
	assert_int_equal(dp_trap_return(&target, &sites, tell, NULL), -EIO);
	assert_int_equal(told, 2);
	assert_int_equal(site[1].armed, DP_SITE_OFF);
	expect(2, DP_SITE_THERE, trapped);
}

/* The jump has its breakpoint already, and takes it along. */
static void breakpoints_inside_a_jump_are_not_written(void **state)
{
	begin_armed();
	only_a_breakpoint(1);
	site[1].armed = DP_SITE_OFF;
	site[1].leader = 1;
	memcpy(bytes_of(1), orig, DP_JUMP_SIZE);
	site[2].armed = DP_SITE_OFF;
	site[2].wanted = DP_WANT_TRAP;
	site[2].leader = 1;
	memcpy(bytes_of(2), orig, DP_JUMP_SIZE);
	assert_int_equal(trap_arm(), 0);
	expect(1, DP_SITE_THERE, orig);
	expect(2, DP_SITE_TRAPPED, orig);
	site[1].wanted = DP_WANT_OFF;
	assert_int_equal(trap_disarm(), 0);
	expect(1, DP_SITE_OFF, orig);
	assert_int_equal(writes, 0);
	/* Once the jump has gone, it is written. */
	site[0].wanted = DP_WANT_OFF;
	assert_int_equal(disarm(), 0);
	site[1].wanted = DP_WANT_PLAN;
	assert_int_equal(trap_arm(), 0);
	expect(1, DP_SITE_THERE, trapped);
	/* No site has this number. */
	site[2].leader = SITES + 1;
	assert_false(dp_site_is_covered(&sites, &site[2]));
}

/* --- jumps over one instruction, while nobody runs --- */

static void begin_intercepts(void)
{
	u32 i;

	for (i = 0; i < SITES; i++)
		site[i].intercept = DP_INTERCEPT_MADE;
}

static int intercept(bool in)
{
	return (in ? dp_strategy_intercept.arm :
		     dp_strategy_intercept.disarm)(&target, &sites, &bad);
}

static void want_none(void)
{
	u32 i;

	for (i = 0; i < SITES; i++)
		site[i].wanted = DP_WANT_OFF;
}

static void intercepts_are_one_write_each(void **state)
{
	u32 i;

	begin_intercepts();
	assert_int_equal(intercept(true), 0);
	for (i = 0; i < SITES; i++) {
		expect(i, DP_SITE_THERE, patch);
		assert_int_equal(wrote[i].addr, site[i].addr);
		assert_int_equal(wrote[i].len, DP_JUMP_SIZE);
	}
	assert_int_equal(writes, SITES);
	assert_int_equal(syncs, 0);
	/* All are looked at with one call. */
	assert_int_equal(extracts, 1);
	assert_int_equal(reads, 0);
	want_none();
	assert_int_equal(intercept(false), 0);
	for (i = 0; i < SITES; i++)
		expect(i, DP_SITE_OFF, orig);
	assert_int_equal(writes, 2 * SITES);
}

/* Put site 0 where its jump ends @in bytes behind the end of a page. */
static void put_at_the_end_of_a_page(u32 in)
{
	site[0].addr = BASE + DP_PAGE - DP_JUMP_SIZE + in;
	memcpy(bytes_of(0), orig, DP_JUMP_SIZE);
	sites.n = 1;
}

static void intercepts_in_two_pages_begin_with_a_breakpoint(void **state)
{
	u32 in;

	for (in = 0; in < DP_JUMP_SIZE; in++) {
		begin(NULL);
		begin_intercepts();
		put_at_the_end_of_a_page(in);
		assert_int_equal(intercept(true), 0);
		expect(0, DP_SITE_THERE, patch);
		assert_int_equal(writes, in ? 3 : 1);
		assert_int_equal(syncs, in ? 2 : 0);
		assert_int_equal(extracts, 0);
		want_none();
		assert_int_equal(intercept(false), 0);
		expect(0, DP_SITE_OFF, orig);
		if (!in)
			continue;
		assert_int_equal(writes, 6);
		assert_int_equal(wrote[0].len, 1);
		assert_int_equal(wrote[1].addr, site[0].addr + 1);
		assert_int_equal(wrote[1].len, DP_JUMP_SIZE - 1);
		assert_int_equal(wrote[2].addr, site[0].addr);
		assert_int_equal(wrote[2].len, 1);
	}
}

/* A killed tool may have left any of these; nothing else is ours. */
static void intercepts_on_their_way_are_taken_out(void **state)
{
	static const u8 between[DP_JUMP_SIZE] = { 0xcc, 0xcc, 0x12, 0x34,
						  0xcc };
	static const u8 foreign[DP_JUMP_SIZE] = { 0xcc, FOREIGN, 0x12, 0x34,
						  0xcc };

	begin_intercepts();
	assert_int_equal(intercept(true), 0);
	writes = 0;
	want_none();
	memcpy(bytes_of(0), between, DP_JUMP_SIZE);
	memcpy(bytes_of(1), orig, DP_JUMP_SIZE);
	memcpy(bytes_of(2), foreign, DP_JUMP_SIZE);
	assert_int_equal(intercept(false), -EBUSY);
	assert_int_equal(bad, site[2].addr);
	expect(0, DP_SITE_OFF, orig);
	expect(1, DP_SITE_OFF, orig);
	expect(2, DP_SITE_THERE, foreign);
	expect(3, DP_SITE_OFF, orig);
	assert_int_equal(writes, 2);
	/* Nor is anything written over such bytes. */
	site[0].wanted = DP_WANT_PLAN;
	memcpy(bytes_of(0), between, DP_JUMP_SIZE);
	assert_int_equal(intercept(true), -EBUSY);
	expect(0, DP_SITE_OFF, between);
}

/* --- addresses --- */

static void addresses_lead_to_their_sites(void **state)
{
	u32 i, n;

	for (n = 0; n <= SITES; n++) {
		sites.n = n;
		for (i = 0; i < SITES; i++) {
			assert_ptr_equal(dp_sites_find(&sites, site[i].addr),
					 i < n ? &site[i] : NULL);
			assert_null(dp_sites_find(&sites, site[i].addr + 1));
			assert_null(dp_sites_find(&sites, site[i].addr - 1));
		}
	}
}

static void threads_inside_a_jump_go_on_in_its_detour(void **state)
{
	u64 to = 0, at = site[1].addr;

	assert_true(dp_sites_inside(&sites, at + 1, &to));
	assert_int_equal(to, jumps[2].base + 16);
	assert_true(dp_sites_inside(&sites, at + 4, &to));
	assert_int_equal(to, jumps[2].base + 32);
	assert_false(dp_sites_inside(&sites, at, &to));
	assert_false(dp_sites_inside(&sites, at + 2, &to));
	assert_false(dp_sites_inside(&sites, at + 5, &to));
	jumps[2].nr = 2;
	assert_false(dp_sites_inside(&sites, at + 4, &to));
	site[1].intercept = DP_INTERCEPT_MADE;
	assert_false(dp_sites_inside(&sites, at + 1, &to));
	site[1].intercept = 0;
	site[1].mode = DP_MODE_TRAP;
	assert_false(dp_sites_inside(&sites, at + 1, &to));
	site[1].mode = DP_MODE_JUMP;
	/* No jump has this number. */
	sites.nr_jumps = site[1].jump;
	assert_false(dp_sites_inside(&sites, at + 1, &to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(breakpoints_come_and_go, begin),
		cmocka_unit_test_setup(arming_ends_at_the_first_failure, begin),
		cmocka_unit_test_setup(disarming_goes_on_past_failures, begin),
		cmocka_unit_test_setup(
			breakpoints_that_uprobes_took_are_put_back, begin),
		cmocka_unit_test_setup(
			breakpoints_inside_a_jump_are_not_written, begin),
		cmocka_unit_test_setup(intercepts_are_one_write_each, begin),
		cmocka_unit_test_setup(
			intercepts_in_two_pages_begin_with_a_breakpoint, begin),
		cmocka_unit_test_setup(intercepts_on_their_way_are_taken_out,
				       begin),
		cmocka_unit_test_setup(addresses_lead_to_their_sites, begin),
		cmocka_unit_test_setup(
			threads_inside_a_jump_go_on_in_its_detour, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("strategy", tests, NULL, NULL);
}
