// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_vm: the machine and its verifier. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "vm_bytes.h"
#include "vm_programs.h"
#include "vm_window.h"

static struct vm_bench b;

static void run(const u8 *code, u32 len)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, DP_ALLOW_ALL,
				       vm_tables };
	const char *why;
	u32 start = 0, offset;

	if (dp_vm_verify(code, len, &limits, &start, 1, &offset, &why))
		fail_msg("the verifier: %s at %u", why, offset);
	b.vm.code = code;
	b.vm.pc = 0;
	dp_vm_run(&b.vm);
	assert_true(vm_bench_intact(&b));
}

#define RUN(...)                                          \
	do {                                              \
		static const u8 code[] = { __VA_ARGS__ }; \
		run(code, sizeof(code));                  \
	} while (0)

/* The elements that "log n" wrote, the top first. */
static u64 logged(u32 i)
{
	u64 v;

	assert_true(b.vm.lp >= 3 + 8 * (i + 1));
	assert_int_equal(b.vm.log[0], DP_ITEM_ELEMENTS);
	memcpy(&v, b.vm.log + 3 + 8 * i, 8);
	return v;
}
#define TOP(n) OP(LOG_I), n, 0, OP(EXIT)

static int setup(void **state)
{
	vm_bench_init(&b);
	return 0;
}

static void subtracts_from_the_top(void **state)
{
	RUN(PUSH(10), PUSH(3), OP(SUB), TOP(1));
	assert_int_equal(logged(0), (u64)-7);
	RUN(PUSH(10), PUSH(3), OP(RSUB), TOP(1));
	assert_int_equal(logged(0), 7);
}

static void divides(void **state)
{
	RUN(PUSH(7), PUSH(2), OP(DIV), TOP(2));
	assert_int_equal(logged(0), 3);
	assert_int_equal(logged(1), 1);
	RUN(PUSH(-7), PUSH(2), OP(IDIV), TOP(2));
	assert_int_equal(logged(0), (u64)-3);
	assert_int_equal(logged(1), (u64)-1);
	RUN(PUSH(1ull << 63), PUSH(-1), OP(IDIV), OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_DIV_BY_ZERO);
	assert_int_equal(b.vm.end, DP_VM_EXCEPTION);
}

static void propagates_bits(void **state)
{
	RUN(PUSH(0x80), OP(PBL_I), 8, PUSH(0xff), OP(PZL_I), 4, PUSH(0xff),
	    OP(PZR_I), 5, TOP(3));
	assert_int_equal(logged(0), 0xf0);
	assert_int_equal(logged(1), 0x0f);
	assert_int_equal(logged(2), 0xffffffffffffff80ull);
	RUN(PUSH(0x10), PUSH(5), OP(PBR), TOP(1));
	assert_int_equal(logged(0), 0x1f);
	RUN(PUSH(1), OP(PBL_I), 0, OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_INVALID_OPERAND);
	assert_int_equal(b.vm.parm[0], DP_VM_OPERAND_BIT);
	RUN(PUSH(1), PUSH(65), OP(PZL), OP(EXIT));
	assert_int_equal(b.vm.parm[1], 65);
	RUN(PUSH(1), OP(PBL_I), 64, TOP(1));
	assert_int_equal(logged(0), 1);
}

static void shifts_and_rotates(void **state)
{
	RUN(PUSH(4), PUSH(1), OP(SHL), PUSH(0x100), OP(SHR_I), 64,
	    PUSH(0x8000000000000001ull), OP(ROL_I), 65, PUSH(1), OP(ROR_I), 1,
	    TOP(4));
	assert_int_equal(logged(0), 1ull << 63);
	assert_int_equal(logged(1), 3);
	assert_int_equal(logged(2), 0);
	assert_int_equal(logged(3), 16);
}

