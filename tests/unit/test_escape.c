// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Test of what is made of text that a terminal would obey, or that is no UTF-8. */
#include "lib/escape.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* The kind of what a code point, or a byte that belongs to none, is spelled by. */
static void expect(const char *text, size_t len, enum dp_escape_kind kind,
		   size_t n)
{
	size_t got = 99;

	assert_int_equal(dp_escape_next(text, len, &got), kind);
	assert_int_equal(got, n);
}

static size_t spell(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

static void every_code_point(void **state)
{
	char text[8];
	uint32_t c;
	size_t n, cut;

	for (c = 0; c < 0x140000; c++) {
		n = spell(text, c);
		memset(text + n, 0x80, sizeof(text) - n);
		if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
			expect(text, n, DP_ESCAPE_INVALID, 1);
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0))
			expect(text, n, DP_ESCAPE_CONTROL, n);
		else
			expect(text, sizeof(text), DP_ESCAPE_PLAIN, n);
		for (cut = 1; cut < n; cut++)
			expect(text, cut, DP_ESCAPE_INVALID, 1);
	}
}

static void bytes_of_no_character(void **state)
{
	static const char *const texts[] = {
		"\x80",
		"\x9b",
		"\xbf\x80",
		"\xc0\x80",
		"\xc1\xbf",
		"\xe0\x80\x80",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xed\xbf\xbf",
		"\xf0\x80\x80\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xf8\x88\x80\x80\x80",
		"\xfe",
		"\xff",
		"\xc3(",
		"\xe2\x82(",
		"\xe2(\xac",
		"\xf0\x9f\x98(",
		"\xf0\x9f(\x80",
		"\xc3\xc3",
	};
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		expect(texts[i], strlen(texts[i]), DP_ESCAPE_INVALID, 1);
}

static void check(const char *text, size_t len, const char *shown)
{
	char to[64];

	assert_int_equal(dp_escape(to, sizeof(to), text, len), len);
	assert_string_equal(to, shown);
}

