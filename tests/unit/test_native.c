// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_native: programs as detours run them, against the interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "engine/vm/decode.h"
#include "native_programs.h"
#include "vm_bytes.h"
#include "port.h"
#include "unwound.h"

static struct native_run run;
static struct vm_bench bench;
static struct dp_native native;

#define HALF(v) (u8)(v), (u8)((u16)(v) >> 8)
#define REG(n) OP(PUSH_R), HALF(n)
#define RAX 0x60
#define RCX 0x62
#define RDX 0x63
#define RDI 0x64
#define RSI 0x65
#define RSP 0x67
#define EDI 0x0a
#define R8 0x68
#define RIP 0x70
#define RFLAGS 0x71
#define EAX 0x06
#define ESP 0x0e
/* The last instructions: met if the top is not 0 */
#define IF_TOP OP(JNZ), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0), OP(EXIT)

static struct dp_native_limits limits = { .stack_mask = 31,
					  .jmpmax = 1000,
					  .logmax = 64,
					  .loads = true,
					  .records = true };

static int walk(const u8 *code, u32 len)
{
	struct dp_vm_limits vars = { VM_VARS, VM_VARS, DP_ALLOW_ALL,
				     vm_tables };
	u32 start = 0, offset;
	const char *why;

	if (dp_vm_verify(code, len, &vars, &start, 1, &offset, &why))
		fail_msg("the verifier: %s at %u", why, offset);
	return dp_native_walk(code, len, 0, &limits, &native);
}

static void interpret(const u8 *code)
{
	vm_bench_init(&bench);
	native_window(&run);
	bench.vm.stack_mask = limits.stack_mask;
	bench.vm.jmpmax = limits.jmpmax;
	bench.vm.logmax = limits.logmax;
	bench.vm.code = code;
	native_regs(&run, &bench.regs);
	native_give_vectors(&bench.vm);
	dp_vm_run(&bench.vm);
}

/* How it ends, by both */
static int end_of(const u8 *code, u32 len)
{
	int end;

	/* cmocka has its own handlers for each test. */
	native_catch();
	assert_int_equal(walk(code, len), 0);
	assert_true(dp_native_encodes(&native, NULL, &run.detour));
	assert_int_equal(native_make(&run, &native), 0);
	interpret(code);
	end = native_go(&run);
	assert_true(native_agrees(&run, &native, &bench, end));
	return end;
}

#define ENDS(how, ...)                                             \
	do {                                                       \
		static const u8 code[] = { __VA_ARGS__ };          \
		assert_int_equal(end_of(code, sizeof(code)), how); \
	} while (0)
#define MET(...) ENDS(NATIVE_MET, __VA_ARGS__)
#define UNMET(...) ENDS(NATIVE_UNMET, __VA_ARGS__)
#define RECORDS(...) ENDS(NATIVE_RECORD, __VA_ARGS__)
#define LEAVES(...) ENDS(NATIVE_LEFT_IT, __VA_ARGS__)
/* The code would leave in any case. */
#define STAYS(...)                                                       \
	do {                                                             \
		static const u8 code[] = { __VA_ARGS__ };                \
		assert_int_equal(walk(code, sizeof(code)), -EOPNOTSUPP); \
	} while (0)

static int setup(void **state)
{
	u32 i;

	for (i = 0; i < 16; i++)
		native_in.r[i] = 0x1111111111111111ull * i;
	native_in.r[NATIVE_RSP] = (u64)&run.stack[512];
	native_in.flags = 0;
	limits = (struct dp_native_limits){ .stack_mask = 31,
					    .jmpmax = 1000,
					    .logmax = 64,
					    .loads = true,
					    .records = true };
	run.faults = 0;
	run.commits = DP_COMMITS;
	run.stream.head.head = 0;
	run.stream.head.limit = ~0ull;
	return 0;
}

#define R(n) native_in.r[n]
#define DI 7
#define SI 6
#define AX 0

static void compares(void **state)
{
	R(DI) = 101;
	R(SI) = 42;
	MET(REG(RDI), PUSH(100), OP(XCHG), OP(LTU), REG(RSI), PUSH(42), OP(EQ),
	    OP(AND), IF_TOP);
	R(DI) = 100;
	UNMET(REG(RDI), PUSH(100), OP(XCHG), OP(LTU), REG(RSI), PUSH(42),
	      OP(EQ), OP(AND), IF_TOP);
	MET(REG(RDI), PUSH(100), OP(XCHG), OP(LTU), REG(RSI), PUSH(42), OP(EQ),
	    OP(OR), IF_TOP);
	R(DI) = (u64)-5;
	MET(REG(RDI), PUSH(-4), OP(LTS), IF_TOP);
	UNMET(REG(RDI), PUSH(-5), OP(LTS), IF_TOP);
	MET(REG(RDI), PUSH(3), OP(LTS), IF_TOP);
	UNMET(REG(RDI), PUSH(3), OP(LTU), IF_TOP);
	/* … and the contrary */
	MET(REG(RDI), PUSH(3), OP(LTU), PUSH(1), OP(XOR), IF_TOP);
	MET(PUSH(1), REG(RDI), PUSH(3), OP(LTU), OP(XOR), IF_TOP);
	UNMET(REG(RDI), PUSH(3), OP(LTS), PUSH(1), OP(XOR), IF_TOP);
}

/* Constants that an instruction cannot have, and registers that the code uses itself. */
static void operands(void **state)
{
	R(DI) = 0x123456789abcdef0ull;
	MET(REG(RDI), PUSH(0x123456789abcdef0), OP(EQ), IF_TOP);
	MET(PUSH(0x123456789abcdef0), REG(RDI), OP(EQ), IF_TOP);
	MET(REG(EDI), PUSH(0x9abcdef0), OP(EQ), IF_TOP);
	UNMET(PUSH(0x123456789abcdef1), REG(RDI), OP(XCHG), OP(LTU), PUSH(1),
	      OP(XOR), IF_TOP);
	R(AX) = 77;
	R(1) = 78;
	MET(REG(RAX), PUSH(77), OP(EQ), REG(RCX), PUSH(78), OP(EQ), OP(AND),
	    IF_TOP);
	MET(REG(RCX), REG(RAX), OP(SUB), PUSH(-1), OP(EQ), IF_TOP);
	R(AX) = 0xffffffff00000005ull;
	MET(REG(EAX), PUSH(5), OP(EQ), IF_TOP);
	R(8) = ~0ull;
	MET(REG(R8), PUSH(1), OP(ADD), PUSH(1), OP(LTU), IF_TOP);
}

