// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* region: which bytes a jump takes, and what it must not take. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/insn/region.h"
#include "hex.h"

#define MAX 64
#define ADDR 0x401000ull

static int decode(const char *text, size_t room, struct dp_region *r,
		  const char **why)
{
	u8 code[MAX];

	*why = NULL;
	return dp_region_decode(code, hex(text, code), room, r, why);
}

struct shape {
	const char *code;
	u8 len, nr;
	bool returns;
	u8 at[DP_REGION_INSNS];
};

static const struct shape shapes[] = {
	{ "90 90 90 90 90 90", 5, 5, false, { 0, 1, 2, 3, 4 } },
	{ "55 4889e5 4154 90", 6, 3, false, { 0, 1, 4 } },
	{ "0f1f440000 90", 5, 1, false, { 0 } },
	{ "90909090 66666666662e0f1f840000000000 90",
	  18,
	  5,
	  false,
	  { 0, 1, 2, 3, 4 } },
	{ "90909090 6666666666662e0f1f840000000000",
	  DP_REGION_MAX,
	  5,
	  false,
	  { 0, 1, 2, 3, 4 } },
	{ "e800000000", 5, 1, false, { 0 } },
	{ "90 e800000000", 6, 2, false, { 0, 1 } },
	{ "ffd0 4889c3", 5, 2, true, { 0, 2 } },
	{ "ffd0 ffd0 90", 5, 3, true, { 0, 2, 4 } },
	{ "909090 ffd0", 5, 4, false, { 0, 1, 2, 3 } },
	{ "7405 4889c3", 5, 2, false, { 0, 2 } },
};

static void finds_whole_instructions(void **state)
{
	size_t i, room;

	for (i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		const struct shape *s = &shapes[i];
		struct dp_region r;
		const char *why;

		print_message("# %s\n", s->code);
		for (room = 0; room < s->len; room++) {
			assert_int_equal(decode(s->code, room, &r, &why),
					 -EINVAL);
			assert_string_equal(
				why, "its function has no room for a jump");
		}
		assert_int_equal(decode(s->code, room, &r, &why), 0);
		assert_int_equal(r.len, s->len);
		assert_int_equal(r.nr, s->nr);
		assert_int_equal(r.returns, s->returns);
		assert_memory_equal(r.at, s->at, s->nr);
	}
}

static void wants_all_of_the_bytes(void **state)
{
	static const u8 code[] = { 0x55, 0x48, 0x89, 0xe5, 0x41, 0x54 };
	struct dp_region r;
	const char *why;
	size_t size;

	for (size = 0; size < sizeof(code); size++) {
		why = NULL;
		assert_int_equal(dp_region_decode(code, size, MAX, &r, &why),
				 -EINVAL);
		assert_non_null(why);
	}
	assert_int_equal(dp_region_decode(code, size, MAX, &r, &why), 0);
}

static void refuses(void **state)
{
	static const struct {
		const char *code, *why;
	} refused[] = {
		{ "f4 90909090", "hlt" },
		{ "90909090 f4", "hlt" },
		{ "0f05 909090", "system call" },
		{ "90909090 0f05", "system call" },
		{ "9090 0f0b 90", "" },
		{ "90909090 cc", "" },
		{ "9090 06 9090", "no instructions" },
	};
	struct dp_region r;
	const char *why;
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		print_message("# %s\n", refused[i].code);
		assert_int_equal(decode(refused[i].code, MAX, &r, &why),
				 -EINVAL);
		assert_non_null(why);
		assert_non_null(strstr(why, refused[i].why));
	}
	/* What stands behind the region is nobody's business. */
	assert_int_equal(decode("9090909090 f4", MAX, &r, &why), 0);
}

/* Its nine bytes, beginning with any byte of the region: between instructions,
 * and in the middle of one. */
