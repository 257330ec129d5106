// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* lang: programs become the bytes of DProbes, and text again; and refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "lang/lang.h"
#include "lang/private.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define HEAD "name = /bin/true\nmodtype = user\n"
#define PROBE                                                       \
	HEAD "vars = 256\ngvars = 256\nallow = write,reg,io,call\n" \
	     "offset = main\n"

static struct dp_lang_program *assemble(const char *text, u8 word)
{
	struct dp_lang_program *p;
	struct dp_diag diag;
	char *line;

	dp_diag_clear(&diag);
	if (dp_lang_assemble("t.dp", text, strlen(text), word, &p, &line,
			     &diag))
		fail_msg("%s", diag.text);
	assert_null(line);
	return p;
}

/* Return: the error; its words are in @diag. */
static int refuse(const char *text, size_t len, struct dp_diag *diag)
{
	struct dp_lang_program *p;
	char *line;
	int err;

	dp_diag_clear(diag);
	err = dp_lang_assemble("t.dp", text, len, 8, &p, &line, diag);
	if (!err)
		fail_msg("accepted: %.60s", text);
	assert_null(p);
	free(line);
	return err;
}

static char *listing(const struct dp_lang_program *p)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	dp_lang_disassemble(p, out);
	fclose(out);
	assert_non_null(text);
	return text;
}

static void same_text(const char *a, const char *b)
{
	if (a && b)
		assert_string_equal(a, b);
	else
		assert_ptr_equal(a, b);
}

static void same_point(const struct dp_lang_point *a,
		       const struct dp_lang_point *b)
{
	same_text(a->symbol, b->symbol);
	assert_true(a->value == b->value);
	assert_int_equal(a->absolute, b->absolute);
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->usdt, b->usdt);
	assert_int_equal(a->hook, b->hook);
	assert_int_equal(a->opcode, b->opcode);
	assert_int_equal(a->major, b->major);
	assert_int_equal(a->minor, b->minor);
	assert_int_equal(a->passcount, b->passcount);
	assert_int_equal(a->maxhits, b->maxhits);
	assert_int_equal(a->group, b->group);
	assert_int_equal(a->type, b->type);
	assert_int_equal(a->logonfault, b->logonfault);
	assert_int_equal(a->retprobe, b->retprobe);
	assert_int_equal(a->watch, b->watch);
	assert_int_equal(a->len, b->len);
	assert_int_equal(a->heap, b->heap);
	assert_int_equal(a->ex_mask, b->ex_mask);
	assert_int_equal(a->start, b->start);
	assert_int_equal(a->end, b->end);
}

static void same_program(const struct dp_lang_program *a,
			 const struct dp_lang_program *b)
{
	size_t i;

	assert_string_equal(a->name, b->name);
	assert_int_equal(a->modtype, b->modtype);
	assert_int_equal(a->major, b->major);
	assert_int_equal(a->id, b->id);
	assert_int_equal(a->jmpmax, b->jmpmax);
	assert_int_equal(a->logmax, b->logmax);
	assert_int_equal(a->vars, b->vars);
	assert_int_equal(a->gvars, b->gvars);
	assert_int_equal(a->stack, b->stack);
	assert_int_equal(a->ex_logmax, b->ex_logmax);
	assert_int_equal(a->heapmax, b->heapmax);
	assert_int_equal(a->allow, b->allow);
	assert_int_equal(a->autostacktrace, b->autostacktrace);
	assert_true(a->filter.pid == b->filter.pid);
	same_text(a->filter.comm, b->filter.comm);
	same_text(a->filter.user, b->filter.user);
	same_text(a->filter.cgroup, b->filter.cgroup);
	assert_int_equal(a->nr_symbols, b->nr_symbols);
	for (i = 0; i < a->nr_symbols; i++) {
		assert_string_equal(a->symbols[i].name, b->symbols[i].name);
		assert_int_equal(a->symbols[i].code, b->symbols[i].code);
	}
	assert_int_equal(a->nr_values, b->nr_values);
	for (i = 0; i < a->nr_values; i++) {
		assert_string_equal(a->values[i].text, b->values[i].text);
		assert_int_equal(a->values[i].code, b->values[i].code);
	}
	assert_int_equal(a->code_len, b->code_len);
	assert_memory_equal(a->code, b->code, a->code_len);
	assert_int_equal(a->nr_points, b->nr_points);
	for (i = 0; i < a->nr_points; i++)
		same_point(&a->points[i], &b->points[i]);
}

static void round_trip(const struct dp_lang_program *p)
{
	struct dp_lang_program *again;
	char *text = listing(p);

	again = assemble(text, p->word);
	same_program(p, again);
	dp_lang_free(again);
	free(text);
}

