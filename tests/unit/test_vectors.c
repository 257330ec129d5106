// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * vectors: programs as text, the bytes that DProbes made of them, and what a hit leaves.
 *
 * The bytes are those of the i386, with literals of four bytes; what runs has elements of eight.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include "lang/lang.h"
#include "vm_programs.h"

#define HEAD "name = x\nmodtype = user\nvars = 4\n"
#define AT "offset = f\n"
#define MOST 4

struct vector {
	const char *header, *code;
	const char *bytes; /* with a word of four bytes */
	u64 left[MOST]; /* elements of the log's item, the top first */
	u32 nr_left;
	u16 exception;
	u64 parm[2];
	u64 lv0;
	u32 jumps;
};

static struct vm_bench b;

static struct dp_lang_program *assemble(const char *text, u8 word)
{
	struct dp_lang_program *p;
	struct dp_diag diag;

	dp_diag_clear(&diag);
	if (dp_lang_assemble("v.dp", text, strlen(text), word, &p, NULL, &diag))
		fail_msg("%s", diag.text);
	return p;
}

static void bytes_are(const char *text, const char *hex)
{
	struct dp_lang_program *p = assemble(text, 4);
	char got[256] = "", *to = got;
	u32 i;

	for (i = 0; i < p->code_len; i++)
		to += sprintf(to, "%02x", p->code[i]);
	assert_string_equal(got, hex);
	dp_lang_free(p);
}

static void run(const char *text)
{
	struct dp_lang_program *p = assemble(text, 8);
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, p->allow, vm_tables };
	u32 offset, start = 0;
	const char *why;

	if (dp_vm_verify(p->code, p->code_len, &limits, &start, 1, &offset,
			 &why))
		fail_msg("%s: %s at %u", text, why, offset);
	memset(b.lv, 0, sizeof(b.lv));
	b.vm.jmpmax = p->jmpmax;
	b.vm.logmax = p->logmax;
	b.vm.code = p->code;
	b.vm.pc = 0;
	dp_vm_run(&b.vm);
	assert_true(vm_bench_intact(&b));
	dp_lang_free(p);
}

static int setup(void **state)
{
	vm_bench_init(&b);
	return 0;
}

/* A literal of four bytes; and what "log n" has left */
#define D(v) "4c" v
#define LEFT(n, ...) .left = { __VA_ARGS__ }, .nr_left = n
#define RAISES(code, ...) .exception = DP_EX_##code, .parm = { __VA_ARGS__ }

/* clang-format off */
static const struct vector vectors[] = {
	{ "", "push 10\npush 3\nsub\nlog 1\n",
	  D("0a000000") D("03000000") "34" "1b0100" "0d", LEFT(1, (u64)-7) },
	{ "", "push 7\npush 2\ndiv\nlog 2\n",
	  D("07000000") D("02000000") "62" "1b0200" "0d", LEFT(2, 3, 1) },
	{ "", "push 0x80\npbl 8\nlog 1\n",
	  D("80000000") "6608" "1b0100" "0d", LEFT(1, ~0x7full) },
	{ "", "push 0xff\npzl 4\nlog 1\n",
	  D("ff000000") "6a04" "1b0100" "0d", LEFT(1, 0x0f) },
	{ "", "push 0xff\npzr 5\nlog 1\n",
	  D("ff000000") "6b05" "1b0100" "0d", LEFT(1, 0xf0) },
	{ "", "push 3\nL: inc lv,0\nloop L\nlog 1\n",
	  D("03000000") "2f0000" "08f8ffffff" "1b0100" "0d",
	  LEFT(1, 0), .lv0 = 3, .jumps = 3 },
	/* The frame has no handler while it runs one. */
	{ "", "sx H\npush 1\npush 0\ndiv\nexit\nH: log 1\npush 1\npush 0\ndiv\n",
	  "6c0c000000" D("01000000") D("00000000") "62" "0d" "1b0100"
	  D("01000000") D("00000000") "62" "0d",
	  LEFT(1, 0x20), RAISES(DIV_BY_ZERO, 0), .jumps = 1 },
	{ "", "call F\nexit\nF: inc lv,0\ncall F\nret\n",
	  "0901000000" "0d" "2f0000" "09f8ffffff" "0a",
	  RAISES(CALL_STACK_OVERFLOW, 32), .lv0 = 32, .jumps = 32 },
	{ "", "ret\n", "0a", RAISES(CALL_STACK_OVERFLOW, 0) },
	{ "jmpmax = 0\n", "jmp L\nL: exit\n", "0100000000" "0d",
	  RAISES(MAX_JMPS, 0) },
	{ "jmpmax = 0\n", "jz L\nL: exit\n", "0600000000" "0d",
	  RAISES(MAX_JMPS, 0) },
	{ "jmpmax = 0\n", "push 1\njz L\nL: inc lv,0\n",
	  D("01000000") "0600000000" "2f0000" "0d", .lv0 = 1 },
	{ "jmpmax = 0\n", "push 1\nL: loop L\n",
	  D("01000000") "08fbffffff" "0d", RAISES(MAX_JMPS, 0) },
	{ "jmpmax = 0\n", "call L\nL: exit\n", "0900000000" "0d",
	  RAISES(MAX_JMPS, 0) },
	{ "jmpmax = 3\n", "L: inc lv,0\njmp L\n", "2f0000" "01f8ffffff",
	  RAISES(MAX_JMPS, 3), .lv0 = 4, .jumps = 3 },
};
/* clang-format on */