static void leaves_signal_return_code_alone(void **state)
{
	static const char *const taken[] = {
		"48c7c00f000000 0f05",
		"90 48c7c00f000000 0f05",
		"9090 48c7c00f000000 0f05",
		"909090 48c7c00f000000 0f05",
		"90909090 48c7c00f000000 0f05",
		"e8000000 48c7c00f000000 0f05",
		"48b8 48c7c00f0000000f 05",
		"90909090 48b8 48c7c00f0000000f 05",
		"0f1f8400 000000 48c7c00f000000 0f05",
	};
	struct dp_region r;
	const char *why;
	u8 code[MAX];
	size_t i, n;

	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		print_message("# %s\n", taken[i]);
		assert_int_equal(decode(taken[i], MAX, &r, &why), -EINVAL);
		assert_non_null(strstr(why, "signal return"));
	}
	assert_int_equal(
		decode("9090909090 48c7c00f000000 0f05", MAX, &r, &why), 0);
	assert_int_equal(decode("48c7c00e000000 0f05", MAX, &r, &why), 0);
	n = hex("48c7c00f000000 0f05", code);
	assert_true(dp_insn_is_restorer(code, n));
	assert_true(dp_insn_is_restorer(code, n + 1));
	assert_false(dp_insn_is_restorer(code, n - 1));
}

struct entry {
	const char *code; /* of the function */
	u8 at; /* offset of the region in it */
	bool entered;
};

static const struct entry entries[] = {
	/* into mov at +1: its second byte, its third, then the next one */
	{ "55 4889e5 4154 ebfa c3", 0, true },
	{ "55 4889e5 4154 ebfb c3", 0, true },
	{ "55 4889e5 4154 ebfc c3", 0, false },
	{ "55 4889e5 4154 ebf9 c3", 0, false },
	{ "55 4889e5 4154 ebf8 c3", 0, false },
	{ "55 4889e5 4154 eb00 c3", 0, false },
	/* the last instruction of the region, behind the jump's five bytes */
	{ "90909090 4889e5 ebfc c3", 0, true },
	{ "90909090 4889e5 ebfd c3", 0, true },
	/* jcc, loop, jrcxz, call, long forms */
	{ "55 4889e5 4154 74fa c3", 0, true },
	{ "55 4889e5 4154 0f84f6ffffff c3", 0, true },
	{ "55 4889e5 4154 0f84f5ffffff c3", 0, false },
	{ "55 4889e5 4154 e2fa c3", 0, true },
	{ "55 4889e5 4154 e3fa c3", 0, true },
	{ "55 4889e5 4154 e8f7ffffff c3", 0, true },
	{ "55 4889e5 4154 e9f7ffffff c3", 0, true },
	/* from before it, over a lock prefix, and from inside */
	{ "7401 f0480fb111 c3", 2, true },
	{ "7400 f0480fb111 c3", 2, false },
	{ "7501 90 f0480fb111 c3", 2, false },
	{ "7501 4889e5 90 90 c3", 0, true },
	/* an indirect branch says nothing */
	{ "55 4889e5 4154 ffe0", 0, false },
	/* nobody knows */
	{ "55 4889e5 4154 06 c3", 0, true },
	{ "55 4889e5 4154 e9f7ff", 0, true },
};

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void sees_branches_inside(void **state)
{
	size_t i, n;

	for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		const struct entry *e = &entries[i];
		const char *why = NULL;
		struct dp_region r;
		u8 code[MAX];
		u64 v[MAX];
		struct dp_entries to = { .v = v };

		print_message("# %s\n", e->code);
		n = hex(e->code, code);
		dp_entries_find(&to, code, n, ADDR);
		qsort(v, to.n, sizeof(*v), ascending);
		assert_int_equal(dp_region_decode(code + e->at, n - e->at, MAX,
						  &r, &why),
				 0);
		why = dp_region_entered(&r, ADDR + e->at, &to);
		assert_int_equal(why != NULL, e->entered);
	}
}

static void knows_nops(void **state)
{
	static const char *const nops[] = {
		"90",
		"6690",
		"0f1f00",
		"0f1f4000",
		"0f1f440000",
		"660f1f440000",
		"0f1f80000000",
		"662e0f1f840000000000",
		"66666666662e0f1f840000000000",
	};
	static const char *const others[] = {
		"f390", "f30f1efa", "55", "0f05", "4990",
		"66",	"2e",	    "cc", "0f",	  "6655",
	};
	u8 code[MAX];
	size_t i, n;

	for (i = 0; i < sizeof(nops) / sizeof(nops[0]); i++) {
		n = hex(nops[i], code);
		assert_true(dp_insn_is_nop(code, n));
	}
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		n = hex(others[i], code);
		assert_false(dp_insn_is_nop(code, n));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_whole_instructions),
		cmocka_unit_test(wants_all_of_the_bytes),
		cmocka_unit_test(refuses),
		cmocka_unit_test(leaves_signal_return_code_alone),
		cmocka_unit_test(sees_branches_inside),
		cmocka_unit_test(knows_nops),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
