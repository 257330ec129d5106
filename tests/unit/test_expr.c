// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_expr: conditions and arguments of specs, compiled and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "tracer/expr.h"
#include "expr_runs.h"

static int setup(void **state)
{
	vm_bench_init(&b);
	return 0;
}

static const u64 values[] = { 0,
			      1,
			      2,
			      0x7f,
			      0x80,
			      0xffffffff,
			      0x80000000,
			      0x7fffffffffffffff,
			      0x8000000000000000,
			      0xfffffffffffffffe,
			      0xffffffffffffffff };
#define NR (sizeof(values) / sizeof(values[0]))

/* Against the compiler's own comparisons. */
static void all_comparisons_of_two_registers(void **state)
{
	size_t i, k;

	for (i = 0; i < NR * NR; i++) {
		u64 x = values[i / NR], y = values[i % NR];

		b.regs.di = x;
		b.regs.si = y;
		assert_int_equal(holds("arg0 == arg1"), x == y);
		assert_int_equal(holds("rdi != rsi"), x != y);
		assert_int_equal(holds("arg0 < arg1"), x < y);
		assert_int_equal(holds("arg0<=arg1"), x <= y);
		assert_int_equal(holds("arg0 > arg1"), x > y);
		assert_int_equal(holds("arg0 >= arg1"), x >= y);
		assert_int_equal(holds("arg0:s64 < arg1"), (s64)x < (s64)y);
		assert_int_equal(holds("arg0 <= arg1:s64"), (s64)x <= (s64)y);
		assert_int_equal(holds("arg0:s64 > arg1:s64"), (s64)x > (s64)y);
		assert_int_equal(holds("arg0:s64 >= arg1"), (s64)x >= (s64)y);
		assert_int_equal(holds("arg0:u8 < arg1:u16"), (u8)x < (u16)y);
		assert_int_equal(holds("arg0:s8 < arg1:s32"),
				 (signed char)x < (s32)y);
		for (k = 0; k < 2; k++)
			assert_int_equal(holds(k ? "edi == esi" :
						   "arg0:x32 == arg1:x32"),
					 (u32)x == (u32)y);
	}
}

static void numbers_and_signs(void **state)
{
	b.regs.di = (u64)-5;
	b.regs.dx = 'x';
	assert_true(holds("arg0 < 0x10 || (long)arg0 == -5"));
	assert_true(holds("arg0:s64 < -4"));
	assert_true(holds("-4 > arg0:s64"));
	assert_false(holds("arg0 < 4"));
	assert_true(holds("arg0:s32 == -5"));
	assert_true(holds("arg2 == 'x'"));
	assert_true(holds("010 == 8"));
	assert_true(holds("-18446744073709551615 == 1:s64"));
}

static void and_or_and_parentheses(void **state)
{
	u32 i;

	for (i = 0; i < 8; i++) {
		bool x = i & 1, y = i & 2, z = i & 4;

		b.regs.di = x;
		b.regs.si = y;
		b.regs.dx = z;
		assert_int_equal(holds("rdi == 1 || rsi == 1 && rdx == 1"),
				 x || (y && z));
		assert_int_equal(holds("(rdi == 1 || rsi == 1) && rdx == 1"),
				 (x || y) && z);
		assert_int_equal(holds("((rdi!=0)&&(rsi!=0))||((rdx!=0))"),
				 (x && y) || z);
	}
}

static void hostile_text_is_refused(void **state)
{
	static const char *const bad[] = { "arg64 == 1",
					   "arg0 ==",
					   "== 1",
					   "(",
					   "()",
					   "arg0 == 1 &&",
					   "arg0 == 1 & arg1 == 2",
					   "arg0 == 99999999999999999999",
					   "arg0 == 0x",
					   "arg0:str == 1",
					   "arg0 == \"x",
					   "foo > 1" };
	char deep[400];
	struct dp_trace_program p;
	struct dp_spec spec = { .text = (char *)"" };
	struct dp_diag diag;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		spec.cond = (char *)bad[i];
		if (!dp_expr_count(&spec, &p, &diag))
			fail_msg("\"%s\" is taken", bad[i]);
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\0';
	spec.cond = deep;
	assert_int_equal(dp_expr_count(&spec, &p, &diag), -EINVAL);
}

static void values_are_logged_in_order(void **state)
{
	struct dp_trace_program p;
	struct dp_spec spec;
	u64 v;

	b.regs.di = (u64)b.text;
	b.regs.si = 0xfffffff0;
	b.regs.dx = 1;
	assert_int_equal(dp_spec_parse("f(arg0:str, arg1:s32, arg2:str)", &spec,
				       NULL),
			 0);
	assert_int_equal(dp_expr_trace(&spec, &p, NULL), 0);
	assert_int_equal(p.nr_items, 3);
	b.vm.logmax = p.logmax;
	run(&p);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.vm.log[0], DP_ITEM_STRING);
	assert_int_equal(b.vm.log[1], strlen(b.text));
	assert_memory_equal(b.vm.log + 3, b.text, strlen(b.text));
	memcpy(&v, b.vm.log + 3 + strlen(b.text) + 3, 8);
	assert_int_equal(v, (u64)-16);
	/* A pointer that leads nowhere is told. */
	assert_int_equal(b.vm.log[3 + strlen(b.text) + 11], DP_ITEM_FAULT);
	assert_false(b.vm.truncated);
	dp_expr_free(&p);
	dp_spec_free(&spec);
}

