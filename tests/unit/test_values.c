// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_values: values of specs that are in memory, and conditions on them, compiled and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "tracer/expr.h"
#include "tracer/session.h"
#include "tracer/values/show.h"
#include "expr_runs.h"
#include "known_record.h"

static struct record first, second;

static u64 stack[8] = { 0xca11e4, 66, 77 };

static int setup(void **state)
{
	vm_bench_init(&b);
	of_f = NULL;
	second = (struct record){ .number = 7,
				  .name = "second",
				  .bytes = "abc" };
	first = (struct record){ .number = -5,
				 .half = 0xfffe,
				 .small = -3,
				 .yes = true,
				 .name = "first of two",
				 .real = 2.5,
				 .bytes = { 1, 2, 255, 4 },
				 .narrow = -0.5f,
				 .next = &second };
	b.regs.di = (u64)&first;
	b.regs.si = (u64)first.name;
	b.regs.dx = (u64)-2;
	b.regs.cx = 0;
	b.regs.sp = (u64)stack;
	return 0;
}

/* What is printed for the values @args of f, each behind a space */
static const char *shown(const char *args, bool json)
{
	static char out[1024];
	struct dp_trace_program p;
	struct dp_record_copy r = { 0 };
	struct dp_diag diag;
	struct dp_item item;
	char text[256];
	size_t i;
	u32 at = 0;
	FILE *f = fmemopen(out, sizeof(out), "w");

	snprintf(text, sizeof(text), "f(%s)", args);
	if (compile(text, false, &p, &diag))
		fail_msg("%s: %s", text, diag.text);
	run(&p);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	r.head.len = (u16)b.vm.lp;
	memcpy(r.data, b.vm.log, b.vm.lp);
	for (i = 0; i < p.nr_items && dp_item_next(&r, &at, &item); i++) {
		fprintf(f, "%s%s=", i ? " " : "", p.items[i].name);
		dp_value_show(f, &p.items[i], &item, NULL, json);
	}
	assert_int_equal(i, p.nr_items);
	assert_int_equal(at, b.vm.lp);
	fclose(f);
	dp_expr_free(&p);
	return out;
}

static void in_memory(void **state)
{
	assert_string_equal(
		shown("n=*(int *)arg0, *(u16 *)(rdi+4), +4(%di):x16", false),
		"n=-5 *(u16 *)(rdi+4)=65534 +4(%di)=0xfffe");
	assert_string_equal(shown("a=((u8 *)arg0)[4], b=((u16 *)arg0)[2]",
				  false),
			    "a=254 b=65534");
	assert_string_equal(
		shown("a=*(signed char *)(arg0+6), b=*(bool *)(rdi+7)", false),
		"a=-3 b=true");
	assert_string_equal(shown("a=*((s16 *)arg0+1), b=*(1+(s16 *)arg0)",
				  false),
			    "a=-1 b=-1");
	assert_string_equal(shown("a=*((s32 *)(arg0+8)-2)", false), "a=-5");
	assert_string_equal(shown("a=*(double *)(rdi+16), b=*(float *)(rdi+28)",
				  false),
			    "a=2.5 b=-0.5");
	assert_string_equal(shown("+24(%di):u8[4], a=+24(%di):s8[4]", false),
			    "+24(%di)={1,2,255,4} a={1,2,-1,4}");
	assert_string_equal(shown("a=*(int *)*(u64 **)(rdi+32):x8[2]", false),
			    "a={0x7,0x0}");
}

static void strings(void **state)
{
	assert_string_equal(
		shown("*(char **)(arg0+8), (char *)arg1", false),
		"*(char **)(arg0+8)=\"first of two\" (char *)arg1=\"first of two\"");
	assert_string_equal(shown("a=+0(+8(%di)):string, arg1:s", false),
			    "a=\"first of two\" arg1=\"first of two\"");
	/* What ftrace fetches as a string is there itself. */
	assert_string_equal(shown("a=+24(+32(%di)):string", false),
			    "a=\"abc\"");
	assert_string_equal(shown("a=*(char *)*(u64 *)(rdi+8):str", false),
			    "a=\"first of two\"");
}