/* @hex may have blanks. */
static u32 bytes_of(const char *hex, u8 *bytes)
{
	u32 n = 0;

	for (; *hex; hex++) {
		if (*hex == ' ')
			continue;
		assert_int_equal(sscanf(hex, "%2hhx", &bytes[n++]), 1);
		hex++;
	}
	return n;
}

static void gives(const char *text, u8 word, const char *hex)
{
	struct dp_lang_program *p = assemble(text, word);
	u8 bytes[256];
	u32 n = bytes_of(hex, bytes);

	if (p->code_len != n || memcmp(p->code, bytes, n))
		fail_msg("not %s, but another %u bytes:\n%s", hex, p->code_len,
			 text);
	round_trip(p);
	dp_lang_free(p);
}

static const struct vector {
	const char *code, *word4, *word8;
} vectors[] = {
	{ "inc lv,0\npush d,16\npush r, esp\nlog mrf\n",
	  "2f0000 4c10000000 460e00 17 0d",
	  "2f0000 4c1000000000000000 460e00 17 0d" },
	{ "push r,esp\npush d,4\nadd\npush mem,u32\npush d,0x20000000\nsub\n"
	  "jz take_dump\nexit\ntake_dump: exit 3\n",
	  "460e00 4c04000000 33 4f 4c00000020 34 0601000000 0d 0e03",
	  "460e00 4c0400000000000000 33 4f 4c0000002000000000 34 "
	  "060100000000000000 0d 0e03" },
	{ "push 10\npush 3\nsub\n", "4c0a000000 4c03000000 34 0d",
	  "4c0a00000000000000 4c0300000000000000 34 0d" },
	{ "push 7\npush 2\ndiv", "4c07000000 4c02000000 62 0d",
	  "4c0700000000000000 4c0200000000000000 62 0d" },
	{ "push 0x80\npbl 8", "4c80000000 6608 0d",
	  "4c8000000000000000 6608 0d" },
	{ "push 0xff\npzl 4", "4cff000000 6a04 0d",
	  "4cff00000000000000 6a04 0d" },
	{ "push 0377\npzr 5", "4cff000000 6b05 0d",
	  "4cff00000000000000 6b05 0d" },
	{ "push 3\nL: inc lv,0\nloop L\n", "4c03000000 2f0000 08f8ffffff 0d",
	  "4c0300000000000000 2f0000 08f4ffffffffffffff 0d" },
	{ "push -1\npush q,-1", "4cffffffff 4cffffffff 0d",
	  "4cffffffffffffffff 4cffffffffffffffff 0d" },
	{ "jmp end\nnop\nexit\nend:", "01 02000000 00 0d 0d",
	  "01 0200000000000000 00 0d 0d" },
	{ "log mrs\nLOG ASCII,S\nlog str,s\nlog mrf", "b017 b015 b015 17 0d",
	  "b017 b015 b015 17 0d" },
	{ "", "0d", "0d" },
	{ "push 'c'", "4c63000000 0d", "4c6300000000000000 0d" },
	{ "nop // why\n/* or\nwhy */ exit /**/\n\n", "00 0d", "00 0d" },
	{ "push 'c'\r\npush '\\n'\r\npush '\\''\r\npush ' '\r\nexit 0",
	  "4c63000000 4c0a000000 4c27000000 4c20000000 0e00",
	  "4c6300000000000000 4c0a00000000000000 4c2700000000000000 "
	  "4c2000000000000000 0e00" },
};

static void programs_give_the_bytes_of_dprobes(void **state)
{
	char text[512];
	size_t i;

	for (i = 0; i < COUNT(vectors); i++) {
		snprintf(text, sizeof(text), PROBE "%s", vectors[i].code);
		gives(text, 4, vectors[i].word4);
		gives(text, 8, vectors[i].word8);
	}
}

static const char *const aliases[][2] = {
	{ "push b,255", "push 255" },
	{ "push w,-2", "push -2" },
	{ "PUSH D,0X10", "push 16" },
	{ "push q,5", "push 5" },
	{ "pop 3", "ros 3" },
	{ "not", "neg" },
	{ "log ascii", "log str" },
	{ "rem", "remove" },
	{ "push mem,b", "push mem,u8" },
	{ "push mem,w", "push mem,u16" },
	{ "push mem,d", "push mem,u32" },
	{ "push mem,q", "push mem,u64" },
	{ "Pop Mem , B", "pop mem,u8" },
	{ "pop mem,w", "pop mem,u16" },
	{ "pop mem,d", "pop mem,u32" },
	{ "pop mem,q", "pop mem,u64" },
	{ "PUSH R,RAX", "push r,rax" },
	{ "push\xc2\xa0r,rax", "push r,rax" },
};