static void places(void **state)
{
	u64 site = (u64)(run.code + NATIVE_SITE);
	u8 code[] = { REG(RSP), PUSH(0), OP(EQ), IF_TOP };

	memcpy(code + 4, &native_in.r[NATIVE_RSP], 8);
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_MET);
	code[1] = ESP;
	UNMET(REG(ESP), REG(RSP), OP(EQ), PUSH(2), OP(EQ), IF_TOP);
	code[1] = RIP;
	memcpy(code + 4, &site, 8);
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_MET);
}

static void arithmetic(void **state)
{
	R(DI) = 1000;
	R(SI) = 7;
	MET(REG(RDI), REG(RSI), OP(MUL), PUSH(7000), OP(EQ), IF_TOP);
	MET(REG(RDI), PUSH(3), OP(MUL), PUSH(3000), OP(EQ), IF_TOP);
	MET(REG(RSI), REG(RDI), OP(SUB), PUSH(993), OP(EQ), IF_TOP);
	MET(REG(RSI), REG(RDI), OP(RSUB), PUSH(-993), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(NEG), PUSH(~1000), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(SHL_I), 60, OP(SHR_I), 60, PUSH(8), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(SHL_I), 64, PUSH(0), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(ROR_I), 4, OP(ROL_I), 68, PUSH(1000), OP(EQ), IF_TOP);
	MET(PUSH(3), REG(RDI), OP(SHR), PUSH(125), OP(EQ), IF_TOP);
	R(DI) = 0xff80;
	MET(REG(RDI), OP(PBL_I), 8, PUSH(-128), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(PBL_I), 16, PUSH(-128), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(PBL_I), 32, PUSH(0xff80), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(PZL_I), 9, PUSH(0x180), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(PBL_I), 9, PUSH(-128), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(PZR_I), 9, PUSH(0xff00), OP(EQ), IF_TOP);
}

static void memory(void **state)
{
	R(DI) = (u64)run.data + NATIVE_PAGE - 8;
	memcpy(run.data + NATIVE_PAGE - 8, "\x88\x99\xaa\xbb\xcc\xdd\xee\xff",
	       8);
	MET(REG(RDI), OP(PUSH_MEM_U64), PUSH(0xffeeddccbbaa9988), OP(EQ),
	    IF_TOP);
	MET(REG(RDI), PUSH(4), OP(ADD), OP(PUSH_MEM_U32), PUSH(0xffeeddcc),
	    OP(EQ), IF_TOP);
	MET(REG(RDI), PUSH(6), OP(ADD), OP(PUSH_MEM_U16), PUSH(0xffee), OP(EQ),
	    IF_TOP);
	MET(REG(RDI), PUSH(7), OP(ADD), OP(PUSH_MEM_U8), PUSH(0xff), OP(EQ),
	    IF_TOP);
	assert_int_equal(run.faults, 0);
	/* A byte too far; no memory; no address; none, and found out without a fault */
	LEAVES(REG(RDI), PUSH(1), OP(ADD), OP(PUSH_MEM_U64), IF_TOP);
	assert_int_equal(run.faults, 1);
	R(DI) += 8;
	LEAVES(REG(RDI), OP(PUSH_MEM_U8), IF_TOP);
	assert_int_equal(run.faults, 2);
	R(DI) = 1ull << 63;
	LEAVES(REG(RDI), OP(PUSH_MEM_U8), IF_TOP);
	assert_int_equal(run.faults, 3);
	R(DI) = 24;
	LEAVES(REG(RDI), OP(PUSH_MEM_U64), IF_TOP);
	assert_int_equal(run.faults, 3);
	/* What is not used is read all the same. */
	LEAVES(REG(RDI), OP(PUSH_MEM_U8), OP(ABORT));
	assert_true(native.loads);
	limits.loads = false;
	STAYS(REG(RDI), OP(PUSH_MEM_U8), OP(ABORT));
}

static int nr_loads(void)
{
	int n = 0, i;

	for (i = 0; i < native.nr_values; i++)
		n += native.values[i].op == DP_NATIVE_LOAD;
	return n;
}

/* Memory is read once, as the interpreter does: what changes meanwhile does not show. */
static void reads_once(void **state)
{
	static const u8 code[] = { REG(RDI), OP(PUSH_MEM_U64), OP(DUP_I),
				   1,	     OP(EQ),	       IF_TOP };
	static const u8 twice[] = { REG(RDI), OP(PUSH_MEM_U64),
				    REG(RDI), OP(PUSH_MEM_U64),
				    OP(EQ),   IF_TOP };

	R(DI) = (u64)run.data;
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_MET);
	assert_int_equal(nr_loads(), 1);
	assert_int_equal(walk(twice, sizeof(twice)), 0);
	assert_int_equal(nr_loads(), 2);
}

/* More than there are registers */
static void many_loads(void **state)
{
	u8 code[400], n, i;
	u32 len;

	R(DI) = (u64)run.data;
	memset(run.data, 1, 256);
	for (n = 6; n <= 18; n += 4) {
		len = 0;
		for (i = 0; i < n; i++) {
			memcpy(code + len,
			       (const u8[]){ REG(RDI), PUSH(8 * i), OP(ADD),
					     OP(PUSH_MEM_U8) },
			       14);
			len += 14;
		}
		for (i = 1; i < n; i++)
			code[len++] = OP(ADD);
		memcpy(code + len, (const u8[]){ PUSH(n), OP(EQ), IF_TOP },
		       10 + 14);
		len += 24;
		if (n > 16) {
			assert_int_equal(walk(code, len), 0);
			assert_false(
				dp_native_encodes(&native, NULL, &run.detour));
			continue;
		}
		assert_int_equal(end_of(code, len), NATIVE_MET);
	}
}

