// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_place: where pools go, near code of programs and at the top of the address space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"

#define POOL 0x10000
#define PROGRAM 0x400000ull
#define KERNEL 0xffffffff81000000ull
#define MODULES 0xffffffffc0000000ull
#define MODULES_END 0xffffffffff000000ull

static u64 place(u64 low, u64 high, const struct dp_hole *holes, size_t n)
{
	struct dp_pool_need need = { .low = low, .high = high, .size = POOL };
	int err = dp_place_one(&need, holes, n);

	assert_int_equal(err, need.addr ? 0 : -ENOMEM);
	return need.addr;
}

static void the_nearest_hole_serves(void **state)
{
	const struct dp_hole holes[] = {
		{ .start = PROGRAM - 0x200000, .end = PROGRAM - 0x100000 },
		{ .start = PROGRAM + 0x100000, .end = PROGRAM + 0x180000 },
	};

	assert_int_equal(place(PROGRAM, PROGRAM + 0x1000, holes, 1),
			 PROGRAM - 0x100000 - POOL);
	assert_int_equal(place(PROGRAM, PROGRAM + 0xf0000, holes, 2),
			 PROGRAM + 0x100000);
	assert_int_equal(place(PROGRAM, PROGRAM + 0x1000, holes, 0), 0);
}

static void nothing_is_too_far_from_a_program(void **state)
{
	const struct dp_hole low = { .start = 0, .end = PROGRAM },
			     far = { .start = PROGRAM + DP_REACH,
				     .end = PROGRAM + 2 * DP_REACH },
			     near = { .start = PROGRAM + DP_REACH - POOL,
				      .end = PROGRAM + 2 * DP_REACH };

	assert_int_equal(place(PROGRAM, PROGRAM, &low, 1), PROGRAM - POOL);
	assert_int_equal(place(0x10000, 0x10000, &low, 1), 0x10000);
	assert_int_equal(place(PROGRAM, PROGRAM, &far, 1), 0);
	assert_int_equal(place(PROGRAM, PROGRAM, &near, 1), near.start);
}

/* An address and DP_REACH are more than 2^64 there. */
static void code_of_a_kernel_has_pools(void **state)
{
	const struct dp_hole modules = { .start = MODULES + 0x300000,
					 .end = MODULES + 0x700000 },
			     last = { .start = MODULES_END - POOL,
				      .end = MODULES_END };

	assert_int_equal(place(KERNEL, KERNEL + 16, &modules, 1),
			 modules.start);
	assert_int_equal(place(MODULES + 0x1000, MODULES + 0x1010, &modules, 1),
			 modules.start);
	/* Below the code */
	assert_int_equal(place(MODULES + 0x900000, MODULES + 0x900010, &modules,
			       1),
			 modules.end - POOL);
	assert_int_equal(place(MODULES_END - 0x20000, MODULES_END - 0x20000,
			       &last, 1),
			 last.start);
	assert_int_equal(place(KERNEL, KERNEL, &last, 1), 0);
}

/* gs:0x1f940(%rip) leads to variables of a CPU: addresses from 0 on. */
static void code_of_a_kernel_refers_beyond_the_end(void **state)
{
	const struct dp_hole modules = { .start = MODULES + 0x300000,
					 .end = MODULES + 0x700000 };
	struct dp_site s = { .addr = KERNEL,
			     .facts = { .len = 8,
					.rip_relative = true,
					.target =
						(s32)(0x1f940 - KERNEL - 8) } };
	u64 low, high;

	dp_site_span(&s, &low, &high);
	assert_int_equal(low, KERNEL);
	assert_int_equal(high, 0x1f940);
	assert_int_equal(place(low, high, &modules, 1), modules.start);
}

static void a_pool_is_carved_out(void **state)
{
	struct dp_hole holes[3] = { { .start = MODULES,
				      .end = MODULES + 3 * POOL } };

	assert_int_equal(dp_holes_carve(holes, 1, MODULES + POOL, POOL), 2);
	assert_int_equal(holes[0].end, MODULES + POOL);
	assert_int_equal(holes[1].start, MODULES + 2 * POOL);
	assert_int_equal(holes[1].end, MODULES + 3 * POOL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_nearest_hole_serves),
		cmocka_unit_test(nothing_is_too_far_from_a_program),
		cmocka_unit_test(code_of_a_kernel_has_pools),
		cmocka_unit_test(code_of_a_kernel_refers_beyond_the_end),
		cmocka_unit_test(a_pool_is_carved_out),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
