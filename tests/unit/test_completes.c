// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* completes: whether an instruction will complete, by registers and memory of a thread. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/hit/program.h"
#include "engine/insn/faults.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "port/fake/hit/world.h"
#include "port.h"

#define ADDRESS 0x401000ull
#define TOO_HIGH (1ull << 47)
enum { RCX = 1, RBX = 3 };

/* The first page and the last one are bad. */
static u64 pages[3][DP_PAGE / sizeof(u64)] __attribute__((aligned(DP_PAGE)));
#define STACK ((u64)pages[1])
#define STACK_END ((u64)pages[2])

static struct dp_site_entry site;
static struct dp_hit hit;
static struct dp_call_frame frame;

static int begin(void **state)
{
	dp_fake_begin(DP_CAUGHT_JUMPS);
	dp_fake_bad((u64)pages[0], DP_PAGE);
	dp_fake_bad((u64)pages[2], DP_PAGE);
	memset(&site, 0, sizeof(site));
	memset(pages, 0, sizeof(pages));
	frame = (struct dp_call_frame){ 0 };
	hit = (struct dp_hit){ .frame = &frame };
	return 0;
}

static enum dp_completes with(enum dp_insn_faults faults, u64 sp)
{
	site.faults = faults;
	hit.sp = frame.regs.sp = sp;
	return dp_completes(&site, &hit, &frame.regs);
}

static void told_by_control(void **state)
{
	assert_int_equal(with(DP_FAULTS_NEVER, 0), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_OTHER, 0), DP_COMPLETES);
	site.post = 1;
	assert_int_equal(with(DP_FAULTS_NEVER, 0), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_OTHER, 0), DP_COMPLETES_PERHAPS);
	site.post = 0;
	site.calls_out = 1;
	assert_int_equal(with(DP_FAULTS_OTHER, 0), DP_COMPLETES_PERHAPS);
}

static void pushes(void **state)
{
	assert_int_equal(with(DP_FAULTS_PUSH, STACK + 8), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_CALL, STACK + 8), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_PUSH, STACK), DP_COMPLETES_PERHAPS);
	assert_int_equal(with(DP_FAULTS_CALL, STACK), DP_COMPLETES_NOT);
	/* What is known of the stack is not asked for. */
	hit.low = STACK - 8;
	hit.high = STACK;
	assert_int_equal(with(DP_FAULTS_PUSH, STACK), DP_COMPLETES);
	hit.low++;
	assert_int_equal(with(DP_FAULTS_PUSH, STACK), DP_COMPLETES_PERHAPS);
}

static void pops(void **state)
{
	assert_int_equal(with(DP_FAULTS_POP, STACK), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_POP, STACK - 8), DP_COMPLETES_PERHAPS);
	assert_int_equal(with(DP_FAULTS_POP, STACK_END - 4),
			 DP_COMPLETES_PERHAPS);
	hit.low = STACK_END - 4;
	hit.high = STACK_END + 4;
	assert_int_equal(with(DP_FAULTS_POP, STACK_END - 4), DP_COMPLETES);
	hit.high--;
	assert_int_equal(with(DP_FAULTS_POP, STACK_END - 4),
			 DP_COMPLETES_PERHAPS);
}

static void returns(void **state)
{
	pages[1][1] = ADDRESS;
	pages[1][2] = TOO_HIGH;
	pages[1][3] = TOO_HIGH - 1;
	assert_int_equal(with(DP_FAULTS_RET, STACK + 8), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_RET, STACK + 16), DP_COMPLETES_NOT);
	assert_int_equal(with(DP_FAULTS_RET, STACK + 24), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_RET, STACK - 8), DP_COMPLETES_NOT);
}

static void branches_by_register(void **state)
{
	site.operand.base = RBX;
	frame.regs.bx = ADDRESS;
	assert_int_equal(with(DP_FAULTS_BRANCH, STACK), DP_COMPLETES);
	assert_int_equal(with(DP_FAULTS_BRANCH_CALL, STACK), DP_COMPLETES_NOT);
	assert_int_equal(with(DP_FAULTS_BRANCH_CALL, STACK + 8), DP_COMPLETES);
	frame.regs.bx = TOO_HIGH;
	assert_int_equal(with(DP_FAULTS_BRANCH, STACK), DP_COMPLETES_NOT);
	assert_int_equal(with(DP_FAULTS_BRANCH_CALL, STACK + 8),
			 DP_COMPLETES_NOT);
}

static void branches_by_memory(void **state)
{
	u64 self = dp_port_thread_pointer();

	/* No other word of the page is an address. */
	memset(pages[1], 0xff, sizeof(pages[1]));
	pages[1][7] = ADDRESS;
	site.operand = (struct dp_operand_ref){
		.disp = 8, .base = RBX, .index = RCX, .scale = 4, .memory = 1
	};
	frame.regs.bx = STACK + 16;
	frame.regs.cx = 8;
	assert_int_equal(with(DP_FAULTS_BRANCH, 0), DP_COMPLETES);
	frame.regs.cx = 10;
	assert_int_equal(with(DP_FAULTS_BRANCH, 0), DP_COMPLETES_NOT);
	frame.regs.bx = STACK_END;
	assert_int_equal(with(DP_FAULTS_BRANCH, 0), DP_COMPLETES_NOT);
	site.operand.disp = (s64)&pages[1][7];
	site.operand.base = site.operand.index = DP_NO_REG;
	site.operand.segment = DP_SEG_GS;
	assert_int_equal(with(DP_FAULTS_BRANCH, 0), DP_COMPLETES);
	site.operand.segment = DP_SEG_FS;
	site.operand.disp -= (s64)self;
	assert_int_equal(with(DP_FAULTS_BRANCH, 0), DP_COMPLETES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(told_by_control, begin),
		cmocka_unit_test_setup(pushes, begin),
		cmocka_unit_test_setup(pops, begin),
		cmocka_unit_test_setup(returns, begin),
		cmocka_unit_test_setup(branches_by_register, begin),
		cmocka_unit_test_setup(branches_by_memory, begin),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("completes", tests, NULL, NULL);
}
