// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* parse: read lines; each is a keyword, a label, an instruction, or a label and
 * an instruction. */
#include "lang/private.h"

/* (+|-) NUMBER behind a name */
static int read_addend(struct dp_lang_reader *r,
		       struct dp_lang_operand *operand)
{
	bool negative = r->tok.kind == '-';
	int err = 0;

	if (r->tok.kind == '+')
		err = dp_lex_next(r);
	if (!err && (!negative || r->tok.kind == '-'))
		err = dp_lang_number(r, "what is added to a symbol",
				     &operand->number);
	if (!err)
		err = dp_lang_range(r, &operand->number,
				    "what is added to a symbol", INT64_MIN,
				    INT64_MAX);
	operand->symbol = true;
	return err;
}

static int read_operand(struct dp_lang_reader *r,
			struct dp_lang_operand *operand)
{
	int err;

	operand->symbol = r->tok.kind == '&' || r->tok.kind == DP_TOKEN_NAME;
	err = r->tok.kind == '&' ? dp_lex_next(r) : 0;
	if (err)
		return err;
	operand->word = r->tok.kind == DP_TOKEN_WORD ||
			r->tok.kind == DP_TOKEN_NAME;
	if (operand->symbol && (!operand->word || !r->tok.len))
		return dp_lang_bad(r, r->tok.at,
				   "the name of a symbol follows '&'");
	if (!operand->word)
		return dp_lang_number(r, "an operand without a name",
				      &operand->number);
	operand->name = r->tok;
	err = dp_lex_next(r);
	if (!err && (r->tok.kind == '+' || r->tok.kind == '-'))
		err = read_addend(r, operand);
	return err;
}

static int read_operands(struct dp_lang_reader *r,
			 struct dp_lang_instruction *insn)
{
	int err;

	while (r->tok.kind != DP_TOKEN_END) {
		if (insn->n && r->tok.kind != ',')
			return dp_lang_bad(r, r->tok.at,
					   "',' separates operands; "
					   "nothing else follows one");
		if (insn->n == DP_LANG_OPERANDS_MAX)
			return dp_lang_bad(r, r->tok.at,
					   "no instruction has more than two "
					   "operands; remove this");
		err = insn->n ? dp_lex_next(r) : 0;
		if (!err)
			err = read_operand(r, &insn->operand[insn->n]);
		if (err)
			return err;
		insn->n++;
	}
	return 0;
}

static int instruction(struct dp_lang_reader *r, const struct dp_token *word)
{
	struct dp_lang_instruction insn = { .mnemonic = *word };
	int err;

	if (!r->program->nr_points)
		return dp_lang_bad(r, word->at,
				   "an instruction belongs to a probe; "
				   "\"offset = SYMBOL\" comes before it");
	err = read_operands(r, &insn);
	return err ? err : dp_lang_instruction_encode(r, &insn);
}

static int label(struct dp_lang_reader *r, const struct dp_token *name)
{
	struct dp_token word;
	int err;

	if (name->kind == DP_TOKEN_NUMBER)
		return dp_lang_bad(r, name->at,
				   "a label is no number; begin it with a "
				   "letter");
	if (!r->program->nr_points)
		return dp_lang_bad(r, name->at,
				   "a label belongs to a probe; "
				   "\"offset = SYMBOL\" comes before it");
	err = dp_lang_label_add(r, name);
	if (!err)
		err = dp_lex_next(r);
	if (err)
		return err;
	/* A jump needs an instruction at its target: the implicit exit, if no other. */
	r->in_code = r->open_end = true;
	if (r->tok.kind == DP_TOKEN_END)
		return 0;
	word = r->tok;
	if (word.kind == DP_TOKEN_WORD) {
		err = dp_lex_next(r);
		if (err)
			return err;
	}
	if (word.kind != DP_TOKEN_WORD || r->tok.kind == '=' ||
	    r->tok.kind == ':')
		return dp_lang_bad(r, word.at,
				   "only an instruction follows a label; "
				   "use a line of its own");
	return instruction(r, &word);
}

static int statement(struct dp_lang_reader *r)
{
	struct dp_token word = r->tok;
	int err;

	if (word.kind == DP_TOKEN_END)
		return 0;
	err = dp_lex_next(r);
	if (err)
		return err;
	if (r->tok.kind == ':' &&
	    (word.kind == DP_TOKEN_WORD || word.kind == DP_TOKEN_NUMBER))
		return label(r, &word);
	if (word.kind != DP_TOKEN_WORD)
		return dp_lang_bad(r, word.at,
				   "a line is KEYWORD = VALUE, LABEL: or an "
				   "instruction");
	return r->tok.kind == '=' ? dp_lang_keyword(r, &word) :
				    instruction(r, &word);
}

/* A ';' ends a statement, too: a macro has but one line. */
static int statements(struct dp_lang_reader *r)
{
	int err = statement(r);

	while (!err && r->tok.len) {
		err = dp_lex_next(r);
		if (!err)
			err = statement(r);
	}
	return err;
}

/* A line of the preprocessor begins with '#', whatever follows; its markers have been left by it. */
static int begin_line(struct dp_lang_reader *r)
{
	const char *s = r->pos;
	struct dp_source_place at = { .line = r->line, .span = 1 };

	while (s != r->end && (*s == ' ' || *s == '\t'))
		s++;
	at.column = s - r->bol;
	if (dp_lang_is_marker(r->bol)) {
		while (r->pos != r->end && *r->pos != '\n')
			r->pos++;
	} else if (s != r->end && *s == '#') {
		return dp_lang_bad(r, at,
				   "the preprocessor does not know this line");
	}
	return dp_lex_next(r);
}

int dp_lang_parse(struct dp_lang_reader *r)
{
	int err;

	do {
		err = begin_line(r);
		if (!err)
			err = statements(r);
		if (err)
			return err;
	} while (dp_lex_newline(r));
	if (!r->program->nr_points)
		return dp_lang_bad(r, r->tok.at,
				   "this file has no probe; "
				   "one begins with \"offset = SYMBOL\"");
	return dp_lang_point_close(r, r->tok.at);
}