static void other_spellings_mean_the_same(void **state)
{
	struct dp_lang_program *a, *b;
	char text[512];
	size_t i;

	for (i = 0; i < COUNT(aliases); i++) {
		snprintf(text, sizeof(text), PROBE "%s\n", aliases[i][0]);
		a = assemble(text, 8);
		snprintf(text, sizeof(text), PROBE "%s\n", aliases[i][1]);
		b = assemble(text, 8);
		same_program(a, b);
		dp_lang_free(a);
		dp_lang_free(b);
	}
}

static char *read_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "r");
	char *text = malloc(65536);

	if (!f)
		fail_msg("%s is not here", path);
	assert_non_null(text);
	*len = fread(text, 1, 65535, f);
	text[*len] = '\0';
	fclose(f);
	return text;
}

/* [rows 306, 315] */
static void the_programs_of_the_paper_assemble(void **state)
{
	size_t len;
	char *text = read_file("examples/fork-kill-paper.dp", &len);
	struct dp_lang_program *p = assemble(text, 4);

	gives(text, 4,
	      "2f0000 4c10000000 460e00 17 0d 2f0100 4c10000000 460e00 17 0d");
	assert_string_equal(p->name, "bzImage");
	assert_int_equal(p->modtype, DP_MODTYPE_KERNEL);
	assert_int_equal(p->major, 1);
	assert_int_equal(p->jmpmax, 32);
	assert_int_equal(p->logmax, 100);
	assert_int_equal(p->nr_points, 2);
	assert_string_equal(p->points[1].symbol, "do_fork");
	assert_int_equal(p->points[1].start, 13);
	assert_int_equal(p->points[1].minor, 2);
	assert_int_equal(p->points[1].opcode, 0x55);
	assert_int_equal(p->points[1].maxhits, 1000);
	dp_lang_free(p);
	free(text);
	text = read_file("examples/malloc-paper.dp", &len);
	gives(text, 4, "460e00 4c04000000 33 4c00000020 34 0601000000 0d 0e03");
	free(text);
}

/* [rows 307, 308] */
static void keywords_fill_the_program(void **state)
{
	static const char text[] =
		"NAME = \"/a b/c\" // c\nMod_Type = kmod\nmajor = 7\nid = 9\n"
		"jmp_max = 0\nlogmax = 0\nvars = 256\ng_vars = 1\nstack = 32\n"
		"offset = f.part@x - 0x10\nop_code = 0xcc\nminor = 3\n"
		"major = 8\npass_count = 5\nmax_hits = 0\ngroup = 1\n"
		"type = 2\nlog_on_fault = YES\nnop\n"
		"address = 0xffffffff81000000\nmaxhits = 2\n";
	struct dp_lang_program *p = assemble(text, 8);
	const struct dp_lang_point *a = p->points, *b = a + 1;

	assert_string_equal(p->name, "/a b/c");
	assert_int_equal(p->name_at.column, 7);
	assert_int_equal(p->name_at.span, 8);
	assert_int_equal(p->modtype, DP_MODTYPE_KMOD);
	assert_int_equal(p->id, 9);
	assert_int_equal(p->jmpmax + p->logmax, 0);
	assert_int_equal(p->stack, 32);
	assert_string_equal(a->symbol, "f.part@x");
	assert_true(a->value == -16);
	assert_int_equal(a->at.line, 10);
	assert_int_equal(a->at.column, 9);
	assert_int_equal(a->at.span, 15);
	assert_int_equal(a->opcode_at.line, 11);
	assert_int_equal(a->opcode_at.column, 10);
	assert_int_equal(a->major, 8);
	assert_int_equal(a->passcount, 5);
	assert_int_equal(a->maxhits, DP_MAXHITS_DEFAULT);
	assert_true(a->logonfault);
	assert_null(b->symbol);
	assert_true(b->absolute && b->value == (s64)0xffffffff81000000);
	assert_int_equal(b->major, 7);
	assert_int_equal(b->opcode, -1);
	round_trip(p);
	dp_lang_free(p);
}