static void loops_and_counts_jumps(void **state)
{
	/* push 3; L: inc lv,0; loop L; log 1 */
	RUN(PUSH(3), OP(INC_LV_I), 0, 0, OP(LOOP), WORD(-12), TOP(1));
	assert_int_equal(b.lv[0], 3);
	assert_int_equal(logged(0), 0);
	assert_int_equal(b.vm.jumps, 3);
	b.vm.jmpmax = 0;
	RUN(OP(JMP), WORD(0), OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_MAX_JMPS);
	RUN(PUSH(1), OP(JZ), WORD(0), OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
}

static void jumps_do_not_pop(void **state)
{
	RUN(PUSH(-5), OP(JLT), WORD(1), OP(ABORT), OP(JLE), WORD(1), OP(ABORT),
	    OP(JGE), WORD(1), OP(NOP), OP(JNZ), WORD(1), OP(ABORT), TOP(1));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(logged(0), (u64)-5);
}

static void stops_at_its_budget(void **state)
{
	b.vm.jmpmax = ~0u;
	RUN(OP(JMP), WORD(-9), OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_MAX_JMPS);
	assert_int_equal(b.vm.parm[0], DP_VM_BUDGET);
	/* A handler that jumps back is no way round it. */
	b.vm.jmpmax = 5;
	RUN(OP(SX), WORD(0), OP(SX), WORD(-9), OP(JMP), WORD(-18), OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXCEPTION);
}

static void handlers_take_one_exception(void **state)
{
	/* sx H; push 1; push 0; div; exit; H: log 1; push 1; push 0; div */
	RUN(OP(SX), WORD(20), PUSH(1), PUSH(0), OP(DIV), OP(EXIT), OP(LOG_I), 1,
	    0, PUSH(1), PUSH(0), OP(DIV), OP(EXIT));
	assert_int_equal(logged(0), DP_EX_DIV_BY_ZERO);
	assert_int_equal(b.vm.end, DP_VM_EXCEPTION);
}

static void calls_nest_32_deep(void **state)
{
	/* F: inc lv,0; call F */
	RUN(OP(INC_LV_I), 0, 0, OP(CALL), WORD(-12), OP(EXIT));
	assert_int_equal(b.lv[0], 33);
	assert_int_equal(b.vm.exception, DP_EX_CALL_STACK_OVERFLOW);
	assert_int_equal(b.vm.parm[0], 32);
	RUN(OP(RET));
	assert_int_equal(b.vm.exception, DP_EX_CALL_STACK_OVERFLOW);
	assert_int_equal(b.vm.parm[0], 0);
	/* call F; log 1; exit; F: push 7; ret */
	RUN(OP(CALL), WORD(4), TOP(1), PUSH(7), OP(RET));
	assert_int_equal(logged(0), 7);
}

/* [rows 282, 285] [defect 10] */
static void the_stack_is_a_circle(void **state)
{
	u32 i;

	b.vm.stack_mask = 31;
	/* 33 elements into 32: the oldest is gone, the next one is on top */
	RUN(PUSH(99), PUSH(33), OP(COPY_TSP_I), 1, 0, OP(DUP_I), 31, OP(ROS),
	    31, TOP(2));
	assert_int_equal(logged(0), 33);
	for (i = 0; i < 2; i++)
		assert_int_equal(logged(i), 33);
	/* A pop clears nothing; what was never pushed is zero. */
	RUN(PUSH(5), OP(ROS), 1, OP(PUSH_TSP_I), 0xff, 0xff, TOP(2));
	assert_int_equal(logged(0), 5);
	assert_int_equal(logged(1), 0);
	b.vm.stack_mask = DP_VM_STACK - 1;
	RUN(OP(ROS), 200, PUSH(1), OP(RESTORE_TSP), OP(SAVE_TSP), TOP(1));
	assert_int_equal(logged(0), 1);
	RUN(PUSH(-1), OP(RESTORE_TSP), OP(SAVE_TSP), TOP(1));
	assert_int_equal(logged(0), DP_VM_STACK - 1);
}

static void moves_things_on_the_stack(void **state)
{
	RUN(PUSH(1), PUSH(2), OP(XCHG), TOP(2));
	assert_int_equal(logged(0), 1);
	assert_int_equal(logged(1), 2);
	RUN(PUSH(2), PUSH(9), OP(DUP), PUSH(8), OP(DUP_I), 1, TOP(6));
	assert_int_equal(logged(0), 8);
	assert_int_equal(logged(1), 8);
	assert_int_equal(logged(2), 9);
	assert_int_equal(logged(4), 9);
	assert_int_equal(logged(5), 0);
	/* A frame: base, one local below it. */
	RUN(OP(SAVE_TSP), OP(RESTORE_SBP), PUSH(4), OP(PUSH_SBP_I), 0xff, 0xff,
	    TOP(1));
	assert_int_equal(logged(0), 4);
	RUN(PUSH(1), PUSH(2), PUSH(3), OP(POP_TSP_I), 2, 0, TOP(2));
	assert_int_equal(logged(0), 2);
	assert_int_equal(logged(1), 3);
}

static void variables_have_bounds(void **state)
{
	static const u16 beyond = VM_VARS;

	RUN(PUSH(7), OP(MOVE_LV_I), 1, 0, OP(POP_GV_I), 2, 0, PUSH(1),
	    OP(INC_LV), PUSH(2), OP(DEC_GV), OP(EXIT));
	assert_int_equal(b.lv[1], 8);
	assert_int_equal(b.gv[2], 6);
	RUN(PUSH(VM_VARS), OP(PUSH_LV), OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_INVALID_OPERAND);
	assert_int_equal(b.vm.parm[0], DP_VM_OPERAND_LV);
	assert_int_equal(b.vm.parm[1], beyond);
	RUN(PUSH(-1), PUSH(1), OP(POP_GV), OP(EXIT));
	assert_int_equal(b.vm.parm[0], DP_VM_OPERAND_GV);
}

static void memory_is_never_a_fault(void **state)
{
	u8 *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u8 code[64];
	u32 n = 0;
	u64 bad;

	munmap(page + 4096, 4096);
	page[4095] = 0x42;
	/* push mem,u16 over the edge */
	code[n++] = OP(PUSH);
	n = vm_put(code, n, (u64)page + 4095, 8);
	code[n++] = OP(PUSH_MEM_U16);
	code[n++] = OP(EXIT);
	run(code, n);
	assert_int_equal(b.vm.exception, DP_EX_INVALID_ADDR);
	assert_int_equal(b.vm.parm[0], (u64)page + 4096);
	assert_int_equal(b.vm.log[0], DP_ITEM_FAULT);
	memcpy(&bad, b.vm.log + 3, 8);
	assert_int_equal(bad, (u64)page + 4096);

	code[n - 2] = OP(PUSH_MEM_U8);
	n = vm_put(code, n - 1, OP(VFY_R), 1);
	code[n++] = OP(EXIT);
	run(code, n);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	munmap(page, 4096);
}

static void logs_ranges_and_strings(void **state)
{
	u8 *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	u8 code[64];
	u32 n = 0, end;
	u64 bad;

	munmap(page + 4096, 4096);
	memcpy(page + 4092, "abc", 4);
	n = vm_put(code, n, OP(PUSH), 1);
	n = vm_put(code, n, 16, 8);
	n = vm_put(code, n, OP(PUSH), 1);
	n = vm_put(code, n, (u64)page + 4092, 8);
	end = n;
	n = vm_put(code, n, OP(LOG_STR), 1);
	n = vm_put(code, n, OP(EXIT), 1);
	/* A string may end right before bad memory. */
	run(code, n);
	assert_int_equal(b.vm.lp, 6);
	assert_memory_equal(b.vm.log, "\1\3\0abc", 6);
	/* A range may not: only the fault is logged, with its very address. */
	code[end] = OP(LOG_MRF);
	run(code, n);
	assert_int_equal(b.vm.lp, 11);
	assert_memory_equal(b.vm.log, "\xff\x08\0", 3);
	memcpy(&bad, b.vm.log + 3, 8);
	assert_int_equal(bad, (u64)page + 4096);
	assert_int_equal(b.vm.exception, DP_EX_INVALID_ADDR);
	/* What does not fit is cut, and marked. */
	page[4080] = 1;
	vm_put(code, 10, (u64)page + 4080, 8);
	b.vm.logmax = 10;
	run(code, n);
	assert_int_equal(b.vm.lp, 10);
	assert_true(b.vm.truncated);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	b.vm.logmax = 2;
	run(code, n);
	assert_int_equal(b.vm.lp, 0);
	assert_true(b.vm.truncated);
	b.vm.logmax = 0;
	run(code, n);
	assert_int_equal(b.vm.lp, 0);
	munmap(page, 4096);
}

static void the_log_pointer_only_goes_back(void **state)
{
	RUN(PUSH(1), OP(LOG_I), 1, 0, OP(PUSH_PLP), OP(POP_LP), OP(PUSH_LP),
	    OP(LOG_I), 1, 0, OP(EXIT));
	assert_int_equal(b.vm.lp, 11);
	assert_int_equal(logged(0), 0);
	RUN(PUSH(1), OP(POP_LP), OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_INVALID_OPERAND);
	assert_int_equal(b.vm.parm[0], DP_VM_OPERAND_LP);
}

/* Behind another one, of eleven bytes. */
/* The jump that is one too many is not made: the handler of that exception runs. */
static void too_many_jumps_lead_to_the_handler(void **state)
{
	b.vm.jmpmax = 0;
	RUN(OP(SX), WORD(13), OP(JMP), WORD(0), OP(INC_LV_I), 0, 0, OP(EXIT),
	    OP(INC_LV_I), 1, 0, OP(EXIT));
	assert_int_equal(b.vm.exception, DP_EX_MAX_JMPS);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.lv[0], 0);
	assert_int_equal(b.lv[1], 1);
}

