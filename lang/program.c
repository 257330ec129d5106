// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* program: allocate and free programs, and point at places in their text. */
#include "lang/private.h"
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TAB 8

int dp_lang_nomem(struct dp_diag *diag)
{
	return dp_diag_set(diag, -ENOMEM, "no memory for a program");
}

void *dp_lang_grow(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return reallocarray(array, n ? 2 * n : 1, size);
}

struct dp_source_place dp_lang_join(struct dp_source_place from,
				    struct dp_source_place to)
{
	if (from.line == to.line)
		from.span = to.column + to.span - from.column;
	return from;
}

int dp_lang_new(const char *file, const char *text, size_t len, u8 word,
		struct dp_lang_program **program)
{
	struct dp_lang_program *p = calloc(1, sizeof(*p));

	*program = p;
	if (!p)
		return -ENOMEM;
	p->word = word;
	p->jmpmax = DP_JMP_MAX;
	p->logmax = DP_LOG_DEFAULT;
	p->ex_logmax = DP_EX_LOG_MAX;
	p->heapmax = DP_HEAP_MAX;
	p->filter.pid = -1;
	p->stack = DP_STACK_DEFAULT;
	p->file = strdup(file);
	p->code = malloc(DP_CODE_MAX);
	p->text = malloc(len + 1);
	if (!p->file || !p->code || !p->text)
		return -ENOMEM;
	if (len)
		memcpy(p->text, text, len);
	p->text[len] = '\0';
	return 0;
}

void dp_lang_free(struct dp_lang_program *program)
{
	size_t i;

	if (!program)
		return;
	for (i = 0; i < program->nr_points; i++) {
		free(program->points[i].symbol);
		free(program->points[i].label);
		free(program->points[i].exits);
	}
	for (i = 0; i < program->nr_symbols; i++)
		free(program->symbols[i].name);
	free(program->symbols);
	for (i = 0; i < program->nr_values; i++)
		free(program->values[i].text);
	free(program->values);
	free(program->filter.comm);
	free(program->filter.cgroup);
	free(program->filter.user);
	free(program->points);
	free(program->file);
	free(program->text);
	free(program->name);
	free(program->code);
	free(program);
}

static const char *find_line(const char *text, u32 line)
{
	for (; line > 1; line--)
		text = strchr(text, '\n') + 1;
	return text;
}

/* Control characters of the file do not reach a terminal. */
static char shown(char c)
{
	if (c == '\r')
		return ' ';
	return (u8)c < ' ' || c == 0x7f ? '?' : c;
}

static size_t show_byte(char c, char *out, size_t at)
{
	if (c != '\t') {
		out[at++] = shown(c);
		return at;
	}
	do
		out[at++] = ' ';
	while (at % TAB);
	return at;
}

/* A copy of the line with tabs made spaces; @at is adjusted. */
static char *show_line(const char *s, struct dp_source_place *at)
{
	size_t len = strcspn(s, "\n"), i, o = 0, from = 0, to = 0;
	char *out = malloc(len * TAB + 1);

	if (!out)
		return NULL;
	for (i = 0; i < len; i++) {
		if (i == at->column)
			from = o;
		o = show_byte(s[i], out, o);
		if (i + 1 == (size_t)at->column + at->span)
			to = o;
	}
	out[o] = '\0';
	if (at->column >= len)
		from = o;
	at->column = from;
	at->span = to > from ? to - from : 1;
	return out;
}

/* "# LINE "FILE"" of the preprocessor */
static bool is_marker(const char *s)
{
	return s[0] == '#' && s[1] == ' ' && isdigit((u8)s[2]);
}

bool dp_lang_is_marker(const char *s)
{
	return is_marker(s);
}

/* Where line @line of the text comes from: @file is in the text, if it is of another one. */
static u32 origin(const struct dp_lang_program *p, u32 line, const char **file,
		  int *len)
{
	const char *s = p->text, *quote;
	u32 now = 1, from = line;

	*file = p->file;
	*len = (int)strlen(p->file);
	for (; now < line && s; now++, s = strchr(s, '\n'), s += s != NULL) {
		if (!is_marker(s))
			continue;
		quote = strchr(s, '"');
		from = (u32)strtoul(s + 2, NULL, 10) + line - now - 1;
		if (!quote)
			continue;
		*file = quote + 1;
		*len = (int)strcspn(quote + 1, "\"\n");
	}
	return from;
}

int dp_lang_complain(const struct dp_lang_program *program,
		     struct dp_source_place at, int err, char **line,
		     struct dp_diag *diag, const char *fmt, ...)
{
	const char *s = find_line(program->text, at.line);
	char words[DP_DIAG_MAX];
	const char *file;
	va_list ap;
	u32 from;
	int len;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	from = origin(program, at.line, &file, &len);
	dp_diag_set(diag, err, "%.*s:%u:%u: %s", len, file, from, at.column + 1,
		    words);
	if (!line)
		return err;
	*line = show_line(s, &at);
	if (*line)
		dp_diag_caret(diag, at.column, at.span);
	return err;
}
