// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* escape: see escape.h. */
#include "lib/escape.h"
#include <string.h>

/* The Unicode standard's table of well-formed sequences: the first byte, and the range of the
 * second byte. The bytes behind are 0x80 to 0xbf. */
static const struct form {
	unsigned char first, last, low, high, len;
} forms[] = {
	{ 0x00, 0x7f, 0x00, 0x00, 1 }, { 0xc2, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 }, { 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 }, { 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 }, { 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

static const struct form *form_of(unsigned char first)
{
	size_t i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (first >= forms[i].first && first <= forms[i].last)
			return &forms[i];
	return NULL;
}

static int is_whole(const struct form *f, const unsigned char *p, size_t len)
{
	size_t i;

	if (len < f->len)
		return 0;
	if (f->len > 1 && (p[1] < f->low || p[1] > f->high))
		return 0;
	for (i = 2; i < f->len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return 1;
}

enum dp_escape_kind dp_escape_next(const char *text, size_t len, size_t *n)
{
	const unsigned char *p = (const unsigned char *)text;
	const struct form *f = form_of(*p);

	*n = 1;
	if (!f || !is_whole(f, p, len))
		return DP_ESCAPE_INVALID;
	*n = f->len;
	if (*p < 0x20 || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
		return DP_ESCAPE_CONTROL;
	return DP_ESCAPE_PLAIN;
}

static char *put_byte(char *to, unsigned char byte)
{
	static const char digits[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'x';
	*to++ = digits[byte >> 4];
	*to++ = digits[byte & 15];
	return to;
}

size_t dp_escape(char *to, size_t size, const char *text, size_t len)
{
	const char *end = to + size - 1;
	size_t at = 0, n, i;

	while (at < len) {
		int plain = dp_escape_next(text + at, len - at, &n) ==
			    DP_ESCAPE_PLAIN;

		if ((size_t)(end - to) < (plain ? n : n * DP_ESCAPE_BYTE))
			break;
		if (plain)
			to = (char *)memcpy(to, text + at, n) + n;
		else
			for (i = 0; i < n; i++)
				to = put_byte(to, (unsigned char)text[at + i]);
		at += n;
	}
	*to = '\0';
	return at;
}