static u32 resumed;

static void note_resume(struct dp_vm *vm, u16 minor)
{
	resumed++;
}

static void an_exit_does_not_resume(void **state)
{
	b.vm.resume = note_resume;
	resumed = 0;
	RUN(PUSH(5), OP(EXIT_N), 3);
	assert_int_equal(resumed, 0);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
}

/* Each takes from the stack what is its own, and changes nothing else. */
static void the_log_leaves_all_else_alone(void **state)
{
	b.vm.major = 7;
	b.vm.minor = 8;
	RUN(PUSH(77), PUSH(0), OP(POP_LP), PUSH(0), PUSH(1), OP(LOG_LV),
	    PUSH(0), PUSH(1), OP(LOG_GV), OP(POP_LV_I), 0, 0, OP(EXIT));
	assert_int_equal(b.vm.major, 7);
	assert_int_equal(b.vm.minor, 8);
	assert_int_equal(b.lv[0], 77);
	assert_int_equal(b.vm.lp, 22);
}

static void every_item_is_the_last_one_for_a_while(void **state)
{
	u8 code[] = { PUSH(5), OP(LOG_I), 1,	   0,
		      PUSH(4), PUSH(0),	  OP(NOP), OP(EXIT) };
	u32 at = sizeof(code) - 2;

	vm_put(code, at - 8, (u64)b.text, 8);
	code[at] = OP(LOG_MRF);
	run(code, sizeof(code));
	assert_int_equal(b.vm.lp, 11 + 3 + 4);
	assert_int_equal(b.vm.plp, 11);
	code[at] = OP(LOG_STR);
	run(code, sizeof(code));
	assert_int_equal(b.vm.lp, 11 + 3 + 4);
	assert_int_equal(b.vm.plp, 11);
	/* And an address that cannot be read. */
	vm_put(code, at - 8, 8, 8);
	run(code, sizeof(code));
	assert_int_equal(b.vm.exception, DP_EX_INVALID_ADDR);
	assert_int_equal(b.vm.lp, 11 + 3 + 8);
	assert_int_equal(b.vm.plp, 11);
}