/* The stack is a ring of zeros. */
static void stack(void **state)
{
	R(DI) = 5;
	R(SI) = 6;
	MET(OP(ROS), 3, PUSH(0), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(DUP_I), 31, OP(ROS), 31, PUSH(5), OP(EQ), IF_TOP);
	MET(REG(RDI), REG(RSI), OP(PUSH_TSP_I), HALF(1), PUSH(5), OP(EQ),
	    IF_TOP);
	MET(REG(RDI), REG(RSI), OP(POP_TSP_I), HALF(1), PUSH(6), OP(EQ),
	    IF_TOP);
	MET(REG(RDI), REG(RSI), OP(COPY_TSP_I), HALF(1), OP(EQ), IF_TOP);
	MET(REG(RDI), OP(PUSH_SBP_I), HALF(-1), PUSH(5), OP(EQ), IF_TOP);
	MET(REG(RDI), REG(RSI), OP(POP_SBP_I), HALF(-1), PUSH(6), OP(EQ),
	    IF_TOP);
	MET(REG(RDI), OP(COPY_SBP_I), HALF(-2), OP(PUSH_SBP_I), HALF(-2),
	    OP(EQ), IF_TOP);
	MET(REG(RDI), REG(RSI), PUSH(1), OP(PUSH_TSP), PUSH(5), OP(EQ), IF_TOP);
	MET(REG(RDI), PUSH(0), REG(RSI), OP(POP_TSP), PUSH(6), OP(EQ), IF_TOP);
	MET(REG(RDI), PUSH(-2), OP(COPY_SBP), OP(PUSH_SBP_I), HALF(-2), OP(EQ),
	    IF_TOP);
	MET(REG(RDI), OP(SAVE_TSP), REG(RSI), OP(XCHG), OP(RESTORE_TSP),
	    PUSH(5), OP(EQ), IF_TOP);
	MET(PUSH(31), OP(RESTORE_SBP), OP(SAVE_SBP), PUSH(31), OP(EQ), IF_TOP);
	MET(PUSH(2), REG(RDI), OP(DUP), OP(ADD), OP(ADD), PUSH(15), OP(EQ),
	    IF_TOP);
	MET(OP(PUSH_WID), PUSH(-64), OP(EQ), OP(PUSH_LP), PUSH(0), OP(EQ),
	    OP(AND), IF_TOP);
	STAYS(REG(RDI), OP(RESTORE_TSP), IF_TOP);
	STAYS(REG(RDI), OP(PUSH_TSP), IF_TOP);
	STAYS(REG(RDI), REG(RSI), OP(DUP), IF_TOP);
}

static void jumps(void **state)
{
	R(DI) = (u64)-1;
	MET(REG(RDI), OP(JLT), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	    OP(EXIT));
	UNMET(REG(RDI), OP(JGE), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	      OP(EXIT));
	UNMET(REG(RDI), OP(JGT), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	      OP(EXIT));
	MET(REG(RDI), OP(JLE), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	    OP(EXIT));
	UNMET(REG(RDI), OP(JZ), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	      OP(EXIT));
	R(DI) = 0;
	MET(REG(RDI), OP(JZ), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	    OP(EXIT));
	MET(REG(RDI), OP(JLE), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	    OP(EXIT));
	UNMET(REG(RDI), OP(JLT), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0),
	      OP(EXIT));
	MET(OP(JMP), WORD(1), OP(ABORT), OP(INC_LV_I), HALF(0), OP(EXIT));
	MET(OP(CALL), WORD(4), OP(INC_LV_I), HALF(0), OP(EXIT), OP(RET));
	STAYS(OP(RET));
	/* Unrolled: the sum of 5 to 1 */
	R(DI) = 0;
	MET(REG(RDI), PUSH(5), OP(PUSH_TSP_I), HALF(1), OP(PUSH_TSP_I), HALF(1),
	    OP(ADD), OP(POP_TSP_I), HALF(2), OP(LOOP), WORD(-19), OP(ROS), 1,
	    PUSH(15), OP(EQ), IF_TOP);
}

/* The interpreter counts jumps, and says so when there are too many. */
static void limited(void **state)
{
	R(DI) = 1;
	limits.jmpmax = 1;
	MET(REG(RDI), IF_TOP);
	limits.jmpmax = 0;
	LEAVES(REG(RDI), IF_TOP);
	R(DI) = 0;
	UNMET(REG(RDI), IF_TOP);
	STAYS(OP(JMP), WORD(0), OP(EXIT));
	limits.jmpmax = 3;
	STAYS(PUSH(5), OP(LOOP), WORD(-9), OP(EXIT));
	limits.jmpmax = 5;
	UNMET(PUSH(5), OP(LOOP), WORD(-9), OP(EXIT));
	/* For ever */
	limits.jmpmax = 100000;
	STAYS(OP(NOP), OP(JMP), WORD(-10), OP(EXIT));
}

static void leaves_where_told(void **state)
{
	static const u8 code[] = { REG(RDI), IF_TOP };
	u32 n;

	R(DI) = 1;
	for (n = 1; n <= 5; n++) {
		limits.leave = n;
		if (n <= 2)
			assert_int_equal(walk(code, sizeof(code)), -EOPNOTSUPP);
		else
			assert_int_equal(end_of(code, sizeof(code)),
					 n == 3 ? NATIVE_MET : NATIVE_LEFT_IT);
	}
}

