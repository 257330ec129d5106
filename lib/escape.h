/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * escape: what others have written, on its way to a terminal or into a document.
 *
 * Names of threads, files and symbols, messages of modules, and texts in another process's
 * memory are bytes that the process chooses. A terminal obeys some of them: C0 (below 0x20),
 * DEL, and C1 (U+0080 to U+009F). Bytes that are no UTF-8 can be these to a terminal, too, and
 * make a document invalid.
 */
#ifndef DP_ESCAPE_H
#define DP_ESCAPE_H

#include <stddef.h>

/** enum dp_escape_kind - of a character, or of a byte that belongs to none */
enum dp_escape_kind {
	DP_ESCAPE_PLAIN,
	DP_ESCAPE_CONTROL, /* C0, DEL, C1 */
	DP_ESCAPE_INVALID, /* one byte */
};

/** The longest that one byte becomes. */
#define DP_ESCAPE_BYTE 4

/**
 * dp_escape_next() - what @text, of @len bytes, begins with; at least one
 * @n: its bytes, 1 to 4
 *
 * Overlong forms, surrogates, and what is beyond U+10FFFF are no UTF-8; nor is a character
 * that @len cuts off.
 */
enum dp_escape_kind dp_escape_next(const char *text, size_t len, size_t *n);

/**
 * dp_escape() - text in which nothing is left that a terminal obeys
 * @to: room for @size bytes, one at least; a string afterwards
 *
 * Each byte of a control character, and each that is no UTF-8, becomes \xHH; a backslash
 * stays one. What does not fit is left out from there on, whole characters and whole \xHH.
 * Return: how many bytes of @text are in @to.
 */
size_t dp_escape(char *to, size_t size, const char *text, size_t len);

#endif