static void what_becomes_of_it(void **state)
{
	check("", 0, "");
	check("plain \\ \"text\" ~", 16, "plain \\ \"text\" ~");
	check("a\033]0;x\007b", 8, "a\\x1b]0;x\\x07b");
	check("a\nb\tc\rd", 7, "a\\x0ab\\x09c\\x0dd");
	check("\0\x1f\x20\x7e\x7f", 5, "\\x00\\x1f ~\\x7f");
	check("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", 8,
	      "\\xc2\\x80\\xc2\\x9b\\xc2\\x9f\xc2\xa0");
	check("\x9b"
	      "31m",
	      4, "\\x9b31m");
	check("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
	      "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	check("\xe2\x82", 2, "\\xe2\\x82");
}

/* Whatever the room: what is in it is whole, the beginning of all, and as much as fits. */
static void too_little_room(void **state)
{
	static const char text[] =
		"a\xe2\x82\xac\033\xc2\x9b\xff\xf0\x9f\x98\x80z";
	const size_t len = sizeof(text) - 1;
	char all[64], to[64], again[64];
	size_t size, got, next, n;

	dp_escape(all, sizeof(all), text, len);
	for (size = 1; size <= strlen(all) + 1; size++) {
		memset(to, '#', sizeof(to));
		got = dp_escape(to, size, text, len);
		n = strlen(to);
		assert_true(n < size);
		assert_int_equal(to[size], '#');
		assert_memory_equal(to, all, n);
		dp_escape(again, sizeof(again), text, got);
		assert_string_equal(again, to);
		if (got == len)
			continue;
		if (dp_escape_next(text + got, len - got, &next) !=
		    DP_ESCAPE_PLAIN)
			next *= DP_ESCAPE_BYTE;
		assert_true(n + next >= size);
	}
	assert_int_equal(dp_escape(to, strlen(all) + 1, text, len), len);
}

static char *said;
static size_t said_size;

static FILE *begin(void)
{
	return open_memstream(&said, &said_size);
}

static void said_is(FILE *f, const char *wanted)
{
	fclose(f);
	assert_string_equal(said, wanted);
	assert_int_equal(said_size, strlen(wanted));
	free(said);
}

static void lines(void **state)
{
	char much[5000], shown[20002];
	FILE *f = begin();
	size_t i;

	dp_output_print(f, "%s is %d\n", "x\n\033y\n", 5);
	dp_output_print(f, "%s", "\n");
	dp_output_print(f, "%.*s|", 2, "\xc3\xa9z");
	dp_output_print(f, "%s", "");
	dp_output_print(f, "\n");
	said_is(f, "x\\x0a\\x1by\\x0a is 5\n\\x0a\xc3\xa9|\n");

	/* Longer than any room: no character is torn. */
	for (i = 0; i < sizeof(much) - 2; i += 3)
		memcpy(much + i, "\xe2\x82\xac", 3);
	much[i] = '\0';
	memcpy(shown, much, i);
	strcpy(shown + i, "\n");
	f = begin();
	dp_output_print(f, "%s\n", much);
	said_is(f, shown);
	memset(much, 7, 4999);
	much[4999] = '\0';
	for (i = 0; i < 4999; i++)
		strcpy(shown + 4 * i, "\\x07");
	f = begin();
	dp_output_print(f, "%s", much);
	said_is(f, shown);
}

static void json(void **state)
{
	FILE *f = begin();

	dp_json_string(
		f,
		"a\"\\\n\x01\x7f\xc2\x80\xc2\x9f\xc2\xa0\xc3\xa9\xf0\x9f\x98\x80");
	said_is(f,
		"\"a\\\"\\\\\\u000a\\u0001\\u007f\\u0080\\u009f\xc2\xa0\xc3\xa9\xf0\x9f\x98\x80\"");
	f = begin();
	dp_json_string(f, "\x9b\xff\xe2\x82");
	said_is(f, "\"\\\\x9b\\\\xff\\\\xe2\\\\x82\"");
}

/* Each byte at each place among others that are plain: the short way agrees with the long one. */
static void any_byte_anywhere(void **state)
{
	char text[20], shown[100], json[120];
	unsigned int byte;
	size_t at;
	FILE *f;

	for (at = 0; at < sizeof(text) - 1; at++)
		for (byte = 1; byte < 256; byte++) {
			memset(text, at & 1 ? '~' : ' ', sizeof(text));
			text[at] = (char)byte;
			text[sizeof(text) - 1] = '\0';
			dp_escape(shown, sizeof(shown), text, strlen(text));
			f = begin();
			dp_output_write(f, text, strlen(text));
			said_is(f, shown);
			if (byte < 0x20 || byte > 0x7e)
				continue;
			sprintf(json, "\"%.*s%s%c%s\"", (int)at, text,
				strchr("\"\\", (int)byte) ? "\\" : "",
				(int)byte, text + at + 1);
			f = begin();
			dp_json_string(f, text);
			said_is(f, json);
		}
}

static void numbers(void **state)
{
	u64 value = 1;
	char wanted[64];
	FILE *f;
	int i;

	for (i = 0; i < 200; i++, value = value * 3 + (u64)i * (i & 1)) {
		u64 v = i ? value : 0;

		sprintf(wanted, "%lu 0x%lx %lu", v, v, ~v);
		f = begin();
		dp_output_decimal(f, v);
		putc(' ', f);
		dp_output_hex(f, v);
		putc(' ', f);
		dp_output_decimal(f, ~v);
		said_is(f, wanted);
	}
}

/* Records go into a pipe one behind the other, many at a time, and each in one piece. */
static void whole_records(void **state)
{
	char buffer[65536], got[65536];
	int fds[2], i, reads = 0;
	ssize_t n;
	FILE *f;

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	f = fdopen(fds[1], "w");
	setvbuf(f, buffer, _IOFBF, sizeof(buffer));
	for (i = 0; i < 2000; i++) {
		fprintf(f, "%0*d\n", 10 + i * 7 % 900, i);
		dp_output_whole(f);
		n = read(fds[0], got, sizeof(got));
		if (n <= 0)
			continue;
		reads++;
		assert_in_range(n, 1, PIPE_BUF);
		assert_int_equal(got[n - 1], '\n');
	}
	assert_in_range(reads, 100, 1000);
	fclose(f);
	close(fds[0]);
}

static void diagnostics(void **state)
{
	struct dp_diag d, theirs = { .text = "first\nsecond\n\x1b\xff" };
	char much[2 * DP_DIAG_MAX];
	size_t n;

	assert_int_equal(dp_diag_set(&d, -EINVAL, "no \"%s\"", "a\n\x1b[2J"),
			 -EINVAL);
	assert_string_equal(d.text, "no \"a\\x0a\\x1b[2J\"");
	dp_diag_add(&d, "\n  %s", "b\nc");
	assert_string_equal(d.text, "no \"a\\x0a\\x1b[2J\"\n  b\\x0ac");
	for (n = 0; n < sizeof(much) - 3; n += 3)
		memcpy(much + n, "\xe2\x82\xac", 3);
	much[n] = '\0';
	dp_diag_set(&d, 0, "%s", much);
	assert_int_equal(strlen(d.text), (DP_DIAG_MAX - 1) / 3 * 3);
	dp_diag_add(&d, "\n%s", "more");
	assert_true(strlen(d.text) < sizeof(d.text));
	assert_int_equal(dp_output_quote(&d, -ENXIO, &theirs), -ENXIO);
	assert_string_equal(d.text, "first\n  second\n  \\x1b\\xff");
	/* The other process may write anything: no end, no error. */
	memset(theirs.text, 'a', sizeof(theirs.text));
	assert_int_equal(dp_output_quote(&d, 1, &theirs), -EIO);
	assert_int_equal(strlen(d.text), sizeof(d.text) - 1);
	theirs.text[0] = '\0';
	assert_int_equal(dp_output_quote(&d, -4096, &theirs), -EIO);
	assert_string_equal(d.text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(bytes_of_no_character),
		cmocka_unit_test(what_becomes_of_it),
		cmocka_unit_test(too_little_room),
		cmocka_unit_test(lines),
		cmocka_unit_test(json),
		cmocka_unit_test(any_byte_anywhere),
		cmocka_unit_test(numbers),
		cmocka_unit_test(whole_records),
		cmocka_unit_test(diagnostics),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
