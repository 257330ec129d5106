// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * instruction: one line of code, made into bytes.
 *
 * The line is written the way the table of instructions is: its words as they
 * are, "%" for the operand, and looked up there.
 */
#include "lang/private.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHAPE_MAX 64

/* Other ways to write the same; "bits" limits a literal. */
static const struct {
	const char *from, *to;
	u8 bits;
} aliases[] = {
	{ "push b,%", "push %", 8 },
	{ "push w,%", "push %", 16 },
	{ "push d,%", "push %", 32 },
	{ "push q,%", "push %", 64 },
	{ "pop %", "ros %", 0 },
	{ "not", "neg", 0 },
	{ "log ascii", "log str", 0 },
	{ "rem", "remove", 0 },
	{ "callk", "call_kmod", 0 },
	{ "push mem,b", "push mem,u8", 0 },
	{ "push mem,w", "push mem,u16", 0 },
	{ "push mem,d", "push mem,u32", 0 },
	{ "push mem,q", "push mem,u64", 0 },
	{ "pop mem,b", "pop mem,u8", 0 },
	{ "pop mem,w", "pop mem,u16", 0 },
	{ "pop mem,d", "pop mem,u32", 0 },
	{ "pop mem,q", "pop mem,u64", 0 },
};

static const struct dp_op *lookup(const char *shape, u8 *bits)
{
	size_t i;

	for (i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (!strcmp(aliases[i].from, shape)) {
			*bits = aliases[i].bits;
			return dp_op_find(aliases[i].to);
		}
	return dp_op_find(shape);
}

static bool is_operand_end(const struct dp_token *t)
{
	return t->kind == ',' || t->kind == DP_TOKEN_END;
}

/*
 * @words: tokens taken as they are, counted from the mnemonic. What follows
 * them, if anything, is the operand; @taken tokens are before it.
 */
static bool shape_of(const struct dp_assembler *a, u32 words, char *shape,
		     u32 *taken)
{
	size_t used = 0;
	u32 at = 0, i;

	for (i = 0; i < words; i++) {
		const struct dp_token *t = dp_lex_peek(a, at++);

		if (t->kind != DP_TOKEN_WORD || used + t->len + 4 > SHAPE_MAX)
			return false;
		if (i)
			shape[used++] = i == 1 ? ' ' : ',';
		dp_lex_copy(a, t, shape + used, SHAPE_MAX - used);
		used += t->len;
		if (i && !is_operand_end(dp_lex_peek(a, at)))
			return false;
		if (i && dp_lex_peek(a, at)->kind == ',')
			at++;
	}
	*taken = at;
	if (dp_lex_peek(a, at)->kind == DP_TOKEN_END)
		return true;
	shape[used++] = words == 1 ? ' ' : ',';
	shape[used++] = '%';
	shape[used] = '\0';
	return true;
}

/* Longest match first: "push r" with a register rather than "push" with "r". */
static const struct dp_op *match(struct dp_assembler *a, u8 *bits)
{
	char shape[SHAPE_MAX];
	const struct dp_op *op;
	u32 words, taken;

	for (words = 3; words > 0; words--) {
		if (!shape_of(a, words, shape, &taken))
			continue;
		op = lookup(shape, bits);
		if (!op)
			continue;
		a->next += taken;
		return op;
	}
	return NULL;
}

static void unknown(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	char word[SHAPE_MAX], forms[512];

	dp_lex_copy(a, t, word, sizeof(word));
	dp_op_forms(word, forms, sizeof(forms));
	if (*forms)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "\"%s\" does not take these operands; there is %s",
			     word, forms);
	else
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "there is no instruction \"%s\"", word);
}

static void put(struct dp_assembler *a, u64 value, u32 size)
{
	struct dp_lang_program *p = a->program;
	struct dp_source_place here = { a->number, 0, 1 };
	u32 i;

	if (p->code_len + size > DP_CODE_MAX) {
		dp_lang_fail(a, here, -EINVAL,
			     "the code is longer than %u bytes", DP_CODE_MAX);
		return;
	}
	if (p->code_len + size > a->code_cap) {
		u8 *bigger = realloc(p->code, a->code_cap * 2 + 256);

		if (!bigger) {
			dp_lang_fail(a, here, -ENOMEM, "out of memory");
			return;
		}
		p->code = bigger;
		a->code_cap = a->code_cap * 2 + 256;
	}
	for (i = 0; i < size; i++)
		p->code[p->code_len++] = (u8)(value >> (8 * i));
}

