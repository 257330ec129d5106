// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* shape: spell an instruction as the table does, or list those it could be. */
#include "lang/private.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A shape that is cut off is longer than any spelling and matches none. */
static size_t append(char *shape, size_t at, const struct dp_token *tok)
{
	u32 i;

	for (i = 0; i < tok->len && at < DP_LANG_SHAPE_MAX - 1; i++)
		shape[at++] = tolower((u8)tok->s[i]);
	shape[at] = '\0';
	return at;
}

void dp_lang_shape(const struct dp_lang_instruction *insn, bool immediate,
		   char shape[DP_LANG_SHAPE_MAX])
{
	static const struct dp_token percent = { .s = "%", .len = 1 },
				     comma = { .s = ",", .len = 1 },
				     space = { .s = " ", .len = 1 };
	size_t at = append(shape, 0, &insn->mnemonic);
	u32 i;

	for (i = 0; i < insn->n; i++) {
		bool word = insn->operand[i].word && !insn->operand[i].symbol &&
			    !(immediate && i == insn->n - 1);

		at = append(shape, at, i ? &comma : &space);
		at = append(shape, at,
			    word ? &insn->operand[i].name : &percent);
	}
}

static size_t word_len(const char *s)
{
	return strcspn(s, " ,");
}

static bool same_word(const char *a, const char *b)
{
	return word_len(a) == word_len(b) && !memcmp(a, b, word_len(a));
}

/* Do two shapes agree in their first @n words? */
static bool agree(const char *a, const char *b, int n)
{
	for (; same_word(a, b); a++, b++) {
		a += word_len(a);
		b += word_len(b);
		if (!--n)
			return true;
		if (!*a || !*b)
			return false;
	}
	return false;
}

static const struct dp_lang_op *first(const char *shape, int n, bool ready)
{
	const struct dp_lang_op *op;
	const char *text;
	size_t i;

	for (i = 0; (op = dp_lang_op_shape(i, &text)); i++)
		if (agree(shape, text, n) &&
		    (!ready || op->state == DP_OP_READY))
			return op;
	return NULL;
}

static const char *operand_name(u8 operand)
{
	switch (operand) {
	case DP_OPERAND_REL:
		return "LABEL";
	case DP_OPERAND_REG:
	case DP_OPERAND_REGW:
		return "REG";
	case DP_OPERAND_LV:
	case DP_OPERAND_GV:
		return "INDEX";
	default:
		return "N";
	}
}

static void list(struct dp_diag *diag, const char *shape, int n)
{
	const struct dp_lang_op *op;
	const char *text, *separator = "";
	size_t i, len;

	for (i = 0; (op = dp_lang_op_shape(i, &text)); i++) {
		if (op->state != DP_OP_READY || !agree(shape, text, n))
			continue;
		len = strcspn(text, "%");
		dp_diag_add(diag, "%s %.*s%s", separator, (int)len, text,
			    text[len] ? operand_name(op->operand) : "");
		separator = ";";
	}
}

/* Does no instruction with this mnemonic have an operand? */
static bool only_bare(const char *shape)
{
	const struct dp_lang_op *op;
	const char *text;
	size_t i;

	for (i = 0; (op = dp_lang_op_shape(i, &text)); i++)
		if (agree(shape, text, 1) && text[word_len(text)])
			return false;
	return true;
}

static const char *near_mnemonic(const char *shape)
{
	const struct dp_lang_op *op;
	const char *text;
	char word[DP_LANG_SHAPE_MAX];
	size_t i;

	for (i = 0; (op = dp_lang_op_shape(i, &text)); i++) {
		snprintf(word, sizeof(word), "%.*s", (int)word_len(text), text);
		if (dp_lang_near(shape, word))
			return text;
	}
	return NULL;
}

static int unknown(struct dp_lang_reader *r, const struct dp_token *mnemonic,
		   char shape[DP_LANG_SHAPE_MAX])
{
	const char *near;
	int err;

	shape[word_len(shape)] = '\0';
	near = near_mnemonic(shape);
	err = dp_lang_bad(r, mnemonic->at, "there is no instruction \"%.*s\"",
			  DP_TOKEN_SHOWN(mnemonic));
	if (near)
		dp_diag_add(r->diag, "; did you mean \"%.*s\"?",
			    (int)word_len(near), near);
	return err;
}

bool dp_lang_shape_begins(const struct dp_lang_instruction *insn)
{
	char shape[DP_LANG_SHAPE_MAX];

	dp_lang_shape(insn, false, shape);
	return first(shape, 2, false);
}

static struct dp_source_place place(const struct dp_lang_instruction *insn)
{
	const struct dp_lang_operand *first = insn->operand;
	const struct dp_lang_operand *last = first + insn->n - 1;

	if (!insn->n)
		return insn->mnemonic.at;
	return dp_lang_join(first->word ? first->name.at : first->number.at,
			    last->word ? last->name.at : last->number.at);
}

int dp_lang_shape_later(struct dp_lang_reader *r, struct dp_source_place at,
			const struct dp_lang_op *op)
{
	int len = strcspn(op->text, "%");
	bool one = !strncmp(op->group, "the ", 4);

	while (len && strchr(" ,", op->text[len - 1]))
		len--;
	return dp_lang_later(r, at, "%s (%.*s) %s not there yet", op->group,
			     len, op->text, one ? "is" : "are");
}

int dp_lang_shape_wrong(struct dp_lang_reader *r,
			const struct dp_lang_instruction *insn)
{
	char shape[DP_LANG_SHAPE_MAX];
	const struct dp_lang_op *op;
	int err, words;

	dp_lang_shape(insn, false, shape);
	op = first(shape, 1, false);
	if (!op)
		return unknown(r, &insn->mnemonic, shape);
	if (!first(shape, 1, true))
		return dp_lang_shape_later(r, insn->mnemonic.at, op);
	words = insn->n && first(shape, 2, true) ? 2 : 1;
	if (words == 1 && only_bare(shape))
		return dp_lang_bad(r, place(insn),
				   "%.*s takes no operands; "
				   "remove this",
				   DP_TOKEN_SHOWN(&insn->mnemonic));
	err = dp_lang_bad(r, place(insn), "%.*s takes other operands:",
			  DP_TOKEN_SHOWN(&insn->mnemonic));
	list(r->diag, shape, words);
	return err;
}
