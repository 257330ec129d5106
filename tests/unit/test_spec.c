// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* spec: the grammar of specs, its refusals, and where their carets point. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "resolve/points.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* A spec that is well-formed, and what it means. */
struct good {
	const char *text;
	enum dp_spec_kind kind;
	enum dp_point_form form;
	const char *module, *name;
	u64 number; /* offset of a symbol, value of other forms */
	const char *args, *cond;
};

#define SYM(t, m, n, off)                                                \
	{                                                                \
		t, DP_SPEC_PROBE, DP_POINT_SYMBOL, m, n, off, NULL, NULL \
	}
#define ADDR(t, m, v)                                                      \
	{                                                                  \
		t, DP_SPEC_PROBE, DP_POINT_ADDRESS, m, NULL, v, NULL, NULL \
	}
#define FOFF(t, m, v)                                                          \
	{                                                                      \
		t, DP_SPEC_PROBE, DP_POINT_FILE_OFFSET, m, NULL, v, NULL, NULL \
	}
#define LINE(t, m, n, v)                                             \
	{                                                            \
		t, DP_SPEC_PROBE, DP_POINT_LINE, m, n, v, NULL, NULL \
	}
#define RET(t, m, n)                                                    \
	{                                                               \
		t, DP_SPEC_RETURN, DP_POINT_SYMBOL, m, n, 0, NULL, NULL \
	}

