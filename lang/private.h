/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * lang/private: what the files of lang/ share.
 *
 * lex makes tokens of the text, and parse makes lines of the tokens. keyword and
 * instruction make a program of the lines; label puts in the jumps. An error is
 * reported once, by dp_lang_complain(); every caller only returns it.
 */
#ifndef DP_LANG_PRIVATE_H
#define DP_LANG_PRIVATE_H

#include <errno.h>
#include "lang/lang.h"
#include "engine/vm/ops.h"

#define DP_LANG_TEXT_MAX (1u << 20)
#define DP_LANG_OPERANDS_MAX 4

/* The kind of a punctuation token is its character. */
enum dp_token_kind {
	DP_TOKEN_END =
		256, /* of the line or of the text; one with a length is a ';' */
	DP_TOKEN_WORD,
	DP_TOKEN_NUMBER,
	DP_TOKEN_NAME, /* the value of name, without its quotes */
};

struct dp_token {
	int kind;
	const char *s; /* into the text */
	u32 len;
	u64 value;
	struct dp_source_place at;
};

/* For "%.*s": a word of the text, cut to 40 bytes. */
#define DP_TOKEN_SHOWN(t) ((t)->len < 40 ? (int)(t)->len : 40), (t)->s

struct dp_lang_number {
	u64 value; /* without its sign */
	bool negative;
	struct dp_source_place at;
};

/* A label in the code; or, in uses, an operand that names a label. */
struct dp_lang_label {
	const char *s;
	u32 len;
	u32 offset;
	struct dp_source_place at;
};

struct dp_lang_labels {
	struct dp_lang_label *v;
	size_t n;
};

/**
 * struct dp_lang_reader - one file on its way to a program
 * @pos, @end: the rest of the text; @bol: where line @line begins
 * @tok: the token last read
 * @in_code: the open probe has an instruction or a label
 * @placed: the open probe has its place
 * @open_end: control could reach the end of the open probe's code
 * @gvars_given: the header says how many global variables there are
 * @header_seen, @point_seen: keywords seen so far, bits
 */
struct dp_lang_reader {
	struct dp_lang_program *program;
	const char *pos, *end, *bol;
	u32 line;
	struct dp_token tok;
	bool in_code, open_end, placed, gvars_given;
	u32 header_seen, point_seen;
	struct dp_lang_labels labels, uses;
	char **source_line;
	struct dp_diag *diag;
};

/* Both are expressions with the error as value. */
#define dp_lang_bad(r, at, ...)                                       \
	dp_lang_complain((r)->program, at, -EINVAL, (r)->source_line, \
			 (r)->diag, __VA_ARGS__)
#define dp_lang_later(r, at, ...)                                         \
	dp_lang_complain((r)->program, at, -EOPNOTSUPP, (r)->source_line, \
			 (r)->diag, __VA_ARGS__)

/* program.c */
/* Does a line marker of the preprocessor begin here? */
bool dp_lang_is_marker(const char *s);
int dp_lang_nomem(struct dp_diag *diag);
int dp_lang_new(const char *file, const char *text, size_t len, u8 word,
		struct dp_lang_program **program);
/* Make room for element @n. Return: the array to use from now on, or NULL. */
void *dp_lang_grow(void *array, size_t n, size_t size);
struct dp_source_place dp_lang_join(struct dp_source_place from,
				    struct dp_source_place to);

/* lex.c */
int dp_lex_next(struct dp_lang_reader *r);
int dp_lex_name(struct dp_lang_reader *r);
bool dp_lex_newline(struct dp_lang_reader *r);
bool dp_lex_is(const struct dp_token *tok, const char *word);

/* number.c: @what names the number in messages */
int dp_lang_number_value(struct dp_lang_reader *r, struct dp_token *tok);
int dp_lang_number(struct dp_lang_reader *r, const char *what,
		   struct dp_lang_number *number);
