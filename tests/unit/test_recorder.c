// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* test_recorder: lines that are kept in memory, and files that begin anew, against lists of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tracer/recorder.h"
#include "tracer/rotation.h"

#define LINES 400
#define LONGEST 200

static char lines[LINES][LONGEST + 2];

static void make_lines(unsigned seed, size_t longest)
{
	size_t i, len;

	srandom(seed);
	for (i = 0; i < LINES; i++) {
		len = (size_t)random() % (longest + 1);
		memset(lines[i], 'a' + (int)(i % 26), len);
		strcpy(lines[i] + len, "\n");
	}
}

/* In pieces, as a stream with a small buffer would be written to */
static void write_lines(FILE *out, size_t n)
{
	size_t i, k;

	for (i = 0; i < n; i++)
		for (k = 0; lines[i][k]; k++) {
			putc(lines[i][k], out);
			if (!(random() % 50))
				fflush(out);
		}
	fflush(out);
}

/* What lines before the @n-th fit into @size bytes, the last ones; those that never fit are left out */
static size_t expect_kept(char *to, size_t n, size_t size)
{
	size_t first = n, used = 0, i, kept = 0;

	while (first) {
		size_t len = strlen(lines[first - 1]);

		if (len <= size && used + len > size)
			break;
		used += len <= size ? len : 0;
		first--;
	}
	for (*to = '\0', i = first; i < n; i++)
		if (strlen(lines[i]) <= size) {
			to = stpcpy(to, lines[i]);
			kept++;
		}
	return kept;
}

static void keeps(size_t size, const char *last)
{
	static char wanted[LINES * (LONGEST + 2)];
	struct dp_recorder *r;
	char *text = NULL;
	size_t len, kept;
	FILE *behind = open_memstream(&text, &len), *out;

	assert_int_equal(dp_recorder_open(&r, size, behind, &out), 0);
	write_lines(out, LINES);
	kept = expect_kept(wanted, LINES, size);
	if (*last) {
		dp_recorder_last(r, true);
		fputs(last, out);
		dp_recorder_last(r, false);
		strcat(wanted, last);
	}
	assert_int_equal(dp_recorder_write(r), kept + !!*last);
	assert_int_equal(dp_recorder_dropped(r), LINES - kept);
	dp_recorder_close(r);
	fclose(behind);
	assert_string_equal(text, wanted);
	free(text);
}

static void keeps_the_last_lines(void **state)
{
	static const size_t sizes[] = {
		1, 2, 100, LONGEST, 1000, 4096, 1 << 20
	};
	unsigned seed;
	size_t i;

	for (seed = 1; seed < 20; seed++)
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			make_lines(seed, seed % 2 ? LONGEST : 20);
			keeps(sizes[i], "");
			keeps(sizes[i], "the last one\n");
		}
}

static void without_memory_hands_all_on(void **state)
{
	struct dp_recorder *r;
	char *text = NULL;
	size_t len;
	FILE *behind = open_memstream(&text, &len), *out;

	assert_int_equal(dp_recorder_open(&r, 0, behind, &out), 0);
	fputs("one\ntw", out);
	fflush(out);
	assert_string_equal(text, "one\n");
	dp_recorder_last(r, true);
	fputs("o\n", out);
	dp_recorder_last(r, false);
	fputs("three\n", out);
	assert_int_equal(dp_recorder_write(r), 3);
	dp_recorder_close(r);
	fclose(behind);
	assert_string_equal(text, "one\nthree\ntwo\n");
	free(text);
}

/* An output that cannot be written is an error of the stream in front of it. */
static void tells_of_an_output_that_fails(void **state)
{
	FILE *full = fopen("/dev/full", "w"), *out;
	struct dp_recorder *r;

	assert_int_equal(dp_recorder_open(&r, 0, full, &out), 0);
	fputs("a line\n", out);
	assert_int_equal(fflush(out), EOF);
	assert_true(ferror(out));
	dp_recorder_close(r);
	fclose(full);
}

static char dir[] = "/tmp/recorder.XXXXXX";

static const char *file(unsigned i)
{
	static char name[sizeof(dir) + 32];

	snprintf(name, sizeof(name), i ? "%s/log.%u" : "%s/log", dir, i);
	return name;
}

