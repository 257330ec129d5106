// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* assemble: a file, line by line. */
#include "lang/private.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool dp_lang_grow(struct dp_assembler *a, void *array, size_t n, size_t *cap,
		  size_t each)
{
	void **v = array, *bigger;
	struct dp_source_place here = { a->number, 0, 1 };

	if (n < *cap)
		return true;
	bigger = realloc(*v, (*cap * 2 + 16) * each);
	if (!bigger)
		return dp_lang_fail(a, here, -ENOMEM, "out of memory");
	*v = bigger;
	*cap = *cap * 2 + 16;
	return true;
}

bool dp_lang_fail(struct dp_assembler *a, struct dp_source_place at, int err,
		  const char *fmt, ...)
{
	char words[DP_DIAG_MAX];
	va_list ap;

	if (a->err)
		return false;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	a->err = dp_lang_complain(a->program, at, err, a->bad_line, a->diag,
				  "%s", words);
	return false;
}

static void code_line(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0);

	if (t->kind == DP_TOKEN_WORD && dp_lex_peek(a, 1)->kind == ':') {
		if (!a->program->nr_points) {
			dp_lang_fail(
				a, dp_lex_place(a, t), -EINVAL,
				"a label needs a probe: \"offset =\" comes first");
			return;
		}
		dp_label_define(a, t);
		a->coded = true;
		a->next += 2;
		t = dp_lex_peek(a, 0);
	}
	if (t->kind == DP_TOKEN_END)
		return;
	if (t->kind == DP_TOKEN_WORD)
		dp_instruction_line(a);
	else
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "a line is KEY = VALUE or an instruction");
}

static void one_line(struct dp_assembler *a)
{
	dp_lex_line(a);
	if (a->err || !a->nr_tokens)
		return;
	if (dp_lex_peek(a, 0)->kind == DP_TOKEN_WORD &&
	    dp_lex_peek(a, 1)->kind == '=')
		dp_keyword_line(a);
	else
		code_line(a);
}

static void all_lines(struct dp_assembler *a)
{
	const char *text = a->program->text;
	const char *end = text + strlen(text), *p, *next;

	for (p = text; p < end && !a->err; p = next) {
		next = memchr(p, '\n', (size_t)(end - p));
		a->len = (u32)((next ? next : end) - p);
		next = next ? next + 1 : end;
		a->number++;
		a->line = strndup(p, a->len);
		if (a->line)
			one_line(a);
		else
			a->err = dp_diag_set(a->diag, -ENOMEM, "out of memory");
		free(a->line);
		a->line = NULL;
	}
}

static void check_whole(struct dp_assembler *a)
{
	struct dp_lang_program *p = a->program;
	struct dp_source_place end = { a->number ? a->number : 1, 0, 1 };
	size_t i;

	if (a->in_comment)
		dp_lang_fail(a, end, -EINVAL, "a comment is not closed");
	else if (!p->name)
		dp_lang_fail(
			a, end, -EINVAL,
			"the header does not say which module: name = ...");
	else if (!p->modtype)
		dp_lang_fail(
			a, end, -EINVAL,
			"the header does not say what kind of module: modtype = user");
	else if (!p->nr_points)
		dp_lang_fail(a, end, -EINVAL,
			     "there is no probe in this file: offset = ...");
	for (i = 0; i < p->nr_points; i++)
		if (!p->points[i].maxhits)
			p->points[i].maxhits = DP_MAXHITS_DEFAULT;
}

static int start(struct dp_assembler *a, const char *file, const char *text,
		 size_t len, u8 word)
{
	struct dp_lang_program *p = calloc(1, sizeof(*p));

	a->program = p;
	if (!p)
		return dp_diag_set(a->diag, -ENOMEM, "out of memory");
	p->file = strdup(file);
	p->text = strndup(text, len);
	if (!p->file || !p->text)
		return dp_diag_set(a->diag, -ENOMEM, "out of memory");
	if (len > DP_TEXT_MAX)
		return dp_diag_set(
			a->diag, -EINVAL,
			"%s is longer than a probe program can be (%u bytes)",
			file, DP_TEXT_MAX);
	if (strlen(p->text) != len)
		return dp_diag_set(
			a->diag, -EINVAL,
			"%s is not a text: there is a zero byte in it", file);
	p->word = word;
	p->jmpmax = DP_JMP_MAX;
	p->logmax = DP_LOG_MAX;
	p->stack = DP_STACK_DEFAULT;
	return 0;
}

int dp_lang_assemble(const char *file, const char *text, size_t len, u8 word,
		     struct dp_lang_program **program, char **line,
		     struct dp_diag *diag)
{
	struct dp_assembler a = { .bad_line = line, .diag = diag };
	size_t i;

	*program = NULL;
	*line = NULL;
	a.err = start(&a, file, text, len, word);
	if (!a.err)
		all_lines(&a);
	if (!a.err)
		dp_point_end(&a);
	if (!a.err)
		check_whole(&a);
	if (!a.err)
		dp_label_resolve(&a);
	for (i = 0; i < a.nr_labels; i++)
		free(a.labels[i].name);
	free(a.labels);
	free(a.jumps);
	if (a.err)
		dp_lang_free(a.program);
	else
		*program = a.program;
	return a.err;
}