/* What the code does not do, it leaves; what comes before has no effect. */
static void leaves(void **state)
{
	R(DI) = 1;
	LEAVES(REG(RDI), OP(JNZ), WORD(1), OP(ABORT), PUSH(1), PUSH(1),
	       OP(LOG_STR), OP(EXIT));
	R(DI) = 0;
	UNMET(REG(RDI), OP(JNZ), WORD(1), OP(ABORT), PUSH(1), PUSH(1),
	      OP(LOG_STR), OP(EXIT));
	STAYS(OP(INC_LV_I), HALF(0), OP(LOG_I), HALF(0), OP(EXIT));
	STAYS(OP(INC_LV_I), HALF(0), OP(INC_LV_I), HALF(0), OP(EXIT));
	STAYS(OP(INC_LV_I), HALF(0), OP(INC_LV_I), HALF(1), OP(EXIT));
	STAYS(OP(EXIT_N), 1);
	STAYS(OP(PUSH_PID), OP(EXIT));
	STAYS(REG(RFLAGS), OP(EXIT));
	STAYS(REG(RDI), OP(POP_R), HALF(RAX), OP(EXIT));
	STAYS(OP(INC_GV_I), HALF(0), OP(EXIT));
	STAYS(REG(RDI), OP(PBL_I), 65, OP(EXIT));
	STAYS(REG(RDI), OP(PBL_I), 0, OP(EXIT));
	STAYS(REG(RDI), REG(RSI), OP(DIV), OP(EXIT));
	/* Another part of the program has to see the sum; or the probe may be no more. */
	STAYS(OP(INC_LV_I), HALF(0), OP(EXIT), OP(PUSH_LV_I), HALF(0),
	      OP(EXIT));
	STAYS(OP(INC_LV_I), HALF(0), OP(EXIT), PUSH(0), OP(LOG_LV), OP(EXIT));
	STAYS(OP(EXIT), OP(REMOVE));
	STAYS(OP(EXIT), OP(SUSPEND));
	/* Another variable is none of its business. */
	MET(OP(INC_LV_I), HALF(0), OP(EXIT), OP(PUSH_LV_I), HALF(1), OP(EXIT));
}

/* What is logged, wherever it is: constants that an instruction has, and that it has not; registers
 * that the code uses itself, and others; what was computed, and loaded. */
static void records(void **state)
{
	R(DI) = 5;
	R(SI) = ~0ull;
	R(AX) = 0x123456789abcull;
	R(1) = 3;
	R(2) = 4;
	RECORDS(OP(LOG_I), HALF(0), OP(EXIT));
	RECORDS(REG(RDI), OP(LOG_I), HALF(1), OP(EXIT));
	RECORDS(REG(RDI), OP(LOG_I), HALF(1), REG(RSI), OP(LOG_I), HALF(1),
		OP(EXIT));
	RECORDS(PUSH(7), PUSH(-7), PUSH(0x123456789abcdef), REG(RAX), REG(RCX),
		REG(RDX), OP(LOG_I), HALF(6), OP(EXIT));
	RECORDS(REG(EAX), REG(RSP), REG(RIP), OP(LOG_I), HALF(3), OP(EXIT));
	RECORDS(REG(RDI), REG(RSI), OP(MUL), REG(RAX), REG(RDI), OP(ADD),
		REG(RAX), REG(RDX), OP(XOR), REG(RDI), PUSH(5), OP(EQ),
		REG(RDI), PUSH(6), OP(EQ), OP(LOG_I), HALF(5), OP(EXIT));
	R(DI) = (u64)run.data;
	RECORDS(REG(RDI), OP(PUSH_MEM_U64), REG(RDI), PUSH(3), OP(ADD),
		OP(PUSH_MEM_U8), REG(RDI), OP(PUSH_MEM_U32), OP(LOG_I), HALF(3),
		REG(RAX), OP(LOG_I), HALF(1), OP(EXIT));
	/* Of the stack, which is a ring of zeros; a number that is known */
	RECORDS(REG(RDI), PUSH(2), OP(LOG), OP(EXIT));
	RECORDS(OP(LOG_I), HALF(3), OP(PUSH_LP), OP(PUSH_PLP), OP(LOG_I),
		HALF(2), OP(EXIT));
	RECORDS(OP(SETMIN_I), HALF(3), OP(LOG_I), HALF(0), PUSH(70000),
		OP(SETMAJ), OP(EXIT));
	/* One of two, or none */
	R(DI) = 1;
	RECORDS(REG(RDI), OP(JZ), WORD(4), OP(LOG_I), HALF(1), OP(EXIT),
		OP(LOG_I), HALF(0), OP(EXIT));
	R(DI) = 0;
	RECORDS(REG(RDI), OP(JZ), WORD(4), OP(LOG_I), HALF(1), OP(EXIT),
		OP(LOG_I), HALF(0), OP(EXIT));
	UNMET(OP(LOG_I), HALF(0), OP(ABORT));
	/* Too much for the log, for a record, or for a count besides */
	limits.logmax = 22;
	RECORDS(OP(LOG_I), HALF(2), OP(LOG_I), HALF(0), OP(EXIT));
	STAYS(OP(LOG_I), HALF(2), OP(LOG_I), HALF(0), OP(LOG_I), HALF(0),
	      OP(EXIT));
	STAYS(OP(LOG_I), HALF(3), OP(EXIT));
	limits.logmax = DP_VM_LOG;
	RECORDS(OP(LOG_I), HALF(16), OP(EXIT));
	STAYS(OP(LOG_I), HALF(17), OP(EXIT));
	STAYS(OP(LOG_I), HALF(9), OP(LOG_I), HALF(8), OP(EXIT));
	STAYS(OP(LOG_I), HALF(-1), OP(EXIT));
	STAYS(REG(RDI), OP(LOG), OP(EXIT));
	STAYS(REG(RDI), OP(SETMIN), OP(LOG_I), HALF(0), OP(EXIT));
	UNMET(REG(RDI), OP(SETMIN), OP(EXIT));
	STAYS(OP(INC_LV_I), HALF(0), OP(LOG_I), HALF(0), OP(EXIT));
	limits.records = false;
	STAYS(OP(LOG_I), HALF(0), OP(EXIT));
}