/* Appends a file to @to. Return: its bytes; -1: there is none. */
static long read_file(unsigned i, char *to)
{
	FILE *f = fopen(file(i), "r");
	size_t n;

	if (!f)
		return -1;
	n = fread(to, 1, LINES * (LONGEST + 2), f);
	to[n] = '\0';
	fclose(f);
	return (long)n;
}

/* As many lines as fit make a file; a longer one makes one. Return: how many files before the last. */
static unsigned expect_files(u64 size, size_t *begins)
{
	unsigned nr = 0;
	u64 used = 0;
	size_t i;

	begins[0] = 0;
	for (i = 0; i < LINES; i++) {
		if (used && used + strlen(lines[i]) > size) {
			begins[++nr] = i;
			used = 0;
		}
		used += strlen(lines[i]);
	}
	return nr;
}

static void rotates(u64 size, u32 files)
{
	static char got[LINES * (LONGEST + 2) + 1], wanted[sizeof(got)];
	static size_t begins[LINES + 1];
	struct dp_rotation *r;
	unsigned nr, i, k;
	size_t line, end = LINES;
	FILE *out;

	assert_int_equal(dp_rotation_open(&r, file(0), size, files, &out), 0);
	write_lines(out, LINES);
	fclose(out);
	nr = expect_files(size, begins);
	for (i = 0; i < files; i++) {
		if (i > nr) {
			assert_int_equal(read_file(i, got), -1);
			continue;
		}
		line = begins[nr - i];
		for (*wanted = '\0', k = (unsigned)line; k < end; k++)
			strcat(wanted, lines[k]);
		assert_int_equal(read_file(i, got), strlen(wanted));
		assert_string_equal(got, wanted);
		end = line;
	}
	assert_int_equal(read_file(files, got), -1);
	assert_int_equal(dp_rotation_dropped(r), end);
	dp_rotation_close(r);
}

static void rotates_files_of_whole_lines(void **state)
{
	static const u64 sizes[] = { 1, 50, 1000, 1 << 20 };
	static const u32 files[] = { 1, 2, 3, 10 };
	size_t i, k;

	for (k = sizeof(files) / sizeof(files[0]); k-- > 0;)
		for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			make_lines((unsigned)(i + k), i % 2 ? LONGEST : 20);
			/* Fewer files than the run before had: those are not removed. */
			unlink(file(files[k]));
			rotates(sizes[i], files[k]);
		}
}

static void leaves_what_is_no_file(void **state)
{
	struct dp_rotation *r;
	FILE *out;

	unlink(file(1));
	assert_int_equal(mkdir(file(1), 0700), 0);
	assert_int_equal(dp_rotation_open(&r, file(0), 100, 2, &out), -EEXIST);
	assert_int_equal(dp_rotation_open(&r, file(1), 100, 2, &out), -EEXIST);
	assert_int_equal(dp_rotation_open(&r, "/dev/null", 9, 1, &out),
			 -EEXIST);
	assert_int_equal(dp_rotation_open(&r, "/none/log", 9, 1, &out),
			 -ENOENT);
	assert_int_equal(rmdir(file(1)), 0);
}

/* A file that cannot be moved on: nothing is written over what stands there. */
static void stops_where_it_cannot_rotate(void **state)
{
	struct dp_rotation *r;
	FILE *out;

	assert_int_equal(dp_rotation_open(&r, file(0), 4, 2, &out), 0);
	fputs("one\n", out);
	assert_int_equal(fflush(out), 0);
	assert_int_equal(mkdir(file(1), 0700), 0);
	fputs("two\n", out);
	assert_int_equal(fflush(out), EOF);
	assert_true(ferror(out));
	fclose(out);
	dp_rotation_close(r);
	assert_int_equal(rmdir(file(1)), 0);
}

static int begin(void **state)
{
	return !mkdtemp(dir);
}

static int end(void **state)
{
	unsigned i;

	for (i = 0; i < 20; i++)
		unlink(file(i));
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_the_last_lines),
		cmocka_unit_test(without_memory_hands_all_on),
		cmocka_unit_test(tells_of_an_output_that_fails),
		cmocka_unit_test(rotates_files_of_whole_lines),
		cmocka_unit_test(leaves_what_is_no_file),
		cmocka_unit_test(stops_where_it_cannot_rotate),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, begin, end);
}