static void is_left(const struct vector *v)
{
	u64 got;
	u32 i;

	for (i = 0; i < v->nr_left; i++) {
		memcpy(&got, b.log + 3 + 8 * i, 8);
		assert_true(got == v->left[i]);
	}
	assert_int_equal(b.vm.lp, v->nr_left ? 3 + 8 * v->nr_left : 0);
	assert_int_equal(b.vm.exception, v->exception);
	assert_true(b.vm.parm[0] == v->parm[0] && b.vm.parm[1] == v->parm[1]);
	assert_int_equal(b.vm.end, v->exception ? DP_VM_EXCEPTION : DP_VM_EXIT);
	assert_int_equal(b.lv[0], v->lv0);
	assert_int_equal(b.vm.jumps, v->jumps);
}

static void each(void **state)
{
	char text[512];
	size_t i;

	for (i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		snprintf(text, sizeof(text), HEAD "%s" AT "%s",
			 vectors[i].header, vectors[i].code);
		print_message("# %zu\n", i);
		bytes_are(text, vectors[i].bytes);
		run(text);
		is_left(&vectors[i]);
	}
}

/* The first program of the paper: sixteen bytes of the stack. */
static const char first[] = HEAD "logmax = 100\n" AT
				 "inc lv,0\npush d,16\npush r, esp\nlog mrf\n";

static void sixteen_bytes_of_the_stack(void **state)
{
	bytes_are(first, "2f0000" D("10000000") "460e00"
						"17"
						"0d");
	strcpy(b.text, "@ABCDEFGHIJKLMNOPQ");
	b.regs.sp = (u64)b.text;
	run(first);
	assert_int_equal(b.lv[0], 1);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.vm.lp, 3 + 16);
	assert_memory_equal(b.log, "\0\20\0@ABCDEFGHIJKLMNO", 3 + 16);
}

/* Where it cannot be read from some byte on, nothing of it is logged, but that byte's address. */
static void memory_that_is_not_there(void **state)
{
	u64 bad = 0x1000;

	b.regs.sp = bad;
	run(first);
	assert_int_equal(b.vm.end, DP_VM_EXCEPTION);
	assert_int_equal(b.vm.exception, DP_EX_INVALID_ADDR);
	assert_true(b.vm.parm[0] == bad && !b.vm.parm[1]);
	assert_int_equal(b.vm.lp, 3 + 8);
	assert_memory_equal(b.log, "\377\10\0", 3);
	assert_memory_equal(b.log + 3, &bad, 8);
}

#define ADDRESS "push r,esp\npush d,4\nadd\n"
#define COMPARES \
	"push d,0x20000000\nsub\njz take_dump\nexit\ntake_dump: exit 3\n"

/* The second one as printed: it compares the address of the argument. */
static void compares_an_address(void **state)
{
	bytes_are(HEAD AT ADDRESS COMPARES,
		  "460e00" D("04000000") "33" D("00000020") "34"
							    "0601000000"
							    "0d"
							    "0e03");
	b.regs.sp = 0x20000000 - 4;
	run(HEAD AT ADDRESS COMPARES);
	assert_int_equal(b.vm.facility, 3);
	b.regs.sp++;
	run(HEAD AT ADDRESS COMPARES);
	assert_int_equal(b.vm.facility, 0);
	assert_int_equal(b.vm.end, DP_VM_EXIT);
	assert_int_equal(b.vm.lp, 0);
}

/* And with the instruction that it lacks: the argument */
static void compares_an_argument(void **state)
{
	static const char text[] = HEAD AT ADDRESS "push mem,u32\n" COMPARES;
	u32 size = 0x20000000;

	bytes_are(text, "460e00" D("04000000") "33"
					       "4f" D("00000020") "34"
								  "0601000000"
								  "0d"
								  "0e03");
	memcpy(b.text + 4, &size, sizeof(size));
	b.regs.sp = (u64)b.text;
	run(text);
	assert_int_equal(b.vm.facility, 3);
	b.text[4]++;
	run(text);
	assert_int_equal(b.vm.facility, 0);
}

/* As in DProbes 5: the first code and the last one of each range, and how the first is written */
static void the_codes_are_those_of_dprobes(void **state)
{
	static const struct {
		u8 first, last;
		const char *text;
	} ranges[] = {
		{ 0x00, 0x15, "nop" },	     { 0x17, 0x17, "log mrf" },
		{ 0x1b, 0x49, "log %" },     { 0x4c, 0x54, "push %" },
		{ 0x5d, 0x98, "push task" }, { 0xb0, 0xb6, "seg2lin" },
	};
	static const struct {
		u8 code;
		const char *text;
	} rows[] = {
#define TEXT(code, name, operand, pops, pushes, ends, state, group, text) \
	{ code, text },
		DP_OPS(TEXT)
	};
	u32 known = 0, i, k, code;

	for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		for (code = ranges[i].first; code <= ranges[i].last; code++) {
			for (k = 0; rows[k].code != code; k++)
				assert_true(k + 1 <
					    sizeof(rows) / sizeof(rows[0]));
			if (code == ranges[i].first)
				assert_string_equal(rows[k].text,
						    ranges[i].text);
			known++;
		}
	/* And ours, where it has none */
	for (k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
		known -= rows[k].code < 0x99 || rows[k].code >= 0xb0;
	assert_int_equal(known, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_codes_are_those_of_dprobes),
		cmocka_unit_test_setup(each, setup),
		cmocka_unit_test_setup(sixteen_bytes_of_the_stack, setup),
		cmocka_unit_test_setup(memory_that_is_not_there, setup),
		cmocka_unit_test_setup(compares_an_address, setup),
		cmocka_unit_test_setup(compares_an_argument, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("vectors", tests, NULL, NULL);
}