static const struct good goods[] = {
	SYM("main", "", "main", 0),
	SYM("  main\t", "", "main", 0),
	SYM(":main", "", "main", 0),
	SYM("p:main", "", "main", 0),
	SYM("p::main", "", "p::main", 0),
	SYM("p:p:f", "p", "f", 0),
	SYM("p:usdt:f", "usdt", "f", 0),
	SYM("p", "", "p", 0),
	SYM("r", "", "r", 0),
	SYM("pp:f", "pp", "f", 0),
	SYM("./p:f", "./p", "f", 0),
	SYM("\"p\":f", "p", "f", 0),
	SYM("libc.so.6:malloc", "libc.so.6", "malloc", 0),
	SYM("p:libc.so.6:malloc", "libc.so.6", "malloc", 0),
	SYM("/lib/x86_64-linux-gnu/libc.so.6:free",
	    "/lib/x86_64-linux-gnu/libc.so.6", "free", 0),
	SYM("libstdc++.so.6:_Znwm", "libstdc++.so.6", "_Znwm", 0),
	SYM("libc*:mallo?", "libc*", "mallo?", 0),
	SYM("libc.so.6:[mc]alloc", "libc.so.6", "[mc]alloc", 0),
	SYM("*", "", "*", 0),
	SYM("malloc+0x1c", "", "malloc", 0x1c),
	SYM("malloc+0X1C", "", "malloc", 0x1c),
	SYM("malloc+28", "", "malloc", 28),
	SYM("malloc+0", "", "malloc", 0),
	SYM("malloc+010", "", "malloc", 10),
	SYM("libc.so.6:malloc+0x1c", "libc.so.6", "malloc", 0x1c),
	SYM("mallo*+4", "", "mallo*", 4),
	SYM("f+0xffffffffffffffff", "", "f", UINT64_MAX),
	SYM("memcpy@GLIBC_2.2.5", "", "memcpy@GLIBC_2.2.5", 0),
	SYM("libc.so.6:memcpy@@GLIBC_2.14", "libc.so.6", "memcpy@@GLIBC_2.14",
	    0),
	SYM("ns::f", "", "ns::f", 0),
	SYM("a::b::c+2", "", "a::b::c", 2),
	SYM("lib.so:ns::f", "lib.so", "ns::f", 0),
	SYM("lib.so:::f", "lib.so", "::f", 0),
	SYM("p:lib.so:ns::f", "lib.so", "ns::f", 0),
	SYM("\"ns::f(int)\"", "", "ns::f(int)", 0),
	SYM("\"f(int)\"+0x4", "", "f(int)", 4),
	SYM("lib.so:\"operator new(unsigned long)\"", "lib.so",
	    "operator new(unsigned long)", 0),
	SYM("\"my lib.so\":f", "my lib.so", "f", 0),
	SYM("\"a:b.so\":f", "a:b.so", "f", 0),
	SYM("\"a\\\"b\\\\c\"", "", "a\"b\\c", 0),
	SYM("\"main.(*T).m\"", "", "main.(*T).m", 0),
	SYM("kernel:do_exit", "kernel", "do_exit", 0),
	SYM("kernel:ext4:ext4_map*", "kernel", "ext4:ext4_map*", 0),
	SYM("kernel:ext4:f+0x4", "kernel", "ext4:f", 4),
	SYM("_start.part.0", "", "_start.part.0", 0),
	SYM("if", "", "if", 0),
	ADDR("0x401000", "", 0x401000),
	ADDR("0XabCDef", "", 0xabcdef),
	ADDR("p:0x401000", "", 0x401000),
	ADDR("libc.so.6:0x7f0000000000", "libc.so.6", 0x7f0000000000),
	ADDR("0xffffffffffffffff", "", UINT64_MAX),
	FOFF("+0x1234", "", 0x1234),
	FOFF("+4660", "", 4660),
	FOFF("libc.so.6:+0x1234", "libc.so.6", 0x1234),
	FOFF("p:libc.so.6:+10", "libc.so.6", 10),
	FOFF(":+0x10", "", 0x10),
	LINE("main.c:42", "", "main.c", 42),
	LINE("src/main.c:42", "", "src/main.c", 42),
	LINE("prog:main.c:42", "prog", "main.c", 42),
	LINE("p:main.c:42", "", "main.c", 42),
	LINE("p:prog:main.c:42", "prog", "main.c", 42),
	LINE("\"my file.c\":42", "", "my file.c", 42),
	LINE("prog:\"a:b.c\":42", "prog", "a:b.c", 42),
	LINE("/src/main.c:042", "", "/src/main.c", 42),
	LINE("main.c:18446744073709551615", "", "main.c", UINT64_MAX),
	RET("r:main", "", "main"),
	RET("main%return", "", "main"),
	RET("p:main%return", "", "main"),
	RET("r:main%return", "", "main"),
	RET("r:main+0", "", "main"),
	RET("libc.so.6:malloc%return", "libc.so.6", "malloc"),
	RET("r:r:f", "r", "f"),
	RET("\"f(int)\"%return", "", "f(int)"),
	{ "j:main", DP_SPEC_JPROBE, DP_POINT_SYMBOL, "", "main", 0, NULL,
	  NULL },
	{ "usdt:prov:name", DP_SPEC_USDT, DP_POINT_TRACEPOINT, "", "name", 0,
	  NULL, NULL },
	{ "usdt:lib.so:prov:name", DP_SPEC_USDT, DP_POINT_TRACEPOINT, "lib.so",
	  "name", 0, NULL, NULL },
	{ "usdt:\"a:b\":prov:n*(arg0, arg1:s) if arg2 > 3", DP_SPEC_USDT,
	  DP_POINT_TRACEPOINT, "a:b", "n*", 0, "arg0, arg1:s", "arg2 > 3" },
	{ "usdt:*", DP_SPEC_USDT, DP_POINT_TRACEPOINT, "", "*", 0, NULL, NULL },
	{ "hook:name", DP_SPEC_HOOK, 0, "", "name", 0, NULL, NULL },
	{ "w:v", DP_SPEC_WATCH, 0, "", "v", 0, NULL, NULL },
	{ "w:x", DP_SPEC_WATCH, 0, "", "x", 0, NULL, NULL },
	{ "w:x:x", DP_SPEC_WATCH, 0, "", "x", 0, NULL, NULL },
	{ "w:m:rw:w", DP_SPEC_WATCH, 0, "m", "rw", 0, NULL, NULL },
	{ "w:m:v+8/4", DP_SPEC_WATCH, 0, "m", "v", 8, NULL, NULL },
	{ "w:\"/a/b\":v/4:rw", DP_SPEC_WATCH, 0, "/a/b", "v", 0, NULL, NULL },
	{ "w:kernel:ext4:v+8/4:rw", DP_SPEC_WATCH, 0, "kernel", "ext4:v", 8,
	  NULL, NULL },
	{ "w:kernel:jiffies/8", DP_SPEC_WATCH, 0, "kernel", "jiffies", 0, NULL,
	  NULL },
	{ "w:\"a/b\"/2", DP_SPEC_WATCH, 0, "", "a/b", 0, NULL, NULL },
	{ "w:0x10/8:rw", DP_SPEC_WATCH, DP_POINT_ADDRESS, "", NULL, 0x10, NULL,
	  NULL },
	{ "f()", 0, 0, "", "f", 0, "", NULL },
	{ "f(a, b)", 0, 0, "", "f", 0, "a, b", NULL },
	{ "f(g(a), \")\")", 0, 0, "", "f", 0, "g(a), \")\"", NULL },
	{ "f+4(rdi)", 0, 0, "", "f", 4, "rdi", NULL },
	{ "f if rdi == 3", 0, 0, "", "f", 0, NULL, "rdi == 3" },
	{ "f(a) if a:b  ", 0, 0, "", "f", 0, "a", "a:b" },
	{ "m:f+0x2 if (x)", 0, 0, "m", "f", 2, NULL, "(x)" },
	{ "0x10 if x", 0, DP_POINT_ADDRESS, "", NULL, 0x10, NULL, "x" },
};

