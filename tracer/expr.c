// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * expr: arguments and conditions of a spec, compiled to a probe program.
 *
 * A test leaves 0 or 1 on the stack; && and || are the bitwise operations on those. A
 * false condition jumps over the log. The only other jumps are those of log_string().
 */
#include "tracer/expr.h"
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include "sym/list.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEEPEST 64

struct parser {
	const struct dp_spec *spec;
	const char *text; /* args or cond of the spec */
	int column; /* of text in the spec */
	int at;
	int depth;
	struct dp_trace_program *out;
	struct dp_diag *diag;
	int err;
};

static void bad(struct parser *p, int at, int span, int err, const char *why)
{
	if (p->err)
		return;
	p->err = dp_diag_set(p->diag, err, "%s", why);
	dp_diag_caret(p->diag, p->column + at, span);
}

/* The program's bytes */

static void put(struct parser *p, u64 value, u32 size)
{
	struct dp_trace_program *o = p->out;
	u32 i;

	if (dp_list_reserve(&o->code, o->len + size, &o->cap, 1)) {
		p->err = dp_diag_set(p->diag, -ENOMEM, "out of memory");
		return;
	}
	for (i = 0; i < size; i++)
		o->code[o->len++] = (u8)(value >> (8 * i));
}

static void op(struct parser *p, u8 code)
{
	put(p, code, 1);
}

static void op8(struct parser *p, u8 code, u8 value)
{
	op(p, code);
	put(p, value, 1);
}

static void op16(struct parser *p, u8 code, u16 value)
{
	op(p, code);
	put(p, value, 2);
}

static void push(struct parser *p, u64 value)
{
	op(p, DP_OPCODE_PUSH);
	put(p, value, 8);
}

/* A jump whose target is not known yet. Return: where to write it. */
static u32 jump(struct parser *p, u8 code)
{
	op(p, code);
	put(p, 0, 8);
	return p->out->len;
}

static void land(struct parser *p, u32 jump)
{
	u64 distance = p->out->len - jump;

	if (!p->err)
		memcpy(p->out->code + jump - 8, &distance, 8);
}

/* Words */

