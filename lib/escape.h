/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * escape: make untrusted text safe for a terminal or a document.
 *
 * A probed process chooses the names of threads, files and symbols, messages of modules, and
 * texts in its memory. A terminal obeys C0 (below 0x20), DEL, and C1 (U+0080 to U+009F).
 * Invalid UTF-8 can be control characters to a terminal, too, and makes a document invalid.
 */
#ifndef DP_ESCAPE_H
#define DP_ESCAPE_H

#include <stddef.h>

/** enum dp_escape_kind - kind of a character, or of a byte that belongs to no character */
enum dp_escape_kind {
	DP_ESCAPE_PLAIN,
	DP_ESCAPE_CONTROL, /* C0, DEL, C1 */
	DP_ESCAPE_INVALID, /* one byte */
};

/** Bytes that one byte becomes, at most. */
#define DP_ESCAPE_BYTE 4

/**
 * dp_escape_next() - kind of the first character of @text
 * @len: of @text, at least 1
 * @n: bytes of the character, 1 to 4
 *
 * Overlong forms, surrogates, code points beyond U+10FFFF, and a character that @len cuts
 * off are invalid.
 */
enum dp_escape_kind dp_escape_next(const char *text, size_t len, size_t *n);

/**
 * dp_escape() - copy text without anything that a terminal obeys
 * @to: room for @size bytes, at least 1; a string afterwards
 *
 * Each byte of a control character or of invalid UTF-8 becomes \xHH; a backslash stays as
 * it is. The copy ends before the first character or \xHH that does not fit.
 * Return: how many bytes of @text are in @to.
 */
size_t dp_escape(char *to, size_t size, const char *text, size_t len);

#endif
