// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_values: values of specs that are in memory, and conditions on them, compiled and run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "tracer/expr.h"
#include "tracer/session.h"
#include "tracer/values/show.h"
#include "sym/places.h"
#include "expr_runs.h"
#include "known_classes.h"
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
	struct dp_logged logged;
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
	for (i = 0;
	     i < p.nr_items && dp_value_take(&p.items[i], &r, &at, &logged);
	     i++) {
		fprintf(f, "%s%s=", i ? " " : "", p.items[i].name);
		dp_value_show(f, &p.items[i], &logged, NULL, json);
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
	assert_string_equal(
		shown("a=+u4(%di):x16, b=\\5, c=\\-5, caller:ip, caller:symstr",
		      false),
		"a=0xfffe b=5 c=-5 caller=0xca11e4 caller=0xca11e4");
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

/* In each place of each size, against shifts */
static void bit_fields(void **state)
{
	u64 bits = 0x0123456789abcdef, wanted;
	u32 within, from, n;
	char text[100], is[60];

	memcpy(&second.bytes, &bits, 4);
	b.regs.di = (u64)&bits;
	b.regs.si = bits;
	for (within = 8; within <= 64; within *= 2)
		for (from = 0; from < within; from += 3)
			for (n = 1; from + n <= within; n += 5) {
				wanted = bits << (64 - from - n) >> (64 - n);
				snprintf(
					text, sizeof(text),
					"a=+0(%%di):b%u@%u/%u, b=%%si:b%u@%u/%u",
					n, from, within, n, from, within);
				snprintf(is, sizeof(is), "a=%lu b=%lu", wanted,
					 wanted);
				assert_string_equal(shown(text, false), is);
			}
	assert_true(holds("+4(%di):b4@8/16 == 5 && %si:b8@56/64 == 1"));
}

static s64 word_at(const struct dp_trace_program *p, u32 at)
{
	s64 word;

	memcpy(&word, p->code + at, sizeof(word));
	return word;
}

/* Symbols are filled in where the process is known. */
static void symbols(void **state)
{
	char text[200];
	struct dp_trace_program p;
	struct dp_diag diag;

	snprintf(text, sizeof(text),
		 "a=@%#lx:s32, b=@%#lx:string, c=@%#lx:b4@0/8", (u64)&first,
		 (u64)first.name, (u64)&first.half);
	assert_string_equal(shown(text, false), "a=-5 b=\"first of two\" c=14");
	assert_int_equal(
		compile("f(@one:u8, @two+8, @two-8:u16)", false, &p, &diag), 0);
	assert_int_equal(p.nr_symbols, 3);
	assert_string_equal(p.symbols[0].name, "one");
	assert_string_equal(p.symbols[2].name, "two");
	assert_int_equal(word_at(&p, p.symbols[1].at), 8);
	assert_int_equal(word_at(&p, p.symbols[2].at), -8);
	dp_expr_free(&p);
	/* Not there: an address that is none */
	assert_string_equal(shown("@0x10:u32", false),
			    "@0x10=<bad address 0x10>");
}

static void times(void **state)
{
	assert_true(holds("10us == 10000 && 1ms == 1000us && 2s == 2000ms"));
	assert_true(holds("7ns == 7 && 0x10ms == 16000000 && 5s - 1 > 4s"));
	assert_true(holds("-1us:s64 == -1000"));
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

static u8 saved[512];

static void set_vector(u32 n, const void *value, u32 size)
{
	memset(saved + DP_FPSTATE_XMM0 + 16 * n, 0xee, 8);
	memcpy(saved + DP_FPSTATE_XMM0 + 16 * n, value, size);
	b.vm.fpstate = (u64)saved;
}

static void in_vector_registers(void **state)
{
	double half = 0.5, last = -3;
	float narrow = 1.25f;

	set_vector(0, &half, 8);
	set_vector(1, &narrow, 4);
	set_vector(15, &last, 8);
	assert_string_equal(
		shown("farg0, farg1:f32, %xmm15, xmm15:f64, z=farg0, x=xmm0:x64, y=farg0:x",
		      false),
		"farg0=0.5 farg1=1.25 %xmm15=-3.0 xmm15=-3.0 z=0.5 x=0x3fe0000000000000 y=0x3fe0000000000000");
	assert_string_equal(shown("a=(double)farg0, farg1:f32", true),
			    "a=0.5 farg1=1.25");
	b.vm.fpstate = 0;
}

static const double reals[] = {
	0,
	-0.0,
	1,
	-1,
	1.5,
	0.1,
	-0.1,
	2147483648.0,
	16777217,
	3.4028234663852886e38, /* the greatest float */
	3.4028234663852887e39,
	1.401298464324817e-45, /* the least one */
	1e-45,
	-7e-46,
	1.1754943508222875e-38, /* the least normal one */
	2.2250738585072014e-308,
	4.9406564584124654e-324,
	1.7976931348623157e308,
	-1e300,
	__builtin_inf(),
	-__builtin_inf(),
	__builtin_nan(""),
	-__builtin_nan("0x5"),
};
#define NR_REALS (sizeof(reals) / sizeof(reals[0]))

/* @left OP @right, for each OP, as this compiler has it; both are read as these expressions */
static void compare_reals(const char *l, double left, const char *r,
			  double right)
{
	const struct {
		const char *op;
		bool is;
	} tests[] = { { "==", left == right }, { "!=", left != right },
		      { "<", left < right },   { "<=", left <= right },
		      { ">", left > right },   { ">=", left >= right } };
	char text[120];
	size_t i;

	for (i = 0; i < 6; i++) {
		snprintf(text, sizeof(text), "%s %s %s", l, tests[i].op, r);
		if (holds(text) != tests[i].is)
			fail_msg("%s, of %a and %a", text, left, right);
	}
}

static void with_constants(double x, float narrow, double y)
{
	char text[60];

	snprintf(text, sizeof(text), "%.17g", y);
	compare_reals("farg0", x, text, y);
	compare_reals(text, y, "xmm0", x);
	compare_reals("farg1:f32", (double)narrow, text, y);
	compare_reals(text, y, "xmm1:f32", (double)narrow);
	snprintf(text, sizeof(text), "%.8ef", (double)(float)y);
	if ((double)(float)y - (double)(float)y == 0)
		compare_reals("farg1:f32", (double)narrow, text,
			      (double)(float)y);
}

static void reals_compared(void **state)
{
	size_t i, k;

	for (i = 0; i < NR_REALS; i++)
		for (k = 0; k < NR_REALS; k++) {
			double x = reals[i], y = reals[k];
			float narrow = (float)x, other = (float)y;

			set_vector(0, &x, 8);
			set_vector(1, &narrow, 4);
			set_vector(2, &y, 8);
			set_vector(3, &other, 4);
			compare_reals("farg0", x, "farg2", y);
			compare_reals("farg1:f32", (double)narrow, "farg3:f32",
				      (double)other);
			compare_reals("farg1:f32", (double)narrow, "xmm2", y);
			compare_reals("farg0", x, "xmm3:f32", (double)other);
			if (y - y == 0)
				with_constants(x, narrow, y);
			assert_int_equal(holds("farg0"), x != 0);
			assert_int_equal(holds("!(farg1:f32)"), !narrow);
			assert_int_equal(holds("farg0 && farg2"), x && y);
		}
	b.vm.fpstate = 0;
}

static void reals_and_integers(void **state)
{
	double x = 9007199254740992.0, y = -3;

	set_vector(0, &x, 8);
	set_vector(1, &y, 8);
	/* An integer becomes a double first, as in C. */
	assert_true(holds("farg0 == 9007199254740993"));
	assert_true(holds("farg0 < 0xffffffffffffffff"));
	assert_true(holds("farg1 == -3 && farg1 < 0 && farg1 <= -3"));
	assert_true(holds("-2 > farg1 && .5 > farg1 && 'a' > farg1"));
	assert_true(holds("*(double *)(rdi+16) == 2.5 && 1.5 < 2"));
	assert_true(holds("*(float *)(rdi+28) == -.5f && 2e3 >= 2000"));
	assert_true(holds("farg0 == 1e0 || farg1 > -3.0000001"));
	assert_string_equal(shown("1.5, a=-2e3, b=0.1f, c=.5 < 1", false),
			    "1.5=1.5 a=-2000.0 b=0.10000000149011612 c=true");
	b.vm.fpstate = 0;
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

/* A string that has no end before the page has is compared no further. */
static void arrays_compared(void **state)
{
	of_f = &prototype;
	memcpy(first.bytes, "abcd", 4);
	assert_true(holds("r->bytes:str == \"abcd\""));
	assert_true(holds("r->bytes:str != \"abc\""));
	assert_true(holds("r->bytes:str != \"abcde\""));
	assert_true(holds("r->bytes:str ~ \"abcd*\""));
	assert_true(holds("r->bytes:str ~ \"a??d\""));
	assert_false(holds("r->bytes:str ~ \"abcd?*\""));
	assert_true(holds("r->bytes:str ~ \"*cd\""));
	assert_false(holds("r->next->next->bytes:str != \"abcde\""));
	first.bytes[2] = 0;
	assert_true(holds("r->bytes:str == \"ab\""));
	assert_true(holds("r->bytes:str ~ \"*b\""));
	assert_false(holds("r->bytes:str ~ \"ab?*\""));
}

/* Pieces of patterns and strings, in all orders; fnmatch() has the same words. */
static void patterns(void **state)
{
	static const char *const pieces[] = { "a",    "b",    "*",    "?",
					      "[ab]", "[!a]", "[a-]", "[]x]",
					      "\\*",  "ab",   "-",    "]" };
	char pattern[120], quoted[240], cond[300], string[12];
	u64 seed = 99;
	u32 round, i, n, k, held = 0;

	for (round = 0; round < 30000; round++) {
		*pattern = *string = '\0';
		n = (u32)(vm_random(&seed) % 7);
		for (i = 0; i < n; i++)
			strcat(pattern, pieces[vm_random(&seed) % 12]);
		n = (u32)(vm_random(&seed) % 9);
		for (i = 0; i < n; i++)
			string[i] = "ab*]-x"[vm_random(&seed) % 6];
		string[n] = '\0';
		for (i = k = 0; pattern[i]; i++)
			quoted[k++] = pattern[i];
		quoted[k] = '\0';
		snprintf(cond, sizeof(cond), "rsi:str ~ \"%s\"", quoted);
		b.regs.si = (u64)string;
		if (holds(cond) != !fnmatch(pattern, string, 0))
			fail_msg("%s of %s", cond, string);
		held += !fnmatch(pattern, string, 0);
	}
	assert_true(held > 1000);
}

/* At the end of memory, and behind what is looked at */
static void patterns_at_the_end(void **state)
{
	char *page = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(page + 4096, 4096, PROT_NONE);
	memset(page, 'x', 4096);
	memcpy(page + 4091, "abcd", 5);
	b.regs.si = (u64)page + 4091;
	assert_true(holds("rsi:str ~ \"*cd\" && rsi:str ~ \"*b*d*\""));
	page[4095] = 'e';
	/* It has no end: only what begins with it is known. */
	assert_true(holds("rsi:str ~ \"a*d*\""));
	assert_false(holds("rsi:str ~ \"*f\""));
	assert_false(holds("!(rsi:str ~ \"*f\")"));
	b.regs.si = (u64)page;
	page[500] = 'y';
	assert_true(holds("rsi:str ~ \"*y*\""));
	page[1023] = 'z';
	assert_true(holds("rsi:str ~ \"*z*\""));
	page[1024] = 'w';
	assert_false(holds("rsi:str ~ \"*w*\" || !(rsi:str ~ \"*w*\")"));
	munmap(page, 8192);
	assert_string_equal(
		shown("a=arg0 == 0 || (char *)rcx ~ \"*a\", b=*(char **)(rdi+8) ~ \"f*[o-w]\"",
		      false),
		"a=<bad address 0x0> b=true");
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
		{ "f(@+16)", -EOPNOTSUPP, 2 },
		{ "f(@)", -EINVAL, 3 },
		{ "f(@x->y)", -EINVAL, 6 },
		{ "f if 5min == 1", -EINVAL, 5 },
		{ "f if 5usec == 1", -EINVAL, 5 },
		{ "f if 99999999999999s == 1", -EINVAL, 5 },
		{ "f if latency > 1ms", -EOPNOTSUPP, 5 },
		{ "f(arg0:enum)", -ENODATA, 2 },
		{ "f(arg0:struct)", -EOPNOTSUPP, 7 },
		{ "f(+0(%di):string[2])", -EOPNOTSUPP, 16 },
		{ "f(\\x)", -EINVAL, 2 },
		{ "f($params)", -EOPNOTSUPP, 2 },
		{ "f(+0(%di):sym[2])", -EINVAL, 13 },
		{ "f(%di:b0@4/16)", -EINVAL, 6 },
		{ "f(%di:b4@13/16)", -EINVAL, 6 },
		{ "f(%di:b4@4/24)", -EINVAL, 6 },
		{ "f(%di:b4@4)", -EINVAL, 10 },
		{ "f(%di:b65@0/64)", -EINVAL, 7 },
		{ "f(farg0:b4@4/16)", -EINVAL, 2 },
		{ "f(farg8)", -EINVAL, 2 },
		{ "f(xmm16)", -EINVAL, 2 },
		{ "f(farg0:d)", -EINVAL, 2 },
		{ "f(*(double *)arg0:f32)", -EINVAL, 2 },
		{ "f(*(float *)arg0:f64)", -EINVAL, 2 },
		{ "f(arg0:f64)", -EINVAL, 2 },
		{ "f((int)farg0)", -EINVAL, 2 },
		{ "f((float)farg0)", -EINVAL, 2 },
		{ "f((char *)farg0)", -EINVAL, 2 },
		{ "f(farg0 + 1)", -EINVAL, 2 },
		{ "f(1 | farg0)", -EINVAL, 6 },
		{ "f(-farg0)", -EINVAL, 3 },
		{ "f(farg0 << 1)", -EINVAL, 2 },
		{ "f(((int *)arg0)[farg0])", -EINVAL, 16 },
		{ "f($comm)", -EOPNOTSUPP, 2 },
		{ "f(nothing)", -ENODATA, 2 },
		{ "f(arg0:u8[0])", -EINVAL, 9 },
		{ "f(+0(%di):u8[65])", -EINVAL, 12 },
		{ "f(arg0:u8[2])", -EINVAL, 2 },
		{ "f(+0(%di):str[2])", -EOPNOTSUPP, 13 },
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
		{ "f if arg0:str ~ \"[ab\"", -EINVAL, 16 },
		{ "f if arg0:str ~ \"x*[!\"", -EINVAL, 16 },
		{ "f if *(double *)arg0 > arg1", -EINVAL, 23 },
		{ "f if arg1 < farg0", -EINVAL, 5 },
		{ "f if farg0 ~ 1.5", -EINVAL, 13 },
		{ "f if farg0 < 1.5.5", -EINVAL, 13 },
		{ "f if farg0 < 1e", -EINVAL, 13 },
		{ "f if farg0 < 1e999", -EINVAL, 13 },
		{ "f if farg0 == \"1.5\"", -EINVAL, 5 },
		{ "f if arg0 == 1.5", -EINVAL, 5 },
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

static void says(const char *text, const char *words)
{
	struct dp_trace_program p;
	struct dp_diag diag;

	if (!compile(text, false, &p, &diag) || !strstr(diag.text, words))
		fail_msg("%.60s: %s", text, diag.text);
}

/* "f(", @n times @what, a number, @n times @then, and ")" */
static const char *many_of(char *text, const char *what, int n,
			   const char *then)
{
	char *to = stpcpy(text, "f(");
	int i;

	for (i = 0; i < n; i++)
		to = stpcpy(to, what);
	to = stpcpy(to, "1");
	for (i = 0; i < n; i++)
		to = stpcpy(to, then);
	strcpy(to, ")");
	return text;
}

/* Of the parser: what is wrong, and what to write instead */
static void refused_with_words(void **state)
{
	/* clang-format off */
	static const char *const bad[][2] = {
		{ "f(arg0 == )", "a value is missing here: a register, an argument (arg0), a number" },
		{ "f(((int *)arg0)[1)", "a ']' is missing here" },
		{ "f(arg0->)", "the name of a member is missing here" },
		{ "f(arg0 == 'ab')", "a character stands between two of these" },
		{ "f((void)arg0)", "no value is void; void * is a type" },
		{ "f((int *********)arg0)", "too many '*' in this type" },
		{ "f(arg0:struct)", "a struct is shown by its type: *(struct NAME *)" },
		{ "f(arg0:union)", "a union is shown by its type: *(union NAME *)" },
		{ "f(arg0:bitfield)", "a bit field is b4@8/32: four bits from bit 8 on, of 32" },
		{ "f(%di:b4@4)", "the size of what has the bit field is missing: /32" },
		{ "f(%di:b4@13/16)", "a bit field is within the 8, 16, 32 or 64 bits behind its '/'" },
		{ "f(arg0:u12)", "a format is u8 to u64, s8 to s64, x8 to x64, f32, f64, d, u, x, o, c, bool" },
		{ "f(arg0:u8[0])", "an array has 1 to 64 elements of a size: x8[16]" },
		{ "f(+0(%di):str[2])", "an array of strings is not there yet: each is a value" },
		{ "f(\\x)", "behind this is a number; a text stands in quotes" },
		{ "f(@+16)", "offsets in a file are not there yet" },
		{ "f if farg0 < 1e", "this is no floating-point number: 1.5, -2e3" },
		{ "f if farg0 < 1e999", "this is above all floating-point numbers" },
		{ "f if arg0 < 5min", "this is not a number of 64 bits" },
		{ "f if (arg0 == 1) 2", "only && and || may follow a comparison" },
	};
	/* clang-format on */
	char text[2048];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		says(bad[i][0], bad[i][1]);
	says(many_of(text, "(", 65, ")"),
	     "too many parentheses in one another");
	says(many_of(text, "1+", 200, ""), "this is too long");
	says(many_of(text, "1,", 16, ""),
	     "a trace line shows at most 16 values");
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
	assert_string_equal(shown("hue:enum", false), "hue=BLUE");
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

/* Arguments by their numbers, whatever a parameter's name begins with */
static void numbers_are_no_names(void **state)
{
	static const struct dp_prototype_parameter odd[] = {
		{ .name = "arg10th", .type = &number },
		{ .name = "farg1st", .type = &number },
	};
	static const struct dp_prototype named = { .name = "f",
						   .parameters = odd,
						   .n = 2 };
	double half = 0.5;

	of_f = &named;
	stack[5] = 0x55;
	set_vector(1, &half, 8);
	assert_string_equal(shown("arg10, farg1, arg10t == arg0:s32", false),
			    "arg10=0x55 farg1=0.5 arg10t == arg0:s32=true");
	b.vm.fpstate = 0;
}

static void whole_structs(void **state)
{
	of_f = &prototype;
	first.next = (void *)0x1234;
	assert_string_equal(
		shown("*r", false),
		"*r={number=-5,half=65534,small=-3,yes=true,name=\"first of two\",real=2.5,bytes={1,2,255,4},narrow=-0.5,next=0x1234}");
	first.name = NULL;
	assert_string_equal(
		shown("*r", true),
		"*r={\"number\":-5,\"half\":65534,\"small\":-3,\"yes\":true,\"name\":\"0x0\",\"real\":2.5,\"bytes\":[1,2,255,4],\"narrow\":-0.5,\"next\":\"0x1234\"}");
	b.regs.di = 0;
	assert_string_equal(shown("*r, count", false),
			    "*r=<bad address 0x0> count=0");
}

/* A variable v, a struct record of which the first @size bytes are in memory */
static void use_cut(u32 size)
{
	static const struct dp_step at = { DP_STEP_REGISTER, 5 }; /* rdi */
	static struct dp_piece piece;
	static const struct dp_variable v = {
		.name = "v", .type = &known, .pieces = &piece, .n = 1
	};
	static const struct dp_scope scope = { .variables = &v, .n = 1 };
	static const struct dp_prototype in_f = { .name = "f",
						  .scope = &scope };

	piece = (struct dp_piece){
		.kind = DP_PIECE_MEMORY, .size = size, .steps = &at, .n = 1
	};
	of_f = &in_f;
}

static void assert_cut(const char *text)
{
	struct dp_trace_program p;
	struct dp_diag diag;

	if (compile(text, false, &p, &diag) != -EOPNOTSUPP ||
	    !strstr(diag.text, "v is optimised out here"))
		fail_msg("%s: %s", text, diag.text);
}

/* What is behind the only piece of a variable in memory is not a part of it. */
static void cut_off_by_the_piece(void **state)
{
	use_cut(sizeof(struct record));
	assert_string_equal(shown("v.number, v.real, v.next->name", false),
			    "v.number=-5 v.real=2.5 v.next->name=\"second\"");
	use_cut(12);
	assert_string_equal(shown("v.number, v.half, v.yes", false),
			    "v.number=-5 v.half=65534 v.yes=true");
	assert_cut("f(v.real)");
	assert_cut("f(v.name)"); /* half of it is there */
	assert_cut("f(v.next->name)");
	assert_cut("f(v)");
	assert_cut("f if v.real > 1.0");
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

static struct string_view other = { 4, "four and more" };
static const s32 numbers[] = { 5, -6, 7 };
static struct classes all = { .text = { 3, "abcd" },
			      .list = { numbers, numbers + 3 },
			      .shared = &other,
			      .low = 5,
			      .high = 77,
			      .wide = -3 };

static void use_classes(void)
{
	of_f = &of_classes;
	b.regs.di = b.regs.si = (u64)&all;
}

static void stand_for(void **state)
{
	use_classes();
	assert_string_equal(
		shown("c.text, c->list, p->shared->_M_len, *c.shared, c.low, p->high, c.wide",
		      false),
		"c.text=\"abc\" c->list={5,-6,7} p->shared->_M_len=4 *c.shared=\"four\" c.low=5 p->high=77 c.wide=-3");
	assert_string_equal(
		shown("n=c.low + c.wide:d, t=c.text:str, m=c.high:x8", false),
		"n=2 t=\"abc\" m=0x4d");
	all.list.end = (const s32 *)((u64)numbers - sizeof(*numbers));
	assert_int_equal(memcmp(shown("c.list", false), "c.list=<from 0x", 15),
			 0);
	all.shared = NULL;
	other.length = 9;
	assert_string_equal(
		shown("*c.shared, c.shared->_M_len", false),
		"*c.shared=<bad address 0x0> c.shared->_M_len=<bad address 0x0>");
	all.list.end = numbers + 3;
	all.shared = &other;
	assert_true(holds("c.low == 5 && p->high == 77 && c.wide == -3"));
	assert_true(holds("c.wide < c.low && c.shared && p->shared != 0"));
	assert_false(holds("c.shared == 0 || c.high < 77 || c.wide > -3"));
}

/* All texts of up to four of three bytes, as memcmp() has them */
static void texts_with_lengths(void **state)
{
	static const char letters[] = { 'a', 'b', '\0' };
	char text[4], cond[80];
	u32 i, k, n, m, len;

	use_classes();
	all.text.text = text;
	for (i = 0; i < 81; i++)
		for (len = 0; len <= 4; len++)
			for (k = 0; k < 16; k++)
				for (m = 0; m <= 4; m += 2) {
					char want[5] = "";
					bool same, begins;

					for (n = 0; n < 4; n++)
						text[n] =
							letters[i /
								(u32[]){ 1, 3, 9,
									 27 }[n] %
								3];
					for (n = 0; n < m; n++)
						want[n] = "ab"[k >> n & 1];
					all.text.length = len;
					begins = len >= m &&
						 !memcmp(text, want, m);
					same = begins && len == m;
					snprintf(cond, sizeof(cond),
						 "c.text == \"%s\"", want);
					assert_int_equal(holds(cond), same);
					snprintf(cond, sizeof(cond),
						 "\"%s\" != p->text", want);
					assert_int_equal(holds(cond), !same);
					snprintf(cond, sizeof(cond),
						 "c.text ~ \"%s*\"", want);
					assert_int_equal(holds(cond), begins);
				}
	all.text = (struct string_view){ 3, "abcd" };
	assert_true(holds("c.text ~ \"?b?\""));
	assert_false(holds("c.text ~ \"?b\" || c.text ~ \"?b??\""));
	/* What is not there does not hold, unless its length says enough. */
	all.text.text = (void *)8;
	assert_false(holds("c.text == \"abc\" || c.text != \"abc\""));
	assert_true(holds("c.text != \"abcd\""));
}

static void classes_refused(void **state)
{
	static const struct {
		const char *text;
		int err, column;
	} bad[] = {
		{ "f(c.list == 5)", -EINVAL, 2 },
		{ "f(c.text + 1)", -EINVAL, 2 },
		{ "f(c.list[0])", -EINVAL, 2 },
		{ "f(c.shared->nothing)", -EINVAL, 12 },
		{ "f(c.low:u8[2])", -EINVAL, 2 },
		{ "f if c.list == \"x\"", -EINVAL, 5 },
		{ "f if c.text == 5", -EINVAL, 5 },
	};
	struct dp_trace_program p;
	struct dp_diag diag;
	size_t i;

	use_classes();
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (compile(bad[i].text, false, &p, &diag) != bad[i].err ||
		    diag.column != bad[i].column || !diag.text[0])
			fail_msg("%s: %s at %d", bad[i].text, diag.text,
				 diag.column);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_memory, setup),
		cmocka_unit_test_setup(strings, setup),
		cmocka_unit_test_setup(spelled_otherwise, setup),
		cmocka_unit_test_setup(bit_fields, setup),
		cmocka_unit_test_setup(symbols, setup),
		cmocka_unit_test_setup(times, setup),
		cmocka_unit_test_setup(what_is_not_there, setup),
		cmocka_unit_test_setup(in_vector_registers, setup),
		cmocka_unit_test_setup(reals_compared, setup),
		cmocka_unit_test_setup(reals_and_integers, setup),
		cmocka_unit_test_setup(json, setup),
		cmocka_unit_test_setup(texts_compared, setup),
		cmocka_unit_test_setup(arrays_compared, setup),
		cmocka_unit_test_setup(patterns, setup),
		cmocka_unit_test_setup(patterns_at_the_end, setup),
		cmocka_unit_test_setup(integers, setup),
		cmocka_unit_test_setup(refused, setup),
		cmocka_unit_test_setup(refused_with_words, setup),
		cmocka_unit_test_setup(by_name, setup),
		cmocka_unit_test_setup(numbers_are_no_names, setup),
		cmocka_unit_test_setup(whole_structs, setup),
		cmocka_unit_test_setup(cut_off_by_the_piece, setup),
		cmocka_unit_test_setup(names_refused, setup),
		cmocka_unit_test_setup(too_much, setup),
		cmocka_unit_test_setup(stand_for, setup),
		cmocka_unit_test_setup(texts_with_lengths, setup),
		cmocka_unit_test_setup(classes_refused, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("values", tests, NULL, NULL);
}