static void spelled_otherwise(void **state)
{
	assert_string_equal(
		shown("a=$arg3:s32, %dx:s16, $stack0, $stack1:u64, $arg8",
		      false),
		"a=-2 %dx=-2 $stack0=0xca11e4 $stack1=66 $arg8=0x4d");
	assert_string_equal(shown("arg6, arg7:u8, caller:sym", false),
			    "arg6=0x42 arg7=77 caller=0xca11e4");
	assert_string_equal(shown("a=arg2 + 10:d, b=1 << 4 | 3, c=-arg2",
				  false),
			    "a=8 b=19 c=2");
	assert_string_equal(shown("a=arg2 & 0xff:o, b=~0, c='x':c, d=10:c",
				  false),
			    "a=0376 b=0xffffffffffffffff c='x' d=10");
	assert_string_equal(shown("a=arg2 == -2:s64, b=!arg3, c=arg3 || arg2",
				  false),
			    "a=true b=true c=true");
}

static void what_is_not_there(void **state)
{
	/* Each value for itself */
	assert_string_equal(
		shown("a=*(int *)8, b=arg3:str, c=*(char **)16, d=+8(+8(%cx)), e=+9(%cx):u8[3], f=arg3",
		      false),
		"a=<bad address 0x8> b=0x0 c=0x10 d=<bad address 0x8> e=<bad address 0x9> f=0x0");
	assert_false(holds("*(int *)arg3 == 0"));
	assert_false(holds("!(*(int *)arg3 == 0)"));
	assert_true(holds("arg3 == 0 || *(int *)arg3 == 5"));
	assert_false(holds("arg3 != 0 && *(int *)arg3 == 5"));
	assert_true(holds("*(int *)arg0 == -5 || *(int *)arg3 == 5"));
	assert_false(holds("(char *)arg3 == \"\""));
	assert_false(holds("(char *)arg3 != \"\""));
}

static void json(void **state)
{
	assert_string_equal(
		shown("a=*(int *)arg0, b=*(double *)(rdi+16), c=+24(%di):u8[4], d=arg2, e=arg3 == 0, f=*(int *)8, g='x':c, h=10:c, i=8:o, j=arg1:str",
		      true),
		"a=-5 b=2.5 c=[1,2,255,4] d=\"0xfffffffffffffffe\" e=true f={\"bad_address\":\"0x8\"} g=\"x\" h=10 i=\"010\" j=\"first of two\"");
	first.real = __builtin_inf();
	assert_string_equal(shown("a=*(double *)(rdi+16)", true), "a=\"inf\"");
	assert_string_equal(shown("a=*(double *)(rdi+16)", false), "a=inf");
}

static void texts_compared(void **state)
{
	assert_true(holds("arg1:str == \"first of two\""));
	assert_false(holds("arg1:str == \"first of tw\""));
	assert_false(holds("arg1:str == \"first of two \""));
	assert_false(holds("arg1:str != \"first of two\""));
	assert_true(holds("\"second\" == *(char **)(*(u64 *)(rdi+32)+8)"));
	assert_true(holds("arg1:str ~ \"first*\" && arg1:str ~ \"f?rst*\""));
	assert_true(holds("arg1:str ~ \"first of two*\""));
	assert_false(
		holds("arg1:str ~ \"first\" || arg1:str ~ \"?*\" && arg3"));
	assert_false(holds("arg1:str ~ \"first of two?\""));
	assert_false(holds("arg1:str ~ \"fir\\*\""));
	first.name = "a\"\\*?\n";
	b.regs.si = (u64)first.name;
	assert_true(holds("arg1:str == \"a\\\"\\\\*?\\n\""));
	assert_true(holds("arg1:str ~ \"a\\\"\\\\\\*\\?\\n\""));
	assert_true(holds("arg1:str != \"\""));
}

/* Against the compiler's own. */
static void integers(void **state)
{
	static const u64 values[] = { 0, 1, 5, 0x80, 0xffffffff, (u64)-2 };
	size_t i, k, n = sizeof(values) / sizeof(values[0]);

	for (i = 0; i < n; i++)
		for (k = 0; k < n; k++) {
			u64 x = values[i], y = values[k];

			b.regs.di = x;
			b.regs.si = y;
			assert_int_equal(
				holds("rdi + rsi * 3 == rsi - -rdi + 2 * rsi"),
				1);
			assert_int_equal(holds("rdi & rsi == 0"), (x & y) == 0);
			assert_int_equal(holds("rdi | rsi ^ 5 & 4 == 7"),
					 (x | (y ^ (5 & 4))) == 7);
			assert_int_equal(holds("rdi >> 4 == rsi << 2"),
					 x >> 4 == y << 2);
			assert_int_equal(holds("!rdi || !(rsi & 1)"),
					 !x || !(y & 1));
			assert_int_equal(holds("~rdi > rsi"), ~x > y);
			assert_int_equal(holds("(int)rdi < (int)rsi"),
					 (s32)x < (s32)y);
			assert_int_equal(
				holds("(u8)rdi >= (unsigned short)rsi"),
				(u8)x >= (u16)y);
			assert_int_equal(holds("(int)rdi < -1"), (s32)x < -1);
			assert_int_equal(holds("rdi && rsi"), x && y);
		}
}

