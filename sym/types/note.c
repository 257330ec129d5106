// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* note: what is told of files with debug information that are looked for. */
#include <stdarg.h>
#include <stdio.h>
#include "sym/types/note.h"

#define NOTES_MAX 64 /* a hostile file may give cause to any number */

static const struct dp_types_manner *manner;

void dp_types_use(const struct dp_types_manner *use)
{
	manner = use;
}

static u64 hash_of(const char *text)
{
	u64 hash = 0xcbf29ce484222325;

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x100000001b3;
	return hash;
}

static bool is_new(const char *text)
{
	static u64 told[NOTES_MAX];
	static u32 n;
	u64 hash = hash_of(text);
	u32 i;

	for (i = 0; i < n; i++)
		if (told[i] == hash)
			return false;
	if (n == NOTES_MAX)
		return false;
	told[n++] = hash;
	return true;
}

void dp_note(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	if (!manner || !manner->note)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (is_new(text))
		manner->note(text);
}

void dp_note_progress(const char *module, u64 bytes, bool is_end)
{
	if (manner && manner->progress)
		manner->progress(module, bytes, is_end);
}