static int trace(const char *text, struct dp_trace_program *p)
{
	struct dp_diag diag;
	struct dp_spec spec;
	int err;

	dp_diag_clear(&diag);
	assert_int_equal(dp_spec_parse(text, &spec, &diag), 0);
	err = dp_expr_trace(&spec, p, &diag);
	if (err)
		assert_true(diag.text[0] && diag.column >= 0);
	else
		dp_expr_free(p);
	dp_spec_free(&spec);
	return err;
}

static void what_is_returned_has_a_type(void **state)
{
	static const struct {
		const char *text;
		struct dp_type type;
	} good[] = { { "retval", { 0 } },
		     { "retval:u8", { DP_TYPE_UNSIGNED, 8 } },
		     { "retval:s16", { DP_TYPE_SIGNED, 16 } },
		     { "retval : s32", { DP_TYPE_SIGNED, 32 } },
		     { "retval:x64", { DP_TYPE_POINTER, 64 } },
		     { "retval:f32", { DP_TYPE_FLOAT, 32 } },
		     { "retval:f64", { DP_TYPE_FLOAT, 64 } } };
	struct dp_trace_program p;
	char text[64];
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(text, sizeof(text), "r:f(%s)", good[i].text);
		assert_int_equal(trace(text, &p), 0);
		assert_int_equal(p.ret.kind, good[i].type.kind);
		assert_int_equal(p.ret.bits, good[i].type.bits);
		assert_int_equal(p.nr_items, 0);
	}
	/* among values that are logged at the entry, wherever it stands */
	assert_int_equal(trace("r:f(retval:s32, arg1, arg0:u8)", &p), 0);
	assert_int_equal(p.nr_items, 2);
	assert_string_equal(p.items[0].name, "arg1");
	assert_int_equal(p.ret.kind, DP_TYPE_SIGNED);
	assert_int_equal(trace("f%return(arg1, retval:u64)", &p), 0);
	assert_int_equal(p.nr_items, 1);
	assert_int_equal(p.ret.bits, 64);
	assert_int_equal(trace("r:f(arg0)", &p), 0);
	assert_int_equal(p.ret.kind, DP_TYPE_UNKNOWN);
}

static void what_is_no_type_is_refused(void **state)
{
	static const char *const bad[] = { "f(retval)",
					   "f(retval:s32)",
					   "r:f(retval:s33)",
					   "r:f(retval:s032)",
					   "r:f(retval:s8x)",
					   "r:f(retval:f16)",
					   "r:f(retval:f)",
					   "r:f(retval:)",
					   "r:f(retval:u8, retval:u8)",
					   "f(arg0:f64)",
					   "f(arg0:f32)",
					   "f(arg0:u08)",
					   "f(arg0:u64x)" };
	struct dp_trace_program p;
	size_t i;

	assert_int_equal(trace("r:f(retvals)", &p), -ENODATA);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (trace(bad[i], &p) != -EINVAL)
			fail_msg("\"%s\" is taken", bad[i]);
	/* What it returns is to be asked for. */
	assert_int_equal(trace("r:f if retval == 1", &p), -ENODATA);
	assert_int_equal(trace("r:f(retval->x)", &p), -ENODATA);
	assert_int_equal(trace("f if retval == 1", &p), -EINVAL);
}

/* What is logged where, of which values; a condition is split. */
static void what_is_of_the_return(void **state)
{
	struct dp_trace_program p;

	assert_int_equal(trace("r:f(a=*(int *)retval, arg1, retval:str)", &p),
			 0);
	assert_int_equal(p.nr_items, 3);
	assert_string_equal(p.items[0].name, "arg1");
	assert_int_equal(p.items[0].place, 1);
	assert_false(p.items[0].at_return);
	assert_true(p.items[1].at_return && p.items[2].at_return);
	assert_int_equal(p.items[1].place, 0);
	assert_true(p.enters && p.leaves && !p.judged);
	assert_int_equal(trace("r:f(retval:u8) if (int)retval < 0", &p), 0);
	assert_true(!p.enters && p.leaves && p.judged);
	assert_int_equal(trace("r:f if arg0 && (retval:f64 > 1.5 && arg1)", &p),
			 0);
	assert_true(p.enters && p.leaves && p.judged);
	assert_int_equal(trace("r:f(latency) if latency > 1ms", &p), 0);
	assert_true(p.items[0].at_return && !p.enters && p.judged);
	assert_int_equal(p.nr_rates, 4);
	assert_int_equal(trace("r:f() if arg0 == 1", &p), 0);
	assert_true(p.enters && !p.leaves && !p.judged);
	assert_int_equal(trace("r:f()", &p), 0);
	assert_true(!p.enters && !p.leaves);
	assert_int_equal(trace("r:f if arg0 || retval:u8", &p), -EINVAL);
	assert_int_equal(trace("r:f(arg0 + (int)retval)", &p), -EINVAL);
	assert_int_equal(trace("r:f(caller + (int)retval)", &p), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup(f, setup)
		TEST(all_comparisons_of_two_registers),
		TEST(numbers_and_signs),
		TEST(and_or_and_parentheses),
		TEST(hostile_text_is_refused),
		TEST(values_are_logged_in_order),
		TEST(what_is_returned_has_a_type),
		TEST(what_is_no_type_is_refused),
		TEST(what_is_of_the_return),
		cmocka_unit_test(what_is_of_the_return),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