/* A spec that is not, a word of the answer, and the caret's place. */
static const struct wrong {
	const char *text, *word;
	int column, span;
} wrongs[] = {
	{ "", "empty", 0, 1 },
	{ "   ", "empty", 0, 1 },
	{ "p:", "missing", 1, 1 },
	{ ":", "missing", 0, 1 },
	{ "libc.so.6:", "missing", 9, 1 },
	{ "a:b:c", "first is no KIND", 3, 1 },
	{ "p:a:b:c", "too many", 5, 1 },
	{ "a:b:c:d:e:f", "too many", 9, 1 },
	{ "malloc+", "offset is a number", 6, 1 },
	{ "malloc+zz", "offset is a number", 7, 1 },
	{ "malloc+0x", "offset is a number", 8, 1 },
	{ "malloc+0x1g", "offset is a number", 10, 1 },
	{ "malloc+12a", "offset is a number", 9, 1 },
	{ "malloc+1+2", "offset is a number", 8, 1 },
	{ "f+0x10000000000000000", "too large", 2, 19 },
	{ "f+18446744073709551616", "too large", 2, 20 },
	{ "+", "file offset is a number", 0, 1 },
	{ "m:+x", "file offset is a number", 3, 1 },
	{ "0x", "hexadecimal", 1, 1 },
	{ "0x12g4", "hexadecimal", 4, 1 },
	{ "0x12+4", "hexadecimal", 4, 1 },
	{ "0x11112222333344445", "too large", 0, 19 },
	{ "1234", "starts with 0x", 0, 4 },
	{ "7f00", "starts with 0x", 0, 4 },
	{ ":42", "source file is missing", 1, 2 },
	{ "main.c:0", "counted from 1", 7, 1 },
	{ "main.c:000", "counted from 1", 7, 3 },
	{ "main.c:-1", "counted from 1", 7, 2 },
	{ "prog:main.c:-12", "counted from 1", 12, 3 },
	{ "main.c:18446744073709551616", "too large", 7, 20 },
	{ "\"\":42", "no name of a file", 0, 2 },
	{ "\"main\".c:42", "quoted name of a file", 6, 2 },
	{ "r:main.c:42", "follows a function", 9, 2 },
	{ "r:prog:main.c:42", "follows a function", 14, 2 },
	{ "f%entry", "%return", 1, 6 },
	{ "f%return+4", "%return", 1, 9 },
	{ "f+4%return", "offset is a number", 3, 1 },
	{ "r:f+0x4", "no offset", 3, 4 },
	{ "j:f%return", "%return", 3, 7 },
	{ "\"f", "not closed", 0, 1 },
	{ "m:\"f(int)", "not closed", 2, 1 },
	{ "f\"g\"", "right after", 1, 1 },
	{ "\"f\"g", "+OFFSET or %return", 3, 1 },
	{ "\"m\"x:f", "module", 3, 1 },
	{ "\"\"", "no name", 0, 2 },
	{ "f(a", "parenthesis is not closed", 1, 1 },
	{ "f(a(b)", "parenthesis is not closed", 1, 1 },
	{ "f(\"a)", "quote", 1, 1 },
	{ "f(a)x", "double quotes", 4, 1 },
	{ "f(a)if b", "double quotes", 4, 4 },
	{ "f g", "double quotes", 2, 1 },
	{ "operator new", "double quotes", 9, 3 },
	{ "f if", "no condition", 2, 2 },
	{ "f if   ", "no condition", 2, 2 },
	{ "f iff x", "double quotes", 2, 5 },
	{ "w:v/3", "1, 2, 4 or 8", 3, 2 },
	{ "w:v/16", "1, 2, 4 or 8", 3, 3 },
	{ "w:v/0", "1, 2, 4 or 8", 3, 2 },
	{ "w:v/0:rw", "1, 2, 4 or 8", 3, 2 },
	{ "w:v/", "a length is a number", 3, 1 },
	{ "w:v/x", "a length is a number", 4, 1 },
	{ "w:m:v:q", "ends with the access", 6, 1 },
	{ "w:m:v:\"x\"", "ends with the access", 6, 3 },
	{ "w:", "missing", 1, 1 },
	{ "w:f%return", "%return", 3, 7 },
	{ "usdt:a", "usdt:PROVIDER:*", 5, 1 },
	{ "usdt:a:", "usdt:PROVIDER:NAME", 6, 1 },
	{ "usdt:a:b:c:d", "too many", 8, 1 },
};