/* The last place of the stream, from which a record goes on into the margin; and none */
static void full(void **state)
{
	struct dp_stream *s = &run.stream.head;

	R(DI) = 1;
	s->head = 5 * NATIVE_STREAM - 8;
	s->limit = s->head + 1;
	RECORDS(PUSH(1), PUSH(2), PUSH(3), OP(LOG_I), HALF(3), OP(EXIT));
	s->head = s->limit = 77 * 8;
	LEAVES(OP(LOG_I), HALF(0), OP(EXIT));
	s->limit--;
	LEAVES(OP(LOG_I), HALF(0), OP(EXIT));
	s->limit = s->head + 1;
	RECORDS(OP(LOG_I), HALF(0), OP(EXIT));
	assert_int_equal(s->head, 77 * 8 + 16);
}

/* The word that the instruction writes, or reads: if it is none, the hit is left. */
static void commits(void **state)
{
	static const u8 code[] = { REG(RDI), OP(LOG_I), HALF(1), OP(EXIT) };
	u64 end = (u64)run.data + NATIVE_PAGE;
	u32 page = NATIVE_PAGE;

	run.commits = DP_COMMITS_IF_PUSHED;
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_RECORD);
	run.commits = DP_COMMITS_IF_POPPED;
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_RECORD);
	assert_int_equal(run.faults, 0);
	/* Its stack ends where there is no memory: there is nothing to pop. */
	native_in.r[NATIVE_RSP] = end;
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_LEFT_IT);
	assert_int_equal(run.faults, 1);
	run.commits = DP_COMMITS_IF_PUSHED;
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_RECORD);
	assert_int_equal(run.faults, 1);
	/* The frame is where memory can be written, what is above it is not. */
	native_in.r[NATIVE_RSP] = end + 16;
	mprotect((void *)end, page, PROT_READ);
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_LEFT_IT);
	mprotect((void *)end, page, PROT_NONE);
	assert_int_equal(run.faults, 2);
	run.commits = DP_COMMITS_LEAVES;
	native_in.r[NATIVE_RSP] = (u64)&run.stack[512];
	assert_int_equal(end_of(code, sizeof(code)), NATIVE_LEFT_IT);
	assert_int_equal(run.faults, 2);
}

/* What the record's instruction is said to access: @size bytes at @ref */
static int touch(struct dp_operand_ref ref, u8 size, bool writes)
{
	static const u8 code[] = { REG(RDI), OP(LOG_I), HALF(1), OP(EXIT) };

	run.memory = (struct dp_insn_memory){ ref, size, writes };
	return end_of(code, sizeof(code));
}

#define AT(b, i, s, d)            \
	((struct dp_operand_ref){ \
		.base = b, .index = i, .scale = s, .disp = d })
#define FIRST(reg) AT(reg, DP_NO_REG, 0, 0)

/* Each byte, wherever the address comes from, and nothing is changed. */
static void touches(void **state)
{
	u64 end = (u64)run.data + NATIVE_PAGE;
	u32 reg, size;

	run.commits = DP_COMMITS_IF_TOUCHED;
	run.faults = 0;
	memset(run.data, 0x5a, NATIVE_PAGE);
	for (reg = 0; reg < 16; reg++) {
		if (reg == NATIVE_RSP)
			continue;
		native_in.r[reg] = end - 32;
		assert_int_equal(touch(FIRST(reg), 32, false), NATIVE_RECORD);
		assert_int_equal(touch(FIRST(reg), 32, true), NATIVE_RECORD);
		assert_int_equal(touch(FIRST(reg), 33, false), NATIVE_LEFT_IT);
		assert_int_equal(touch(FIRST(reg), 33, true), NATIVE_LEFT_IT);
		assert_int_equal(touch(AT(reg, DP_NO_REG, 0, 31), 1, false),
				 NATIVE_RECORD);
		assert_int_equal(touch(AT(reg, DP_NO_REG, 0, 32), 1, true),
				 NATIVE_LEFT_IT);
		native_in.r[reg] = 0;
	}
	assert_int_equal(run.faults, 15 * 3);
	for (size = 1; size <= 64; size++) {
		native_in.r[3] = end - size;
		assert_int_equal(touch(FIRST(3), size, size & 1),
				 NATIVE_RECORD);
	}
	assert_int_equal(run.faults, 15 * 3);
	for (reg = 0; reg < NATIVE_PAGE / 16; reg++)
		assert_int_equal(run.data[NATIVE_PAGE - 1 - reg], 0x5a);
	run.commits = DP_COMMITS;
}

static void touches_by_any_address(void **state)
{
	u64 end = (u64)run.data + NATIVE_PAGE;
	struct dp_operand_ref tls = AT(DP_NO_REG, DP_NO_REG, 0, 0);
	u32 base, index, scale;

	run.commits = DP_COMMITS_IF_TOUCHED;
	run.faults = 0;
	for (base = 0; base < 4; base++)
		for (index = 0; index < 16; index += 5)
			for (scale = 1; scale <= 8; scale *= 2) {
				if (base == index)
					continue;
				native_in.r[index] = 100;
				native_in.r[base] = end - 8 - 100 * scale + 3;
				assert_int_equal(
					touch(AT(base, index, scale, -3), 8,
					      true),
					NATIVE_RECORD);
				assert_int_equal(
					touch(AT(base, index, scale, -2), 8,
					      true),
					NATIVE_LEFT_IT);
			}
	native_in.r[9] = end / 8 - 1;
	assert_int_equal(touch(AT(DP_NO_REG, 9, 8, 0), 8, false),
			 NATIVE_RECORD);
	assert_int_equal(touch(AT(DP_NO_REG, 9, 8, 8), 8, false),
			 NATIVE_LEFT_IT);
	assert_int_equal(touch(AT(DP_NO_REG, DP_NO_REG, 0, (s64)end - 8), 8,
			       true),
			 NATIVE_RECORD);
	assert_int_equal(touch(AT(DP_NO_REG, DP_NO_REG, 0, (s64)end), 1, false),
			 NATIVE_LEFT_IT);
	tls.disp = (char *)&native_tid - (char *)__builtin_thread_pointer();
	assert_int_equal(touch(tls, 4, true), NATIVE_LEFT_IT);
	tls.segment = DP_SEG_FS;
	assert_int_equal(touch(tls, 4, true), NATIVE_RECORD);
	assert_int_equal(touch(tls, 4, false), NATIVE_RECORD);
	/* It may end in another page, wherever the segment begins in one. */
	tls.disp = (char *)end - 4 - (char *)__builtin_thread_pointer();
	assert_int_equal(touch(tls, 4, true), NATIVE_RECORD);
	assert_int_equal(touch(tls, 8, true), NATIVE_LEFT_IT);
	assert_int_equal(touch(tls, 8, false), NATIVE_LEFT_IT);
	run.commits = DP_COMMITS;
}

