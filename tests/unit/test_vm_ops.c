// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_vm_ops: what each instruction of the machine does, one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include "vm_programs.h"
#include "port_hit.h"

#define NR(a) (sizeof(a) / sizeof((a)[0]))
#define OP(name) DP_OPCODE_##name
#define SHORT(v) (u8)(v), (u8)((u64)(v) >> 8)
#define WORD(v)                                                 \
	SHORT(v), SHORT((u64)(v) >> 16), SHORT((u64)(v) >> 32), \
		SHORT((u64)(v) >> 48)
#define PUSH(v) OP(PUSH), WORD(v)
#define TOP(n) OP(LOG_I), n, 0, OP(EXIT)
#define BIT63 (1ull << 63)

static struct vm_bench b;
static bool seen[256];
static u8 fxsaved[512];

static const u8 operand_size[] = {
	[DP_OPERAND_U8] = 1,   [DP_OPERAND_U16] = 2, [DP_OPERAND_S16] = 2,
	[DP_OPERAND_UL] = 8,   [DP_OPERAND_REL] = 8, [DP_OPERAND_REG] = 2,
	[DP_OPERAND_REGW] = 2, [DP_OPERAND_LV] = 2,  [DP_OPERAND_GV] = 2,
	[DP_OPERAND_AGG] = 2,
};
static const u8 operand_of[256] = {
#define OPERAND(code, name, operand, ...) [code] = DP_OPERAND_##operand,
	DP_OPS(OPERAND)
};

static void run(const u8 *code, u32 len)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, DP_ALLOW_ALL,
				       vm_tables };
	u32 start = 0, offset, at;
	const char *why;

	if (dp_vm_verify(code, len, &limits, &start, 1, &offset, &why))
		fail_msg("the verifier: %s at %u", why, offset);
	for (at = 0; at < len; at += 1 + operand_size[operand_of[code[at]]])
		seen[code[at]] = true;
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

/* A log of nothing but these elements. */
static void wrote(u8 token, const u64 *values, u32 n)
{
	u64 got;
	u32 i;

	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.vm.exception, 0);
	assert_int_equal(b.vm.lp, 3 + 8 * n);
	assert_int_equal(b.vm.log[0], token);
	assert_int_equal(b.vm.log[1], n);
	assert_int_equal(b.vm.log[2], 0);
	for (i = 0; i < n; i++) {
		memcpy(&got, b.vm.log + 3 + 8 * i, 8);
		assert_int_equal(got, values[i]);
	}
}
#define WROTE(token, ...)                                    \
	do {                                                 \
		static const u64 values[] = { __VA_ARGS__ }; \
		wrote(token, values, NR(values));            \
	} while (0)
#define LEFT(...) WROTE(DP_ITEM_ELEMENTS, __VA_ARGS__)
/* The same, after an exception that was handled */
#define LEFT_WITH(code, ...)                            \
	do {                                            \
		assert_int_equal(b.vm.exception, code); \
		b.vm.exception = 0;                     \
		LEFT(__VA_ARGS__);                      \
	} while (0)

static void raised(u16 code, u64 p1, u64 p2)
{
	assert_int_equal(b.vm.end, DP_VM_EXCEPTION);
	assert_int_equal(b.vm.exception, code);
	assert_int_equal(b.vm.parm[0], p1);
	assert_int_equal(b.vm.parm[1], p2);
}

static int setup(void **state)
{
	vm_bench_init(&b);
	return 0;
}

/* Below the result lies a 77, which nothing may touch. */
#define OF_TWO(op, next, top, result)                                 \
	do {                                                          \
		RUN(PUSH(77), PUSH(next), PUSH(top), OP(op), TOP(2)); \
		LEFT(result, 77);                                     \
	} while (0)
#define OF_ONE(op, n, top, result)                           \
	do {                                                 \
		RUN(PUSH(77), PUSH(top), OP(op), n, TOP(2)); \
		LEFT(result, 77);                            \
	} while (0)

/* [rows 283, 284, 296] */
static void arithmetic(void **state)
{
	OF_TWO(ADD, 5, 9, 14);
	OF_TWO(ADD, -1, 3, 2);
	OF_TWO(SUB, 5, 9, 4);
	OF_TWO(RSUB, 5, 9, -4ull);
	OF_TWO(MUL, 5, 9, 45);
	OF_TWO(MUL, -5, 9, -45ull);
	OF_TWO(MUL, 1ull << 40, 1ull << 24, 0);
	OF_TWO(AND, 0x0ff0, 0x3c3c, 0x0c30);
	OF_TWO(OR, 0x0ff0, 0x3c3c, 0x3ffc);
	OF_TWO(XOR, 0x0ff0, 0x3c3c, 0x33cc);
	RUN(PUSH(77), PUSH(0x0ff0), OP(NEG), TOP(2));
	LEFT(~0x0ff0ull, 77);
}

static void comparisons(void **state)
{
	OF_TWO(EQ, 5, 5, 1);
	OF_TWO(EQ, 5, 5 + (1ull << 32), 0);
	OF_TWO(EQ, -1, -1, 1);
	OF_TWO(LTU, 5, 9, 1);
	OF_TWO(LTU, 9, 5, 0);
	OF_TWO(LTU, 5, 5, 0);
	OF_TWO(LTU, -1, 5, 0);
	OF_TWO(LTU, 5, BIT63, 1);
	OF_TWO(LTS, 5, 9, 1);
	OF_TWO(LTS, 5, 5, 0);
	OF_TWO(LTS, -1, 5, 1);
	OF_TWO(LTS, 5, -1, 0);
	OF_TWO(LTS, BIT63, -1, 1);
	OF_TWO(LTS, 1, BIT63, 0);
}

