// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stubbed: calls that the port's stubs track, in a world in memory: the account, and the records. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/instance/stubbed.h"
#include "exit_calls.h"
#include "port.h"

/* Probes of a function each: without a program, with one that logs, and with one that objects */
enum { SILENT, TELLS, OBJECTS };

static const u8 objects[] = { ABORT };

static int setup_stubs(void **state)
{
	u64 pool;

	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_site(0, 0x401000);
	pool = dp_fake_stubs();
	dp_fake_probe(SILENT, 0, DP_KIND_STUB)->user = pool;
	dp_fake_probe(TELLS, 0, DP_KIND_STUB)->user = pool;
	probe_at(TELLS)->way = DP_WAY_LOGS;
	dp_fake_program(TELLS, logs, sizeof(logs));
	dp_fake_probe(OBJECTS, 0, DP_KIND_STUB)->user = pool;
	dp_fake_program(OBJECTS, objects, sizeof(objects));
	nr_told = 0;
	return 0;
}

/* A hit of this probe alone, of all that the site has */
static void come(u32 probe, u64 *slot)
{
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, slot);
	u32 i;

	for (i = SILENT; i <= OBJECTS; i++)
		probe_at(i)->enabled = i == probe;
	dp_dispatch_site(dp_site_at(0), &hit, false);
	hear();
}

/* The stub is returned to, and the port frees it. */
static void go(struct dp_fake_stub *stub, u64 value)
{
	struct dp_mcontext regs;
	struct dp_hit hit = at_slot(&regs, (u64 *)stub->slot + 1);

	regs.rax = value;
	dp_stub_end(&stub->instance, &hit);
	dp_port_stub_give(&stub->instance);
	hear();
}

static void expect_tally(u32 probe, u64 returned, u64 unjudged)
{
	assert_int_equal(tally(probe, DP_TALLY_RETURNED), returned);
	assert_int_equal(tally(probe, DP_TALLY_UNJUDGED), unjudged);
}

static void counts(void **state)
{
	struct dp_fake_stub *stub = dp_fake_stub(0);
	u64 stack[2] = { 0x1234, 0 };

	come(SILENT, stack);
	assert_true(stub->taken);
	assert_int_equal(stub->slot, (u64)stack);
	assert_int_equal(stub->instance.group, SILENT + 1);
	assert_int_equal(stub->instance.ret, 0x1234);
	assert_int_equal(stub->instance.state, DP_INSTANCE_LIVE);
	expect_tally(SILENT, 0, 0);
	go(stub, 77);
	expect_tally(SILENT, 1, 0);
	assert_int_equal(nr_told, 0);
}

static void tells(void **state)
{
	struct dp_fake_stub *stub = dp_fake_stub(0);
	u64 stack[2] = { 0x1234, 0 };
	u32 len;

	come(TELLS, stack);
	assert_int_equal(stub->instance.state, DP_INSTANCE_LIVE);
	assert_int_equal(nr_told, 0);
	len = stub->instance.len;
	assert_in_range(len, sizeof(logged), sizeof(stub->logged));
	go(stub, 77);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.how, DP_CALL_RETURNED);
	assert_int_equal(told.value, 77);
	assert_int_equal(told.slot, (u64)stack);
	assert_int_equal(told_head.probe, TELLS);
	assert_int_equal(told_head.len, sizeof(told) + len);
	assert_true(told_head.ticks > told.entered && told.entered);
	assert_memory_equal(told_log, logged, sizeof(logged));
	expect_tally(TELLS, 1, 0);
}

/* What is said to be logged is no more than the instance has room for. */
static void tells_no_more(void **state)
{
	struct dp_fake_stub *stub = dp_fake_stub(0);
	u64 stack[2] = { 0x1234, 0 };

	come(TELLS, stack);
	stub->instance.len = sizeof(stub->logged) + 9;
	go(stub, 77);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told_head.len, sizeof(told) + sizeof(stub->logged));
}

static void runs_out(void **state)
{
	u64 stack[4] = { 1, 2, 3, 0 };
	u32 i;

	for (i = 0; i < 3; i++)
		come(SILENT, &stack[i]);
	assert_int_equal(dp_fake_stub(0)->slot, (u64)&stack[0]);
	assert_int_equal(dp_fake_stub(1)->slot, (u64)&stack[1]);
	assert_int_equal(tally(SILENT, DP_TALLY_INSTANCES), 1);
	go(dp_fake_stub(0), 0);
	come(SILENT, &stack[2]);
	assert_int_equal(dp_fake_stub(0)->slot, (u64)&stack[2]);
	assert_int_equal(tally(SILENT, DP_TALLY_INSTANCES), 1);
	go(dp_fake_stub(0), 0);
	go(dp_fake_stub(1), 0);
	expect_tally(SILENT, 3, 0);
}

/* The call is not tracked, and the instance is another's. */
static void objects_to(void **state)
{
	u64 stack[2] = { 0x1234, 0 };

	/* What is there is another call's, of which nobody has said that it is over. */
	come(SILENT, stack);
	dp_stub_missed(&dp_fake_stub(0)->instance);
	dp_port_stub_give(&dp_fake_stub(0)->instance);
	come(OBJECTS, stack);
	assert_false(dp_fake_stub(0)->taken);
	assert_int_equal(dp_fake_stub(0)->slot, 0);
	assert_int_equal(tally(OBJECTS, DP_TALLY_UNMET), 1);
	assert_int_equal(tally(OBJECTS, DP_TALLY_INSTANCES), 0);
	assert_int_equal(nr_told, 0);
	come(SILENT, stack);
	assert_int_equal(dp_fake_stub(0)->instance.group, SILENT + 1);
	assert_int_equal(dp_fake_stub(0)->instance.state, DP_INSTANCE_LIVE);
}

/* The program has nothing to do at the entry. */
static void begins_later(void **state)
{
	u64 stack[2] = { 0x1234, 0 };

	probe_at(TELLS)->start = DP_NO_START;
	come(TELLS, stack);
	assert_int_equal(dp_fake_stub(0)->instance.state, DP_INSTANCE_LIVE);
	assert_int_equal(dp_fake_stub(0)->instance.len, 0);
	go(dp_fake_stub(0), 5);
	assert_int_equal(nr_told, 1);
	assert_int_equal(told.value, 5);
	assert_int_equal(told_head.len, sizeof(told));
}

/* No program runs where the return is, and no record tells of it. */
static void is_missed(void **state)
{
	struct dp_fake_stub *stub = dp_fake_stub(0);
	u64 stack[2] = { 0x1234, 0 };

	come(TELLS, stack);
	dp_stub_missed(&stub->instance);
	hear();
	expect_tally(TELLS, 1, 1);
	assert_int_equal(nr_told, 0);
	expect_tally(SILENT, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(counts, setup_stubs),
		cmocka_unit_test_setup(tells, setup_stubs),
		cmocka_unit_test_setup(tells_no_more, setup_stubs),
		cmocka_unit_test_setup(runs_out, setup_stubs),
		cmocka_unit_test_setup(objects_to, setup_stubs),
		cmocka_unit_test_setup(begins_later, setup_stubs),
		cmocka_unit_test_setup(is_missed, setup_stubs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
