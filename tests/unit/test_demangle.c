// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_demangle: names of C++ and Rust, their limits, and what fits them.
 *
 * Readers made for the test show the limits; libiberty's, which the command has, the names.
 * tests/scenario/names.sh compares whole libraries with nm(1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include "cli/command.h"
#include "sym/demangle.h"

typedef void emit_fn(const char *piece, size_t len, void *arg);

static char text[DP_DEMANGLED_MAX + 1];
static unsigned int calls;

static double cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static bool read_echo(const char *name, enum dp_demangle_form form,
		      emit_fn *emit, void *arg)
{
	calls++;
	emit("<", 1, arg);
	emit(name, strlen(name), arg);
	emit(">", 1, arg);
	return true;
}

static bool read_endless(const char *name, enum dp_demangle_form form,
			 emit_fn *emit, void *arg)
{
	for (;;)
		emit("endless ", 8, arg);
	return true;
}

static bool read_busy(const char *name, enum dp_demangle_form form,
		      emit_fn *emit, void *arg)
{
	volatile bool go = true;

	while (go)
		;
	return true;
}

static bool read_nothing(const char *name, enum dp_demangle_form form,
			 emit_fn *emit, void *arg)
{
	return true;
}

static bool read_zero(const char *name, enum dp_demangle_form form,
		      emit_fn *emit, void *arg)
{
	emit("a\0b", 3, arg);
	return true;
}

static bool read_until_full(const char *name, enum dp_demangle_form form,
			    emit_fn *emit, void *arg)
{
	int i;

	for (i = 0; i < DP_DEMANGLED_MAX; i++)
		emit("x", 1, arg);
	return true;
}

static bool with(bool (*read)(const char *, enum dp_demangle_form, emit_fn *,
			      void *),
		 bool no_heap)
{
	struct dp_demangler d = { .read = read, .no_heap = no_heap };
	bool ok;

	dp_demangle_use(&d, 1);
	ok = dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text);
	dp_demangle_use(NULL, 0);
	return ok;
}

