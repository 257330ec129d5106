// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of where source lines and inlined copies are: those of this file, and answers of a child that
 * lies. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "sym/lines.h"
#include "sym/sym.h"
#include "sym/types/places.h"

#define FUNCTION static __attribute__((noipa, noinline, used))
#define COUNT(list) (sizeof(list) / sizeof(*(list)))
#define OWN "tests/unit/test_lines.c"

static volatile int sink;

static inline __attribute__((always_inline)) void inner(int by)
{
	sink += by;
}
enum { INNER = __LINE__ - 2 };

FUNCTION void first(int x)
{
	inner(x * 5 + sink);
}
enum { FIRST = __LINE__ - 2 };

FUNCTION void second(int x)
{
	sink = 1;
	inner(x * 6 + sink);
	sink = 2;
	inner(x * 7 + sink);
}
enum { SECOND = __LINE__ - 5 };

static struct dp_modules *mods;
static const struct dp_module *own;
static struct dp_line_places found;

static int find(const char *file, u64 line)
{
	dp_lines_free(&found);
	return dp_lines_find(mods, own, file, line, &found);
}

static bool is_in(u64 addr, const void *function, const void *next)
{
	return addr >= (u64)(uintptr_t)function &&
	       (next < function || addr < (u64)(uintptr_t)next);
}

static void test_line_of_a_function(void **state)
{
	assert_int_equal(find(OWN, SECOND), 0);
	assert_int_equal(found.nr_files, 1);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.v[0].function, "second");
	assert_true(is_in(found.v[0].addr, second, NULL));
	assert_false(found.v[0].inlined);
	assert_null(found.v[0].caller);
}

static void test_line_of_a_call(void **state)
{
	assert_int_equal(find(OWN, FIRST), 0);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.v[0].function, "first");
	assert_false(found.v[0].inlined);
}

static int by_line(const void *pa, const void *pb)
{
	const struct dp_line_place *a = pa, *b = pb;

	return (int)a->line - (int)b->line;
}

/* Three copies, in the order of their calls */
static void check_copies(void)
{
	static const struct {
		const char *caller;
		u32 line;
	} copies[] = { { "first", FIRST },
		       { "second", SECOND + 1 },
		       { "second", SECOND + 3 } };
	size_t i;

	assert_int_equal(found.n, COUNT(copies));
	qsort(found.v, found.n, sizeof(*found.v), by_line);
	for (i = 0; i < COUNT(copies); i++) {
		const struct dp_line_place *p = &found.v[i];

		assert_true(p->inlined);
		assert_string_equal(p->function, "inner");
		assert_string_equal(p->caller, copies[i].caller);
		assert_int_equal(p->line, copies[i].line);
		assert_non_null(strstr(p->file, "test_lines.c"));
		assert_true(is_in(p->addr, i ? second : first, NULL));
	}
}

static void test_line_of_a_copy(void **state)
{
	assert_int_equal(find(OWN, INNER), 0);
	check_copies();
}

static void test_copies(void **state)
{
	dp_lines_free(&found);
	assert_int_equal(dp_lines_inlined(mods, own, "inner", &found), 0);
	assert_int_equal(found.nr_files, 0);
	/* What all were copied from has no code. */
	qsort(found.v, found.n, sizeof(*found.v), by_line);
	assert_true(found.v[0].nowhere);
	memmove(found.v, found.v + 1, --found.n * sizeof(*found.v));
	check_copies();
}

static void test_bodies(void **state)
{
	dp_lines_free(&found);
	assert_int_equal(dp_lines_inlined(mods, own, "first", &found), 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.v[0].addr, (u64)(uintptr_t)first);
	assert_false(found.v[0].inlined);
	dp_lines_free(&found);
	assert_int_equal(
		dp_lines_inlined(mods, own, "no_such_function", &found), 0);
	assert_int_equal(found.n, 0);
}

