// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ppdf: files that are written, read again, and damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dprobes/diag.h>
#include "lang/lang.h"

#define ROUNDS 20000
#define CRC_POLYNOMIAL 0xedb88320u

static const char source[] = "name = \"/usr/bin/prog\"\n"
			     "modtype = user\n"
			     "major = 7\nid = 9\nvars = 3\ngvars = 2\n"
			     "jmpmax = 32\nlogmax = 100\ncomm = pro*\n"
			     "offset = 0x1420\nminor = 1\ngroup = 4\ntype = 5\n"
			     "pass_count = 3\nmax_hits = 8\nlogonfault = yes\n"
			     "push &table\npop lv,1\nlog st\nexit 3\n"
			     "offset = 0x1500\nminor = 2\nretprobe = yes\n"
			     "push 16\nmalloc\nlog 1\n";

static struct dp_lang_program *assembled(void)
{
	struct dp_lang_program *p;
	struct dp_diag diag;
	char *line;

	assert_int_equal(dp_lang_assemble("prog.dp", source, strlen(source), 8,
					  &p, &line, &diag),
			 0);
	return p;
}

/* As place.c does it */
static struct dp_lang_program *placed(void)
{
	struct dp_lang_program *p = assembled();

	assert_int_equal(p->nr_symbols, 1);
	p->symbols[0].placed = true;
	p->symbols[0].addr = 0x4010;
	memcpy(p->points[0].bytes, "\x48\x8d\x44\x7f", 4);
	p->points[0].nr_bytes = 4;
	p->points[0].label = strdup("work+0x4");
	memcpy(p->build, "0123456789abcdefghij", 20);
	p->build_len = 20;
	return p;
}

static u8 *written(const struct dp_lang_program *p, size_t *len)
{
	char *bytes;
	FILE *f = open_memstream(&bytes, len);

	assert_int_equal(dp_lang_write_ppdf(p, f), 0);
	fclose(f);
	return (u8 *)bytes;
}

static char *listing(const struct dp_lang_program *p)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	dp_lang_disassemble(p, f);
	fclose(f);
	return text;
}

static void compare(const struct dp_lang_program *a,
		    const struct dp_lang_program *b)
{
	char *one = listing(a), *two = listing(b);

	assert_string_equal(one, two);
	assert_string_equal(b->points[0].label, "work+0x4");
	assert_memory_equal(a->points[0].bytes, b->points[0].bytes,
			    DP_LANG_BYTES);
	assert_int_equal(b->points[0].nr_bytes, 4);
	assert_true(b->symbols[0].placed && b->symbols[0].addr == 0x4010);
	assert_int_equal(b->symbols[0].code, a->symbols[0].code);
	assert_memory_equal(a->build, b->build, DP_LANG_ID);
	assert_int_equal(b->build_len, 20);
	assert_int_equal(a->id, b->id);
	free(one);
	free(two);
}

static void comes_back(void **state)
{
	struct dp_lang_program *p = placed(), *again;
	struct dp_diag diag;
	size_t len, more;
	u8 *bytes = written(p, &len), *twice;

	assert_int_equal(dp_lang_read_ppdf("x.ppdf", bytes, len, &again, &diag),
			 0);
	compare(p, again);
	twice = written(again, &more);
	/* It is another file that the program is from. */
	assert_int_equal(more, len - strlen("prog.dp") + strlen("x.ppdf"));
	free(twice);
	free(bytes);
	dp_lang_free(again);
	dp_lang_free(p);
}

static void wants_all_placed(void **state)
{
	struct dp_lang_program *p = assembled();

	assert_int_equal(dp_lang_write_ppdf(p, stderr), -EINVAL);
	dp_lang_free(p);
}

static u32 crc32_of(const u8 *bytes, size_t len)
{
	u32 crc = ~0u;
	size_t i;
	int k;

	for (i = 0; i < len; i++)
		for (crc ^= bytes[i], k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? CRC_POLYNOMIAL : 0);
	return ~crc;
}

static void seal(u8 *bytes, size_t len)
{
	u32 crc = crc32_of(bytes, len - 4), size = (u32)len;

	memcpy(bytes + 8, &size, sizeof(size));
	crc = crc32_of(bytes, len - 4);
	memcpy(bytes + len - 4, &crc, sizeof(crc));
}

