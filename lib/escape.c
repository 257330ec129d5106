// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* escape: see escape.h. */
#include "lib/escape.h"
#include <stdio.h>
#include <string.h>

/* Return: code point of the character of @n bytes; -1: it is cut off, or a byte behind the
 * first belongs to another one. */
static long decode(const unsigned char *p, size_t len, size_t n)
{
	long code = n == 1 ? *p : *p & (0x7f >> n);
	size_t i;

	if (len < n)
		return -1;
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		code = code << 6 | (p[i] & 0x3f);
	}
	return code;
}

enum dp_escape_kind dp_escape_next(const char *text, size_t len, size_t *n)
{
	static const long least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t bytes = *p < 0x80 ? 1 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	long code = decode(p, len, bytes);

	*n = 1;
	if ((*p & 0xc0) == 0x80 || *p >= 0xf8 || code < least[bytes] ||
	    code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return DP_ESCAPE_INVALID;
	*n = bytes;
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ?
		       DP_ESCAPE_CONTROL :
		       DP_ESCAPE_PLAIN;
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
				to += sprintf(to, "\\x%02x",
					      (unsigned char)text[at + i]);
		at += n;
	}
	*to = '\0';
	return at;
}