static void test_line_without_code(void **state)
{
	assert_int_equal(find(OWN, SECOND + 6), 0);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.nr_files, 1);
	assert_true(found.files[0].next > SECOND + 6);
	assert_int_equal(find(OWN, found.files[0].next), 0);
	assert_true(found.n >= 1);
	assert_int_equal(find(OWN, UINT64_MAX), 0);
	assert_int_equal(found.n, 0);
	assert_int_equal(found.files[0].next, 0);
	assert_int_equal(find(OWN, found.files[0].last), 0);
	assert_true(found.n >= 1);
}

static void test_ends_of_paths(void **state)
{
	static const char *const good[] = {
		"test_lines.c",
		"unit/test_lines.c",
		"./test_lines.c",
		"unit//test_lines.c",
		"unit/../unit/./test_lines.c",
		"../unit/test_lines.c",
	};
	static const char *const bad[] = {
		"",
		"st_lines.c",
		"nit/test_lines.c",
		"/unit/test_lines.c",
		"test_lines.c/",
		"test_lines",
		"TEST_LINES.C",
		"other/test_lines.c",
	};
	size_t i;

	for (i = 0; i < COUNT(good); i++) {
		assert_int_equal(find(good[i], SECOND), 0);
		assert_int_equal(found.nr_files, 1);
		assert_int_equal(found.n, 1);
	}
	for (i = 0; i < COUNT(bad); i++) {
		assert_int_equal(find(bad[i], SECOND), 0);
		if (found.nr_files && strcmp(bad[i], "test_lines.c/"))
			fail_msg("\"%s\" is %s", bad[i], found.files[0].path);
	}
}

static void test_whole_path(void **state)
{
	char path[DP_SOURCE_PATH];

	assert_int_equal(find(OWN, SECOND), 0);
	strcpy(path, found.files[0].path);
	assert_int_equal(find(path, SECOND), 0);
	assert_true(found.files[0].exact);
	assert_int_equal(find("test_lines.c", SECOND), 0);
	assert_false(found.files[0].exact);
}

static void test_paths(void **state)
{
	static const char *const rows[][2] = {
		{ "a.c", "a.c" },
		{ "./a.c", "a.c" },
		{ "d/./a.c", "d/a.c" },
		{ "d/../a.c", "a.c" },
		{ "d//e/../../a.c", "a.c" },
		{ "../a.c", "../a.c" },
		{ "../../a.c", "../../a.c" },
		{ "d/../../a.c", "../a.c" },
		{ "/a.c", "/a.c" },
		{ "//d/a.c", "/d/a.c" },
		{ "/../a.c", "/a.c" },
		{ "/d/../../a.c", "/a.c" },
		{ "/d/e/../a.c", "/d/a.c" },
		{ "/d/", "/d" },
		{ "..a/b..", "..a/b.." },
	};
	char path[DP_SOURCE_PATH], *long_path;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		assert_true(dp_source_path(rows[i][0], path));
		assert_string_equal(path, rows[i][1]);
	}
	assert_false(dp_source_path("", path));
	assert_false(dp_source_path(".", path));
	assert_false(dp_source_path("a/..", path));
	long_path = malloc(DP_SOURCE_PATH + 1);
	memset(long_path, 'a', DP_SOURCE_PATH);
	long_path[DP_SOURCE_PATH] = '\0';
	assert_false(dp_source_path(long_path, path));
	long_path[DP_SOURCE_PATH - 1] = '\0';
	assert_true(dp_source_path(long_path, path));
	assert_string_equal(path, long_path);
	free(long_path);
}

/* The child fills in what is right, and then a lie of the test's. */
static void (*lie)(struct dp_found *f);

static void forge(struct dp_reader *r)
{
	struct dp_found *f = r->out;
	struct dp_found_place place = { .addr = 0x10, .line = 3 };

	place.function = dp_found_text(f, "f");
	place.caller = dp_found_text(f, "g\n");
	place.file = dp_found_text(f, "f.c");
	dp_found_add(f, &place);
	f->file[f->files++].path = place.file;
	if (lie)
		lie(f);
}

