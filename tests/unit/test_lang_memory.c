// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* lang: what programs take, they give back; and what happens when there is no memory. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "lang/lang.h"

#define MOST 100

/* The linker puts these in the place of libc's. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void __real_free(void *p);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t n, size_t size);
char *__wrap_strndup(const char *s, size_t len);
char *__wrap_strdup(const char *s);
void __wrap_free(void *p);

static unsigned int live, until_none;

/* Return: is this the request that is refused? */
static bool refused(void)
{
	return until_none && !--until_none;
}

void *__wrap_calloc(size_t n, size_t size)
{
	void *p = refused() ? NULL : __real_calloc(n, size);

	live += !!p;
	return p;
}

void *__wrap_malloc(size_t size)
{
	void *p = refused() ? NULL : __real_malloc(size);

	live += !!p;
	return p;
}

void __wrap_free(void *p)
{
	live -= !!p;
	__real_free(p);
}

/* Always to another place, which an old pointer does not find. */
void *__wrap_realloc(void *old, size_t size)
{
	void *p = malloc(size);

	if (p && old) {
		memcpy(p, old, size);
		free(old);
	}
	return p;
}

void *__wrap_reallocarray(void *old, size_t n, size_t size)
{
	void *p = malloc(n * size);

	/* Every array here grows to its double. */
	if (p && old) {
		memcpy(p, old, n / 2 * size);
		free(old);
	}
	return p;
}

char *__wrap_strndup(const char *s, size_t len)
{
	char *p = malloc(len + 1);

	if (p) {
		memcpy(p, s, len);
		p[len] = '\0';
	}
	return p;
}

char *__wrap_strdup(const char *s)
{
	return strndup(s, strlen(s));
}

static const char good[] =
	"name = x\nmodtype = user\noffset = f\na: jmp b\nb: jmp a\nc: exit\n"
	"address = g + 4\nd: jmp d\nexit\noffset = 3\nnop\nnop\n";
static const char bad[] = "name = x\nmodtype = user\noffset = f\n"
			  "a: jmp a\njmp nowhere\n";
static const char twice[] = "name = x\nmodtype = user\noffset = f\n"
			    "offset = g\n";

/* Return: as dp_lang_assemble() does; a program can be listed. */
static int assemble(const char *text)
{
	struct dp_lang_program *p;
	struct dp_diag diag;
	char *line;
	int err;

	dp_diag_clear(&diag);
	err = dp_lang_assemble("t.dp", text, strlen(text), 8, &p, &line, &diag);
	assert_int_equal(!err, !!p);
	assert_int_equal(!err, !diag.text[0]);
	if (!err)
		assert_int_equal(p->code[0], 0x01);
	if (err == -ENOMEM)
		assert_string_equal(diag.text, "no memory for a program");
	dp_lang_free(p);
	free(line);
	return err;
}

/* Refuse each request in turn. Return: how many there are */
static unsigned int starve(const char *text, int want)
{
	unsigned int nth;
	int err;

	for (nth = 1; nth < MOST; nth++) {
		until_none = nth;
		err = assemble(text);
		assert_int_equal(live, 0);
		if (until_none)
			break;
		assert_true(err == -ENOMEM || err == want);
	}
	until_none = 0;
	assert_int_equal(err, want);
	return nth - 1;
}

static void programs_are_whole_or_not_at_all(void **state)
{
	assert_in_range(starve(good, 0), 10, MOST - 2);
}

static void complaints_need_no_memory(void **state)
{
	assert_in_range(starve(bad, -EINVAL), 6, MOST - 2);
	assert_in_range(starve(twice, -EINVAL), 6, MOST - 2);
}

static void a_listing_that_has_no_memory_says_so(void **state)
{
	struct dp_lang_program *p;
	char text[64] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(dp_lang_assemble("t.dp", good, strlen(good), 8, &p,
					  NULL, NULL),
			 0);
	until_none = 1;
	dp_lang_disassemble(p, out);
	fclose(out);
	assert_string_equal(text, "// no memory for a listing\n");
	dp_lang_free(p);
	assert_int_equal(live, 0);
}

static void listings_leave_nothing(void **state)
{
	struct dp_lang_program *p;
	FILE *out = fopen("/dev/null", "w");
	unsigned int before;

	assert_non_null(out);
	assert_int_equal(dp_lang_assemble("t.dp", good, strlen(good), 8, &p,
					  NULL, NULL),
			 0);
	before = live;
	dp_lang_disassemble(p, out);
	assert_int_equal(live, before);
	dp_lang_free(p);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_whole_or_not_at_all),
		cmocka_unit_test(complaints_need_no_memory),
		cmocka_unit_test(a_listing_that_has_no_memory_says_so),
		cmocka_unit_test(listings_leave_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lang_memory", tests, NULL, NULL);
}
