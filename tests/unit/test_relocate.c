// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* relocate: golden copies, refusals, and the edges of reach. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "engine/insn/insn.h"
#include "hex.h"

#define FROM 0x401000ull
#define TO 0x501000ull
#define MAX 32

struct golden {
	const char *name, *code, *copy;
	u8 body_len;
	bool atomic;
};

/* A copy at TO of what stands at FROM, 1 MB below. */
static const struct golden goldens[] = {
	{ "nop", "90", "90 e9fbff efff", 1, true },
	{ "push", "55", "55 e9fbffefff", 1, true },
	{ "mov imm64", "48b88877665544332211",
	  "48b88877665544332211 e9fbffefff", 10, true },
	{ "lea rip", "488d0510000000", "488d051000f0ff e9fbffefff", 7, true },
	{ "movb rip, imm8", "c6052000000007", "c6052000f0ff07 e9fbffefff", 7,
	  true },
	{ "vmovdqu rip", "c5fa6f0510000000", "c5fa6f051000f0ff e9fbffefff", 8,
	  true },
	{ "evex rip", "62f17e486f0510000000", "62f17e486f051000f0ff e9fbffefff",
	  10, true },
	{ "jmp rel8", "eb10", "e90d00f0ff", 5, true },
	{ "jmp rel32", "e910000000", "e91000f0ff", 5, true },
	{ "je rel8", "7410", "0f840c00f0ff e9f7ffefff", 6, true },
	{ "jg rel32", "0f8f10000000", "0f8f1000f0ff e9fbffefff", 6, true },
	{ "loop", "e210", "e202eb05e90900f0ff e9f4ffefff", 9, false },
	{ "jrcxz", "e310", "e302eb05e90900f0ff e9f4ffefff", 9, false },
	{ "jecxz", "67e310", "67e302eb05e90900f0ff e9f4ffefff", 10, false },
	{ "call rel32", "e810000000", "6805104000 c744240400000000 e90300f0ff",
	  18, false },
	{ "data16 rex call", "666648e810000000",
	  "6808104000 c744240400000000 e90600f0ff", 18, false },
	{ "call *%rax", "ffd0",
	  "fff0 ff3424 488d642408 c7042402104000 c744240400000000 ff6424f8", 29,
	  false },
	{ "call *8(%rsp)", "ff542408",
	  "ff742408 ff3424 488d642408 c7042404104000 c744240400000000 ff6424f8",
	  31, false },
	{ "call *rip", "ff1510000000",
	  "ff351000f0ff ff3424 488d642408 c7042406104000 c744240400000000 ff6424f8",
	  33, false },
	{ "ret", "c3", "c3", 1, true },
	{ "ret imm16", "c21000", "c21000", 3, true },
	{ "repz ret", "f3c3", "f3c3", 2, true },
	{ "jmp *%rax", "ffe0", "ffe0", 2, true },
	{ "notrack jmp *%rax", "3effe0", "3effe0", 3, true },
	{ "jmp *rip", "ff2510000000", "ff251000f0ff", 6, true },
	{ "bnd jmp *rip", "f2ff2510000000", "f2ff251000f0ff", 7, true },
	{ "mov to debug register", "0f2305", "0f2305 e9fbffefff", 3, true },
	{ "syscall", "0f05", "0f05 48b90210400000000000 e9f1ffefff", 2, true },
};

static void relocates(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++) {
		const struct golden *g = &goldens[i];
		u8 code[MAX], wanted[DP_COPY_MAX];
		size_t n = hex(g->code, code), len = hex(g->copy, wanted);
		struct insn_facts f;
		struct dp_copy copy;
		const char *why = "";

		print_message("# %s\n", g->name);
		assert_int_equal(dp_insn_facts(code, n, &f), 0);
		assert_int_equal(f.len, n);
		assert_int_equal(
			dp_insn_relocate(code, &f, FROM, TO, &copy, &why), 0);
		assert_int_equal(copy.len, len);
		assert_memory_equal(copy.code, wanted, len);
		assert_int_equal(copy.body_len, g->body_len);
		assert_int_equal(copy.atomic, g->atomic);
	}
}