/* A spec that is for later, a word of the answer, and the caret's place. */
static const struct wrong unsupported[] = {
	{ "j:main", "jprobes", 0, 1 },
	{ "usdt:kernel:a:b", "kernel", 5, 6 },
	{ "hook:a+4", "without an offset", 5, 3 },
	{ "kernel:+0x10", "kernel", 0, 6 },
	{ "j:main.c:42", "jprobes", 0, 1 },
	{ "kernel:sched.c:42", "kernel", 0, 6 },
	{ "w:kernel:jiffies", "how many bytes", 9, 7 },
	{ "w:kernel:jiffies:x", "kernel:FUNCTION+OFFSET", 9, 9 },
	{ "w:kernel:0x10", "must be said", 9, 4 },
	{ "w:kernel:ji*/8", "four watchpoints", 9, 5 },
	{ "j:kernel:f", "there yet", 0, 1 },
	{ "w:v*", "four watchpoints", 2, 2 },
	{ "w:+0x10", "SYMBOL+OFFSET or 0xADDRESS", 2, 5 },
	{ "w:f/8:x", "has no length", 3, 2 },
	{ "w:0x10", "must be said", 2, 4 },
};

/* What is watched, and at what: text, bytes, access. */
static void watched(void **state)
{
	static const struct {
		const char *text;
		u64 len;
		enum dp_watch_access access;
	} list[] = {
		{ "w:v", 0, DP_WATCH_WRITE },
		{ "w:rw", 0, DP_WATCH_WRITE },
		{ "w:v:w", 0, DP_WATCH_WRITE },
		{ "w:v:rw", 0, DP_WATCH_ACCESS },
		{ "w:v/1:rw", 1, DP_WATCH_ACCESS },
		{ "w:m:v+4/2", 2, DP_WATCH_WRITE },
		{ "w:f:x", 0, DP_WATCH_EXECUTE },
		{ "w:m:f+4:x", 0, DP_WATCH_EXECUTE },
		{ "w:0x1000/8", 8, DP_WATCH_WRITE },
		{ "w:0x1000:x", 0, DP_WATCH_EXECUTE },
	};
	struct dp_spec spec;
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		assert_int_equal(dp_spec_parse(list[i].text, &spec, NULL), 0);
		assert_int_equal(dp_spec_supported(&spec, NULL), 0);
		assert_int_equal(spec.len, list[i].len);
		assert_int_equal(spec.access, list[i].access);
		dp_spec_free(&spec);
	}
}

static void check_good(const struct good *g)
{
	struct dp_diag diag;
	struct dp_spec spec;

	dp_diag_clear(&diag);
	if (dp_spec_parse(g->text, &spec, &diag))
		fail_msg("\"%s\": %s", g->text, diag.text);
	assert_string_equal(spec.text, g->text);
	assert_int_equal(spec.kind, g->kind);
	assert_int_equal(spec.form, g->form);
	assert_string_equal(spec.module, g->module);
	if (g->name)
		assert_string_equal(spec.name, g->name);
	else
		assert_null(spec.name);
	assert_true((g->form ? spec.value : spec.offset) == g->number);
	if (g->args)
		assert_string_equal(spec.args, g->args);
	else
		assert_null(spec.args);
	if (g->cond)
		assert_string_equal(spec.cond, g->cond);
	else
		assert_null(spec.cond);
	dp_spec_free(&spec);
}

static void well_formed_specs_are_understood(void **state)
{
	size_t i;

	for (i = 0; i < COUNT(goods); i++)
		check_good(&goods[i]);
}