static void division(void **state)
{
	RUN(PUSH(77), PUSH(-7), PUSH(2), OP(DIV), TOP(3));
	LEFT(0x7ffffffffffffffc, 1, 77);
	RUN(PUSH(77), PUSH(-7), PUSH(2), OP(IDIV), TOP(3));
	LEFT(-3ull, -1ull, 77);
	RUN(PUSH(BIT63), PUSH(-1), OP(DIV), TOP(2));
	LEFT(0, BIT63);
	RUN(PUSH(BIT63), PUSH(1), OP(IDIV), TOP(2));
	LEFT(BIT63, 0);
	RUN(PUSH(5), PUSH(-1), OP(IDIV), TOP(2));
	LEFT(-5ull, 0);
	RUN(PUSH(5), PUSH(0), OP(DIV), OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
	RUN(PUSH(5), PUSH(0), OP(IDIV), OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
	RUN(PUSH(BIT63), PUSH(-1), OP(IDIV), OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
}

static void shifts(void **state)
{
	OF_TWO(SHL, 4, 0x11, 0x110);
	OF_TWO(SHL, 63, 3, BIT63);
	OF_TWO(SHL, 64, 3, 0);
	OF_TWO(SHL, 0, 3, 3);
	OF_TWO(SHR, 4, 0x110, 0x11);
	OF_TWO(SHR, 63, BIT63, 1);
	OF_TWO(SHR, 64, BIT63, 0);
	OF_ONE(SHL_I, 4, 0x11, 0x110);
	OF_ONE(SHL_I, 63, 3, BIT63);
	OF_ONE(SHL_I, 64, 3, 0);
	OF_ONE(SHR_I, 4, 0x110, 0x11);
	OF_ONE(SHR_I, 63, BIT63, 1);
	OF_ONE(SHR_I, 64, BIT63, 0);
}

static void rotations(void **state)
{
	OF_TWO(ROL, 4, BIT63 | 1, 0x18);
	OF_TWO(ROL, 64, BIT63 | 1, BIT63 | 1);
	OF_TWO(ROL, 65, BIT63 | 1, 3);
	OF_TWO(ROR, 4, 0x18, BIT63 | 1);
	OF_TWO(ROR, 64, 0x18, 0x18);
	OF_TWO(ROR, 65, 3, BIT63 | 1);
	OF_ONE(ROL_I, 4, BIT63 | 1, 0x18);
	OF_ONE(ROL_I, 0, BIT63 | 1, BIT63 | 1);
	OF_ONE(ROR_I, 4, 0x18, BIT63 | 1);
	OF_ONE(ROR_I, 0, 0x18, 0x18);
}

/* Bit 8 is set in 0x5a5, and bit 7 is not. */
static void propagation(void **state)
{
	OF_ONE(PBL_I, 8, 0x5a5, ~0xffull | 0xa5);
	OF_ONE(PBL_I, 7, 0x5a5, 0x25);
	OF_ONE(PBR_I, 8, 0x5a5, 0x5ff);
	OF_ONE(PBR_I, 7, 0x5a5, 0x580);
	OF_ONE(PZL_I, 8, 0x5a5, 0xa5);
	OF_ONE(PZR_I, 8, 0x5a5, 0x580);
	OF_TWO(PBL, 0x5a5, 8, ~0xffull | 0xa5);
	OF_TWO(PBL, 0x5a5, 7, 0x25);
	OF_TWO(PBR, 0x5a5, 8, 0x5ff);
	OF_TWO(PBR, 0x5a5, 7, 0x580);
	OF_TWO(PZL, 0x5a5, 8, 0xa5);
	OF_TWO(PZR, 0x5a5, 8, 0x580);
	OF_ONE(PZL_I, 64, BIT63 | 5, BIT63 | 5);
	OF_ONE(PZR_I, 64, BIT63 | 5, BIT63);
	OF_ONE(PZL_I, 1, 7, 1);
	OF_ONE(PZR_I, 1, 7, 7);
	RUN(PUSH(1), PUSH(0), OP(PBR), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_BIT, 0);
	RUN(PUSH(1), OP(PZR_I), 65, OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_BIT, 65);
}

/* [row 298] */
static void the_stack(void **state)
{
	RUN(PUSH(1), PUSH(2), PUSH(3), OP(XCHG), TOP(3));
	LEFT(2, 3, 1);
	RUN(PUSH(1), PUSH(2), OP(DUP_I), 3, TOP(5));
	LEFT(2, 2, 2, 2, 1);
	RUN(PUSH(1), PUSH(2), OP(DUP_I), 0, TOP(2));
	LEFT(2, 1);
	RUN(PUSH(1), PUSH(2), PUSH(9), OP(DUP), TOP(4));
	LEFT(9, 9, 9, 1);
	RUN(PUSH(1), PUSH(2), PUSH(3), OP(ROS), 2, TOP(1));
	LEFT(1);
	RUN(PUSH(5), OP(RESTORE_TSP), OP(SAVE_TSP), OP(SAVE_SBP), TOP(2));
	LEFT(0, 5);
	RUN(PUSH(DP_VM_STACK + 6), OP(RESTORE_SBP), OP(SAVE_SBP), TOP(1));
	LEFT(6);
}

/* From the top: 40, 30, 20, 10. */
#define FOUR PUSH(10), PUSH(20), PUSH(30), PUSH(40)

static void relative_to_the_top(void **state)
{
	RUN(FOUR, OP(PUSH_TSP_I), SHORT(2), TOP(5));
	LEFT(20, 40, 30, 20, 10);
	RUN(FOUR, PUSH(2), OP(PUSH_TSP), TOP(5));
	LEFT(20, 40, 30, 20, 10);
	RUN(FOUR, OP(POP_TSP_I), SHORT(2), TOP(3));
	LEFT(30, 40, 10);
	RUN(FOUR, PUSH(1), PUSH(99), OP(POP_TSP), TOP(4));
	LEFT(40, 99, 20, 10);
	RUN(FOUR, OP(COPY_TSP_I), SHORT(2), TOP(4));
	LEFT(40, 30, 40, 10);
	RUN(FOUR, PUSH(3), OP(COPY_TSP), TOP(4));
	LEFT(40, 30, 20, 40);
}

/* The base is where the 20 is. */
#define BASED \
	PUSH(10), PUSH(20), OP(SAVE_TSP), OP(RESTORE_SBP), PUSH(30), PUSH(40)

static void relative_to_the_base(void **state)
{
	RUN(BASED, OP(PUSH_SBP_I), SHORT(1), TOP(1));
	LEFT(10);
	RUN(BASED, OP(PUSH_SBP_I), SHORT(-1), TOP(1));
	LEFT(30);
	RUN(BASED, PUSH(-2), OP(PUSH_SBP), TOP(5));
	LEFT(40, 40, 30, 20, 10);
	RUN(BASED, OP(POP_SBP_I), SHORT(1), TOP(3));
	LEFT(30, 20, 40);
	RUN(BASED, PUSH(0), PUSH(99), OP(POP_SBP), TOP(4));
	LEFT(40, 30, 99, 10);
	RUN(BASED, OP(COPY_SBP_I), SHORT(1), TOP(4));
	LEFT(40, 30, 20, 40);
	RUN(BASED, PUSH(0), OP(COPY_SBP), TOP(4));
	LEFT(40, 30, 40, 10);
}

static void variables_are(u64 l0, u64 l1, u64 g0, u64 g1)
{
	const u64 wanted[] = { l0, l1, 3, 4, g0, g1, 13, 14 };
	u32 i;

	for (i = 0; i < VM_VARS; i++) {
		assert_int_equal(b.lv[i], wanted[i]);
		assert_int_equal(b.gv[i], wanted[VM_VARS + i]);
	}
	for (i = 0; i < VM_VARS; i++) {
		b.lv[i] = 1 + i;
		b.gv[i] = 11 + i;
	}
}

static void variables(void **state)
{
	memcpy(b.lv, (u64[]){ 1, 2, 3, 4 }, sizeof(b.lv));
	memcpy(b.gv, (u64[]){ 11, 12, 13, 14 }, sizeof(b.gv));
	RUN(OP(PUSH_LV_I), SHORT(1), OP(PUSH_GV_I), SHORT(2), PUSH(3),
	    OP(PUSH_LV), PUSH(0), OP(PUSH_GV), TOP(4));
	LEFT(11, 4, 13, 2);
#define STORES(l0, l1, g0, g1, left, ...)           \
	do {                                        \
		RUN(PUSH(77), __VA_ARGS__, TOP(1)); \
		LEFT(left);                         \
		variables_are(l0, l1, g0, g1);      \
	} while (0)
	STORES(1, 50, 11, 12, 77, PUSH(50), OP(POP_LV_I), SHORT(1));
	STORES(1, 2, 11, 50, 77, PUSH(50), OP(POP_GV_I), SHORT(1));
	STORES(1, 50, 11, 12, 77, PUSH(1), PUSH(50), OP(POP_LV));
	STORES(1, 2, 11, 50, 77, PUSH(1), PUSH(50), OP(POP_GV));
	STORES(1, 50, 11, 12, 50, PUSH(50), OP(MOVE_LV_I), SHORT(1));
	STORES(1, 2, 11, 50, 50, PUSH(50), OP(MOVE_GV_I), SHORT(1));
	STORES(1, 50, 11, 12, 50, PUSH(50), PUSH(1), OP(MOVE_LV));
	STORES(1, 2, 11, 50, 50, PUSH(50), PUSH(1), OP(MOVE_GV));
	STORES(2, 2, 11, 12, 77, OP(INC_LV_I), SHORT(0));
	STORES(1, 2, 12, 12, 77, OP(INC_GV_I), SHORT(0));
	STORES(1, 3, 11, 12, 77, PUSH(1), OP(INC_LV));
	STORES(1, 2, 11, 13, 77, PUSH(1), OP(INC_GV));
	STORES(0, 2, 11, 12, 77, OP(DEC_LV_I), SHORT(0));
	STORES(1, 2, 10, 12, 77, OP(DEC_GV_I), SHORT(0));
	STORES(1, 1, 11, 12, 77, PUSH(1), OP(DEC_LV));
	STORES(1, 2, 11, 11, 77, PUSH(1), OP(DEC_GV));
}

#define NO_VARIABLE(kind, ...)                                                \
	do {                                                                  \
		RUN(__VA_ARGS__, OP(EXIT));                                   \
		raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_##kind, VM_VARS); \
	} while (0)

/* [defect 12] */
static void variables_that_are_not_there(void **state)
{
	b.vm.nr_gv = VM_VARS + 1;
	NO_VARIABLE(LV, PUSH(VM_VARS), OP(PUSH_LV));
	NO_VARIABLE(LV, PUSH(VM_VARS), PUSH(1), OP(POP_LV));
	NO_VARIABLE(LV, PUSH(VM_VARS), OP(MOVE_LV));
	NO_VARIABLE(LV, PUSH(VM_VARS), OP(INC_LV));
	NO_VARIABLE(LV, PUSH(VM_VARS), OP(DEC_LV));
	b.vm.nr_gv = VM_VARS;
	b.vm.nr_lv = VM_VARS + 1;
	NO_VARIABLE(GV, PUSH(VM_VARS), OP(PUSH_GV));
	NO_VARIABLE(GV, PUSH(VM_VARS), PUSH(1), OP(POP_GV));
	NO_VARIABLE(GV, PUSH(VM_VARS), OP(MOVE_GV));
	NO_VARIABLE(GV, PUSH(VM_VARS), OP(INC_GV));
	NO_VARIABLE(GV, PUSH(VM_VARS), OP(DEC_GV));
}

/* [row 294] */
static void logged_variables(void **state)
{
	memcpy(b.lv, (u64[]){ 1, 2, 3, 4 }, sizeof(b.lv));
	memcpy(b.gv, (u64[]){ 11, 12, 13, 14 }, sizeof(b.gv));
	RUN(PUSH(1), PUSH(2), OP(LOG_LV), OP(EXIT));
	WROTE(DP_ITEM_LV, 2, 3);
	RUN(PUSH(1), PUSH(2), OP(LOG_GV), OP(EXIT));
	WROTE(DP_ITEM_GV, 12, 13);
	RUN(PUSH(2), PUSH(2), OP(LOG_GV), OP(EXIT));
	WROTE(DP_ITEM_GV, 13, 14);
	RUN(PUSH(2), PUSH(3), OP(LOG_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, 4);
	assert_int_equal(b.vm.lp, 0);
	RUN(PUSH(4), PUSH(0), OP(LOG_LV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LV, 4);
	RUN(PUSH(9), PUSH(1), OP(LOG_LV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LV, 9);
	/* As many as fit; where not one does, none. */
	b.vm.logmax = 3 + 8 + 7;
	RUN(PUSH(1), PUSH(2), OP(LOG_LV), OP(EXIT));
	WROTE(DP_ITEM_LV, 2);
	assert_true(b.vm.truncated);
	b.vm.logmax = 2;
	RUN(PUSH(1), PUSH(2), OP(LOG_LV), OP(EXIT));
	assert_int_equal(b.vm.lp, 0);
	assert_true(b.vm.truncated);
}

static void logged_elements(void **state)
{
	RUN(FOUR, PUSH(2), OP(LOG), OP(EXIT));
	LEFT(40, 30);
	assert_false(b.vm.truncated);
	b.vm.logmax = 3 + 2 * 8;
	RUN(FOUR, OP(LOG_I), SHORT(2), OP(EXIT));
	LEFT(40, 30);
	assert_false(b.vm.truncated);
	/* What does not fit is gone from the stack all the same. */
	RUN(FOUR, OP(LOG_I), SHORT(3), OP(POP_LV_I), SHORT(0), OP(EXIT));
	LEFT(40, 30);
	assert_true(b.vm.truncated);
	assert_int_equal(b.lv[0], 10);
}

static void the_log_is_positioned(void **state)
{
	RUN(PUSH(5), OP(LOG_I), SHORT(1), PUSH(6), OP(LOG_I), SHORT(1),
	    OP(PUSH_LP), OP(PUSH_PLP), OP(POP_LV_I), SHORT(0), OP(POP_LV_I),
	    SHORT(1), OP(EXIT));
	assert_int_equal(b.lv[0], 11);
	assert_int_equal(b.lv[1], 22);
	/* To where it is; then back, and the last item with it. */
	RUN(PUSH(5), OP(LOG_I), SHORT(1), OP(PUSH_LP), OP(POP_LP), OP(PUSH_PLP),
	    OP(POP_LV_I), SHORT(0), PUSH(6), OP(LOG_I), SHORT(1), PUSH(4),
	    OP(POP_LP), OP(PUSH_PLP), OP(POP_LV_I), SHORT(1), OP(EXIT));
	assert_int_equal(b.vm.lp, 4);
	assert_int_equal(b.lv[0], 0);
	assert_int_equal(b.lv[1], 4);
	RUN(PUSH(5), OP(LOG_I), SHORT(1), PUSH(12), OP(POP_LP), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LP, 12);
	/* Each item begins where the one before it ended. */
	RUN(PUSH(0), PUSH(1), OP(LOG_LV), PUSH(0), PUSH(1), OP(LOG_GV),
	    OP(PUSH_PLP), OP(POP_LV_I), SHORT(0), OP(EXIT));
	assert_int_equal(b.lv[0], 11);
}

/* Two pages that are not there around one that is. */
static u8 *lone_page(void)
{
	u8 *p = mmap(NULL, 3 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);

	assert_ptr_not_equal(p, MAP_FAILED);
	assert_int_equal(mprotect(p + 4096, 4096, PROT_READ | PROT_WRITE), 0);
	return p + 4096;
}

static void lone_page_goes(u8 *page)
{
	munmap(page - 4096, 3 * 4096);
}

/* push ADDRESS [; push VALUE]; OP; log 1 */
static void with_address(u8 op, const void *addr, const u64 *value, bool logs)
{
	u8 code[32];
	u32 n = 0;

	n = vm_put(code, n, OP(PUSH), 1);
	n = vm_put(code, n, (u64)addr, 8);
	if (value) {
		n = vm_put(code, n, OP(PUSH), 1);
		n = vm_put(code, n, *value, 8);
	}
	n = vm_put(code, n, op, 1);
	if (logs) {
		n = vm_put(code, n, OP(LOG_I), 1);
		n = vm_put(code, n, 1, 2);
	}
	n = vm_put(code, n, OP(EXIT), 1);
	run(code, n);
}

static const u8 pushes[] = { OP(PUSH_MEM_U8), OP(PUSH_MEM_U16),
			     OP(PUSH_MEM_U32), OP(PUSH_MEM_U64) };
static const u8 pops[] = { OP(POP_MEM_U8), OP(POP_MEM_U16), OP(POP_MEM_U32),
			   OP(POP_MEM_U64) };

/* [row 303] */
static void memory_is_read(void **state)
{
	u8 *page = lone_page();
	u64 value = 0x8877665544332211ull;
	u32 i, safe;

	memset(page, 0xee, 4096);
	memcpy(page + 8, &value, 8);
	memcpy(page + 4088, &value, 8);
	for (safe = 0; safe < 2; safe++) {
		b.vm.safe_low = safe ? (u64)page : 0;
		b.vm.safe_high = safe ? (u64)page + 4096 : 0;
		for (i = 0; i < 4; i++) {
			u32 size = 1u << i;
			u64 mask = ~0ull >> (64 - 8 * size);
			u64 wanted = value & mask;

			with_address(pushes[i], page + 8, NULL, true);
			wrote(DP_ITEM_ELEMENTS, &wanted, 1);
			/* The very last bytes, and one more than those. */
			wanted = value >> (64 - 8 * size);
			with_address(pushes[i], page + 4096 - size, NULL, true);
			wrote(DP_ITEM_ELEMENTS, &wanted, 1);
			with_address(pushes[i], page + 4097 - size, NULL, true);
			raised(DP_EX_INVALID_ADDR, (u64)page + 4096, 0);
			with_address(pushes[i], page - 1, NULL, true);
			raised(DP_EX_INVALID_ADDR, (u64)page - 1, 0);
		}
	}
	lone_page_goes(page);
}

/* [row 300] */
static void memory_is_written(void **state)
{
	u8 *page = lone_page(), wanted[32];
	u64 value = 0x8877665544332211ull;
	u32 i;

	for (i = 0; i < 4; i++) {
		memset(page, 0xee, sizeof(wanted));
		memset(wanted, 0xee, sizeof(wanted));
		memcpy(wanted + 8, &value, 1u << i);
		with_address(pops[i], page + 8, &value, false);
		assert_int_equal(b.vm.end, DP_VM_EXIT);
		assert_memory_equal(page, wanted, sizeof(wanted));
	}
	mprotect(page, 4096, PROT_READ);
	for (i = 0; i < 4; i++) {
		with_address(pops[i], page + 8, &value, false);
		raised(DP_EX_INVALID_ADDR, (u64)page + 8, 0);
		with_address(pops[i], page + 4096, &value, false);
		raised(DP_EX_INVALID_ADDR, (u64)page + 4096, 0);
	}
	assert_memory_equal(page, wanted, sizeof(wanted));
	lone_page_goes(page);
}

static void verified(const u8 *addr, u64 r, u64 rw)
{
	with_address(OP(VFY_R), addr, NULL, true);
	wrote(DP_ITEM_ELEMENTS, &r, 1);
	with_address(OP(VFY_RW), addr, NULL, true);
	wrote(DP_ITEM_ELEMENTS, &rw, 1);
}

/* [row 297] [defect 14] */
static void memory_is_verified(void **state)
{
	u8 *page = lone_page(), before[4096];

	memset(page, 0x5c, 4096);
	memcpy(before, page, 4096);
	verified(page, 0, 0);
	verified(page + 4095, 0, 0);
	verified(page - 1, 1, 1);
	verified(page + 4096, 1, 1);
	mprotect(page, 4096, PROT_READ);
	verified(page, 0, 1);
	verified(page + 4095, 0, 1);
	assert_memory_equal(page, before, 4096);
	lone_page_goes(page);
}

/* push LENGTH; push ADDRESS; OP; exit */
static void log_text(u8 op, u64 len, const void *addr)
{
	u8 code[32];
	u32 n = 0;

	n = vm_put(code, n, OP(PUSH), 1);
	n = vm_put(code, n, len, 8);
	n = vm_put(code, n, OP(PUSH), 1);
	n = vm_put(code, n, (u64)addr, 8);
	n = vm_put(code, n, op, 1);
	n = vm_put(code, n, OP(EXIT), 1);
	run(code, n);
}

static void item_is(u8 token, u32 len, const void *bytes, bool cut)
{
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.vm.lp, 3 + len);
	assert_int_equal(b.vm.plp, 0);
	assert_int_equal(b.vm.log[0], token);
	assert_int_equal(b.vm.log[1] + 256 * b.vm.log[2], len);
	assert_memory_equal(b.vm.log + 3, bytes, len);
	assert_int_equal(b.vm.truncated, cut);
}

/* [defect 11] */
static void text_is_logged(void **state)
{
	u8 *page = lone_page();

	memset(page, 'x', 4096);
	log_text(OP(LOG_MRF), 300, page);
	item_is(DP_ITEM_RANGE, 300, page, false);
	log_text(OP(LOG_STR), 300, page);
	item_is(DP_ITEM_STRING, 300, page, false);
	strcpy((char *)page + 5, "");
	log_text(OP(LOG_MRF), 8, page);
	item_is(DP_ITEM_RANGE, 8, page, false);
	/* A string that ends is whole, however much was asked for. */
	b.vm.logmax = 3 + 20;
	log_text(OP(LOG_STR), 300, page);
	item_is(DP_ITEM_STRING, 5, page, false);
	log_text(OP(LOG_STR), 300, page + 5);
	item_is(DP_ITEM_STRING, 0, page, false);
	log_text(OP(LOG_MRF), 20, page);
	item_is(DP_ITEM_RANGE, 20, page, false);
	log_text(OP(LOG_MRF), 21, page);
	item_is(DP_ITEM_RANGE, 20, page, true);
	log_text(OP(LOG_STR), 21, page + 6);
	item_is(DP_ITEM_STRING, 20, page + 6, true);
	b.vm.logmax = 3;
	log_text(OP(LOG_MRF), 0, page);
	item_is(DP_ITEM_RANGE, 0, page, false);
	lone_page_goes(page);
}

static void a_fault_is_logged_where_there_is_room(void **state)
{
	u8 *page = lone_page();
	u64 bad = (u64)page + 4096;

	b.vm.logmax = 11;
	log_text(OP(LOG_MRF), 8, page + 4092);
	raised(DP_EX_INVALID_ADDR, bad, 0);
	assert_int_equal(b.vm.lp, 11);
	assert_memory_equal(b.vm.log, "\xff\x08\0", 3);
	assert_memory_equal(b.vm.log + 3, &bad, 8);
	assert_false(b.vm.truncated);
	with_address(OP(PUSH_MEM_U8), page + 4096, NULL, false);
	assert_int_equal(b.vm.lp, 11);
	assert_memory_equal(b.vm.log + 3, &bad, 8);
	b.vm.logmax = 10;
	log_text(OP(LOG_MRF), 7, page + 4092);
	raised(DP_EX_INVALID_ADDR, bad, 0);
	assert_int_equal(b.vm.lp, 0);
	assert_true(b.vm.truncated);
	lone_page_goes(page);
}

/* Each conditional jump over a negative, no and a positive number. */
#define JUMPS(op, value, taken)                                           \
	do {                                                              \
		RUN(PUSH(77), PUSH(value), OP(op), WORD(3), OP(INC_LV_I), \
		    SHORT(0), TOP(2));                                    \
		LEFT(value, 77);                                          \
		assert_int_equal(b.lv[0], !(taken));                      \
		assert_int_equal(b.vm.jumps, taken);                      \
		b.lv[0] = 0;                                              \
	} while (0)
#define JUMPS_AT(op, negative, zero, positive) \
	do {                                   \
		JUMPS(op, -1ull, negative);    \
		JUMPS(op, BIT63, negative);    \
		JUMPS(op, 0, zero);            \
		JUMPS(op, 1, positive);        \
	} while (0)

/* [row 316] */
static void jumps(void **state)
{
	JUMPS_AT(JLT, 1, 0, 0);
	JUMPS_AT(JLE, 1, 1, 0);
	JUMPS_AT(JGT, 0, 0, 1);
	JUMPS_AT(JGE, 0, 1, 1);
	JUMPS_AT(JZ, 0, 1, 0);
	JUMPS_AT(JNZ, 1, 0, 1);
	JUMPS_AT(JMP, 1, 1, 1);
	RUN(OP(NOP), PUSH(1), TOP(1));
	LEFT(1);
}

/* [row 293] [defect 9] */
static void loops(void **state)
{
	/* push 3; L: inc lv,0; loop L; log 2 */
	RUN(PUSH(77), PUSH(3), OP(INC_LV_I), SHORT(0), OP(LOOP), WORD(-12),
	    TOP(2));
	LEFT(0, 77);
	assert_int_equal(b.lv[0], 3);
	/* As many jumps as there may be, and not one more. */
	b.vm.jmpmax = 3;
	b.lv[0] = 0;
	RUN(OP(INC_LV_I), SHORT(0), OP(JMP), WORD(-12), OP(EXIT));
	raised(DP_EX_MAX_JMPS, 3, 0);
	assert_int_equal(b.lv[0], 4);
	b.lv[0] = 0;
	RUN(PUSH(9), OP(INC_LV_I), SHORT(0), OP(LOOP), WORD(-12), OP(EXIT));
	raised(DP_EX_MAX_JMPS, 3, 0);
	assert_int_equal(b.lv[0], 4);
	b.lv[0] = 0;
	RUN(OP(INC_LV_I), SHORT(0), OP(CALL), WORD(-12), OP(EXIT));
	raised(DP_EX_MAX_JMPS, 3, 0);
	/* And as many instructions. */
	b.vm.jmpmax = ~0u;
	b.lv[0] = 0;
	RUN(OP(INC_LV_I), SHORT(0), OP(JMP), WORD(-12), OP(EXIT));
	raised(DP_EX_MAX_JMPS, DP_VM_BUDGET, 1);
	assert_int_equal(b.lv[0], DP_VM_BUDGET / 2);
}

static void calls(void **state)
{
	/* base 5; call F; save sbp; log 2; exit; F: base 9; push 7; ret */
	RUN(PUSH(5), OP(RESTORE_SBP), OP(CALL), WORD(5), OP(SAVE_SBP), TOP(2),
	    PUSH(9), OP(RESTORE_SBP), PUSH(7), OP(RET));
	LEFT(5, 7);
	assert_int_equal(b.vm.depth, 0);
	/* In F the base is still the caller's. */
	RUN(PUSH(5), OP(RESTORE_SBP), OP(CALL), WORD(4), TOP(1), OP(SAVE_SBP),
	    OP(RET));
	LEFT(5);
}

static void ends(void **state)
{
	u8 n;

	for (n = 255; n; n = n == 16 ? 3 : n - 1) {
		const u8 code[] = { OP(EXIT_N), n };

		run(code, sizeof(code));
		assert_int_equal(b.vm.end, DP_VM_EXIT);
		assert_int_equal(b.vm.facility, n);
	}
	RUN(OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.vm.facility, 0);
	RUN(OP(EXIT_N), 0);
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_FACILITY, 0);
	RUN(OP(EXIT_N), 4);
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_FACILITY, 4);
	RUN(OP(EXIT_N), 15);
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_FACILITY, 15);
	assert_int_equal(b.vm.facility, 0);
	RUN(OP(ABORT));
	assert_int_equal(b.vm.end, DP_VM_ABORT);
	RUN(OP(REMOVE));
	assert_int_equal(b.vm.end, DP_VM_REMOVE);
	RUN(OP(SUSPEND));
	assert_int_equal(b.vm.end, DP_VM_SUSPEND);
}

static u16 resumed;

static void resume(struct dp_vm *vm, u16 minor)
{
	assert_ptr_equal(vm, &b.vm);
	resumed = minor;
}

static void codes(void **state)
{
	b.vm.major = 1;
	b.vm.minor = 2;
	RUN(OP(SETMIN_I), SHORT(0x305), OP(EXIT));
	assert_int_equal(b.vm.minor, 0x305);
	assert_int_equal(b.vm.major, 1);
	RUN(OP(SETMAJ_I), SHORT(0x406), OP(EXIT));
	assert_int_equal(b.vm.minor, 0x305);
	assert_int_equal(b.vm.major, 0x406);
	RUN(PUSH(77), PUSH(7), OP(SETMIN), PUSH(8), OP(SETMAJ), TOP(1));
	LEFT(77);
	assert_int_equal(b.vm.minor, 7);
	assert_int_equal(b.vm.major, 8);
	RUN(PUSH(77), PUSH(9), OP(RESUME), TOP(1));
	LEFT(77);
	b.vm.resume = resume;
	RUN(PUSH(77), PUSH(9), OP(RESUME), TOP(1));
	LEFT(77);
	assert_int_equal(resumed, 9);
}

static u32 externals;

/* Number 3 has two arguments, and number 4 cannot be called just now. */
static bool external(struct dp_vm *vm, struct dp_vm_call *call, bool make)
{
	assert_ptr_equal(vm, &b.vm);
	if (call->number != 3 && call->number != 4)
		return false;
	externals += make;
	call->nr = 2;
	call->value = call->args[0] * 10 + call->args[1];
	return !make || call->number == 3;
}

/* [row 252] */
static void functions(void **state)
{
	RUN(PUSH(5), PUSH(7), PUSH(3), OP(CALL_KMOD), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_CALL, 3);
	b.vm.external = external;
	RUN(PUSH(77), PUSH(5), PUSH(7), PUSH(3), OP(CALL_KMOD), TOP(2));
	LEFT(57, 77);
	assert_int_equal(externals, 1);
	RUN(PUSH(5), PUSH(7), PUSH(99), OP(CALL_KMOD), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_CALL, 99);
	assert_int_equal(externals, 1);
	RUN(PUSH(5), PUSH(7), PUSH(4), OP(CALL_KMOD), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_CALL, 4);
	assert_int_equal(externals, 2);
	b.vm.external = NULL;
}

#define FAULTS PUSH(1), PUSH(0), OP(DIV)

static void exceptions(void **state)
{
	/* sx H; fault; exit; H: push x; log 6 */
	RUN(OP(SX), WORD(20), FAULTS, OP(EXIT), OP(PUSH_X), TOP(6));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_memory_equal(b.vm.log + 3, ((u64[]){ 0x20, 0, 0, 0x20, 0, 0 }),
			    48);
	/* The number of a bit comes with it. */
	RUN(OP(SX), WORD(12), PUSH(1), OP(PBL_I), 65, OP(EXIT), OP(PUSH_X),
	    TOP(6));
	assert_memory_equal(b.vm.log + 3,
			    ((u64[]){ DP_EX_INVALID_OPERAND, DP_VM_OPERAND_BIT,
				      65, DP_EX_INVALID_OPERAND,
				      DP_VM_OPERAND_BIT, 65 }),
			    48);
	/* ux: no handler any more */
	RUN(OP(SX), WORD(21), OP(UX), FAULTS, OP(EXIT), OP(INC_LV_I), SHORT(0),
	    OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
	assert_int_equal(b.lv[0], 0);
}

static void exceptions_go_up(void **state)
{
	/* sx H; base 5; call F; exit; F: base 9; fault; ret;
	 * H: save sbp; log 4 */
	RUN(OP(SX), WORD(50), PUSH(5), OP(RESTORE_SBP), OP(CALL), WORD(1),
	    OP(EXIT), PUSH(9), OP(RESTORE_SBP), FAULTS, OP(RET), OP(SAVE_SBP),
	    TOP(4));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_memory_equal(b.vm.log + 3, ((u64[]){ 5, 0x20, 0, 0 }), 32);
	assert_int_equal(b.vm.depth, 0);
	/* sx H; call F; exit; F: sx G; fault; ret; G: push 3, 2, 1; rx;
	 * H: push x; log 3 */
	RUN(OP(SX), WORD(67), OP(CALL), WORD(1), OP(EXIT), OP(SX), WORD(20),
	    FAULTS, OP(RET), PUSH(3), PUSH(2), PUSH(1), OP(RX), OP(PUSH_X),
	    TOP(3));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_memory_equal(b.vm.log + 3, ((u64[]){ 1, 2, 3 }), 24);
	/* With nobody further up it is the end. */
	RUN(PUSH(30), PUSH(20), PUSH(0x10), OP(RX), OP(EXIT));
	raised(DP_EX_CALL_STACK_OVERFLOW, 20, 30);
}

static void set_registers(void)
{
	u64 i = 1;

	memset(&b.regs, 0, sizeof(b.regs));
#define FILL(number, name, field, half, writable) \
	if (!(half))                              \
		b.regs.field = 0x0123456789000000ull + 0x1111 * i++;
	DP_REGS(FILL)
	b.regs.cs = 0x33;
	b.regs.ss = 0x2b;
}

static void a_register(u16 number, u64 value, bool writable, const u64 *there,
		       u64 written)
{
	u8 code[] = { OP(PUSH_R), SHORT(number), OP(PUSH_U), SHORT(number),
		      TOP(2) };
	u8 set[] = { PUSH(-2ull), OP(POP_R), SHORT(number), OP(EXIT) };

	run(code, sizeof(code));
	wrote(DP_ITEM_ELEMENTS, ((u64[]){ value, value }), 2);
	if (!writable)
		return;
	run(set, sizeof(set));
	assert_int_equal(*there, written);
	set_registers();
	set[9] = OP(POP_U);
	run(set, sizeof(set));
	assert_int_equal(*there, written);
	set_registers();
}

/* [row 299] */
static void registers(void **state)
{
	u64 field;

	set_registers();
#define EACH(number, name, field_, half, writable)              \
	memcpy(&field, &b.regs.field_, 8);                      \
	a_register(number, half ? (u32)field : field, writable, \
		   (const u64 *)&b.regs.field_, half ? 0xfffffffe : -2ull);
	DP_REGS(EACH)
	a_register(DP_REG_CS, 0x33, false, NULL, 0);
	a_register(DP_REG_SS, 0x2b, false, NULL, 0);
	a_register(DP_REG_FS_BASE, (u64)__builtin_thread_pointer(), false, NULL,
		   0);
	a_register(DP_REG_GS_BASE, dp_port_gs_base(), false, NULL, 0);
	a_register(DP_REG_ORIG_RAX, ~0ull, false, NULL, 0);
}

/* The pattern's first eight bytes are uppermost. */
static void likes(void **state)
{
	static char text[] = "some text";
	u8 code[60], *at;
	u64 from = (u64)text, yes = 1, no = 0;
	u32 most, k;
	/* s*t, with a class of two ranges before the t */
	static const u8 pattern[] = { 's', DP_LIKE_MANY, DP_LIKE_OF, 2,	 'a',
				      'd', 'x',		 'x',	     't' };

	for (most = 8; most <= 9; most++)
		for (k = 0; k < 2; k++) {
			at = code;
			*at++ = OP(PUSH);
			memset(at, 0, 8);
			*at = pattern[8];
			at += 8;
			*at++ = OP(PUSH);
			memcpy(at, pattern, 8);
			at += 8;
			*at++ = OP(PUSH);
			memcpy(at, &from, 8);
			at += 8;
			*at++ = OP(PUSH);
			memset(at, 0, 8);
			*at = (u8)most;
			at += 8;
			*at++ = OP(LIKE);
			*at++ = 9;
			*at++ = !k;
			*at++ = OP(LOG_I);
			*at++ = 1;
			*at++ = 0;
			*at++ = OP(EXIT);
			run(code, (u32)(at - code));
			if (!k)
				wrote(DP_ITEM_ELEMENTS, most == 9 ? &yes : &no,
				      1);
			else if (most == 8)
				assert_int_equal(b.vm.parm[0], from + 8);
		}
}

/* As the compiler has it. What is no number stays none. */
static void widened(void **state)
{
	u64 seed = 7, got;
	u32 i, bits;

	for (i = 0; i < 20000; i++) {
		u8 code[] = { PUSH(0), OP(F64), TOP(1) };
		float narrow;
		double wide;

		bits = (u32)vm_random(&seed);
		/* Zeros, the least, all kinds of exponents */
		bits = i < 8	  ? i >> 1 | i << 31 :
		       i % 3 == 0 ? bits & 0x807fffff :
		       i % 3 == 1 ? bits | 0x7f800000 :
				    bits;
		memcpy(&narrow, &bits, sizeof(narrow));
		wide = (double)narrow;
		memcpy(code + 1, &bits, sizeof(bits));
		memset(code + 5, 0xa5, 4);
		run(code, sizeof(code));
		memcpy(&got, b.vm.log + 3, 8);
		if (narrow == narrow)
			assert_memory_equal(&got, &wide, 8);
		else
			assert_true(got << 1 > 0x7ffull << 53);
	}
}

/* As a processor saves them. */
static void save_vectors(const u64 *low, u8 *saved)
{
#define LOAD(n) "movq " #n "*8(%1), %%xmm" #n "\n"
	__asm__ volatile(LOAD(0) LOAD(1) LOAD(2) LOAD(3) LOAD(4) LOAD(5) LOAD(6)
				 LOAD(7) LOAD(8) LOAD(9) LOAD(10) LOAD(11)
					 LOAD(12) LOAD(13) LOAD(14)
						 LOAD(15) "fxsave (%0)"
			 :
			 : "r"(saved), "r"(low)
			 : "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#undef LOAD
}

/* The registers themselves are read by the agent's machine: tests/scenario/floats.sh. */
static void vectors(void **state)
{
	static u8 saved[512] __attribute__((aligned(16)));
	u64 low[DP_NR_XMM];
	u8 code[DP_NR_XMM * 3 + 4], at = 0;
	u32 i;

	for (i = 0; i < DP_NR_XMM; i++) {
		low[i] = (i + 1) * 0x0123456789abcull;
		code[at++] = DP_OPCODE_PUSH_R;
		code[at++] = (u8)(DP_REG_XMM + DP_NR_XMM - 1 - i);
		code[at++] = 0;
	}
	code[at++] = DP_OPCODE_LOG_I;
	code[at++] = DP_NR_XMM;
	code[at++] = 0;
	code[at++] = DP_OPCODE_EXIT;
	save_vectors(low, saved);
	b.vm.fpstate = (u64)saved;
	run(code, at);
	wrote(DP_ITEM_ELEMENTS, low, DP_NR_XMM);
	b.vm.fpstate = 0;
}

/* [rows 301, 302] */
static void facts(void **state)
{
	u32 cpu;
	u64 got;

	b.vm.told = 0x1234567890ab;
	b.vm.tid = 4711;
	RUN(OP(PUSH_TID), TOP(1));
	wrote(DP_ITEM_ELEMENTS, (u64[]){ 4711 }, 1);
	RUN(OP(PUSH_TOLD), TOP(1));
	wrote(DP_ITEM_ELEMENTS, &b.vm.told, 1);
	RUN(OP(PUSH_TASK), OP(PUSH_PID), OP(PUSH_WID), TOP(3));
	wrote(DP_ITEM_ELEMENTS,
	      ((u64[]){ -64ull, (u64)getpid(),
			(u64)__builtin_thread_pointer() }),
	      3);
	/* It may be moved between two looks, but not each time. */
	do {
		cpu = dp_port_cpu();
		RUN(OP(PUSH_PROCID), TOP(1));
		memcpy(&got, b.vm.log + 3, 8);
	} while (cpu != dp_port_cpu());
	assert_int_equal(got, cpu);
}

/* What a run leaves behind is none of the next one's. [defect 10] */
static void runs_begin_anew(void **state)
{
	b.vm.logmax = 12;
	RUN(PUSH(9), OP(RESTORE_SBP), PUSH(1), OP(LOG_I), SHORT(1), OP(LOG_I),
	    SHORT(9), OP(JMP), WORD(0), OP(SX), WORD(0), OP(EXIT_N), 2);
	assert_true(b.vm.truncated);
	RUN(PUSH(1), OP(PBL_I), 65, OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_BIT, 65);
	b.vm.logmax = DP_VM_LOG;
	RUN(OP(PUSH_X), OP(SAVE_SBP), OP(SAVE_TSP), OP(PUSH_LP), OP(PUSH_PLP),
	    TOP(7));
	LEFT(0, 0, DP_VM_STACK - 4, 0, 0, 0, 0);
	assert_int_equal(b.vm.facility, 0);
	assert_int_equal(b.vm.jumps, 0);
	assert_false(b.vm.truncated);
	assert_int_equal(b.vm.parm[0] | b.vm.parm[1], 0);
}

static u64 trace_word(u32 at)
{
	u64 v;

	assert_true(at + 8 <= b.vm.stp);
	memcpy(&v, b.traces + at, 8);
	return v;
}

static void exception_handlers(void **state)
{
	/* sx H; push 1; push 0; div; H: push x; log 6 */
	RUN(OP(SX), WORD(19), PUSH(1), PUSH(0), OP(DIV), OP(PUSH_X), TOP(6));
	LEFT_WITH(DP_EX_DIV_BY_ZERO, DP_EX_DIV_BY_ZERO, 0, 0, DP_EX_DIV_BY_ZERO,
		  0, 0);
	/* Unset again, it ends the program. */
	RUN(OP(SX), WORD(1), OP(UX), PUSH(1), PUSH(0), OP(DIV), OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
	/* One of its own, with what is on the stack, and no mask for it */
	b.vm.ex_mask = 0;
	RUN(OP(SX), WORD(28), PUSH(3), PUSH(2), PUSH(DP_EX_USER), OP(RX),
	    TOP(3));
	LEFT_WITH(DP_EX_USER, DP_EX_USER, 2, 3);
	/* What is masked out ends it in spite of the handler, or is nothing at all. */
	RUN(OP(SX), WORD(19), PUSH(1), PUSH(0), OP(DIV), OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
	assert_int_equal(b.vm.jumps, 0);
}

/* The entry of a handler counts as a jump; what has used up the jumps is handled once. [defect 9] */
static void handlers_are_jumps(void **state)
{
	b.vm.jmpmax = 0;
	RUN(OP(SX), WORD(19), PUSH(1), PUSH(0), OP(DIV), OP(EXIT));
	raised(DP_EX_MAX_JMPS, 0, 0);
	RUN(OP(SX), WORD(11), PUSH(1), OP(PBL_I), 65, OP(EXIT));
	raised(DP_EX_MAX_JMPS, 0, 0);
	RUN(OP(SX), WORD(9), OP(JMP), WORD(0), TOP(1));
	LEFT_WITH(DP_EX_MAX_JMPS, DP_EX_MAX_JMPS);
	/* H: sx H; jmp H */
	RUN(OP(SX), WORD(0), OP(SX), WORD(-9), OP(JMP), WORD(-18), OP(EXIT));
	raised(DP_EX_MAX_JMPS, 0, 0);
}

static void the_log_may_overflow_loudly(void **state)
{
	b.vm.logmax = 2;
	RUN(OP(SX), WORD(4), OP(LOG_I), SHORT(1), OP(EXIT), OP(ABORT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	b.vm.ex_mask |= DP_EX_LOG_OVERFLOW;
	RUN(OP(SX), WORD(4), OP(LOG_I), SHORT(1), OP(EXIT), OP(ABORT));
	assert_int_equal(b.vm.end, DP_VM_ABORT);
	assert_int_equal(b.vm.exception, DP_EX_LOG_OVERFLOW);
	assert_int_equal(b.vm.parm[0], 2);
}

/* Only who asks for it is told. */
static void the_stack_may_wrap_loudly(void **state)
{
	RUN(OP(ADD), OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	b.vm.ex_mask |= DP_EX_RPN_STACK_WRAP;
	RUN(PUSH(1), OP(ADD), OP(EXIT));
	raised(DP_EX_RPN_STACK_WRAP, 0, 0);
	RUN(PUSH(1), OP(ROS), 2, OP(EXIT));
	raised(DP_EX_RPN_STACK_WRAP, 0, 0);
	RUN(PUSH(1), PUSH(2), OP(ADD), OP(ROS), 1, OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	b.vm.stack_mask = 31;
	RUN(PUSH(1), OP(DUP_I), 31, OP(ROS), 32, OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	RUN(PUSH(1), OP(DUP_I), 31, PUSH(2), OP(EXIT));
	raised(DP_EX_RPN_STACK_WRAP, 0, 0);
	RUN(PUSH(1), OP(DUP_I), 32, OP(EXIT));
	raised(DP_EX_RPN_STACK_WRAP, 0, 0);
	RUN(OP(LOG_I), SHORT(300), OP(EXIT));
	raised(DP_EX_RPN_STACK_WRAP, 0, 0);
	RUN(PUSH(20), OP(RESTORE_TSP), OP(ROS), 12, OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	RUN(PUSH(20), OP(RESTORE_TSP), OP(ROS), 13, OP(EXIT));
	raised(DP_EX_RPN_STACK_WRAP, 0, 0);
}

/* [defect 10] */
static void stack_traces(void **state)
{
	b.lv[1] = 0x1111;
	b.lv[2] = 0x2222;
	b.gv[0] = 0x3333;
	/* call F; exit; F: push 1; push 2; trace lv; push 0; push 1; trace gv; push 0x55;
	 * push -1 … trace pv; log st; ret */
	RUN(OP(CALL), WORD(1), OP(EXIT), PUSH(1), PUSH(2), OP(TRACE_LV),
	    PUSH(0), PUSH(1), OP(TRACE_GV), PUSH(0x55), PUSH(-1), PUSH(1),
	    OP(TRACE_PV), OP(LOG_ST), OP(RET));
	assert_int_equal(b.vm.stp, 32 + 3 + 16 + 3 + 8 + 3 + 16 + 3 + 8);
	assert_int_equal(trace_word(0), 0);
	assert_int_equal(trace_word(8), ~0ull);
	assert_int_equal(b.traces[32], DP_ITEM_FRAMES);
	assert_int_equal(b.traces[33], 1);
	assert_int_equal(trace_word(35), 10);
	assert_int_equal(trace_word(43), 9);
	assert_int_equal(b.traces[51], DP_ITEM_STACK);
	assert_int_equal(trace_word(54), 0x55);
	assert_int_equal(b.traces[62], DP_ITEM_LV);
	assert_int_equal(b.traces[63], 2);
	assert_int_equal(trace_word(65), 0x1111);
	assert_int_equal(trace_word(73), 0x2222);
	assert_int_equal(b.traces[81], DP_ITEM_GV);
	assert_int_equal(trace_word(84), 0x3333);
	/* Of its own frame a handler shows nothing; what is purged is gone. */
	RUN(OP(LOG_ST), OP(PURGE_ST), OP(LOG_ST), OP(PUSH_STP), TOP(1));
	LEFT(35);
	RUN(OP(LOG_ST), PUSH(5), OP(POP_STP), OP(PUSH_STP), TOP(1));
	LEFT(5);
	RUN(OP(LOG_ST), PUSH(36), OP(POP_STP), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LP, 36);
	RUN(PUSH(VM_VARS), PUSH(1), OP(TRACE_LV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LV, VM_VARS);
	RUN(PUSH(1), PUSH(VM_VARS), OP(TRACE_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, VM_VARS);
}

/* [defect 11] */
static void stack_traces_have_their_room(void **state)
{
	b.vm.tracemax = 69;
	RUN(OP(LOG_ST), OP(LOG_ST), OP(EXIT));
	assert_int_equal(b.vm.stp, 35);
	assert_true(b.vm.truncated);
	b.vm.ex_mask |= DP_EX_LOG_OVERFLOW;
	RUN(OP(LOG_ST), OP(LOG_ST), OP(EXIT));
	raised(DP_EX_LOG_OVERFLOW, 69, 0);
	b.vm.auto_trace = true;
	RUN(PUSH(1), PUSH(0), OP(DIV), OP(EXIT));
	raised(DP_EX_DIV_BY_ZERO, 0, 0);
	assert_int_equal(trace_word(0), DP_EX_DIV_BY_ZERO);
	assert_false(b.vm.truncated);
	b.vm.tracemax = 0;
	RUN(PUSH(1), PUSH(0), OP(DIV), OP(EXIT));
	assert_int_equal(b.vm.stp, 0);
	assert_true(b.vm.truncated);
	/* All the variables that there are, in all frames, are too many. */
	b.vm.auto_trace = false;
	b.vm.tracemax = DP_VM_TRACES;
	RUN(OP(CALL), WORD(0), PUSH(0), PUSH(~0ull), OP(TRACE_PV), OP(LOG_ST),
	    OP(EXIT));
	raised(DP_EX_LOG_OVERFLOW, DP_VM_TRACES, 0);
}

static void the_heap(void **state)
{
	/* Two blocks; bytes go in and out upwards. */
	RUN(PUSH(5), OP(MALLOC), PUSH(8), OP(MALLOC), TOP(2));
	LEFT(24, 8);
	RUN(PUSH(0x1122), PUSH(0x3344), PUSH(4), OP(MALLOC), OP(PUSH_TSP_I),
	    SHORT(0), OP(POP_LV_I), SHORT(0), PUSH(0), OP(POPH_U16), SHORT(2),
	    OP(PUSH_LV_I), SHORT(0), PUSH(0), OP(PUSHH_U8), SHORT(4), TOP(4));
	LEFT(0x11, 0x22, 0x33, 0x44);
	RUN(PUSH(-2), PUSH(8), OP(MALLOC), OP(PUSH_TSP_I), SHORT(0),
	    OP(POP_LV_I), SHORT(0), PUSH(0), OP(POPH_U64), SHORT(1),
	    OP(PUSH_LV_I), SHORT(0), PUSH(4), OP(PUSHH_U32), SHORT(1), TOP(1));
	LEFT(0xffffffff);
	RUN(PUSH(-2), PUSH(8), OP(MALLOC), OP(POP_LV_I), SHORT(0),
	    OP(PUSH_LV_I), SHORT(0), PUSH(7), OP(POPH_U8), SHORT(1),
	    OP(PUSH_LV_I), SHORT(0), PUSH(0), OP(PUSHH_U64), SHORT(1),
	    OP(PUSH_LV_I), SHORT(0), PUSH(6), OP(PUSHH_U16), SHORT(1), TOP(1));
	assert_int_equal(b.vm.log[3 + 1], 0xfe);
	/* Two of eight bytes are two. */
	RUN(PUSH(0x1111), PUSH(0x2222), PUSH(16), OP(MALLOC), OP(PUSH_TSP_I),
	    SHORT(0), OP(POP_LV_I), SHORT(0), PUSH(0), OP(POPH_U64), SHORT(2),
	    OP(PUSH_LV_I), SHORT(0), PUSH(0), OP(PUSHH_U64), SHORT(2), TOP(2));
	LEFT(0x1111, 0x2222);
	/* Both widths that have not been used yet */
	RUN(PUSH(9), PUSH(4), OP(MALLOC), OP(POP_LV_I), SHORT(0), OP(PUSH_LV_I),
	    SHORT(0), PUSH(0), OP(POPH_U32), SHORT(1), OP(EXIT));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
}

/* [defect 12] */
static void the_heap_has_bounds(void **state)
{
	RUN(PUSH(4), OP(MALLOC), PUSH(4), OP(PUSHH_U8), SHORT(1), OP(EXIT));
	raised(DP_EX_HEAP_INVALID_OFFSET, 8, 4);
	RUN(PUSH(4), OP(MALLOC), PUSH(1), OP(PUSHH_U32), SHORT(1), OP(EXIT));
	raised(DP_EX_HEAP_INVALID_OFFSET, 8, 1);
	RUN(PUSH(4), OP(MALLOC), PUSH(-1), OP(POPH_U8), SHORT(1), OP(EXIT));
	raised(DP_EX_HEAP_INVALID_OFFSET, 8, ~0ull);
	RUN(PUSH(4), OP(MALLOC), PUSH(0), OP(PUSHH_U64), SHORT(0xffff),
	    OP(EXIT));
	raised(DP_EX_HEAP_INVALID_OFFSET, 8, 0);
	RUN(PUSH(16), PUSH(3), OP(PUSHH_U8), SHORT(1), OP(EXIT));
	raised(DP_EX_HEAP_INVALID_HANDLE, 16, 3);
	/* A handle inside a block, where the program has put what looks like a head */
	RUN(PUSH(0x1000000010), PUSH(64), OP(MALLOC), PUSH(0), OP(POPH_U64),
	    SHORT(1), PUSH(16), OP(FREE), OP(EXIT));
	raised(DP_EX_HEAP_INVALID_HANDLE, 16, 0);
	RUN(PUSH(4), OP(MALLOC), OP(DUP_I), 1, OP(FREE), OP(FREE), OP(EXIT));
	raised(DP_EX_HEAP_INVALID_HANDLE, 8, 0);
	RUN(PUSH(VM_HEAP - 8), OP(MALLOC), PUSH(0), OP(MALLOC), OP(EXIT));
	raised(DP_EX_HEAP_NOMEM, 0, 0);
	RUN(PUSH(VM_HEAP - 7), OP(MALLOC), OP(EXIT));
	raised(DP_EX_HEAP_NOMEM, VM_HEAP - 7, 0);
	RUN(PUSH(1ull << 40), OP(MALLOC), OP(EXIT));
	raised(DP_EX_HEAP_NOMEM, 1ull << 40, 0);
	RUN(OP(SX), WORD(11), PUSH(1ull << 40), OP(MALLOC), OP(EXIT), TOP(3));
	LEFT_WITH(DP_EX_HEAP_NOMEM, DP_EX_HEAP_NOMEM, 1ull << 40, 0);
	b.vm.heapmax = 0;
	RUN(PUSH(0), OP(MALLOC), OP(EXIT));
	raised(DP_EX_HEAP_NOMEM, 0, 0);
}

/* Room is used again: neighbours are merged, and what is too much is another block. */
static void the_heap_is_used_again(void **state)
{
	/* What has been in it is gone. */
	memset(b.heap, 0xa5, sizeof(b.heap));
	RUN(PUSH(16), OP(MALLOC), PUSH(0), OP(PUSHH_U64), SHORT(2), TOP(2));
	LEFT(0, 0);
	/* Three blocks of 16; the first two go; one of 40 fits there. */
	RUN(PUSH(16), OP(MALLOC), PUSH(16), OP(MALLOC), PUSH(16), OP(MALLOC),
	    OP(ROS), 1, OP(FREE), OP(FREE), PUSH(40), OP(MALLOC), PUSH(8),
	    OP(MALLOC), TOP(2));
	LEFT(80, 8);
	/* A block of 8 leaves room for another one of 8. */
	RUN(PUSH(40), OP(MALLOC), PUSH(8), OP(MALLOC), OP(ROS), 1, OP(FREE),
	    PUSH(8), OP(MALLOC), PUSH(16), OP(MALLOC), TOP(2));
	LEFT(24, 8);
	/* All of it, again and again: L: malloc, free; loop L */
	RUN(PUSH(100), PUSH(VM_HEAP - 8), OP(MALLOC), OP(FREE), OP(LOOP),
	    WORD(-20), TOP(1));
	LEFT(0);
}

/* A walk over many blocks takes the time of many instructions. */
static void long_instructions_cost_more(void **state)
{
	u8 code[1 + 8 + 2 * 1 + 9 + 1], at = 0, i;
	static u8 heap[DP_VM_HEAP];

	b.vm.heap = heap;
	b.vm.heapmax = sizeof(heap);
	/* L: push 0; malloc; jmp L */
	code[at++] = OP(PUSH);
	for (i = 0; i < 8; i++)
		code[at++] = 0;
	code[at++] = OP(MALLOC);
	code[at++] = OP(JMP);
	vm_put(code, at, (u64)-19, 8);
	run(code, at + 8);
	raised(DP_EX_HEAP_NOMEM, 0, 0);
	assert_true(DP_VM_BUDGET - b.vm.budget > 3 * sizeof(heap) / 16 + 10000);
	b.vm.heap = b.heap;
}

static void globals_are_allocated(void **state)
{
	RUN(PUSH(2), OP(ALLOC_GV), OP(DUP_I), 1, OP(POP_LV_I), SHORT(0),
	    PUSH(7), OP(POP_GV), OP(PUSH_LV_I), SHORT(0), OP(INC_GV),
	    OP(PUSH_LV_I), SHORT(0), OP(PUSH_GV), OP(PUSH_LV_I), SHORT(0),
	    TOP(2));
	LEFT(DP_VM_GLOBALS, 8);
	/* They outlive the hit; the next block lies behind. */
	RUN(PUSH(1), OP(ALLOC_GV), PUSH(DP_VM_GLOBALS), OP(PUSH_GV), TOP(2));
	LEFT(8, DP_VM_GLOBALS + 2);
	RUN(PUSH(DP_VM_GLOBALS), OP(FREE_GV), OP(FREE_GV_I),
	    SHORT(DP_VM_GLOBALS + 2), PUSH(DP_VM_GLOBALS), OP(ALLOC_GV),
	    OP(PUSH_GV), TOP(1));
	LEFT(0);
	RUN(PUSH(1), OP(ALLOC_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, 1);
	RUN(PUSH(DP_VM_GLOBALS + 1), OP(FREE_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, DP_VM_GLOBALS + 1);
	RUN(OP(FREE_GV_I), SHORT(DP_VM_GLOBALS), OP(FREE_GV_I),
	    SHORT(DP_VM_GLOBALS), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, DP_VM_GLOBALS);
	RUN(PUSH(DP_VM_GLOBALS), OP(PUSH_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, DP_VM_GLOBALS);
	RUN(PUSH(0), OP(ALLOC_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, 0);
	RUN(PUSH(DP_VM_GLOBALS + 1), OP(ALLOC_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, DP_VM_GLOBALS + 1);
	b.vm.globals = NULL;
	RUN(PUSH(1), OP(ALLOC_GV), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, 1);
}

/* [row 305] Where the kernel does not give the right, as in most places. */
static void ports(void **state)
{
	static const u8 in[] = { OP(PUSH_IO_U8), OP(PUSH_IO_U16),
				 OP(PUSH_IO_U32) };
	bool may = !access("/dev/port", R_OK | W_OK);
	u8 code[] = { PUSH(0x61), 0, OP(EXIT) };
	u32 i;

	for (i = 0; i < NR(in); i++) {
		code[9] = in[i];
		run(code, sizeof(code));
		if (!may || b.vm.end != DP_VM_EXIT)
			raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_PORT, 0x61);
	}
	/* Beyond the last port there is none. */
	RUN(PUSH(0xffff), PUSH(1), OP(POP_IO_U16), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_PORT, 0xffff);
	RUN(PUSH(0x10000), PUSH(1), OP(POP_IO_U8), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_PORT, 0x10000);
	RUN(PUSH(0xfffd), PUSH(1), OP(POP_IO_U32), OP(EXIT));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_PORT, 0xfffd);
}

static void segments(void **state)
{
	RUN(OP(PUSH_R), SHORT(DP_REG_DS), PUSH(0x1234), OP(SEG2LIN), TOP(1));
	LEFT(0x1234);
	RUN(PUSH(0x33), PUSH(7), OP(SEG2LIN), TOP(1));
	LEFT(7);
	RUN(PUSH(0x2b), PUSH(~0ull), OP(SEG2LIN), TOP(1));
	LEFT(~0ull);
	/* The kernel's, none at all, one of a table that only the kernel reads */
	RUN(PUSH(0x10), PUSH(7), OP(SEG2LIN), OP(EXIT));
	raised(DP_EX_SEG_FAULT, 0x10, 0);
	RUN(PUSH(0x1002b), PUSH(7), OP(SEG2LIN), OP(EXIT));
	raised(DP_EX_SEG_FAULT, 0x1002b, 0);
	RUN(PUSH(0x2f), PUSH(7), OP(SEG2LIN), OP(EXIT));
	raised(DP_EX_SEG_FAULT, 0x2f, 0);
}

/* The selector is in the log, if there is room. Nothing of it is where the program goes on. */
static void bad_segments_are_logged(void **state)
{
	RUN(PUSH(0x10), PUSH(7), OP(SEG2LIN), OP(EXIT));
	assert_int_equal(b.vm.lp, 11);
	assert_memory_equal(b.vm.log, "\xfe\x08\0\x10\0\0\0\0\0\0\0", 11);
	b.vm.logmax = 10;
	RUN(PUSH(0x10), PUSH(7), OP(SEG2LIN), OP(EXIT));
	assert_int_equal(b.vm.lp, 0);
	assert_true(b.vm.truncated);
	b.vm.logmax = DP_VM_LOG;
	RUN(OP(SX), WORD(20), PUSH(0x10), PUSH(7), OP(SEG2LIN), OP(EXIT),
	    TOP(2));
	LEFT_WITH(DP_EX_SEG_FAULT, DP_EX_SEG_FAULT, 0x10);
}

/* That one bad address has been handled is no matter for the next one. */
static void each_fault_is_logged_once(void **state)
{
	RUN(OP(SX), WORD(20), PUSH(4), PUSH(8), OP(LOG_MRF), OP(EXIT), PUSH(16),
	    OP(PUSH_MEM_U8), OP(EXIT));
	raised(DP_EX_INVALID_ADDR, 16, 0);
	assert_int_equal(b.vm.lp, 22);
	assert_memory_equal(b.vm.log, "\xff\x08\0\x08", 4);
	assert_memory_equal(b.vm.log + 11, "\xff\x08\0\x10", 4);
	RUN(PUSH(4), PUSH(8), OP(LOG_MRF), OP(EXIT));
	assert_int_equal(b.vm.lp, 11);
}

static void floating_point_registers(void **state)
{
	double two = 2.5;
	u64 low = 1ull << 63 | 1ull << 61, v[2];
	u32 mxcsr, i;
	u16 fcw;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstcw %0" : "=m"(fcw));
	RUN(OP(PUSH_R), SHORT(DP_REG_MXCSR), OP(PUSH_U), SHORT(DP_REG_FCW),
	    TOP(2));
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	memcpy(v, b.vm.log + 3, 16);
	assert_int_equal(v[0], fcw);
	assert_int_equal(v[1] & 0xffc0, mxcsr & 0xffc0);
	/* What is on the x87's stack is there afterwards, too. */
	__asm__ volatile("fldl %0" : : "m"(two));
	RUN(OP(PUSH_R), SHORT(DP_REG_FR0), OP(PUSH_R), SHORT(DP_REG_FTW),
	    TOP(3));
	__asm__ volatile("fstpl %0" : "=m"(two));
	assert_true(two == 2.5);
	memcpy(&low, b.vm.log + 3 + 8, 8);
	assert_int_equal(low, 1ull << 63 | 1ull << 61);
	memcpy(v, b.vm.log + 3, 8);
	assert_int_equal(v[0], 1 << 7);
	/* In a trap, the kernel has them. */
	memset(fxsaved, 0, sizeof(fxsaved));
	for (i = 0; i < 512; i++)
		fxsaved[i] = (u8)(i * 7);
	b.vm.fpstate = (u64)fxsaved;
	RUN(OP(PUSH_R), SHORT(DP_REG_FR0 + 7), OP(PUSH_R),
	    SHORT(DP_REG_WHOLE_XMM0 + 1), OP(PUSH_R),
	    SHORT(DP_REG_WHOLE_XMM8 + 7), TOP(6));
	assert_memory_equal(b.vm.log + 3, fxsaved + 160 + 15 * 16, 16);
	assert_memory_equal(b.vm.log + 3 + 16, fxsaved + 160 + 16, 16);
	assert_memory_equal(b.vm.log + 3 + 32, fxsaved + 32 + 7 * 16, 10);
	RUN(OP(PUSH_R), SHORT(DP_REG_FSW), OP(PUSH_R), SHORT(DP_REG_FIP),
	    OP(PUSH_R), SHORT(DP_REG_FDP), OP(PUSH_R), SHORT(DP_REG_MXCSR),
	    OP(PUSH_R), SHORT(DP_REG_FCS), OP(PUSH_R), SHORT(DP_REG_FDS),
	    OP(PUSH_R), SHORT(DP_REG_FTW), TOP(7));
	assert_int_equal(b.vm.log[3], fxsaved[4]);
	assert_memory_equal(b.vm.log + 3 + 3 * 8, fxsaved + 24, 4);
	assert_memory_equal(b.vm.log + 3 + 4 * 8, fxsaved + 16, 4);
	assert_memory_equal(b.vm.log + 3 + 5 * 8, fxsaved + 8, 4);
	assert_memory_equal(b.vm.log + 3 + 6 * 8, fxsaved + 2, 2);
	b.vm.fpstate = 0;
	RUN(PUSH(0), OP(PUSH_R), SHORT(DP_REG_CPUID), TOP(4));
	assert_int_equal(b.vm.lp, 35);
}

static void refused(const char *wanted, u32 at, const u8 *code, u32 len,
		    u32 start)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS - 1, DP_ALLOW_ALL,
				       vm_tables };
	const char *why = "";
	u32 offset = ~0u;

	assert_int_equal(dp_vm_verify(code, len, &limits, &start, 1, &offset,
				      &why),
			 -EINVAL);
	assert_string_equal(why, wanted);
	assert_int_equal(offset, at);
}
/* [row 252] */
static void calls_are_asked_for(void **state)
{
	static const u8 code[] = { PUSH(1), OP(CALL_KMOD), OP(EXIT) };
	struct dp_vm_limits limits = { 0, 0, DP_ALLOW_ALL & ~DP_ALLOW_CALL,
				       vm_tables };
	const char *why = "";
	u32 offset = ~0u, start = 0;

	assert_int_equal(dp_vm_verify(code, sizeof(code), &limits, &start, 1,
				      &offset, &why),
			 -EINVAL);
	assert_int_equal(offset, 9);
	limits.allow = DP_ALLOW_CALL;
	assert_int_equal(dp_vm_verify(code, sizeof(code), &limits, &start, 1,
				      &offset, &why),
			 0);
}

/* What was kept last, and in which table; no words: lost */
static struct {
	u64 words[VM_TABLE_WORDS];
	u32 table, kept, lost;
} kept;

static void keep(u32 table, const u64 *first)
{
	u32 i;

	kept.table = table;
	kept.kept += first != NULL;
	kept.lost += !first;
	for (i = 0; first && i < VM_TABLE_WORDS; i++)
		kept.words[i] = *(first - i);
}

static void tables(void **state)
{
	memset(&kept, 0, sizeof(kept));
	b.vm.aggregate = keep;
	RUN(PUSH(77), PUSH(1), PUSH(2), PUSH(3), OP(AGGREGATE),
	    SHORT(VM_AGGREGATE | 5), TOP(1));
	LEFT(77);
	assert_int_equal(kept.kept, 1);
	assert_int_equal(kept.table, 5);
	assert_int_equal(kept.words[0], 1);
	assert_int_equal(kept.words[2], 3);
	RUN(PUSH(77), OP(AGGREGATE), SHORT(VM_AGGREGATE | DP_AGGREGATE_LOSES),
	    TOP(1));
	LEFT(77);
	/* The words would be in two places. */
	RUN(PUSH(77), OP(AGGREGATE), SHORT(VM_AGGREGATE), TOP(1));
	LEFT(77);
	assert_int_equal(kept.kept, 1);
	assert_int_equal(kept.lost, 2);
	b.vm.aggregate = NULL;
}

/* In code, words of a string, the first one on top: as it is logged */
static void text(const char *from, u64 most, u32 words)
{
	u8 code[] = { PUSH(0),	 PUSH(0), OP(PUSH_STR), SHORT(words), OP(LOG_I),
		      (u8)words, 0,	  OP(EXIT) };

	memcpy(code + 1, &from, sizeof(from));
	memcpy(code + 10, &most, sizeof(most));
	run(code, sizeof(code));
}

static void texts(void **state)
{
	static char page[2 * 4096] __attribute__((aligned(4096)));
	char *end = page + 4096;

	memset(page, 'x', sizeof(page));
	strcpy(page, "abcd");
	text(page, 16, 2);
	LEFT(0, 0x64636261);
	memcpy(page, "abcdefgh", 8);
	page[8] = '\0';
	text(page, 16, 2);
	LEFT(0, 0x6867666564636261);
	/* No more than so many, whatever follows */
	text(page, 4, 2);
	LEFT(0, 0x64636261);
	/* It ends before memory does, or it does not. */
	assert_int_equal(mprotect(end, 4096, PROT_NONE), 0);
	memcpy(end - 5, "abcd", 5);
	text(end - 5, 16, 2);
	LEFT(0, 0x64636261);
	end[-1] = 'x';
	text(end - 5, 16, 2);
	raised(DP_EX_INVALID_ADDR, (u64)end, 0);
	assert_int_equal(mprotect(end, 4096, PROT_READ | PROT_WRITE), 0);
}

static void names_of_threads(void **state)
{
	u64 name[2] = { 0 }, got;

	prctl(PR_SET_NAME, "a thread's name");
	prctl(PR_GET_NAME, name);
	RUN(OP(PUSH_COMM), TOP(2));
	memcpy(&got, b.vm.log + 3, 8);
	assert_int_equal(got, name[1]);
	memcpy(&got, b.vm.log + 11, 8);
	assert_int_equal(got, name[0]);
}

static u32 number_of_stack(struct dp_regs *regs)
{
	return regs == &b.regs ? 4712 : 0;
}

static void stacks(void **state)
{
	RUN(OP(PUSH_BACKTRACE), TOP(1));
	wrote(DP_ITEM_ELEMENTS, (u64[]){ 0 }, 1);
	b.vm.backtrace = number_of_stack;
	RUN(OP(PUSH_BACKTRACE), TOP(1));
	wrote(DP_ITEM_ELEMENTS, (u64[]){ 4712 }, 1);
	b.vm.backtrace = NULL;
}

static void entries(void **state)
{
	static const u64 log[] = { 11, 12 };

	b.vm.entered = (const u8 *)log;
	b.vm.entered_len = sizeof(log);
	RUN(OP(PUSH_ENTERED), SHORT(8), TOP(1));
	LEFT(12);
	RUN(OP(PUSH_ENTERED), SHORT(9), TOP(1));
	raised(DP_EX_INVALID_ADDR, 9, 0);
	b.vm.entered_len = 0;
}

/* Each key has turns of its own, until the table has no slot for another one. */
static void turns(void **state)
{
	u64 i;

	memset(b.lv, 0, sizeof(b.lv));
	for (i = 0; i < 3; i++) {
		RUN(PUSH(7), OP(TURN), SHORT(1), TOP(1));
		wrote(DP_ITEM_ELEMENTS, &i, 1);
	}
	RUN(PUSH(0xffffffff), OP(TURN), SHORT(1), TOP(1));
	LEFT(0);
	RUN(PUSH(9), OP(TURN), SHORT(1), TOP(1));
	LEFT(0);
	RUN(PUSH(7), OP(TURN), SHORT(1), TOP(1));
	LEFT(3);
	RUN(PUSH(8), OP(TURN), SHORT(1), TOP(1));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LV, 1);
	RUN(PUSH(0), OP(TURN), SHORT(0), TOP(1));
	raised(DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LV, 0);
	assert_int_equal(b.lv[0], 0);
	b.lv[VM_VARS - 1] = 7ull << 32 | 0xffffffff;
	RUN(PUSH(7), OP(TURN), SHORT(VM_VARS - 1), TOP(1));
	LEFT(0xffffffff);
	assert_int_equal(b.lv[VM_VARS - 1], 7ull << 32 | 0xffffffff);
}

static void leaves(void **state)
{
	RUN(PUSH(5), OP(LEAVE), TOP(1));
	assert_int_equal(b.vm.end, DP_VM_LEAVE);
}

#define REFUSED(why, at, ...)                             \
	do {                                              \
		static const u8 code[] = { __VA_ARGS__ }; \
		refused(why, at, code, sizeof(code), 0);  \
	} while (0)

static void refusals_say_what_and_where(void **state)
{
	static const u8 good[] = { OP(NOP), PUSH(1), OP(EXIT) };

	refused("no code", 0, good, 0, 0);
	refused("a handler that begins at no instruction", 2, good,
		sizeof(good), 2);
	refused("a handler that begins at no instruction", 11, good,
		sizeof(good), 11);
	REFUSED("no such instruction", 1, OP(NOP), 0x16, OP(EXIT));
	REFUSED("the operand is cut off", 1, OP(NOP), OP(PUSH), 1, 2, 3, 4, 5,
		6, 7);
	REFUSED("the end of the code is run off", 1, OP(NOP), PUSH(1));
	REFUSED("no such local variable", 1, OP(NOP), OP(PUSH_LV_I),
		SHORT(VM_VARS), OP(EXIT));
	REFUSED("no such global variable", 1, OP(NOP), OP(PUSH_GV_I),
		SHORT(VM_VARS - 1), OP(EXIT));
	REFUSED("no such register", 1, OP(NOP), OP(PUSH_R), SHORT(0x75),
		OP(EXIT));
	REFUSED("no register that can be written", 1, OP(NOP), OP(POP_R),
		SHORT(0x67), OP(EXIT));
	REFUSED("no such table", 1, OP(NOP), OP(AGGREGATE),
		SHORT(VM_AGGREGATE | DP_VM_AGGREGATES), OP(EXIT));
	REFUSED("as many words as a hit of the table has not", 1, OP(NOP),
		OP(AGGREGATE), SHORT(VM_AGGREGATE * 2), OP(EXIT));
	REFUSED("a jump that meets no instruction", 1, OP(NOP), OP(JMP),
		WORD(1), OP(EXIT));
}

/* Every instruction that can be run is run above. */
static void all_have_been_run(void **state)
{
	u32 i;

	for (i = 0; i < VM_NR_OPS; i++)
		if (!seen[vm_ops[i].code])
			fail_msg("no test of instruction %#x", vm_ops[i].code);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup(f, setup)
		TEST(arithmetic),
		TEST(comparisons),
		TEST(division),
		TEST(shifts),
		TEST(rotations),
		TEST(propagation),
		TEST(the_stack),
		TEST(relative_to_the_top),
		TEST(relative_to_the_base),
		TEST(variables),
		TEST(variables_that_are_not_there),
		TEST(logged_variables),
		TEST(logged_elements),
		TEST(the_log_is_positioned),
		TEST(memory_is_read),
		TEST(memory_is_written),
		TEST(memory_is_verified),
		TEST(text_is_logged),
		TEST(a_fault_is_logged_where_there_is_room),
		TEST(jumps),
		TEST(loops),
		TEST(calls),
		TEST(ends),
		TEST(codes),
		TEST(exceptions),
		TEST(exceptions_go_up),
		TEST(registers),
		TEST(likes),
		TEST(widened),
		TEST(vectors),
		TEST(facts),
		TEST(runs_begin_anew),
		TEST(exception_handlers),
		TEST(handlers_are_jumps),
		TEST(the_log_may_overflow_loudly),
		TEST(the_stack_may_wrap_loudly),
		TEST(stack_traces),
		TEST(stack_traces_have_their_room),
		TEST(the_heap),
		TEST(the_heap_has_bounds),
		TEST(the_heap_is_used_again),
		TEST(long_instructions_cost_more),
		TEST(globals_are_allocated),
		TEST(ports),
		TEST(segments),
		TEST(functions),
		TEST(calls_are_asked_for),
		TEST(bad_segments_are_logged),
		TEST(each_fault_is_logged_once),
		TEST(floating_point_registers),
		TEST(tables),
		TEST(texts),
		TEST(names_of_threads),
		TEST(stacks),
		TEST(entries),
		TEST(turns),
		TEST(leaves),
		TEST(refusals_say_what_and_where),
		TEST(all_have_been_run),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("vm_ops", tests, NULL, NULL);
}