static bool fits(u64 value, bool negative, const struct dp_op *op, u32 bits)
{
	if (op->operand == DP_OPERAND_S16)
		return (s64)value == (int16_t)value;
	if (bits >= 64)
		return true;
	if (!negative)
		return value < 1ull << bits;
	return op->operand == DP_OPERAND_UL &&
	       (s64)value >= -(1ll << (bits - 1));
}

static void variable(struct dp_assembler *a, u64 index, bool global,
		     struct dp_source_place at)
{
	struct dp_lang_program *p = a->program;
	u32 *have = global ? &p->gvars : &p->vars;

	if (index < *have)
		return;
	if (global && !a->gvars_given && index < DP_VARS_MAX) {
		*have = (u32)index + 1;
		return;
	}
	dp_lang_fail(a, at, -EINVAL,
		     "there is no %s variable %llu: the header has %s = %u",
		     global ? "global" : "local", (unsigned long long)index,
		     global ? "gvars" : "vars", *have);
}

static void number(struct dp_assembler *a, const struct dp_op *op, u8 bits)
{
	u32 size = dp_op_size(op, a->program->word);
	u32 width = bits ? bits : size * 8;
	struct dp_source_place at = dp_lex_place(a, dp_lex_peek(a, 0));
	bool negative;
	u64 value;

	if (!dp_lex_number(a, &value, &negative, &at)) {
		dp_lang_fail(a, at, -EINVAL, "a number is missing here");
		return;
	}
	if (!fits(value, negative, op, width))
		dp_lang_fail(a, at, -EINVAL,
			     "this number does not fit into %s%u bits",
			     op->operand == DP_OPERAND_S16 ? "signed " : "",
			     width);
	else if (op->operand == DP_OPERAND_LV || op->operand == DP_OPERAND_GV)
		variable(a, value, op->operand == DP_OPERAND_GV, at);
	put(a, value, size);
}

static void reg(struct dp_assembler *a, bool written)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	bool writable = false;
	char name[SHAPE_MAX];
	int n;

	dp_lex_copy(a, t, name, sizeof(name));
	n = t->kind == DP_TOKEN_WORD ? dp_reg_number(name, &writable) : -1;
	if (n < 0)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "there is no register \"%s\"", name);
	else if (written && !writable)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "register %s can only be read", name);
	a->next++;
	put(a, (u64)n, 2);
}

static void target(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0);

	if (t->kind != DP_TOKEN_WORD) {
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "a jump needs a label");
		return;
	}
	dp_label_use(a, t, a->program->code_len);
	a->next++;
	put(a, 0, a->program->word);
}

static void operand(struct dp_assembler *a, const struct dp_op *op, u8 bits)
{
	const struct dp_token *t = dp_lex_peek(a, 0);

	switch (op->operand) {
	case DP_OPERAND_NONE:
		return;
	case DP_OPERAND_REG:
	case DP_OPERAND_REGW:
		reg(a, op->operand == DP_OPERAND_REGW);
		return;
	case DP_OPERAND_REL:
		target(a);
		return;
	default:
		if (t->kind == DP_TOKEN_WORD && op->operand == DP_OPERAND_UL)
			dp_lang_fail(a, dp_lex_place(a, t), -EOPNOTSUPP,
				     "symbols as literals are not there yet");
		else
			number(a, op, bits);
		return;
	}
}

void dp_instruction_line(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	const struct dp_op *op;
	char word[SHAPE_MAX];
	u8 bits = 0;

	if (!a->program->nr_points) {
		dp_lang_fail(
			a, dp_lex_place(a, t), -EINVAL,
			"an instruction needs a probe: \"offset =\" comes first");
		return;
	}
	op = match(a, &bits);
	if (!op) {
		unknown(a);
		return;
	}
	if (op->state != DP_OP_READY) {
		dp_lex_copy(a, t, word, sizeof(word));
		dp_lang_fail(a, dp_lex_place(a, t), -EOPNOTSUPP,
			     "\"%s\" is not there yet: %s", word, op->group);
		return;
	}
	put(a, op->code, 1);
	operand(a, op, bits);
	if (!a->err)
		dp_lex_end(a);
	a->coded = true;
	a->ended = op->ends;
}

void dp_point_end(struct dp_assembler *a)
{
	struct dp_lang_program *p = a->program;

	if (!p->nr_points)
		return;
	/* The implicit one of the original, where control can come to it. */
	if (!a->ended)
		put(a, DP_OPCODE_EXIT, 1);
	p->points[p->nr_points - 1].end = p->code_len;
	a->ended = false;
}