static int read_copy(const u8 *bytes, size_t len, struct dp_lang_program **p)
{
	u8 *copy = malloc(len ? len : 1);
	struct dp_diag diag;
	int err;

	/* What is read beyond it the sanitizers see. */
	memcpy(copy, bytes, len);
	err = dp_lang_read_ppdf("x.ppdf", copy, len, p, &diag);
	free(copy);
	if (err)
		assert_null(*p);
	return err;
}

static void refuses_what_is_cut(void **state)
{
	struct dp_lang_program *p = placed(), *again;
	size_t len, i;
	u8 *bytes = written(p, &len);

	for (i = 0; i < len; i++) {
		assert_int_equal(read_copy(bytes, i, &again), -EBADMSG);
		if (i < 12)
			continue;
		seal(bytes, i);
		assert_int_not_equal(read_copy(bytes, i, &again), 0);
		free(bytes);
		bytes = written(p, &len);
	}
	free(bytes);
	dp_lang_free(p);
}

/* The version is the second word. */
static void says_what_is_wrong(void **state)
{
	struct dp_lang_program *p = placed(), *again;
	size_t len;
	u8 *bytes = written(p, &len);
	struct dp_diag diag;

	bytes[4]++;
	seal(bytes, len);
	assert_int_equal(dp_lang_read_ppdf("x.ppdf", bytes, len, &again, &diag),
			 -EOPNOTSUPP);
	assert_non_null(strstr(
		diag.text, "is a PPDF file of another version, or machine"));
	free(bytes);
	dp_lang_free(p);
}

static void refuses_each_wrong_bit(void **state)
{
	struct dp_lang_program *p = placed(), *again;
	size_t len, i;
	u8 *bytes = written(p, &len);

	for (i = 0; i < 8 * len; i++) {
		bytes[i / 8] ^= (u8)(1 << i % 8);
		assert_int_not_equal(read_copy(bytes, len, &again), 0);
		bytes[i / 8] ^= (u8)(1 << i % 8);
	}
	free(bytes);
	dp_lang_free(p);
}

static u32 random_below(u32 n)
{
	static u64 x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (u32)(x >> 33) % n;
}

/* What a program may be, whoever wrote the file */
static void check_sane(const struct dp_lang_program *p)
{
	size_t i;
	char *text;

	assert_true(p->nr_points && p->points && p->name && *p->name);
	assert_true(p->vars <= DP_VARS_MAX && p->gvars <= DP_VARS_MAX &&
		    p->logmax <= DP_LOG_MAX && p->code_len <= DP_CODE_MAX &&
		    p->build_len <= DP_LANG_ID && p->heapmax <= DP_HEAP_MAX);
	for (i = 0; i < p->nr_points; i++)
		assert_true(p->points[i].start < p->points[i].end &&
			    p->points[i].end <= p->code_len &&
			    p->points[i].nr_bytes <= DP_LANG_BYTES &&
			    p->points[i].value >= 0 && !p->points[i].symbol);
	for (i = 0; i < p->nr_symbols; i++)
		assert_true(p->symbols[i].placed &&
			    p->symbols[i].code + 8 <= p->code_len);
	text = listing(p);
	free(text);
}

/* With a sum that is right: by somebody who means it */
static void checks_every_number(void **state)
{
	static const u8 edges[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct dp_lang_program *p = placed(), *again;
	size_t len, i, k, taken = 0;
	u8 *bytes, *whole = written(p, &len);

	bytes = malloc(len);
	for (i = 0; i < ROUNDS; i++) {
		memcpy(bytes, whole, len);
		for (k = random_below(4) + 1; k; k--)
			bytes[random_below((u32)len - 4)] =
				random_below(2) ? edges[random_below(5)] :
						  (u8)random_below(256);
		seal(bytes, len);
		if (read_copy(bytes, len, &again))
			continue;
		taken++;
		check_sane(again);
		dp_lang_free(again);
	}
	/* Some of them are files that might have been. */
	assert_true(taken > ROUNDS / 100 && taken < ROUNDS / 2);
	free(bytes);
	free(whole);
	dp_lang_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back),
		cmocka_unit_test(wants_all_placed),
		cmocka_unit_test(refuses_what_is_cut),
		cmocka_unit_test(says_what_is_wrong),
		cmocka_unit_test(refuses_each_wrong_bit),
		cmocka_unit_test(checks_every_number),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