/* The frame is below the thread's stack pointer, which is what is meant. */
static void touches_the_stack(void **state)
{
	u64 end = (u64)run.data + NATIVE_PAGE;

	run.commits = DP_COMMITS_IF_TOUCHED;
	native_in.r[NATIVE_RSP] = end - 16;
	assert_int_equal(touch(AT(NATIVE_RSP, DP_NO_REG, 0, 8), 8, true),
			 NATIVE_RECORD);
	assert_int_equal(touch(AT(NATIVE_RSP, DP_NO_REG, 0, 9), 8, true),
			 NATIVE_LEFT_IT);
	assert_int_equal(touch(AT(NATIVE_RSP, DP_NO_REG, 0, 9), 8, false),
			 NATIVE_LEFT_IT);
	run.commits = DP_COMMITS;
}

/* Where one page can be written and the other one not */
static void touches_both_pages(void **state)
{
	u8 *end = run.data + NATIVE_PAGE;
	struct dp_operand_ref at = FIRST(6);

	run.commits = DP_COMMITS_IF_TOUCHED;
	native_in.r[6] = (u64)end - 3;
	mprotect(end, NATIVE_PAGE, PROT_READ);
	assert_int_equal(touch(at, 8, true), NATIVE_LEFT_IT);
	assert_int_equal(touch(at, 8, false), NATIVE_RECORD);
	assert_int_equal(touch(at, 3, true), NATIVE_RECORD);
	mprotect(end, NATIVE_PAGE, PROT_READ | PROT_WRITE);
	assert_int_equal(touch(at, 8, true), NATIVE_RECORD);
	mprotect(run.data, NATIVE_PAGE, PROT_READ);
	assert_int_equal(touch(at, 8, true), NATIVE_LEFT_IT);
	mprotect(run.data, NATIVE_PAGE, PROT_READ | PROT_WRITE);
	mprotect(end, NATIVE_PAGE, PROT_NONE);
	run.commits = DP_COMMITS;
}