static void an_item_may_have_no_room_for_elements(void **state)
{
	b.vm.logmax = 3;
	RUN(PUSH(5), OP(LOG_I), 1, 0, OP(EXIT));
	assert_int_equal(b.vm.lp, 3);
	assert_true(b.vm.truncated);
	assert_int_equal(b.vm.log[0], DP_ITEM_ELEMENTS);
	assert_int_equal(b.vm.log[1] | b.vm.log[2], 0);
	RUN(PUSH(5), OP(LOG_I), 0, 0, OP(EXIT));
	assert_int_equal(b.vm.lp, 3);
	assert_false(b.vm.truncated);
	/* Nor for that it is one. */
	b.vm.logmax = 2;
	RUN(PUSH(5), OP(LOG_I), 0, 0, OP(EXIT));
	assert_int_equal(b.vm.lp, 0);
	assert_true(b.vm.truncated);
}

static void registers_come_and_go(void **state)
{
	b.regs.ax = 0x1122334455667788ull;
	b.regs.ip = 0x401000;
	RUN(OP(PUSH_R), 0x60, 0, OP(PUSH_R), 0x06, 0, OP(PUSH_U), 0x70, 0,
	    PUSH(-1), OP(POP_R), 0x08, 0, PUSH(5), OP(POP_U), 0x6f, 0, TOP(3));
	assert_int_equal(logged(0), 0x401000);
	assert_int_equal(logged(1), 0x55667788);
	assert_int_equal(logged(2), 0x1122334455667788ull);
	assert_int_equal(b.regs.cx, 0xffffffff);
	assert_int_equal(b.regs.r15, 5);
	RUN(OP(PUSH_TASK), OP(PUSH_PID), OP(PUSH_PROCID), OP(PUSH_WID), TOP(4));
	assert_int_equal(logged(0), (u64)-64);
	assert_true(logged(1) < 4096);
	assert_int_equal(logged(2), getpid());
	assert_int_equal(logged(3), (u64)__builtin_thread_pointer());
}

