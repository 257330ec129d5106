// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* diag: the one place where a diagnostic is put into words. */
#include <dprobes/diag.h>
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

int dp_diag_set(struct dp_diag *diag, int err, const char *fmt, ...)
{
	va_list ap;

	if (!diag)
		return err;
	dp_diag_clear(diag);
	va_start(ap, fmt);
	vsnprintf(diag->text, sizeof(diag->text), fmt, ap);
	va_end(ap);
	return err;
}

void dp_diag_add(struct dp_diag *diag, const char *fmt, ...)
{
	va_list ap;
	size_t used;

	if (!diag)
		return;
	used = strlen(diag->text);
	va_start(ap, fmt);
	vsnprintf(diag->text + used, sizeof(diag->text) - used, fmt, ap);
	va_end(ap);
}

void dp_diag_caret(struct dp_diag *diag, int column, int span)
{
	if (!diag)
		return;
	diag->column = column;
	diag->span = span < 1 ? 1 : span;
}
