// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * test_demangle: names of C++ and Rust, their limits, and what matches them.
 *
 * Readers made for the test show the limits; libiberty's, which the command has, the names.
 * tests/scenario/names.sh compares whole libraries with nm(1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cli/command.h"
#include "sym/demangle.h"
#include "sym/names/mod.h"

typedef void emit_fn(const char *piece, size_t len, void *arg);

static char text[DP_DEMANGLED_MAX + 1];

static bool read_echo(const char *name, enum dp_demangle_form form,
		      emit_fn *emit, void *arg)
{
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

/* What it may do is its text. */
static bool read_prying(const char *name, enum dp_demangle_form form,
			emit_fn *emit, void *arg)
{
	bool opened = open("/dev/null", O_RDONLY) >= 0,
	     told = write(STDERR_FILENO, "", 1) > 0, forked = fork() >= 0;

	emit(opened || told || forked ? "much" : "nothing",
	     opened || told || forked ? 4 : 7, arg);
	return true;
}

/* Only names with a T in them are bad for it. */
static bool read_or_die(const char *name, enum dp_demangle_form form,
			emit_fn *emit, void *arg)
{
	if (strchr(name, 'T'))
		__builtin_trap();
	return read_echo(name, form, emit, arg);
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
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(dp_demangle(names[i], DP_DEMANGLE_BRIEF, text));
	assert_true(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	assert_string_equal(text, "<_Z1fv>");
	assert_true(dp_demangle("_RNv", DP_DEMANGLE_BRIEF, text));
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
	assert_false(dp_demangle(name, DP_DEMANGLE_BRIEF, text));
	/* It is read, and its text has two bytes more. */
	name[DP_MANGLED_MAX] = '\0';
	assert_false(dp_demangle(name, DP_DEMANGLE_BRIEF, text));
	name[DP_MANGLED_MAX - 2] = '\0';
	assert_true(dp_demangle(name, DP_DEMANGLE_BRIEF, text));
}

static void a_busy_reader_is_left(void **state)
{
	static const struct dp_demangler busy = { .read = read_busy,
						  .no_heap = true };

	char name[300][8];
	const char *list[300];
	size_t i;

	assert_false(with(read_busy, true));
	for (i = 0; i < 300; i++) {
		snprintf(name[i], sizeof(name[i]), "_Z%zu", i);
		list[i] = name[i];
	}
	/* Some are waited for, and the others are not read. */
	dp_demangle_use(&busy, 1);
	dp_demangle_begin();
	for (i = 0; i < 300; i += 50)
		dp_demangle_ahead(list + i, sizeof(*list), 50);
	assert_false(dp_demangle("_Z1fv", DP_DEMANGLE_BRIEF, text));
	dp_demangle_end();
}

static void a_reader_can_do_nothing_else(void **state)
{
	assert_true(with(read_prying, false));
	assert_string_equal(text, "nothing");
}

static void a_name_that_ends_its_reader_stays(void **state)
{
	static const struct dp_demangler frail = { .read = read_or_die };
	static const char *const names[] = { "_Za", "main", "_ZT", "_Zb" };
	int i;

	dp_demangle_use(&frail, 1);
	dp_demangle_begin();
	dp_demangle_ahead(names, sizeof(names[0]), 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(dp_demangle(names[i], 0, text), i % 3 == 0);
		if (i % 3 == 0)
			assert_int_equal(text[3], names[i][2]);
	}
	/* Its patience is limited. */
	assert_true(dp_demangle("_Za", 0, text));
	for (i = 0; i < 20; i++) {
		dp_demangle_ahead(&names[2], sizeof(names[0]), 1);
		assert_false(dp_demangle(names[2], 0, text));
	}
	assert_false(dp_demangle("_Za", 0, text));
	dp_demangle_end();
	dp_demangle_use(&frail, 1);
	assert_true(dp_demangle("_Za", 0, text));
}

static void many_are_read_ahead(void **state)
{
	static const struct dp_demangler echo = { .read = read_echo };
	static char name[300][8];
	const char *list[300];
	size_t i, ahead = 0;

	dp_demangle_use(&echo, 1);
	dp_demangle_begin();
	for (i = 0; i < 300; i++) {
		snprintf(name[i], sizeof(name[i]), i % 3 ? "_Z%zu" : "%zu", i);
		list[i] = name[i];
	}
	for (i = 0; i < 300; i++) {
		if (i == ahead)
			ahead += dp_demangle_ahead(list + i, sizeof(*list),
						   300 - i);
		assert_true(ahead > i && ahead <= 300);
		assert_int_equal(dp_demangle(list[i], i % 3, text), i % 3 != 0);
		if (i % 3)
			assert_memory_equal(text + 1, list[i], strlen(list[i]));
	}
	/* A name is its text, wherever that is, and whatever was there. */
	strcpy(name[299], "_Zother");
	assert_true(dp_demangle(list[299], 0, text));
	assert_string_equal(text, "<_Zother>");
	dp_demangle_end();
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

static const char *const table[] = {
	"main",
	"_ZN3zoo4feedEi",
	"_ZN3zoo4feedEd",
	"_ZN3zoo4feedEi.constprop.0",
	"_ZN3zoo4feedEi.cold",
	"_ZN3zoo5twiceIiEET_S1_",
	"_ZN3zoo6AnimalD0Ev",
	"_ZN3zoo6AnimalD1Ev",
	"_ZNSsC1Ev",
	"_ZNSsC2Ev",
	"_ZplRKSsS0_",
	"_Z1fi",
	"_ZN5feeds4feedEi",
	"_ZN4core4feed17h0123456789abcdefE",
	"_ZN4core4feed17hfedcba9876543210E",
};

/* Which of @table have the name? A letter each. */
static void find_named(struct dp_demangled *all, const struct dp_symtab *tab,
		       const char *name, char *letters)
{
	struct dp_named_list list;
	size_t i, k;

	assert_int_equal(dp_demangled_find(all, tab, name, true, &list), 0);
	for (i = 0; i < tab->n; i++)
		for (k = 0; k < list.n; k++)
			if (list.v[k].sym == &tab->v[i])
				*letters++ = (char)('a' + i);
	*letters = '\0';
	dp_named_free(&list);
}

static void names_are_found(void **state)
{
	static const char *const want[][2] = {
		{ "main", "" },
		{ "zoo::feed", "bcd" },
		{ "zoo::feed(int)", "b" },
		{ "zoo::feed(int) [clone .constprop.0]", "d" },
		{ "zoo::twice<int>", "f" },
		{ "int zoo::twice<int>(int)", "f" },
		{ "zoo::Animal::~Animal", "gh" },
		{ "zoo::Animal::~Animal()", "gh" },
		{ "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()",
		  "ij" },
		{ "operator+", "k" },
		{ "f", "l" },
		{ "f(int)", "l" },
		{ "feeds::feed", "m" },
		{ "feed", "" },
		{ "core::feed", "no" },
		{ "", "" },
		{ "no::such(int)", "" },
	};
	struct dp_symtab tab = { 0 };
	struct dp_demangled all = { 0 };
	char letters[32];
	size_t i, round;

	dp_demangle_names();
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct dp_sym sym = { .name = table[i],
				      .value = 16 * i,
				      .rank = DP_RANK_STATIC };

		assert_int_equal(dp_symtab_add(&tab, &sym), 0);
	}
	for (round = 0; round < 3; round++)
		for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
			/* In the first round each is the first question. */
			if (!round)
				dp_demangled_free(&all);
			find_named(&all, &tab, want[i][0], letters);
			assert_string_equal(letters, want[i][1]);
		}
	assert_true(all.have);
	dp_demangled_free(&all);
	dp_symtab_free(&tab);
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
		cmocka_unit_test(a_reader_can_do_nothing_else),
		cmocka_unit_test(a_name_that_ends_its_reader_stays),
		cmocka_unit_test(many_are_read_ahead),
		cmocka_unit_test(the_next_reader_is_asked),
		cmocka_unit_test(three_forms),
		cmocka_unit_test(what_matches),
		cmocka_unit_test(names_are_found),
		cmocka_unit_test(hostile_names_end),
		cmocka_unit_test(deep_names_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("demangle", tests, NULL, NULL);
}