static void ends_are_told_apart(void **state)
{
	RUN(OP(ABORT));
	assert_int_equal(b.vm.end, DP_VM_ABORT);
	RUN(OP(REMOVE));
	assert_int_equal(b.vm.end, DP_VM_REMOVE);
	RUN(OP(SUSPEND));
	assert_int_equal(b.vm.end, DP_VM_SUSPEND);
	RUN(OP(EXIT_N), 3);
	assert_int_equal(b.vm.facility, 3);
	RUN(OP(EXIT_N), 4);
	assert_int_equal(b.vm.exception, DP_EX_INVALID_OPERAND);
	assert_int_equal(b.vm.parm[0], DP_VM_OPERAND_FACILITY);
	RUN(OP(SETMIN_I), 5, 0, PUSH(6), OP(SETMAJ), OP(EXIT));
	assert_int_equal(b.vm.minor, 5);
	assert_int_equal(b.vm.major, 6);
}

static int verify(const u8 *code, u32 len, u32 start)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, DP_ALLOW_ALL,
				       vm_tables };
	const char *why;
	u32 offset;

	return dp_vm_verify(code, len, &limits, &start, 1, &offset, &why);
}
#define REJECTED(...)                                                     \
	do {                                                              \
		static const u8 code[] = { __VA_ARGS__ };                 \
		assert_int_equal(verify(code, sizeof(code), 0), -EINVAL); \
	} while (0)

/* [defect 8] */
static void the_verifier_rejects(void **state)
{
	static const u8 good[] = { PUSH(1), OP(EXIT) };

	assert_int_equal(verify(good, sizeof(good), 0), 0);
	assert_int_equal(verify(good, sizeof(good), 1), -EINVAL);
	assert_int_equal(verify(good, sizeof(good), 10), -EINVAL);
	assert_int_equal(verify(good, 0, 0), -EINVAL);
	REJECTED(0x16, OP(EXIT));
	REJECTED(OP(NOP));
	REJECTED(OP(CALL), WORD(-9));
	REJECTED(OP(PUSH), 1, 2, 3);
	REJECTED(OP(JMP), WORD(1), OP(EXIT));
	REJECTED(OP(JMP), WORD(-8), OP(EXIT));
	REJECTED(OP(JMP), WORD(1ull << 40), OP(EXIT));
	REJECTED(OP(JMP), WORD(-10), OP(EXIT));
	REJECTED(OP(SX), WORD(1), OP(EXIT));
	REJECTED(OP(INC_LV_I), VM_VARS, 0, OP(EXIT));
	REJECTED(OP(PUSH_GV_I), 0, 1, OP(EXIT));
	REJECTED(OP(PUSH_R), 0x7f, 0, OP(EXIT));
	REJECTED(OP(PUSH_R), 0x90, 0, OP(EXIT));
	REJECTED(OP(PUSH_R), 0x24, 0, OP(EXIT));
	REJECTED(OP(POP_R), 0x80, 0, OP(EXIT));
	REJECTED(OP(POP_R), 0x67, 0, OP(EXIT));
	REJECTED(OP(POP_R), 0x00, 0, OP(EXIT));
	REJECTED(OP(POP_R), 0x72, 0, OP(EXIT));
}

static u32 try_image(const u8 *code, u32 len, u32 allow)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, allow, vm_tables };
	const struct dp_regs before = b.regs;
	u32 start = 0, offset;
	const char *why;

	vm_window.allow = allow;
	if (dp_vm_verify(code, len, &limits, &start, 1, &offset, &why))
		return 0;
	b.vm.code = code;
	b.vm.pc = 0;
	dp_vm_run(&b.vm);
	if (!vm_bench_intact(&b) || (!(allow & DP_ALLOW_REG) &&
				     memcmp(&before, &b.regs, sizeof(before))))
		fail_msg("image of %u bytes, allow %u", len, allow);
	return 1;
}