static void values_and_symbols_are_kept(void **state)
{
	struct dp_lang_program *p = assemble(
		PROBE "push v,\"a->b + 1\"\npush &main + 4\n"
		      "push \"ns::f(int)\" - 2\nl: jmp l\noffset = x.c:7\nnop\n"
		      "offset = \"d/x.c:8\"\npush 1; log 1\n"
		      "offset = hook:request\nlog 0\n"
		      "watch = x\noffset = hook:\"a hook\"\nlog 0\n",
		8);

	assert_int_equal(p->nr_values, 1);
	assert_string_equal(p->values[0].text, "a->b + 1");
	assert_int_equal(p->values[0].code, 1);
	assert_int_equal(p->values[0].at.line, 7);
	assert_int_equal(p->nr_symbols, 2);
	assert_string_equal(p->symbols[0].name, "main");
	assert_int_equal(p->symbols[0].code, 10);
	assert_int_equal(p->code[10], 4);
	assert_string_equal(p->symbols[1].name, "ns::f(int)");
	assert_int_equal(p->code[19], 0xfe);
	assert_true(p->points[1].line && p->points[2].line);
	assert_string_equal(p->points[1].symbol, "x.c:7");
	assert_string_equal(p->points[2].symbol, "d/x.c:8");
	assert_true(p->points[3].hook && p->points[4].hook);
	assert_string_equal(p->points[3].symbol, "request");
	assert_string_equal(p->points[4].symbol, "a hook");
	round_trip(p);
	dp_lang_free(p);
}

static void defaults_are_those_of_dprobes(void **state)
{
	struct dp_lang_program *p = assemble(HEAD "offset = 16\ninc gv,4\n", 8);

	assert_int_equal(p->major, 0);
	assert_int_equal(p->jmpmax, DP_JMP_MAX);
	assert_int_equal(p->logmax, DP_LOG_DEFAULT);
	assert_int_equal(p->ex_logmax, DP_EX_LOG_MAX);
	assert_int_equal(p->heapmax, DP_HEAP_MAX);
	assert_int_equal(p->allow, 0);
	assert_false(p->autostacktrace || p->traces || p->heaps);
	assert_int_equal(p->points[0].ex_mask, 0x0fff);
	assert_int_equal(p->points[0].heap, DP_HEAP_MAX);
	assert_false(p->points[0].retprobe);
	assert_int_equal(p->vars, 0);
	assert_int_equal(p->gvars, 5);
	assert_int_equal(p->stack, DP_STACK_DEFAULT);
	assert_int_equal(p->points[0].maxhits, DP_MAXHITS_DEFAULT);
	assert_int_equal(p->points[0].opcode, -1);
	assert_false(p->points[0].logonfault);
	round_trip(p);
	dp_lang_free(p);
}

static const char *operand_for(int operand)
{
	switch (operand) {
	case DP_OPERAND_REG:
		return "eflags";
	case DP_OPERAND_REGW:
		return "r15";
	case DP_OPERAND_REL:
		return "here";
	case DP_OPERAND_S16:
		return "-2";
	default:
		return "200";
	}
}