static void check_wrong(const struct wrong *w, const struct dp_diag *diag)
{
	if (!strstr(diag->text, w->word))
		fail_msg("\"%s\": no \"%s\" in \"%s\"", w->text, w->word,
			 diag->text);
	if (diag->column != w->column || diag->span != w->span)
		fail_msg("\"%s\": caret at %d+%d, not %d+%d", w->text,
			 diag->column, diag->span, w->column, w->span);
}

static void malformed_specs_get_a_caret(void **state)
{
	struct dp_diag diag;
	struct dp_spec spec;
	size_t i;

	for (i = 0; i < COUNT(wrongs); i++) {
		dp_diag_clear(&diag);
		if (dp_spec_parse(wrongs[i].text, &spec, &diag) != -EINVAL)
			fail_msg("\"%s\" is accepted", wrongs[i].text);
		check_wrong(&wrongs[i], &diag);
	}
}

static void expect_provider(const char *text, const char *provider,
			    const char *name, bool glob)
{
	struct dp_diag diag;
	struct dp_spec spec;

	assert_int_equal(dp_spec_parse(text, &spec, &diag), 0);
	assert_string_equal(spec.provider, provider);
	assert_string_equal(spec.name, name);
	assert_int_equal(spec.glob, glob);
	assert_int_equal(dp_spec_supported(&spec, &diag), 0);
	dp_spec_free(&spec);
}

static void tracepoints_have_providers(void **state)
{
	expect_provider("usdt:python:line", "python", "line", false);
	expect_provider("usdt:python*:line", "python*", "line", true);
	expect_provider("usdt:m:p:n?", "p", "n?", true);
	expect_provider("usdt:*", "*", "*", true);
	expect_provider("usdt:\"a:b\":\"c d\"", "a:b", "c d", false);
}

static void forms_for_later_are_named(void **state)
{
	struct dp_diag diag;
	struct dp_spec spec;
	size_t i;

	for (i = 0; i < COUNT(unsupported); i++) {
		dp_diag_clear(&diag);
		assert_int_equal(
			dp_spec_parse(unsupported[i].text, &spec, &diag), 0);
		assert_int_equal(dp_spec_supported(&spec, &diag), -EOPNOTSUPP);
		check_wrong(&unsupported[i], &diag);
		dp_spec_free(&spec);
	}
}

static void forms_for_now_are_supported(void **state)
{
	static const char *const texts[] = {
		"main",
		"libc.so.6:mallo*",
		"main+0x4",
		"0x401000",
		"libc.so.6:+0x1000",
		"\"f(int)\"",
		"main.c:42",
		"prog:main.c:42",
		"kernel:do_exit",
		"r:kernel:do_exit",
	};
	struct dp_spec spec;
	size_t i;

	for (i = 0; i < COUNT(texts); i++) {
		assert_int_equal(dp_spec_parse(texts[i], &spec, NULL), 0);
		assert_int_equal(dp_spec_supported(&spec, NULL), 0);
		assert_int_equal(spec.glob, i == 1);
		assert_int_equal(spec.has_offset, i == 2);
		dp_spec_free(&spec);
	}
}

static void any_prefix_of_a_spec_is_safe(void **state)
{
	static const char text[] =
		"r:\"my lib\":\"ns::f(in\\\"t)\"+0x1c%return(a(\")\")) if b::c";
	char part[sizeof(text)];
	struct dp_spec spec;
	size_t from, len;

	for (from = 0; from < sizeof(text); from++)
		for (len = 0; from + len < sizeof(text); len++) {
			memcpy(part, text + from, len);
			part[len] = '\0';
			if (!dp_spec_parse(part, &spec, NULL))
				dp_spec_free(&spec);
		}
}

static void reserved_module_names(void **state)
{
	assert_true(dp_spec_reserved("p"));
	assert_true(dp_spec_reserved("usdt"));
	assert_true(dp_spec_reserved("kernel"));
	assert_false(dp_spec_reserved("pp"));
	assert_false(dp_spec_reserved(""));
}