static void refuses(void **state)
{
	static const char *const refused[] = {
		"f4",	    "0f0b", "0fb9c0",	    "cc",
		"cd80",	    "f1",   "c7f810000000", "67488d0510000000",
		"66e91000", "48cf", "ff18",
	};
	size_t i;

	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		u8 code[MAX];
		size_t n = hex(refused[i], code);
		struct insn_facts f;
		struct dp_copy copy;
		const char *why = NULL;

		print_message("# %s\n", refused[i]);
		memset(code + n, 0, sizeof(code) - n);
		assert_int_equal(dp_insn_facts(code, DP_INSN_MAX, &f), 0);
		assert_int_equal(f.class, DP_INSN_REFUSED);
		assert_int_equal(dp_insn_relocate(code, &f, FROM, TO, &copy,
						  &why),
				 -EINVAL);
		assert_non_null(why);
	}
}

static void knows_its_reach(void **state)
{
	u8 lea[] = { 0x48, 0x8d, 0x05, 0, 0, 0, 0 }, out[8];
	u64 from = 1ull << 40, far = from + (1ull << 31);
	struct insn_facts f;
	struct dp_copy copy;

	assert_int_equal(dp_insn_facts(lea, sizeof(lea), &f), 0);
	/* The jump back is five bytes behind and the nearer of the two. */
	assert_int_equal(dp_insn_relocate(lea, &f, from, far - 5, &copy, NULL),
			 0);
	assert_int_equal(dp_insn_relocate(lea, &f, from, far - 4, &copy, NULL),
			 -ENOMEM);
	assert_int_equal(dp_emit_jmp(out, from, from + 5 + 0x7fffffff), 5);
	assert_int_equal(dp_emit_jmp(out, from, from + 5 + 0x80000000ull), 0);
	assert_int_equal(dp_emit_jmp(out, from, from + 5 - 0x80000000ull), 5);
	assert_int_equal(dp_emit_jmp(out, from, from + 4 - 0x80000000ull), 0);
}

static void wants_whole_instructions(void **state)
{
	static const u8 call[] = { 0xe8, 1, 2, 3, 4 }, junk[] = { 0x06, 0x06 };
	struct insn_facts f;
	size_t n;

	for (n = 0; n < sizeof(call); n++)
		assert_int_equal(dp_insn_facts(call, n, &f), -EILSEQ);
	assert_int_equal(dp_insn_facts(call, n, &f), 0);
	assert_int_equal(dp_insn_facts(junk, sizeof(junk), &f), -EILSEQ);
}

static void opcodes_are_found(void **state)
{
	static const struct {
		const char *code;
		int at;
	} cases[] = {
		{ "90", 0 },
		{ "4154", 1 },
		{ "745c", 0 },
		{ "0f8410000000", 1 },
		{ "eb5f", 0 },
		{ "b858585858", 0 },
		{ "41b858585858", 1 },
		{ "4883ec18", 1 },
		{ "0fb6c0", 1 },
		{ "660f3a0fc108", 3 },
		{ "c20800", 0 },
		{ "48a15858585858585858", 1 },
		{ "488b842458585858", 1 },
		{ "6a58", 0 },
	};
	struct insn_facts f;
	u8 code[16];
	size_t i, n;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		n = hex(cases[i].code, code);
		assert_int_equal(dp_insn_facts(code, n, &f), 0);
		assert_int_equal(f.len, n);
		if (f.opcode_off != cases[i].at)
			fail_msg("%s: %d", cases[i].code, f.opcode_off);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(relocates),
		cmocka_unit_test(refuses),
		cmocka_unit_test(knows_its_reach),
		cmocka_unit_test(wants_whole_instructions),
		cmocka_unit_test(opcodes_are_found),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