static const struct op_row {
	u8 code, operand, state;
	const char *text;
} op_rows[] = {
#define ROW(code, name, operand, pops, pushes, ends, state, group, text) \
	{ code, DP_OPERAND_##operand, DP_OP_##state, text },
	DP_OPS(ROW)
};

static void every_instruction_of_the_table(void **state)
{
	struct dp_lang_program *p;
	struct dp_diag diag;
	char text[512];
	size_t i;
	int len;

	for (i = 0; i < COUNT(op_rows); i++) {
		len = strcspn(op_rows[i].text, "%");
		snprintf(text, sizeof(text), PROBE "here: %.*s%s\n", len,
			 op_rows[i].text,
			 op_rows[i].text[len] ?
				 operand_for(op_rows[i].operand) :
				 "");
		if (op_rows[i].state != DP_OP_READY) {
			assert_int_equal(refuse(text, strlen(text), &diag),
					 -EOPNOTSUPP);
			assert_non_null(strstr(diag.text, "not there yet"));
			continue;
		}
		p = assemble(text, i & 1 ? 4 : 8);
		assert_int_equal(p->code[0], op_rows[i].code);
		round_trip(p);
		dp_lang_free(p);
	}
}

static const char *const reg_names[] = {
#define REG_NAME(number, name, ...) #name,
	DP_REGS(REG_NAME) DP_SPECIAL_REGS(REG_NAME) DP_WIDE_REGS(REG_NAME)
#define HALF_NAME(number, name) #name "l",
		DP_VECTOR_REGS(HALF_NAME)
};

static const u16 reg_numbers[] = {
#define REG_NUMBER(number, ...) number,
	DP_REGS(REG_NUMBER) DP_SPECIAL_REGS(REG_NUMBER) DP_WIDE_REGS(REG_NUMBER)
		DP_VECTOR_REGS(REG_NUMBER)
};

static void every_register_of_the_table(void **state)
{
	struct dp_lang_program *p;
	char text[256];
	size_t i;

	for (i = 0; i < COUNT(reg_names); i++) {
		snprintf(text, sizeof(text), PROBE "push u,%s\n", reg_names[i]);
		p = assemble(text, 8);
		assert_int_equal(p->code[1], reg_numbers[i]);
		round_trip(p);
		dp_lang_free(p);
	}
}

/* Both edges are in: what is one off is in tests/lang. */
static void limits_can_be_reached(void **state)
{
	static const char *const codes[] = {
		"push b,-128",
		"push b,255",
		"push w,-32768",
		"push w,65535",
		"push d,-2147483648",
		"push d,4294967295",
		"push q,-9223372036854775808",
		"push q,18446744073709551615",
		"exit 0",
		"exit 255",
		"setmin 0",
		"setmin 65535",
		"pop tsp,-32768",
		"pop tsp,32767",
		"inc lv,0",
		"inc lv,255",
		"inc gv,0",
		"inc gv,255",
	};
	char text[256];
	size_t i;

	for (i = 0; i < COUNT(codes); i++) {
		snprintf(text, sizeof(text), PROBE "%s\n", codes[i]);
		dp_lang_free(assemble(text, 8));
	}
}

static void words_have_4_or_8_bytes(void **state)
{
	struct dp_lang_program *p;
	struct dp_diag diag;

	dp_diag_clear(&diag);
	assert_int_equal(dp_lang_assemble("t.dp", PROBE, strlen(PROBE), 2, &p,
					  NULL, &diag),
			 -EINVAL);
	assert_string_equal(diag.text, "a word has 4 or 8 bytes, not 2");
}

static void literals_of_a_small_word_have_32_bits(void **state)
{
	static const char text[] = PROBE "push q,0x100000000\n";
	struct dp_lang_program *p;
	struct dp_diag diag;

	dp_diag_clear(&diag);
	assert_int_equal(dp_lang_assemble("t.dp", text, strlen(text), 4, &p,
					  NULL, &diag),
			 -EINVAL);
	assert_non_null(strstr(diag.text, "this literal is from -2147483648"));
	dp_lang_free(assemble(text, 8));
}

static char *many(const char *what, size_t times)
{
	size_t head = strlen(PROBE), len = strlen(what), i;
	char *text = malloc(head + times * len + 1);

	assert_non_null(text);
	memcpy(text, PROBE, head);
	for (i = 0; i < times; i++)
		memcpy(text + head + i * len, what, len);
	text[head + times * len] = '\0';
	return text;
}

static void code_has_its_limit(void **state)
{
	char *text = many("ret\n", DP_CODE_MAX);
	struct dp_lang_program *p = assemble(text, 8);
	struct dp_diag diag;

	assert_int_equal(p->code_len, DP_CODE_MAX);
	round_trip(p);
	dp_lang_free(p);
	free(text);
	text = many("nop\n", DP_CODE_MAX);
	assert_int_equal(refuse(text, strlen(text), &diag), -EINVAL);
	assert_non_null(strstr(
		diag.text,
		"the code of a file has at most 65535 bytes; split this one"));
	free(text);
}

static void text_has_its_limit(void **state)
{
	char *text = malloc(1u << 20 | 1);
	struct dp_lang_program *p;
	struct dp_diag diag;

	assert_non_null(text);
	memset(text, '\n', 1u << 20 | 1);
	memcpy(text, PROBE, strlen(PROBE));
	assert_int_equal(
		dp_lang_assemble("t.dp", text, 1u << 20, 8, &p, NULL, NULL), 0);
	dp_lang_free(p);
	assert_int_equal(refuse(text, 1u << 20 | 1, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "larger than 1 MB"));
	assert_int_equal(diag.column, -1);
	free(text);
}

static void bytes_that_are_no_text(void **state)
{
	static const char nul[] = HEAD "major \0= 1\n";
	struct dp_diag diag;

	assert_int_equal(refuse(nul, sizeof(nul) - 1, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "t.dp:3:7: this is no text"));
	assert_int_equal(refuse("", 0, &diag), -EINVAL);
	assert_non_null(strstr(diag.text, "t.dp:1:1: this file has no probe"));
}

static void any_prefix_of_a_program_is_safe(void **state)
{
	static const char text[] = PROBE
		"a: push q,'\\n' /* c */ // d\njz a\npop r,%x%\n";
	struct dp_lang_program *p;
	char *part, *line;
	size_t len;

	for (len = 0; len < sizeof(text); len++) {
		part = malloc(len + 1);
		memcpy(part, text, len);
		if (!dp_lang_assemble("t.dp", part, len, 8, &p, &line, NULL))
			dp_lang_free(p);
		free(line);
		free(part);
	}
}

static void carets_are_under_what_is_shown(void **state)
{
	static const char text[] = PROBE "\tpush\tr,\x1bx\n";
	static const char label[] = PROBE "a:\tjmp\tbee // c\r\n";
	struct dp_lang_program *p;
	struct dp_diag diag;
	char *line;

	assert_int_equal(dp_lang_assemble("t.dp", label, strlen(label), 8, &p,
					  &line, &diag),
			 -EINVAL);
	assert_string_equal(line, "a:      jmp     bee // c ");
	assert_int_equal(diag.column, 16);
	assert_int_equal(diag.span, 3);
	free(line);
	assert_int_equal(dp_lang_assemble("t.dp", text, strlen(text), 8, &p,
					  &line, &diag),
			 -EINVAL);
	assert_string_equal(line, "        push    r,?x");
	assert_int_equal(diag.column, 18);
	free(line);
}

static void later_complaints_find_their_place(void **state)
{
	struct dp_lang_program *p = assemble(PROBE "nop\n", 8);
	struct dp_diag diag;
	char *line;

	assert_int_equal(dp_lang_complain(p, p->points[0].at, -ENOENT, &line,
					  &diag, "there is no symbol \"%s\"",
					  p->points[0].symbol),
			 -ENOENT);
	assert_string_equal(diag.text,
			    "t.dp:6:10: there is no symbol \"main\"");
	assert_string_equal(line, "offset = main");
	assert_int_equal(diag.column, 9);
	assert_int_equal(diag.span, 4);
	free(line);
	dp_lang_free(p);
}

/* Any byte anywhere in the code: a listing, and no fault. */
static void damaged_code_can_be_listed(void **state)
{
	struct dp_lang_program *p =
		assemble(PROBE "a: push 4\njz a\npush r,rax\ninc lv,1\n", 8);
	u32 at, value;
	char *text;
	u8 was;

	for (at = 0; at < p->code_len; at++) {
		was = p->code[at];
		for (value = 0; value < 256; value++) {
			p->code[at] = value;
			free(listing(p));
		}
		p->code[at] = was;
	}
	p->code[0] = 0xff;
	text = listing(p);
	assert_non_null(strstr(text, "// damaged\n"));
	free(text);
	dp_lang_free(p);
}

/* A listing says what is not as usual, names places by their order, and is its own listing. */
static const char *const listings[] = {
	"name = \"/a b/c\"\nmodtype = kmod\nmajor = 7\nid = 9\njmpmax = 5\n"
	"logmax = 6\nvars = 3\ngvars = 4\nstack = 32\n"
	"\noffset = f - 0x10\nopcode = 0x0c\nminor = 3\nmajor = 8\n"
	"passcount = 5\nmaxhits = 2\ngroup = 1\ntype = 2\nlogonfault = yes\n"
	"\tpush 1023\n\tpush 0x400\nL0:\n\tinc lv,2\n\tpush r,rax\n"
	"\tpop tsp,-2\n\tjz L0\n\tjmp L1\nL1:\n\texit 3\n"
	"\naddress = g + 0x4\n\texit\n",
	"name = \"x\"\nmodtype = user\n\naddress = f\nL0:\n\tjmp L0\n",
	("name = \"x\"\nmodtype = user\n\noffset = \"ns::f<int>(int)\" + 0x4\n\tret\n"
	 "\noffset = \"ns::operator==\"\n\tret\n\noffset = f.part@x\n\tret\n"),
	"name = \"x\"\nmodtype = kernel\n\noffset = 0x10\n\tnop\n\tret\n",
};

static void listings_show_all_there_is(void **state)
{
	struct dp_lang_program *p;
	char *text;
	size_t i;

	for (i = 0; i < COUNT(listings); i++) {
		p = assemble(listings[i], 8);
		text = listing(p);
		assert_string_equal(text, listings[i]);
		free(text);
		dp_lang_free(p);
	}
}

/* A listing ends before the first instruction that the assembler cannot have made. */
static const struct damage {
	u32 at;
	u8 value;
	const char *rest;
} damages[] = {
	{ 0, 0xff, "// damaged\n" },
	{ 1, 2, "// damaged\n" },
	{ 4, 3, "\tinc lv,1\n// damaged\n" },
	{ 7, 0xfe, "\tinc lv,1\n\tinc gv,2\n// damaged\n" },
	{ 10, 2, "\tinc lv,1\n\tinc gv,2\n\tpush r,rax\n// damaged\n" },
	{ 18, 0x00,
	  "\tinc lv,1\n\tinc gv,2\n\tpush r,rax\nL0:\n\tjmp L0\n"
	  "// damaged\n" },
};

/* Return: what a listing says of all code, behind the keywords of the probes. */
static const char *code_of(const char *text)
{
	const char *place = strstr(text, "offset = main\n");

	assert_non_null(place);
	return place + strlen("offset = main\n");
}

static void listings_end_at_damage(void **state)
{
	struct dp_lang_program *p =
		assemble(HEAD "vars = 2\noffset = main\ninc lv,1\n"
			      "inc gv,2\npush r,rax\nL: jmp L\nexit\n"
			      "offset = 4\nexit\n",
			 8);
	const struct damage *d;
	char *text;
	u8 was;

	for (d = damages; d < damages + COUNT(damages); d++) {
		was = p->code[d->at];
		p->code[d->at] = d->value;
		text = listing(p);
		assert_string_equal(code_of(text), d->rest);
		free(text);
		p->code[d->at] = was;
	}
	dp_lang_free(p);
}

/* What a file says of its probes may be damaged as well. */
static void listings_end_at_damaged_places(void **state)
{
	struct dp_lang_program *p = assemble(
		HEAD "offset = main\nnop\nexit\noffset = 4\nnop\nexit\n", 8);
	struct dp_lang_point *a = p->points, *b = a + 1;
	char *text;

	/* In the second handler: the first is listed, and where the second is. */
	p->code[2] = 0xff;
	text = listing(p);
	assert_string_equal(code_of(text),
			    "\tnop\n\texit\n\noffset = 0x4\n// damaged\n");
	free(text);
	p->code[2] = 0x00;
	for (b->end = 0; b->end < p->code_len + 2; b->end++) {
		text = listing(p);
		assert_int_equal(!!strstr(text, "// damaged\n"),
				 b->end != p->code_len);
		free(text);
	}
	b->end = p->code_len;
	for (b->start = 0; b->start < p->code_len + 2; b->start++) {
		text = listing(p);
		assert_int_equal(!!strstr(text, "// damaged\n"), b->start != 2);
		free(text);
	}
	b->start = 2;
	a->end = 0;
	text = listing(p);
	assert_string_equal(code_of(text), "\noffset = 0x4\n// damaged\n");
	free(text);
	dp_lang_free(p);
}

/* A question is the last of a complaint. */
static bool says(const char *text, const char *words)
{
	const char *found = strstr(text, words);
	size_t len = strlen(words);

	return found && (words[len - 1] != '?' || !found[len]);
}

/* The caret is under FROM to TO. */
static void check_refusal(const char *path)
{
	struct dp_lang_program *p;
	struct dp_diag diag;
	char words[512], *line, *place;
	unsigned int row, from, to;
	size_t len;
	char *text = read_file(path, &len);
	int err;

	if (sscanf(text, "// expect: %u:%u-%u %511[^\n]", &row, &from, &to,
		   words) != 4)
		fail_msg("%s: no \"// expect: LINE:FROM-TO words\"", path);
	dp_diag_clear(&diag);
	err = dp_lang_assemble(path, text, len, 8, &p, &line, &diag);
	if (!err)
		fail_msg("%s is accepted", path);
	assert_int_equal(err,
			 strstr(path, "err.LATER.") ? -EOPNOTSUPP : -EINVAL);
	if (asprintf(&place, "%s:%u:%u: ", path, row, from) < 0)
		fail();
	if (strncmp(diag.text, place, strlen(place)) ||
	    !says(diag.text, words) || from + diag.span != to + 1)
		fail_msg("%s: expected %u:%u-%u %s, got -%u %s", path, row,
			 from, to, words, from + diag.span - 1, diag.text);
	assert_non_null(line);
	assert_true(strchr(text, '\t') || diag.column + 1 == (int)from);
	free(place);
	free(line);
	free(text);
}

static void refusals_say_where_and_why(void **state)
{
	glob_t files;
	size_t i;

	assert_int_equal(glob("tests/lang/err.*.dp", 0, NULL, &files), 0);
	assert_true(files.gl_pathc > 80);
	for (i = 0; i < files.gl_pathc; i++)
		check_refusal(files.gl_pathv[i]);
	globfree(&files);
}

/* Is @spelling one of those that a line of the manual's tables has before its stack picture? */
static bool is_in_table(const char *page, const char *spelling)
{
	size_t len = strlen(spelling), k;
	const char *line, *p, *end;

	for (line = page; *line; line += *line == '\n') {
		end = line + strcspn(line, "\n");
		p = memmem(line, (size_t)(end - line), "( ", 2);
		for (; p && line < p; line += k) {
			line += strspn(line, " |,");
			k = strcspn(line, "|,(\n");
			/* A comma within an operand has no blank behind it. */
			while (line[k] == ',' && line[k + 1] != ' ')
				k += 1 + strcspn(line + k + 1, "|,(\n");
			while (k && line[k - 1] == ' ')
				k--;
			if (k == len && !memcmp(line, spelling, len))
				return true;
			k += !k;
		}
		line = end;
	}
	return false;
}

static const char *placeholder(int operand)
{
	static const char *const names[] = {
		[DP_OPERAND_U8] = "N8",	   [DP_OPERAND_U16] = "N16",
		[DP_OPERAND_S16] = "S16",  [DP_OPERAND_UL] = "N",
		[DP_OPERAND_REL] = "L",	   [DP_OPERAND_REG] = "REG",
		[DP_OPERAND_REGW] = "REG", [DP_OPERAND_LV] = "I",
	};

	return names[operand];
}

/* Ten instructions of global variables are told together. */
static bool is_told_elsewhere(u8 code)
{
	return code >= DP_OPCODE_PUSH_GV_I && code <= DP_OPCODE_DEC_GV;
}

static void the_manual_has_every_instruction(void **state)
{
	char spelling[64];
	size_t i, len;
	char *page = read_file("man/dprobes.lang.7", &len);

	for (i = 0; i < COUNT(op_rows); i++) {
		if (op_rows[i].state != DP_OP_READY ||
		    is_told_elsewhere(op_rows[i].code))
			continue;
		len = strcspn(op_rows[i].text, "%");
		snprintf(spelling, sizeof(spelling), "%.*s%s", (int)len,
			 op_rows[i].text,
			 op_rows[i].text[len] ?
				 placeholder(op_rows[i].operand) :
				 "");
		if (!is_in_table(page, spelling))
			fail_msg("dprobes.lang(7) has no \"%s\"", spelling);
	}
	assert_false(is_in_table(page, "add N8"));
	free(page);
}

/* "push mem,u8  | b": the last word alone may be another one. */
static bool is_behind_a_bar(const char *page, const char *op, const char *alias)
{
	size_t len = strcspn(op, "%");
	const char *line = page, *end, *bar;

	while ((line = strstr(line, op))) {
		end = line + strcspn(line, "\n");
		bar = memchr(line + len, '|', (size_t)(end - line) - len);
		if (line > page && line[-1] == '\n' && bar && bar < end &&
		    !strncmp(bar + 1 + strspn(bar + 1, " "), alias,
			     strlen(alias)))
			return true;
		line = end;
	}
	return false;
}

/* Other spellings of instructions, too */
static void the_manual_has_every_spelling(void **state)
{
	const struct dp_lang_op *op;
	const char *shape, *last;
	char spelling[64];
	size_t i, len, aliases_seen = 0;
	char *page = read_file("man/dprobes.lang.7", &len);

	for (i = 0; (op = dp_lang_op_shape(i, &shape)); i++) {
		if (op->state != DP_OP_READY || !strcmp(op->text, shape))
			continue;
		aliases_seen++;
		len = strcspn(shape, "%");
		snprintf(spelling, sizeof(spelling), "%.*s%s", (int)len, shape,
			 shape[len] ? placeholder(op->operand) : "");
		last = strrchr(shape, ',');
		if (!is_in_table(page, spelling) &&
		    !(last && is_behind_a_bar(page, op->text, last + 1)))
			fail_msg("dprobes.lang(7) has no \"%s\"", spelling);
	}
	assert_true(aliases_seen > 20);
	assert_false(is_behind_a_bar(page, "push mem,u8", "w"));
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_give_the_bytes_of_dprobes),
		cmocka_unit_test(other_spellings_mean_the_same),
		cmocka_unit_test(the_programs_of_the_paper_assemble),
		cmocka_unit_test(keywords_fill_the_program),
		cmocka_unit_test(defaults_are_those_of_dprobes),
		cmocka_unit_test(values_and_symbols_are_kept),
		cmocka_unit_test(every_instruction_of_the_table),
		cmocka_unit_test(every_register_of_the_table),
		cmocka_unit_test(limits_can_be_reached),
		cmocka_unit_test(words_have_4_or_8_bytes),
		cmocka_unit_test(literals_of_a_small_word_have_32_bits),
		cmocka_unit_test(code_has_its_limit),
		cmocka_unit_test(text_has_its_limit),
		cmocka_unit_test(bytes_that_are_no_text),
		cmocka_unit_test(any_prefix_of_a_program_is_safe),
		cmocka_unit_test(carets_are_under_what_is_shown),
		cmocka_unit_test(later_complaints_find_their_place),
		cmocka_unit_test(damaged_code_can_be_listed),
		cmocka_unit_test(listings_show_all_there_is),
		cmocka_unit_test(listings_end_at_damage),
		cmocka_unit_test(listings_end_at_damaged_places),
		cmocka_unit_test(refusals_say_where_and_why),
		cmocka_unit_test(the_manual_has_every_instruction),
		cmocka_unit_test(the_manual_has_every_spelling),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lang", tests, NULL, NULL);
}