static void takes_a_line_of_the_list(void **state)
{
	static const struct {
		const char *line, *spec;
	} good[] = {
		{ "00007f093a3a4930  k  malloc+0x0  libc.so.6 [DISABLED]",
		  "libc.so.6:malloc+0x0" },
		{ "000055ef42305340  k  main+0x1c    [OPTIMIZED]",
		  "main+0x1c" },
		{ "000055ef42305340  r  f+0x0    ", "r:f+0x0" },
		{ "000055ef42305340  j  f+0x0  libm.so.6 ",
		  "j:libm.so.6:f+0x0" },
		{ "000055ef42305340  k  0x55ef42305340 [DISABLED]",
		  "0x55ef42305340" },
		{ "000055ef42305340  w  v+0x8  libm.so.6 [WATCH/4:rw]",
		  "w:libm.so.6:v+0x8/4:rw" },
		{ "000055ef42305340  w  0x55ef42305340 [WATCH/8:w]",
		  "w:0x55ef42305340/8:w" },
		{ "000055ef42305340  w  v+0x0    ", "w:v+0x0" },
		{ "ffffffff813b2c09  k  vfs_read+0x9    [OPTIMIZED]",
		  "kernel:vfs_read+0x9" },
		{ "ffffffffc03b2c09  k  f+0x9  ext4 ", "kernel:ext4:f+0x9" },
		{ "ffffffff813b2c09  r  vfs_read+0x9    [OPTIMIZED]",
		  "r:kernel:vfs_read" },
		{ "ffffffff813b2c10  w  jiffies_64+0x0    [WATCH/8:rw]",
		  "w:kernel:jiffies_64+0x0/8:rw" },
		{ "ffffffffc03b2c09  r  f+0x9  ext4 ", "r:kernel:ext4:f" },
	};
	static const char *const other[] = {
		"malloc",
		"000055ef42305340",
		"000055ef42305340  x  f+0x0",
		"55ef42305340  k  f+0x0",
		"000055ef42305340  k",
	};
	struct dp_spec spec;
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_int_equal(dp_spec_parse(good[i].line, &spec, NULL), 0);
		assert_string_equal(spec.text, good[i].spec);
		dp_spec_free(&spec);
	}
	for (i = 0; i < sizeof(other) / sizeof(other[0]); i++)
		assert_null(dp_list_line_spec(other[i]));
}

static void lone_colons_separate(void **state)
{
	static const struct {
		const char *text;
		int at; /* -1: none */
	} rows[] = {
		{ "", -1 },	  { "malloc", -1 }, { "a:b", 1 },
		{ "a::b", -1 },	  { "a::b:c", 4 },  { "a:::b", 1 },
		{ "a::::b", -1 }, { ":b", 0 },	    { "std::x:", 6 },
	};
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		const char *text = rows[i].text;

		assert_ptr_equal(dp_spec_colon(text),
				 rows[i].at < 0 ? NULL : text + rows[i].at);
	}
}

/* Braces behind "::" are of names of Rust; others say what is kept. */
static void braces(void **state)
{
	static const struct {
		const char *text, *name, *args, *aggs, *cond;
		int column;
	} list[] = {
		{ "f{count()}", "f", NULL, "count()", NULL, 1 },
		{ "f {count()} if x", "f", NULL, "count()", "x", 2 },
		{ "f(a){hist(b) by \"}\"}", "f", "a", "hist(b) by \"}\"", NULL,
		  4 },
		{ "m::{closure#0}{count()}", "m::{closure#0}", NULL, "count()",
		  NULL, 14 },
		{ "m::{{closure}}::f", "m::{{closure}}::f", NULL, NULL, NULL,
		  0 },
		{ "r:\"f(int)\"{count()}", "f(int)", NULL, "count()", NULL,
		  10 },
	};
	struct dp_spec spec;
	size_t i;

	for (i = 0; i < COUNT(list); i++) {
		assert_int_equal(dp_spec_parse(list[i].text, &spec, NULL), 0);
		assert_string_equal(spec.name, list[i].name);
		assert_string_equal(spec.args ?: "-", list[i].args ?: "-");
		assert_string_equal(spec.aggs ?: "-", list[i].aggs ?: "-");
		assert_string_equal(spec.cond ?: "-", list[i].cond ?: "-");
		assert_int_equal(spec.aggs_col, list[i].column);
		dp_spec_free(&spec);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(watched),
		cmocka_unit_test(well_formed_specs_are_understood),
		cmocka_unit_test(malformed_specs_get_a_caret),
		cmocka_unit_test(forms_for_later_are_named),
		cmocka_unit_test(tracepoints_have_providers),
		cmocka_unit_test(forms_for_now_are_supported),
		cmocka_unit_test(any_prefix_of_a_spec_is_safe),
		cmocka_unit_test(takes_a_line_of_the_list),
		cmocka_unit_test(reserved_module_names),
		cmocka_unit_test(lone_colons_separate),
		cmocka_unit_test(braces),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("spec", tests, NULL, NULL);
}