static int ask(void (*what)(struct dp_found *f))
{
	struct dp_reader r = { .work = forge };

	lie = what;
	dp_lines_free(&found);
	return dp_places_read(&r, mods, own, &found);
}

static void test_honest(void **state)
{
	assert_int_equal(ask(NULL), 0);
	assert_int_equal(found.n, 1);
	assert_int_equal(found.v[0].addr, own->bias + 0x10);
	assert_string_equal(found.v[0].function, "f");
	assert_string_equal(found.v[0].caller, "g?");
	assert_string_equal(found.v[0].file, "f.c");
	assert_string_equal(found.files[0].path, "f.c");
}

#define LIE(name, what)                      \
	static void name(struct dp_found *f) \
	{                                    \
		what;                        \
	}
LIE(far_function, f->place[0].function = f->text)
LIE(far_caller, f->place[0].caller = ~0u)
LIE(far_file, f->place[0].file = 1u << 31)
LIE(far_source, f->place[0].source = f->files)
LIE(far_path, f->file[0].path = f->text)
LIE(no_path, f->file[0].path = 0)
LIE(many_places, f->places = DP_LINE_PLACES + 1)
LIE(huge_places, f->places = ~0u)
LIE(many_files, f->files = DP_LINE_FILES + 1)
LIE(much_text, f->text = DP_FOUND_TEXT + 1)
LIE(full, f->full = 1)
LIE(split, f->split = 1)
LIE(endless_text, memset(f->bytes, 'x', DP_FOUND_TEXT); f->text = DP_FOUND_TEXT)

static void test_lies(void **state)
{
	static void (*const lies[])(struct dp_found * f) = {
		far_function, far_caller,  far_file,	far_source, far_path,
		no_path,      many_places, huge_places, many_files, much_text,
	};
	size_t i;

	for (i = 0; i < COUNT(lies); i++) {
		assert_int_equal(ask(lies[i]), -EBADMSG);
		assert_null(found.v);
		assert_int_equal(found.n, 0);
	}
	assert_int_equal(ask(full), -E2BIG);
	assert_int_equal(ask(split), -EXDEV);
	assert_int_equal(ask(endless_text), 0);
	assert_true(strlen(found.v[0].function) < DP_FOUND_TEXT);
}

/* More than there is room for */
static void many(struct dp_found *f)
{
	const struct dp_found_place place = { 0 };
	char text[DP_FOUND_TEXT / 64];
	u32 i;

	for (i = f->places; i < DP_LINE_PLACES; i++)
		dp_found_add(f, &place);
	if (f->full)
		abort();
	dp_found_add(f, &place);
	memset(text, 'y', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < 100; i++) {
		text[0] = (char)(' ' + i);
		dp_found_text(f, text);
	}
	if (f->text > DP_FOUND_TEXT || !f->full || f->places != DP_LINE_PLACES)
		abort();
}

static void test_room(void **state)
{
	assert_int_equal(ask(many), -E2BIG);
}

static int setup(void **state)
{
	struct dp_diag diag;
	size_t i;

	if (dp_modules_open(0, -1, &mods, &diag))
		return -1;
	for (i = 0; i < dp_modules_count(mods); i++)
		if (dp_modules_get(mods, i)->is_main)
			own = dp_modules_get(mods, i);
	first(sink);
	second(sink);
	return own ? 0 : -1;
}

static int teardown(void **state)
{
	dp_lines_free(&found);
	dp_modules_close(mods);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_of_a_function),
		cmocka_unit_test(test_line_of_a_call),
		cmocka_unit_test(test_line_of_a_copy),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_line_without_code),
		cmocka_unit_test(test_ends_of_paths),
		cmocka_unit_test(test_whole_path),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_honest),
		cmocka_unit_test(test_lies),
		cmocka_unit_test(test_room),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lines", tests, setup, teardown);
}