int dp_lang_range(struct dp_lang_reader *r, const struct dp_lang_number *number,
		  const char *what, s64 min, u64 max);

/* keyword.c */
int dp_lang_keyword(struct dp_lang_reader *r, const struct dp_token *key);

/* op.c: the table of instructions, by shape and by code. */
struct dp_lang_op {
	u8 code, operand, state;
	bool ends;
	const char *group, *text;
};

/* @bits: of the literal, if the spelling says so, else 0 */
const struct dp_lang_op *dp_lang_op_find(const char *shape, u32 *bits);
const struct dp_lang_op *dp_lang_op_at(u8 code);
u32 dp_lang_operand_size(u8 operand, u8 word);
/* Spelling number @i of all; NULL at the end. */
const struct dp_lang_op *dp_lang_op_shape(size_t i, const char **shape);

/* reg.c */
int dp_lang_reg_find(const struct dp_token *name, bool *writable);
/* Can only the kernel read it? */
bool dp_lang_reg_is_kernels(const struct dp_token *name);
const char *dp_lang_reg_name(u16 number);
void dp_lang_reg_list(struct dp_diag *diag, bool writable);

/* near.c */
bool dp_lang_near(const char *a, const char *b);

struct dp_lang_operand;

/* symbol.c: a literal that is the address of a symbol */
int dp_lang_symbol_use(struct dp_lang_reader *r,
		       const struct dp_lang_operand *operand, u32 bits,
		       u64 *value);
const struct dp_lang_symbol *
dp_lang_symbol_at(const struct dp_lang_program *program, u32 code);
const struct dp_lang_value *
dp_lang_value_at(const struct dp_lang_program *program, u32 code);
/* Is it FILE:LINE, where quotes are a path's? */
bool dp_lang_is_line(const char *text, u32 len);

/* label.c */
int dp_lang_label_add(struct dp_lang_reader *r, const struct dp_token *name);
int dp_lang_label_use(struct dp_lang_reader *r, const struct dp_token *name);
int dp_lang_label_resolve(struct dp_lang_reader *r);
void dp_lang_label_free(struct dp_lang_reader *r);

/* @word: a name; @symbol: of an address in the module, to which @number is added */
struct dp_lang_operand {
	bool word, symbol;
	struct dp_token name;
	struct dp_lang_number number;
};

struct dp_lang_instruction {
	struct dp_token mnemonic;
	struct dp_lang_operand operand[DP_LANG_OPERANDS_MAX];
	u32 n;
};

/* argument.c: "push arg,N", "push retval", "push v,TEXT", "log mrs" and "log str,s". Return: false: it is none of them. */
bool dp_lang_argument(struct dp_lang_reader *r,
		      const struct dp_lang_instruction *insn, int *err);

/* instruction.c */
int dp_lang_instruction_encode(struct dp_lang_reader *r,
			       const struct dp_lang_instruction *insn);

/* shape.c: @immediate: take the last word for an operand, as in "jmp L" */
#define DP_LANG_SHAPE_MAX 64

void dp_lang_shape(const struct dp_lang_instruction *insn, bool immediate,
		   char shape[DP_LANG_SHAPE_MAX]);
/* Do its first two words begin one? */
bool dp_lang_shape_begins(const struct dp_lang_instruction *insn);
/* Say why @insn is no instruction. Return: the error. */
int dp_lang_shape_wrong(struct dp_lang_reader *r,
			const struct dp_lang_instruction *insn);
int dp_lang_shape_later(struct dp_lang_reader *r, struct dp_source_place at,
			const struct dp_lang_op *op);

/* assemble.c */
int dp_lang_emit(struct dp_lang_reader *r, struct dp_source_place at,
		 const struct dp_lang_op *op, u64 value);
int dp_lang_point_close(struct dp_lang_reader *r, struct dp_source_place at);

/* parse.c */
int dp_lang_parse(struct dp_lang_reader *r);

#endif