/* Whether a page's number is even or odd */
static void touches_at_every_border(void **state)
{
	u8 *pages = mmap(NULL, 3 * NATIVE_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i;

	run.commits = DP_COMMITS_IF_TOUCHED;
	for (i = 2; i > 0; i--) {
		mprotect(pages + i * NATIVE_PAGE, NATIVE_PAGE, PROT_READ);
		native_in.r[6] = (u64)(pages + i * NATIVE_PAGE - 1);
		assert_int_equal(touch(FIRST(6), 2, true), NATIVE_LEFT_IT);
		assert_int_equal(touch(FIRST(6), 1, true), NATIVE_RECORD);
	}
	munmap(pages, 3 * NATIVE_PAGE);
	run.commits = DP_COMMITS;
}

/* A fork child has no counters, and no streams: all its hits are left. */
static void cannot_count(void **state)
{
	u32 i;

	for (i = 0; i < 65536; i++)
		run.table[i] = 0;
	R(DI) = 1;
	LEAVES(REG(RDI), IF_TOP);
	R(DI) = 0;
	LEAVES(REG(RDI), IF_TOP);
	LEAVES(OP(LOG_I), HALF(0), OP(EXIT));
	for (i = 0; i < 65536; i++)
		run.table[i] = (u64)run.counters;
	UNMET(REG(RDI), IF_TOP);
}

/* A program that cannot make a record need not wait for its instruction. */
#define CAN_RECORD(...)                                \
	dp_native_records((const u8[]){ __VA_ARGS__ }, \
			  sizeof((const u8[]){ __VA_ARGS__ }), 2)
static void can_record(void **state)
{
	assert_false(CAN_RECORD(REG(RDI), IF_TOP));
	assert_false(CAN_RECORD(REG(RDI), OP(PBL_I), 8, OP(PZL_I), 64, IF_TOP));
	assert_true(CAN_RECORD(REG(RDI), OP(PBL_I), 0, IF_TOP));
	assert_true(CAN_RECORD(REG(RDI), OP(PZL_I), 65, IF_TOP));
	assert_false(CAN_RECORD(REG(RDI), OP(PBR_I), 1, OP(PZR_I), 64, IF_TOP));
	assert_true(CAN_RECORD(REG(RDI), OP(PBR_I), 0, IF_TOP));
	assert_true(CAN_RECORD(OP(LOG_I), HALF(0), OP(EXIT)));
	assert_true(CAN_RECORD(OP(EXIT_N), 1));
	assert_true(CAN_RECORD(REG(RDI), OP(PUSH_MEM_U8), OP(EXIT)));
	assert_true(CAN_RECORD(REG(RDI), OP(DUP_I), 1, OP(DIV), OP(EXIT)));
	assert_true(CAN_RECORD(OP(JMP), WORD(-9), OP(EXIT)));
	assert_false(CAN_RECORD(OP(JMP), WORD(0), OP(JMP), WORD(0), OP(EXIT)));
	assert_true(CAN_RECORD(OP(JMP), WORD(0), OP(JMP), WORD(0), OP(JMP),
			       WORD(0), OP(EXIT)));
	assert_true(CAN_RECORD(OP(CALL), WORD(0), OP(EXIT)));
}

/* Without memory nothing is made. */
static void without_memory(void **state)
{
	static const u8 code[] = { OP(EXIT) };

	assert_int_equal(dp_native_walk(code, 1, 0, &limits, &native), 0);
}

static void decodes(void **state)
{
	static const u8 code[] = { PUSH(0x1122334455667788),
				   OP(PUSH_SBP_I),
				   HALF(-2),
				   OP(JMP),
				   WORD(-21),
				   OP(EXIT) };
	u64 arg;

	assert_int_equal(dp_op_decode(code, 0, &arg), 9);
	assert_true(arg == 0x1122334455667788);
	assert_int_equal(dp_op_decode(code, 9, &arg), 12);
	assert_true(arg == (u64)-2);
	assert_int_equal(dp_op_decode(code, 12, &arg), 21);
	assert_int_equal(arg, 0);
	assert_int_equal(dp_op_decode(code, 21, &arg), 22);
	assert_int_equal(arg, 0);
}

/* Random programs: by both, in everything that others can see. */
static void random_programs(void **state)
{
	const char *given = getenv("NATIVE_PROGRAMS");
	u32 n = given ? (u32)atol(given) : 20000, made = 0, ends[4] = { 0 }, i,
	    k;
	u64 seed = 0x243f6a8885a308d3ull;
	u8 code[12 * NATIVE_MOST];

	native_catch();
	for (i = 0; i < n; i++) {
		u32 len =
			native_generate(code, 1 + vm_random(&seed) % 40, &seed);

		limits.stack_mask = i & 1 ? 31 : DP_VM_STACK - 1;
		limits.jmpmax = i & 2 ? 3 : 1000;
		limits.logmax = i & 4 ? 64 : DP_VM_LOG;
		run.commits = i >> 3 & 3;
		if (walk(code, len) || native_make(&run, &native))
			continue;
		made++;
		for (k = 0; k < 4; k++) {
			int end;

			native_randomize(&run, &seed);
			interpret(code);
			end = native_go(&run);
			if (!native_agrees(&run, &native, &bench, end))
				fail_msg("program %u, registers %u: %d", i, k,
					 end);
			ends[end]++;
		}
	}
	print_message(
		"# %u of %u: %u unmet, %u met, %u records, %u left, %u faults\n",
		made, n, ends[0], ends[1], ends[2], ends[3], run.faults);
	assert_true(made > n / 10 && ends[0] > n / 10 && ends[1] > n / 100 &&
		    ends[2] > n / 100 && ends[3] > n / 100 &&
		    run.faults > n / 100);
}

/* --- each instruction of the table, with elements that are numbers and such that are registers --- */

/* Those that detours run between elements and a log; all others leave. */
static const u8 detours_run[] = {
	OP(NOP),	  OP(JMP),	    OP(JLT),	      OP(JLE),
	OP(JGT),	  OP(JGE),	    OP(JZ),	      OP(JNZ),
	OP(LOOP),	  OP(CALL),	    OP(ABORT),	      OP(EXIT),
	OP(SETMIN_I),	  OP(SETMIN),	    OP(SETMAJ_I),     OP(SETMAJ),
	OP(LOG_I),	  OP(ADD),	    OP(SUB),	      OP(MUL),
	OP(NEG),	  OP(AND),	    OP(OR),	      OP(XOR),
	OP(ROL_I),	  OP(ROL),	    OP(ROR_I),	      OP(ROR),
	OP(SHL_I),	  OP(SHL),	    OP(SHR_I),	      OP(SHR),
	OP(XCHG),	  OP(DUP_I),	    OP(DUP),	      OP(ROS),
	OP(PUSH_R),	  OP(PUSH_U),	    OP(PUSH),	      OP(PUSH_MEM_U8),
	OP(PUSH_MEM_U16), OP(PUSH_MEM_U32), OP(PUSH_MEM_U64), OP(PBL),
	OP(PBL_I),	  OP(PBR),	    OP(PBR_I),	      OP(PZL),
	OP(PZR),	  OP(PZL_I),	    OP(PZR_I),	      OP(SX),
	OP(UX),		  OP(PUSH_LP),	    OP(PUSH_PLP),     OP(PUSH_SBP),
	OP(POP_SBP),	  OP(PUSH_TSP),	    OP(POP_TSP),      OP(PUSH_SBP_I),
	OP(POP_SBP_I),	  OP(PUSH_TSP_I),   OP(POP_TSP_I),    OP(COPY_SBP_I),
	OP(COPY_TSP_I),	  OP(SAVE_SBP),	    OP(RESTORE_SBP),  OP(SAVE_TSP),
	OP(RESTORE_TSP),  OP(COPY_SBP),	    OP(COPY_TSP),     OP(LOG),
	OP(PUSH_WID),	  OP(RSUB),	    OP(EQ),	      OP(LTU),
	OP(LTS),
};

static u32 put_element(u8 *code, u32 len, u64 *seed)
{
	u64 r = vm_random(seed);

	if (r & 1) {
		code[len++] = OP(PUSH);
		return vm_put(code, len,
			      r & 2 ? r >> 8 & 3 : native_number(seed), 8);
	}
	code[len++] = OP(PUSH_R);
	return vm_put(code, len, RAX + (r >> 8) % 7, 2);
}

/* What comes before the instruction: where it writes to, and what */
static u32 put_place(u8 *code, u32 len, u8 op, u64 *seed)
{
	bool port = op >= OP(PUSH_IO_U8) && op <= OP(POP_IO_U32);

	if (!port && (op < OP(POP_MEM_U8) || op > OP(POP_MEM_U64)))
		return len;
	code[len++] = OP(PUSH);
	len = vm_put(code, len,
		     (port ? 0 : (u64)run.data) + (vm_random(seed) & 63), 8);
	if (op == OP(PUSH_IO_U8) || op == OP(PUSH_IO_U16) ||
	    op == OP(PUSH_IO_U32))
		return len;
	return put_element(code, len, seed);
}

/* Four elements, the instruction, and what it leaves */
static u32 with_instruction(u8 *code, u32 k, u64 *seed)
{
	u8 op = vm_ops[k].code;
	u32 len = 0, i;

	for (i = 0; i < 4; i++)
		len = put_element(code, len, seed);
	len = put_place(code, len, op, seed);
	code[len++] = op;
	len = native_operand(code, len, vm_ops[k].operand, seed);
	code[len++] = OP(LOG_I);
	len = vm_put(code, len, 1 + (vm_random(seed) & 3), 2);
	code[len++] = OP(EXIT);
	return len;
}

static bool runs_in_a_detour(u32 k, u64 *seed)
{
	u8 code[256];
	bool runs = false;
	int end;
	u32 i;

	for (i = 0; i < 400; i++) {
		u32 len = with_instruction(code, k, seed);

		limits.stack_mask = i & 1 ? 31 : DP_VM_STACK - 1;
		native_randomize(&run, seed);
		interpret(code);
		assert_true(vm_bench_intact(&bench));
		if (walk(code, len) || native_make(&run, &native))
			continue;
		end = native_go(&run);
		if (!native_agrees(&run, &native, &bench, end))
			fail_msg("instruction %#x, try %u: %d", vm_ops[k].code,
				 i, end);
		runs |= end != NATIVE_LEFT_IT;
	}
	return runs;
}

static void each_instruction(void **state)
{
	u64 seed = 0x082efa98ec4e6c89ull;
	u32 k;

	native_catch();
	run.commits = DP_COMMITS;
	limits.jmpmax = 1000;
	limits.logmax = DP_VM_LOG;
	for (k = 0; k < VM_NR_OPS; k++) {
		bool wanted = memchr(detours_run, vm_ops[k].code,
				     sizeof(detours_run));

		if (runs_in_a_detour(k, &seed) != wanted)
			fail_msg("instruction %#x: the detour %s",
				 vm_ops[k].code, wanted ? "leaves" : "runs it");
	}
}

/* Step by step, all of the thread's registers can be found: until its instruction, they are what
 * they were. */

static struct {
	u64 steps, interruptions, bad_pc;
	int interrupt;
} stepped;

/* A tool that leaves moves a thread from there to the program's instruction, as it is. */
static bool is_movable(u64 offset)
{
	const struct dp_detour *d = &run.detour;

	return offset == d->start || offset == d->insn[0] || offset == d->at[1];
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	greg_t *g = uc->uc_mcontext.gregs;
	u64 base = (u64)(run.code + NATIVE_DETOUR), to;
	struct unwound u;
	u32 i;

	if ((u64)g[REG_RIP] == (u64)native_exit)
		g[REG_EFL] &= ~(greg_t)UNWOUND_TRAP_FLAG;
	if ((u64)g[REG_RIP] - base >= run.detour.len)
		return;
	stepped.steps++;
	unwound_at(&run.detour, base, uc, &u);
	for (i = 0; i < 16; i++)
		if (u.r[i] != native_in.r[i])
			stepped.bad_pc = (u64)g[REG_RIP];
	if (is_movable((u64)g[REG_RIP] - base) &&
	    u.r[NATIVE_RSP] != (u64)g[REG_RSP])
		stepped.bad_pc = (u64)g[REG_RIP];
	if (stepped.interrupt && unwound_area.rseq_cs && !--stepped.interrupt &&
	    unwound_interrupt(uc, &to)) {
		g[REG_RIP] = (greg_t)to;
		stepped.interruptions++;
	}
}

static void step_random(u32 i, u64 *seed)
{
	int end;

	native_randomize(&run, seed);
	stepped.interrupt = (int)(i % 12);
	end = native_go(&run);
	if (stepped.bad_pc)
		fail_msg("program %u, at +%#lx", i,
			 stepped.bad_pc - (u64)(run.code + NATIVE_DETOUR));
	assert_true(end >= 0);
	assert_int_equal(unwound_area.rseq_cs, 0);
}

static void tells_where_it_is(void **state)
{
	struct sigaction sa = { .sa_sigaction = on_step,
				.sa_flags = SA_SIGINFO | SA_ONSTACK },
			 was;
	const struct dp_rseq real = run.rseq;
	u64 seed = 0x13198a2e03707344ull;
	u8 code[12 * NATIVE_MOST];
	u32 i, made = 0;

	native_catch();
	sigaction(SIGTRAP, &sa, &was);
	run.rseq = unwound_rseq(RSEQ_SIG);
	run.step = UNWOUND_TRAP_FLAG;
	for (i = 0; made < 1500; i++) {
		u32 len =
			native_generate(code, 1 + vm_random(&seed) % 40, &seed);

		run.commits = i >> 3 & 3;
		if (walk(code, len) || native_make(&run, &native))
			continue;
		made++;
		step_random(made, &seed);
	}
	run.step = 0;
	run.rseq = real;
	sigaction(SIGTRAP, &was, NULL);
	print_message("# %lu steps, %lu interruptions\n", stepped.steps,
		      stepped.interruptions);
	assert_true(stepped.steps > 10000 && stepped.interruptions > 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup(f, setup)
		TEST(compares),
		TEST(operands),
		TEST(places),
		TEST(arithmetic),
		TEST(memory),
		TEST(reads_once),
		TEST(many_loads),
		TEST(stack),
		TEST(jumps),
		TEST(limited),
		TEST(leaves),
		TEST(leaves_where_told),
		TEST(records),
		TEST(without_memory),
		TEST(can_record),
		TEST(commits),
		TEST(touches),
		TEST(touches_by_any_address),
		TEST(touches_the_stack),
		TEST(touches_both_pages),
		TEST(touches_at_every_border),
		TEST(cannot_count),
		TEST(full),
		TEST(decodes),
		TEST(random_programs),
		TEST(each_instruction),
		TEST(tells_where_it_is),
	};
	int failed;

	cmocka_set_message_output(CM_OUTPUT_TAP);
	if (!native_begin(&run)) {
		print_message("1..0 # SKIP there is no rseq area\n");
		return 0;
	}
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	native_finish(&run);
	return failed;
}