static void refused(void **state)
{
	static const struct {
		const char *text;
		int err, column;
	} bad[] = {
		{ "f(*arg0)", -EINVAL, 3 },
		{ "f(*(void *)arg0)", -EINVAL, 2 },
		{ "f((double)arg0)", -EINVAL, 2 },
		{ "f((struct s *)arg0)", -ENODATA, 3 },
		{ "f(arg0->x)", -EINVAL, 8 },
		{ "f(arg0->)", -EINVAL, 8 },
		{ "f(@errno)", -EOPNOTSUPP, 2 },
		{ "f(arg0:ip)", -EOPNOTSUPP, 7 },
		{ "f(+0(%di):sym[2])", -EINVAL, 13 },
		{ "f(%di:b4@4/16)", -EOPNOTSUPP, 6 },
		{ "f(farg0)", -EOPNOTSUPP, 2 },
		{ "f($comm)", -EOPNOTSUPP, 2 },
		{ "f(nothing)", -ENODATA, 2 },
		{ "f(arg0:u8[0])", -EINVAL, 9 },
		{ "f(+0(%di):u8[65])", -EINVAL, 12 },
		{ "f(arg0:u8[2])", -EINVAL, 2 },
		{ "f(+0(%di):str[2])", -EINVAL, 13 },
		{ "f(arg0[0])", -EINVAL, 2 },
		{ "f(arg0 == )", -EINVAL, 10 },
		{ "f(1 2)", -EINVAL, 4 },
		{ "f(arg0 << rdi)", -EINVAL, 10 },
		{ "f(arg0 << 64)", -EINVAL, 10 },
		{ "f+4(arg6)", -EINVAL, 4 },
		{ "0x1234(caller)", -EINVAL, 7 },
		{ "f if arg0 == -1", -EINVAL, 5 },
		{ "f if -1 < arg0:u32", -EINVAL, 10 },
		{ "f if arg0 == \"x\"", -EINVAL, 5 },
		{ "f if arg0 ~ 5", -EINVAL, 12 },
		{ "f if arg0:str ~ \"a*b\"", -EOPNOTSUPP, 16 },
		{ "f if arg0:str ~ \"[ab]\"", -EOPNOTSUPP, 16 },
		{ "f if *(double *)arg0 > 1", -EOPNOTSUPP, 5 },
		{ "f if arg0 = 1", -EINVAL, 10 },
	};
	struct dp_trace_program p;
	struct dp_diag diag;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (compile(bad[i].text, false, &p, &diag) != bad[i].err ||
		    diag.column != bad[i].column || !diag.text[0])
			fail_msg("%s: %s at %d", bad[i].text, diag.text,
				 diag.column);
	}
}

static void by_name(void **state)
{
	of_f = &prototype;
	b.regs.si = 2;
	b.regs.dx = (u64)first.name;
	b.regs.cx = (u64)-7;
	assert_string_equal(
		shown("hue, name, count, cou, arg1", false),
		"hue=BLUE name=\"first of two\" count=-7 cou=-7 arg1=0x2");
	assert_string_equal(
		shown("r->number, r->half, r->small:d, r->yes, r->name, r->real",
		      false),
		"r->number=-5 r->half=65534 r->small=-3 r->yes=true r->name=\"first of two\" r->real=2.5");
	assert_string_equal(
		shown("r->bytes, b=r->bytes[2], r->next->bytes[1]:c, (*r).narrow",
		      false),
		"r->bytes={1,2,255,4} b=255 r->next->bytes[1]='b' (*r).narrow=-0.5");
	assert_string_equal(
		shown("r->next->next, r->next->name, r[0].number", false),
		"r->next->next=0x0 r->next->name=\"second\" r[0].number=-5");
	assert_string_equal(shown("r->next->next->number, hue", false),
			    "r->next->next->number=<bad address 0x0> hue=BLUE");
	assert_true(holds("r->number == -5 && r->next->name == \"second\""));
	assert_true(holds("hue == BLUE && hue != RED && count < 0"));
	assert_true(
		holds("r->name ~ \"first*\" || r->next->next->number == 1"));
	assert_false(holds("r->next->next->number != 1"));
}

