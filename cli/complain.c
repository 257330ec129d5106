// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* complain: print errors in words, with a caret, and give the exit status. */
#include "cli/command.h"
#include "tracer/output.h"
#include <errno.h>
#include <stdarg.h>
#include <string.h>

int dp_usage_error(const char *fmt, ...)
{
	va_list ap;

	fputs("dprobes: ", stderr);
	va_start(ap, fmt);
	dp_output_vprint(stderr, fmt, ap);
	va_end(ap);
	fputs("; see dprobes --help\n", stderr);
	return DP_EXIT_USAGE;
}

static void point(const char *text, int column, int span)
{
	int i;

	dp_output_print(stderr, "  %s\n", text);
	dp_output_print(stderr, "  %*s^", column, "");
	for (i = 1; i < span && text[column + i]; i++)
		putc('~', stderr);
	putc('\n', stderr);
}

/* Print the first line of @text after "dprobes: ", the other lines as they are. */
static void say(const char *text)
{
	size_t n = strcspn(text, "\n");

	dp_output_print(stderr, "dprobes: %.*s\n", (int)n, text);
	while (text[n]) {
		text += n + 1;
		n = strcspn(text, "\n");
		dp_output_print(stderr, "%.*s\n", (int)n, text);
	}
}

int dp_complain(int err, const char *bad_spec, const struct dp_diag *diag)
{
	say(diag->text[0] ? diag->text : strerror(-err));
	if (bad_spec && diag->column >= 0 &&
	    diag->column <= (int)strlen(bad_spec))
		point(bad_spec, diag->column, diag->span);
	if (bad_spec)
		return DP_EXIT_USAGE;
	return DP_EXIT_FAILURE;
}
