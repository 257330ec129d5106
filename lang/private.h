/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* private: what the files of the language share. */
#ifndef DP_LANG_PRIVATE_H
#define DP_LANG_PRIVATE_H

#include "engine/vm/ops.h"
#include "lang/lang.h"

#define DP_TOKENS_MAX 64
#define DP_TEXT_MAX (1u << 20)

/** enum dp_token_kind - words of a line; punctuation is its own character */
enum dp_token_kind {
	DP_TOKEN_END,
	DP_TOKEN_WORD,
	DP_TOKEN_NUMBER,
	DP_TOKEN_QUOTED,
};

struct dp_token {
	int kind;
	u32 start, len; /* in the line */
	u64 value; /* of a number */
};

/** struct dp_label - a name for a place in the code */
struct dp_label {
	char *name;
	u32 offset;
	bool known;
	struct dp_source_place used; /* first, while it is not known */
};

/** struct dp_jump - an operand that waits for its label */
struct dp_jump {
	u32 at; /* of the operand */
	size_t label;
};

/**
 * struct dp_assembler - one run
 * @line: text of the current line, comments made blanks; @len bytes
 * @seen: keywords that this header or point has had, by index
 * @coded: the current point has instructions
 * @ended: control does not come to the end of its code
 */
struct dp_assembler {
	struct dp_lang_program *program;
	char *line;
	u32 len, number;
	struct dp_token tokens[DP_TOKENS_MAX + 1];
	u32 nr_tokens, next;
	bool in_comment;
	u64 seen;
	bool coded, ended;
	u32 code_cap;
	size_t points_cap;
	bool gvars_given;
	struct dp_label *labels;
	size_t nr_labels, labels_cap;
	struct dp_jump *jumps;
	size_t nr_jumps, jumps_cap;
	int err;
	char **bad_line;
	struct dp_diag *diag;
};

/** struct dp_op - one row of the table of instructions */
struct dp_op {
	u8 code, operand, ends, state;
	const char *group;
	const char *text;
};

/** dp_op_find() - by its text; NULL if there is none */
const struct dp_op *dp_op_find(const char *text);
/** dp_op_by_code() - by its code; NULL if there is none */
const struct dp_op *dp_op_by_code(u8 code);
/** dp_op_size() - bytes of its operand */
u32 dp_op_size(const struct dp_op *op, u8 word);
/** dp_op_forms() - the operands that a mnemonic takes, "lv,N  gv,N  …" */
void dp_op_forms(const char *mnemonic, char *to, size_t size);
/** dp_reg_number() - by name; -1 if there is none. @writable: may it be popped? */
int dp_reg_number(const char *name, bool *writable);
/** dp_reg_name() - NULL if there is none */
const char *dp_reg_name(u64 number);

/** dp_lex_line() - the tokens of the current line */
void dp_lex_line(struct dp_assembler *a);
/** dp_lex_peek() - the token @ahead of the next one */
const struct dp_token *dp_lex_peek(const struct dp_assembler *a, u32 ahead);
/** dp_lex_accept() - take the next token if it is of that kind */
bool dp_lex_accept(struct dp_assembler *a, int kind);
/** dp_lex_copy() - lower-case copy of a word, cut at @size */
void dp_lex_copy(const struct dp_assembler *a, const struct dp_token *t,
		 char *to, size_t size);
/** dp_lex_number() - a number with an optional sign; false if none is there */
bool dp_lex_number(struct dp_assembler *a, u64 *value, bool *negative,
		   struct dp_source_place *place);
/** dp_lex_place() - where a token is */
struct dp_source_place dp_lex_place(const struct dp_assembler *a,
				    const struct dp_token *t);
/** dp_lex_end() - nothing may follow */
void dp_lex_end(struct dp_assembler *a);

/** dp_lang_fail() - the first error counts. Return: false. */
bool dp_lang_fail(struct dp_assembler *a, struct dp_source_place at, int err,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/** dp_keyword_line() - KEY = VALUE */
void dp_keyword_line(struct dp_assembler *a);
/** dp_instruction_line() - one instruction */
void dp_instruction_line(struct dp_assembler *a);
/** dp_point_end() - close the code of the current point */
void dp_point_end(struct dp_assembler *a);
/** dp_label_define() - here is a label */
void dp_label_define(struct dp_assembler *a, const struct dp_token *t);
/** dp_label_use() - the operand at @at is a jump to a label */
void dp_label_use(struct dp_assembler *a, const struct dp_token *t, u32 at);
/** dp_label_resolve() - at the end of the file */
void dp_label_resolve(struct dp_assembler *a);

/** dp_lang_grow() - room for one more element. Return: false without memory. */
bool dp_lang_grow(struct dp_assembler *a, void *array, size_t n, size_t *cap,
		  size_t each);

#endif