static void whole_structs(void **state)
{
	char wanted[300];

	of_f = &prototype;
	first.next = (void *)0x1234;
	snprintf(
		wanted, sizeof(wanted),
		"*r={number=-5,half=65534,small=-3,yes=true,name=0x%lx,real=2.5,bytes={1,2,255,4},narrow=-0.5,next=0x1234}",
		(u64)first.name);
	assert_string_equal(shown("*r", false), wanted);
	first.name = NULL;
	assert_string_equal(
		shown("*r", true),
		"*r={\"number\":-5,\"half\":65534,\"small\":-3,\"yes\":true,\"name\":\"0x0\",\"real\":2.5,\"bytes\":[1,2,255,4],\"narrow\":-0.5,\"next\":\"0x1234\"}");
	b.regs.di = 0;
	assert_string_equal(shown("*r, count", false),
			    "*r=<bad address 0x0> count=0");
}

static void names_refused(void **state)
{
	static const struct {
		const char *text;
		int err, column;
	} bad[] = {
		{ "f(r->nothing)", -EINVAL, 5 },
		{ "f(r.number)", -EINVAL, 4 },
		{ "f((*r)->number)", -EINVAL, 8 },
		{ "f(hue->x)", -EINVAL, 7 },
		{ "f(d)", -EOPNOTSUPP, 2 },
		{ "f(co, x)", -ENODATA, 2 },
		{ "f(r->bytes + 1)", -EINVAL, 2 },
		{ "f(*r + 1)", -EINVAL, 2 },
		{ "f(r[2])", -1, 0 },
	};
	struct dp_trace_program p;
	struct dp_diag diag;
	size_t i;

	of_f = &prototype;
	for (i = 0; bad[i].err != -1; i++)
		if (compile(bad[i].text, false, &p, &diag) != bad[i].err ||
		    diag.column != bad[i].column || !diag.text[0])
			fail_msg("%s: %s at %d", bad[i].text, diag.text,
				 diag.column);
}

/* A spec is as long as a command line allows. */
static void too_much(void **state)
{
	static char text[20000];
	struct dp_trace_program p;
	struct dp_diag diag;
	size_t i, n;

	strcpy(text, "f if 1");
	for (i = 0; i < 3000; i++)
		strcat(text + 6 * i, "+rdi+1");
	assert_int_equal(compile(text, true, &p, &diag), -EINVAL);
	strcpy(text, "f if ");
	for (n = 5, i = 0; i < 40; i++)
		n += (size_t)sprintf(text + n, "1+(");
	n += (size_t)sprintf(text + n, "1");
	for (i = 0; i < 40; i++)
		n += (size_t)sprintf(text + n, ")");
	assert_int_equal(compile(text, true, &p, &diag), -EINVAL);
	memset(text, 0, sizeof(text));
	strcpy(text, "f if arg0:str == \"");
	memset(text + strlen(text), 'x', 128);
	strcat(text, "\"");
	assert_int_equal(compile(text, true, &p, &diag), -EINVAL);
	text[strlen(text) - 2] = '"';
	text[strlen(text) - 1] = '\0';
	if (compile(text, true, &p, &diag))
		fail_msg("%s", diag.text);
	dp_expr_free(&p);
	for (n = 5, i = 0; i < 5000; i++)
		text[n++] = "-~!*"[i % 4];
	strcpy(text + n, "1");
	assert_int_equal(compile(text, true, &p, &diag), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_memory, setup),
		cmocka_unit_test_setup(strings, setup),
		cmocka_unit_test_setup(spelled_otherwise, setup),
		cmocka_unit_test_setup(what_is_not_there, setup),
		cmocka_unit_test_setup(json, setup),
		cmocka_unit_test_setup(texts_compared, setup),
		cmocka_unit_test_setup(integers, setup),
		cmocka_unit_test_setup(refused, setup),
		cmocka_unit_test_setup(by_name, setup),
		cmocka_unit_test_setup(whole_structs, setup),
		cmocka_unit_test_setup(names_refused, setup),
		cmocka_unit_test_setup(too_much, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
