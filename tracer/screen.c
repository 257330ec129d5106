// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* screen: see screen.h. */
#include "tracer/screen.h"
#include "lib/escape.h"
#include "tracer/output.h"
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define USUAL 80
#define COLUMNS_MAX 10000

static size_t said_columns(void)
{
	const char *text = secure_getenv("COLUMNS");
	long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n <= COLUMNS_MAX ? (size_t)n : 0;
}

size_t dp_screen_columns(FILE *out)
{
	struct winsize size = { 0 };
	size_t said;

	if (!isatty(fileno(out)))
		return 0;
	said = said_columns();
	if (said)
		return said;
	ioctl(fileno(out), TIOCGWINSZ, &size);
	return size.ws_col ? size.ws_col : USUAL;
}

void dp_screen_number(char to[DP_SCREEN_NUMBER], u64 value, bool grouped)
{
	char digits[DP_SCREEN_NUMBER];
	int i, n = snprintf(digits, sizeof(digits), "%lu", value);

	for (i = 0; i < n; i++) {
		if (grouped && i && (n - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
}

/* Does the person's terminal show UTF-8, by the locale? The process itself stays in "C". */
static bool shows_utf8(void)
{
	locale_t own = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool yes;

	if (!own)
		return false;
	yes = !strcmp(nl_langinfo_l(CODESET, own), "UTF-8");
	freelocale(own);
	return yes;
}

/* Bytes of the first @n characters; each has a column of its own. @n: as many as there are */
static size_t bytes_of(const char *text, size_t *n)
{
	size_t at = 0, len = strlen(text), count, bytes;

	for (count = 0; count < *n && at < len; count++, at += bytes)
		dp_escape_next(text + at, len - at, &bytes);
	*n = count;
	return at;
}

size_t dp_screen_width(const char *name)
{
	size_t len = strlen(name), size = len * DP_ESCAPE_BYTE + 1, n = size;
	char *text = malloc(size);

	if (!text)
		return len;
	dp_escape(text, size, name, len);
	bytes_of(text, &n);
	free(text);
	return n;
}

static void print_ends(FILE *out, const char *text, size_t all, size_t columns)
{
	const char *dots = shows_utf8() ? "\u2026" : "...";
	size_t left = columns - (*dots == '.' ? 3 : 1);
	size_t head = (left + 1) / 2, before = all - left / 2;

	dp_output_print(out, "%.*s%s%s", (int)bytes_of(text, &head), text, dots,
			text + bytes_of(text, &before));
}

void dp_screen_name(FILE *out, const char *name, size_t columns)
{
	size_t len = strlen(name), size = len * DP_ESCAPE_BYTE + 1, all = size;
	char *text = len > columns / DP_ESCAPE_BYTE ? malloc(size) : NULL;

	if (text) {
		dp_escape(text, size, name, len);
		bytes_of(text, &all);
	}
	if (text && all > columns)
		print_ends(out, text, all, columns);
	else
		dp_output_print(out, "%s", name);
	free(text);
}
