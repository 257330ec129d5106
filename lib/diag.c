// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* diag: write the text of a diagnostic. */
#include <dprobes/diag.h>
#include "lib/escape.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void dp_diag_clear(struct dp_diag *diag)
{
	if (!diag)
		return;
	diag->text[0] = '\0';
	diag->column = -1;
	diag->span = 0;
}

/* Quoted names are untrusted, so the text is escaped. Text that is cut off here would not
 * fit into @diag either. A newline at the start of @fmt is kept: a line of a list follows. */
static void append(struct dp_diag *diag, const char *fmt, va_list ap)
{
	size_t used = strlen(diag->text), list = *fmt == '\n', n;
	char raw[sizeof(diag->text) + DP_ESCAPE_BYTE];

	if (vsnprintf(raw, sizeof(raw), fmt, ap) < 0 ||
	    used + list >= sizeof(diag->text))
		return;
	n = strlen(raw);
	if (list)
		diag->text[used++] = '\n';
	dp_escape(diag->text + used, sizeof(diag->text) - used, raw + list,
		  n - list);
}

int dp_diag_set(struct dp_diag *diag, int err, const char *fmt, ...)
{
	va_list ap;

	if (!diag)
		return err;
	dp_diag_clear(diag);
	va_start(ap, fmt);
	append(diag, fmt, ap);
	va_end(ap);
	return err;
}

void dp_diag_add(struct dp_diag *diag, const char *fmt, ...)
{
	va_list ap;

	if (!diag)
		return;
	va_start(ap, fmt);
	append(diag, fmt, ap);
	va_end(ap);
}

void dp_diag_caret(struct dp_diag *diag, int column, int span)
{
	if (!diag)
		return;
	diag->column = column;
	diag->span = span < 1 ? 1 : span;
}
