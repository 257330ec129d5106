// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* program: an assembled file, and pointing into its text. */
#include "lang/private.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAB 8
#define SHOWN_MAX 4096

static const char *line_start(const char *text, u32 number)
{
	while (--number && (text = strchr(text, '\n')))
		text++;
	return text;
}

/* Tabs made blanks. @column is that of the source on the way in, that of the
 * copy on the way out. */
static char *copy_line(const char *from, u32 *column)
{
	size_t len = strcspn(from, "\n"), at = 0, i;
	char *to;
	u32 caret = 0;

	if (len > SHOWN_MAX)
		len = SHOWN_MAX;
	to = malloc(len * TAB + 1);
	for (i = 0; to && i < len; i++) {
		if (i == *column)
			caret = (u32)at;
		if (from[i] == '\t')
			do
				to[at++] = ' ';
			while (at % TAB);
		else
			to[at++] = (unsigned char)from[i] < 0x20 ? ' ' :
								   from[i];
	}
	if (!to)
		return NULL;
	to[at] = '\0';
	*column = *column < len ? caret : (u32)at;
	return to;
}

int dp_lang_complain(const struct dp_lang_program *program,
		     struct dp_source_place at, int err, char **line,
		     struct dp_diag *diag, const char *fmt, ...)
{
	const char *from = line_start(program->text, at.line ? at.line : 1);
	char words[DP_DIAG_MAX];
	u32 column = at.column;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	dp_diag_set(diag, err, "%s:%u:%u: %s", program->file, at.line,
		    at.column + 1, words);
	*line = from ? copy_line(from, &column) : NULL;
	dp_diag_caret(diag, (int)column, (int)at.span);
	return err;
}

void dp_lang_free(struct dp_lang_program *program)
{
	size_t i;

	if (!program)
		return;
	for (i = 0; i < program->nr_points; i++)
		free(program->points[i].symbol);
	free(program->points);
	free(program->code);
	free(program->name);
	free(program->text);
	free(program->file);
	free(program);
}