/* All that a file and its probe can say */
static void choose_limits(u64 *seed)
{
	u64 r = vm_random(seed);

	b.vm.stack_mask = r & 1 ? 31 : DP_VM_STACK - 1;
	b.vm.logmax = r & 0xe ? DP_VM_LOG : (u32)(r >> 8 & 63);
	b.vm.jmpmax = (u32)(r >> 16 & 255);
	b.vm.tracemax = r & 0x30 ? DP_VM_TRACES : (u32)(r >> 24 & 255);
	b.vm.heapmax = r & 0xc0 ? VM_HEAP : (u32)(r >> 32 & 255);
	b.vm.auto_trace = !(r >> 40 & 7);
	b.vm.ex_mask = r >> 43 & 1 ? DP_EX_MASK : (u16)(r >> 48);
	b.vm.resume = r >> 42 & 1 ? note_resume : NULL;
	if (!(r >> 44 & 15))
		memset(&b.globals, 0, sizeof(b.globals));
}

static void mutate(u8 *code, u32 len, u64 *seed)
{
	u32 n = 1 + (u32)(vm_random(seed) & 3);

	while (n--)
		code[vm_random(seed) % len] =
			vm_random(seed) & 1 ?
				vm_ops[vm_random(seed) % VM_NR_OPS].code :
				(u8)vm_random(seed);
}

static u32 anything(u8 *code, u64 *seed)
{
	u32 len = 1 + (u32)(vm_random(seed) & 31), i;

	for (i = 0; i < len; i++)
		code[i] = vm_random(seed) & 1 ?
				  vm_ops[vm_random(seed) % VM_NR_OPS].code :
				  (u8)(vm_random(seed) >> 8);
	code[len++] = OP(EXIT);
	return len;
}

/* Programs that are random but verified stay within their bounds; mutated ones, and bytes that are
 * any, are rejected or do so too. None writes what it has not asked for. */
static void random_programs_stay_inside(void **state)
{
	const char *rounds = getenv("VM_ROUNDS");
	u32 n = rounds ? (u32)atol(rounds) : 100000, len, i;
	u32 generated = 0, mutated = 0, any = 0;
	u64 seed = 0x9e3779b97f4a7c15ull;
	static u8 code[VM_CODE_MOST(64)];

	vm_window.at = (u8 *)b.text;
	vm_window.size = sizeof(b.text);
	for (i = 0; i < n; i++) {
		choose_limits(&seed);
		len = vm_generate(&b, code, 1 + i % 64, &seed);
		assert_int_equal(try_image(code, len, DP_ALLOW_ALL), 1);
		generated += try_image(code, len, vm_random(&seed) & 15);
		mutate(code, len, &seed);
		mutated += try_image(code, len, vm_random(&seed) & 15);
		len = anything(code, &seed);
		any += try_image(code, len, vm_random(&seed) & 15);
	}
	print_message(
		"# %u images: %u programs, of which %u ask for less, %u mutated, %u of any bytes; %lu writes, %lu ports\n",
		3 * n, n, generated, mutated, any, vm_window.writes,
		vm_window.ports);
	assert_true(generated > n / 20 && mutated > n / 100 && any > n / 200);
	assert_true(vm_window.writes > n / 100 && vm_window.ports > n / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup(f, setup)
		TEST(subtracts_from_the_top),
		TEST(divides),
		TEST(propagates_bits),
		TEST(shifts_and_rotates),
		TEST(loops_and_counts_jumps),
		TEST(jumps_do_not_pop),
		TEST(stops_at_its_budget),
		TEST(handlers_take_one_exception),
		TEST(calls_nest_32_deep),
		TEST(the_stack_is_a_circle),
		TEST(moves_things_on_the_stack),
		TEST(variables_have_bounds),
		TEST(memory_is_never_a_fault),
		TEST(logs_ranges_and_strings),
		TEST(the_log_pointer_only_goes_back),
		TEST(too_many_jumps_lead_to_the_handler),
		TEST(an_exit_does_not_resume),
		TEST(the_log_leaves_all_else_alone),
		TEST(every_item_is_the_last_one_for_a_while),
		TEST(an_item_may_have_no_room_for_elements),
		TEST(registers_come_and_go),
		TEST(ends_are_told_apart),
		TEST(the_verifier_rejects),
		TEST(random_programs_stay_inside),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("vm", tests, NULL, NULL);
}