static void skip_space(struct parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

static bool accept(struct parser *p, const char *word)
{
	skip_space(p);
	if (strncmp(p->text + p->at, word, strlen(word)))
		return false;
	p->at += (int)strlen(word);
	return true;
}

static int word_length(const struct parser *p)
{
	int n = 0;

	while (isalnum((unsigned char)p->text[p->at + n]) ||
	       p->text[p->at + n] == '_')
		n++;
	return n;
}

static bool is_word(const struct parser *p, int n, const char *word)
{
	return (int)strlen(word) == n && !memcmp(p->text + p->at, word, n);
}

/* Function arguments in order: System V AMD64 ABI 3.2.3. */
static const u16 argument_regs[DP_TRACE_ARGS] = { 0x64, 0x65, 0x63,
						  0x62, 0x68, 0x69 };

static int find_register(const struct parser *p, int n)
{
	const char *word = p->text + p->at;

	if (n == 4 && !memcmp(word, "arg", 3) && word[3] >= '0' &&
	    word[3] < '0' + DP_TRACE_ARGS)
		return argument_regs[word[3] - '0'];
#define REGISTER(number, name, ...) \
	if (is_word(p, n, #name))   \
		return number;
	DP_REGS(REGISTER)
	DP_SPECIAL_REGS(REGISTER)
	return -1;
}

/* Is the word exactly a letter and a number of bits? */
static bool is_sized(const struct parser *p, int n, char letter, int bits)
{
	char word[8];

	snprintf(word, sizeof(word), "%c%d", letter, bits);
	return is_word(p, n, word);
}

/* Find a sized type: letters[*show] with 8 to 64 bits. */
static bool find_sized(const struct parser *p, int n, u8 *show, u8 *bits)
{
	static const char letters[] = "usx";
	int i, size;

	for (i = 0; letters[i]; i++)
		for (size = 8; size <= 64; size *= 2)
			if (is_sized(p, n, letters[i], size)) {
				*show = (u8)i;
				*bits = (u8)size;
				return true;
			}
	return false;
}

static void parse_type(struct parser *p, struct dp_trace_item *item)
{
	int n;

	if (!accept(p, ":"))
		return;
	skip_space(p);
	n = word_length(p);
	if (is_word(p, n, "str"))
		item->show = DP_SHOW_STRING;
	else if (is_sized(p, n, 'f', 32) || is_sized(p, n, 'f', 64))
		bad(p, p->at, n, -EINVAL,
		    "f32 and f64 are for retval: arg0 to arg5 and registers hold no floating point");
	else if (!find_sized(p, n, &item->show, &item->bits))
		bad(p, p->at, n, -EINVAL,
		    "a type is u8 to u64, s8 to s64, x8 to x64, or str");
	p->at += n;
}

static void parse_returned_type(struct parser *p, struct dp_type *type)
{
	static const u8 kinds[] = { [DP_SHOW_UNSIGNED] = DP_TYPE_UNSIGNED,
				    [DP_SHOW_SIGNED] = DP_TYPE_SIGNED,
				    [DP_SHOW_HEX] = DP_TYPE_POINTER };
	u8 show, bits;
	int n;

	if (!accept(p, ":"))
		return;
	skip_space(p);
	n = word_length(p);
	if (find_sized(p, n, &show, &bits))
		*type = (struct dp_type){ kinds[show], bits };
	else if (is_sized(p, n, 'f', 32))
		*type = (struct dp_type){ DP_TYPE_FLOAT, 32 };
	else if (is_sized(p, n, 'f', 64))
		*type = (struct dp_type){ DP_TYPE_FLOAT, 64 };
	else if (is_word(p, n, "str"))
		bad(p, p->at, n, -EOPNOTSUPP,
		    "strings that are returned are not there yet");
	else
		bad(p, p->at, n, -EINVAL,
		    "what is returned is u8 to u64, s8 to s64, x8 to x64, f32 or f64");
	p->at += n;
}

/* "retval" is not logged at the entry: it says how the return value is shown.
 * Return: false: this is another value. */
static bool parse_returned(struct parser *p)
{
	int n;

	skip_space(p);
	n = word_length(p);
	if (!is_word(p, n, "retval"))
		return false;
	if (p->spec->kind != DP_SPEC_RETURN)
		bad(p, p->at, n, -EINVAL,
		    "retval is of return probes: r:FUNCTION(retval:s32)");
	else if (p->out->ret.kind)
		bad(p, p->at, n, -EINVAL, "retval is there twice");
	p->at += n;
	parse_returned_type(p, &p->out->ret);
	return true;
}

static void parse_value(struct parser *p, struct dp_trace_item *item)
{
	int n, reg;

	skip_space(p);
	n = word_length(p);
	reg = find_register(p, n);
	*item = (struct dp_trace_item){ .bits = 64, .show = DP_SHOW_HEX };
	if (is_word(p, n, "retval")) {
		bad(p, p->at, n, -EOPNOTSUPP,
		    "conditions on retval are not there yet");
		return;
	}
	if (reg < 0) {
		bad(p, p->at, n, -EINVAL,
		    "a value is arg0 to arg5 or a register: rdi, eax …");
		return;
	}
	snprintf(item->name, sizeof(item->name), "%.*s", n, p->text + p->at);
	item->reg = (u16)reg;
	p->at += n;
	parse_type(p, item);
}

/* Values on the stack */

static void push_value(struct parser *p, const struct dp_trace_item *item)
{
	op16(p, DP_OPCODE_PUSH_R, item->reg);
	if (item->bits == 64)
		return;
	if (item->show == DP_SHOW_SIGNED)
		op8(p, DP_OPCODE_PBL_I, item->bits);
	else
		op8(p, DP_OPCODE_PZL_I, item->bits);
}

static u64 parse_number(struct parser *p)
{
	const char *text = p->text + p->at;
	char *end;
	u64 value;

	if (text[0] == '\'' && text[1] && text[2] == '\'') {
		p->at += 3;
		return (u64)text[1];
	}
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || isalnum((unsigned char)*end))
		bad(p, p->at, (int)(end - text) + 1, -EINVAL,
		    "this is not a number of 64 bits");
	p->at += (int)(end - text);
	return value;
}

/* Return: true: the operand makes the comparison signed. */
static bool parse_operand(struct parser *p)
{
	struct dp_trace_item item;
	bool negative;
	char c;

	skip_space(p);
	c = p->text[p->at];
	negative = c == '-';
	if (c == '"')
		bad(p, p->at, 1, -EOPNOTSUPP,
		    "comparing strings is not there yet");
	if (isdigit((unsigned char)c) || c == '-' || c == '\'') {
		push(p, parse_number(p));
		return negative;
	}
	parse_value(p, &item);
	if (item.show == DP_SHOW_STRING)
		bad(p, p->at - 3, 3, -EOPNOTSUPP,
		    "comparing strings is not there yet");
	push_value(p, &item);
	return item.show == DP_SHOW_SIGNED;
}

static void negate(struct parser *p)
{
	push(p, 1);
	op(p, DP_OPCODE_XOR);
}

enum comparison { EQ, NE, LE, GE, LT, GT, NONE };

static enum comparison parse_comparison(struct parser *p)
{
	static const char *const words[] = { "==", "!=", "<=", ">=", "<", ">" };
	enum comparison c;

	for (c = EQ; c < NONE; c++)
		if (accept(p, words[c]))
			return c;
	bad(p, p->at, 1, -EINVAL,
	    p->text[p->at] == '=' ?
		    "equality is \"==\"" :
		    "a comparison (== != < <= > >=) is missing here");
	return NONE;
}

static void parse_or(struct parser *p);

static void parse_test(struct parser *p)
{
	bool with_sign;
	enum comparison c;

	if (accept(p, "(")) {
		if (++p->depth > DEEPEST)
			bad(p, p->at - 1, 1, -EINVAL,
			    "too many parentheses in one another");
		if (!p->err)
			parse_or(p);
		p->depth--;
		if (!accept(p, ")"))
			bad(p, p->at, 1, -EINVAL, "a ')' is missing here");
		return;
	}
	with_sign = parse_operand(p);
	c = p->err ? NONE : parse_comparison(p);
	with_sign |= !p->err && parse_operand(p);
	if (c == GT || c == LE)
		op(p, DP_OPCODE_XCHG);
	if (c == EQ || c == NE)
		op(p, DP_OPCODE_EQ);
	else
		op(p, with_sign ? DP_OPCODE_LTS : DP_OPCODE_LTU);
	if (c == NE || c == LE || c == GE)
		negate(p);
}

static void parse_and(struct parser *p)
{
	parse_test(p);
	while (!p->err && accept(p, "&&")) {
		parse_test(p);
		op(p, DP_OPCODE_AND);
	}
}

static void parse_or(struct parser *p)
{
	parse_and(p);
	while (!p->err && accept(p, "||")) {
		parse_and(p);
		op(p, DP_OPCODE_OR);
	}
}

static void enter(struct parser *p, const char *text, int column)
{
	p->text = text;
	p->column = column;
	p->at = 0;
}

/* Return: the jump to be landed where a false condition leads, or 0. */
static u32 condition(struct parser *p)
{
	if (!p->spec->cond)
		return 0;
	enter(p, p->spec->cond, p->spec->cond_col);
	parse_or(p);
	skip_space(p);
	if (p->text[p->at])
		bad(p, p->at, (int)strlen(p->text + p->at), -EINVAL,
		    "only && and || may follow a comparison");
	return jump(p, DP_OPCODE_JZ);
}

/* What a trace line shows */

static void parse_items(struct parser *p)
{
	struct dp_trace_program *o = p->out;

	enter(p, p->spec->args, p->spec->args_col + 1);
	skip_space(p);
	if (!p->text[p->at])
		return;
	do {
		if (parse_returned(p))
			continue;
		if (o->nr_items == DP_TRACE_ITEMS) {
			bad(p, p->at, 1, -EINVAL,
			    "a trace line shows at most 16 values");
			return;
		}
		parse_value(p, &o->items[o->nr_items++]);
	} while (!p->err && accept(p, ","));
	skip_space(p);
	if (p->text[p->at])
		bad(p, p->at, (int)strlen(p->text + p->at), -EINVAL,
		    "values are separated by commas");
}

static void default_items(struct dp_trace_program *o)
{
	int i;

	for (i = 0; i < DP_TRACE_ARGS; i++) {
		struct dp_trace_item *item = &o->items[o->nr_items++];

		*item = (struct dp_trace_item){ .reg = argument_regs[i],
						.bits = 64,
						.show = DP_SHOW_HEX };
		snprintf(item->name, sizeof(item->name), "arg%d", i);
	}
}

/* A pointer to no readable memory is logged itself. */
static void log_string(struct parser *p, const struct dp_trace_item *item)
{
	u32 bad_pointer, done;

	push_value(p, item);
	op(p, DP_OPCODE_VFY_R);
	bad_pointer = jump(p, DP_OPCODE_JNZ);
	push(p, DP_TRACE_STRING);
	push_value(p, item);
	op(p, DP_OPCODE_LOG_STR);
	done = jump(p, DP_OPCODE_JMP);
	land(p, bad_pointer);
	push_value(p, item);
	op16(p, DP_OPCODE_LOG_I, 1);
	land(p, done);
	p->out->logmax += DP_ITEM_PREFIX + DP_TRACE_STRING;
}

static void log_items(struct parser *p)
{
	struct dp_trace_program *o = p->out;
	size_t i;

	for (i = 0; i < o->nr_items; i++) {
		if (o->items[i].show == DP_SHOW_STRING) {
			log_string(p, &o->items[i]);
			continue;
		}
		push_value(p, &o->items[i]);
		op16(p, DP_OPCODE_LOG_I, 1);
		o->logmax += DP_ITEM_PREFIX + 8;
	}
	/* An empty log makes no record, so the program logs 0 elements. */
	if (!o->nr_items)
		op16(p, DP_OPCODE_LOG_I, 0);
	o->logmax += DP_ITEM_PREFIX;
	if (o->logmax > DP_VM_LOG)
		o->logmax = DP_VM_LOG;
}

static int finish(struct parser *p, u32 jump)
{
	op(p, DP_OPCODE_EXIT);
	if (jump) {
		land(p, jump);
		op(p, DP_OPCODE_ABORT);
	}
	if (p->err)
		dp_expr_free(p->out);
	return p->err;
}

int dp_expr_trace(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag)
{
	struct parser p = { .spec = spec, .out = program, .diag = diag };
	u32 jump;

	memset(program, 0, sizeof(*program));
	jump = condition(&p);
	if (spec->args)
		parse_items(&p);
	else
		default_items(program);
	log_items(&p);
	return finish(&p, jump);
}

int dp_expr_count(const struct dp_spec *spec, struct dp_trace_program *program,
		  struct dp_diag *diag)
{
	struct parser p = { .spec = spec, .out = program, .diag = diag };
	u32 jump;

	memset(program, 0, sizeof(*program));
	jump = condition(&p);
	op16(&p, DP_OPCODE_INC_LV_I, 0);
	return finish(&p, jump);
}

void dp_expr_free(struct dp_trace_program *program)
{
	free(program->code);
	program->code = NULL;
}