static void no_reader_no_name(void **state)
{
	dp_demangle_use(NULL, 0);
	assert_false(dp_demangle_ready());
	assert_false(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	assert_false(dp_demangle_match("_Z1fv", "f", false));
	assert_false(dp_demangle_match("_Z1fv", "*", true));
}

static void names_of_c_are_not_read(void **state)
{
	static const struct dp_demangler echo = { .read = read_echo };
	static const char *const names[] = { "",       "_",    "main",
					     "_start", "Z1fv", "__Z1fv" };
	size_t i;

	dp_demangle_use(&echo, 1);
	calls = 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(dp_demangle(names[i], DP_DEMANGLE_BRIEF, text));
	assert_int_equal(calls, 0);
	assert_true(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	assert_string_equal(text, "<_Z1fv>");
	assert_true(dp_demangle("_RNv", DP_DEMANGLE_BRIEF, text));
	assert_int_equal(calls, 2);
}

static void names_and_texts_have_a_length(void **state)
{
	static const struct dp_demangler echo = { .read = read_echo };
	char name[DP_MANGLED_MAX + 2];

	assert_true(with(read_until_full, false));
	assert_int_equal(strlen(text), DP_DEMANGLED_MAX);
	assert_false(with(read_endless, false));
	assert_false(with(read_endless, true));
	assert_false(with(read_nothing, true));
	assert_false(with(read_zero, true));
	memset(name, 'x', sizeof(name));
	memcpy(name, "_Z", 2);
	name[DP_MANGLED_MAX + 1] = '\0';
	dp_demangle_use(&echo, 1);
	calls = 0;
	assert_false(dp_demangle(name, DP_DEMANGLE_BRIEF, text));
	assert_int_equal(calls, 0);
	/* It is read, and its text has two bytes more. */
	name[DP_MANGLED_MAX] = '\0';
	assert_false(dp_demangle(name, DP_DEMANGLE_BRIEF, text));
	assert_int_equal(calls, 1);
	name[DP_MANGLED_MAX - 2] = '\0';
	assert_true(dp_demangle(name, DP_DEMANGLE_BRIEF, text));
}

static void a_busy_reader_is_left(void **state)
{
	static const struct dp_demangler busy = { .read = read_busy,
						  .no_heap = true };
	struct itimerval timer;
	double began = cpu_time();

	assert_false(with(read_busy, true));
	dp_demangle_use(&busy, 1);
	dp_demangle_begin();
	assert_false(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	assert_false(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	dp_demangle_end();
	assert_true(cpu_time() - began < 2);
	getitimer(ITIMER_VIRTUAL, &timer);
	assert_int_equal(timer.it_interval.tv_usec, 0);
}

static void the_next_reader_is_asked(void **state)
{
	static const struct dp_demangler list[] = { { .read = read_endless },
						    { .read = read_echo } };

	dp_demangle_use(list, 2);
	assert_true(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	assert_string_equal(text, "<_Z1fv>");
}

static void three_forms(void **state)
{
	static const struct {
		const char *name, *form[DP_DEMANGLE_FORMS];
	} want[] = {
		{ "_ZN3zoo4feedEPKci",
		  { "zoo::feed", "zoo::feed(char const*, int)",
		    "zoo::feed(char const*, int)" } },
		{ "_ZN3zoo5twiceIiEET_S1_",
		  { "zoo::twice<int>", "zoo::twice<int>(int)",
		    "int zoo::twice<int>(int)" } },
		{ "_ZN12_GLOBAL__N_16hiddenEi",
		  { "(anonymous namespace)::hidden",
		    "(anonymous namespace)::hidden(int)",
		    "(anonymous namespace)::hidden(int)" } },
		{ "_ZN3FooC1Ei.constprop.0",
		  { "Foo::Foo", "Foo::Foo(int) [clone .constprop.0]",
		    "Foo::Foo(int) [clone .constprop.0]" } },
		{ "_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
		  { "core::fmt::Write::write_fmt",
		    "core::fmt::Write::write_fmt",
		    "core::fmt::Write::write_fmt" } },
		{ "_RNvC5crate3bar",
		  { "crate::bar", "crate::bar", "crate::bar" } },
	};
	enum dp_demangle_form form;
	size_t i;

	dp_demangle_names();
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		for (form = 0; form < DP_DEMANGLE_FORMS; form++) {
			assert_true(dp_demangle(want[i].name, form, text));
			assert_string_equal(text, want[i].form[form]);
		}
	assert_false(dp_demangle("_Z", DP_DEMANGLE_BRIEF, text));
	assert_false(dp_demangle("_Zfoo", DP_DEMANGLE_BRIEF, text));
	assert_false(dp_demangle("_RNvC", DP_DEMANGLE_BRIEF, text));
}

static void what_matches(void **state)
{
	static const char feed[] = "_ZN3zoo4feedEi",
			  twice[] = "_ZN3zoo5twiceIiEET_S1_";
	static const struct {
		const char *name, *want;
		bool is, glob;
	} list[] = {
		{ feed, "zoo::feed", true, true },
		{ feed, "zoo::feed(int)", true, true },
		{ feed, "zoo::feed(int", false, false },
		{ feed, "zoo::fee", false, false },
		{ feed, "zoo::*", false, true },
		{ feed, "zoo::*(double)", false, false },
		{ feed, "*(int)", false, true },
		{ feed, feed, false, false },
		{ twice, "zoo::twice<int>", true, true },
		{ twice, "zoo::twice<int>(int)", true, true },
		{ twice, "int zoo::twice<int>(int)", true, true },
		{ twice, "zoo::twice<*>", false, true },
		{ "_ZN3zoomlERKNS_6AnimalEi", "zoo::operator*", true, true },
		{ "_ZN3zoo6AnimalixEi", "zoo::Animal::operator[]", true, true },
		{ "main", "main", false, false },
	};
	size_t i;

	dp_demangle_names();
	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		assert_int_equal(dp_demangle_match(list[i].name, list[i].want,
						   false),
				 list[i].is);
		assert_int_equal(dp_demangle_match(list[i].name, list[i].want,
						   true),
				 list[i].glob);
	}
}

/* t<t<t<b, b>, t<b, b> >, …>, each half of which is a reference to the other: @depth letters
 * stand for 2^@depth types, among which a pack is looked for. */
static void put_tree(FILE *f, int depth, bool outer)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!depth) {
		fputs("1b", f);
		return;
	}
	fputs(outer ? "1tI" : "S_I", f);
	put_tree(f, depth - 1, false);
	fprintf(f, "S%c_E", digits[depth - 1]);
}

static void hostile_names_end(void **state)
{
	char name[DP_MANGLED_MAX + 1];
	double began = cpu_time();
	FILE *f = fmemopen(name, sizeof(name), "w");
	int i;

	fputs("_Z1fDp", f);
	put_tree(f, 36, true);
	fclose(f);
	dp_demangle_names();
	assert_false(dp_demangle(name, DP_DEMANGLE_WHOLE, text));

	/* A conversion to a template of a parameter: each level is read twice. */
	f = fmemopen(name, sizeof(name), "w");
	fputs("_ZN1ccv", f);
	for (i = 0; i < 60; i++)
		fputs("T_I", f);
	fputs("i", f);
	for (i = 0; i < 60; i++)
		fputs("E", f);
	fputs("Ev", f);
	fclose(f);
	assert_false(dp_demangle(name, DP_DEMANGLE_WHOLE, text));
	assert_true(cpu_time() - began < 2);

	/* What follows is read as ever. */
	assert_true(dp_demangle("_Z1fi", DP_DEMANGLE_WHOLE, text));
	assert_string_equal(text, "f(int)");
}

/* @unit times, as a name of C++ or Rust with @head and @tail. */
static void repeat(const char *head, const char *unit, const char *tail)
{
	char name[DP_MANGLED_MAX + 1];
	size_t n = strlen(head), len = strlen(unit);

	strcpy(name, head);
	for (; n + len + strlen(tail) < sizeof(name); n += len)
		strcpy(name + n, unit);
	strcpy(name + n, tail);
	dp_demangle(name, DP_DEMANGLE_WHOLE, text);
}

static void deep_names_end(void **state)
{
	static const char *const units[] = { "P",   "R",  "N",	 "I",  "1aI",
					     "Dp",  "X",  "Xcv", "T_", "S_",
					     "F",   "M",  "RT_", "L",  "K",
					     "Z1f", "fl", "B_",	 "TB_" };
	static const char *const heads[] = { "_Z1f", "_ZN", "_Z",  "_Z1fIiEv",
					     "_RI",  "_RN", "_RNv" };
	size_t i, k;

	dp_demangle_names();
	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		for (k = 0; k < sizeof(units) / sizeof(units[0]); k++)
			repeat(heads[i], units[k], "E");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_reader_no_name),
		cmocka_unit_test(names_of_c_are_not_read),
		cmocka_unit_test(names_and_texts_have_a_length),
		cmocka_unit_test(a_busy_reader_is_left),
		cmocka_unit_test(the_next_reader_is_asked),
		cmocka_unit_test(three_forms),
		cmocka_unit_test(what_matches),
		cmocka_unit_test(hostile_names_end),
		cmocka_unit_test(deep_names_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
