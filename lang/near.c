// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* near: is one word a misspelling of another? */
#include "lang/private.h"
#include <string.h>

#define NEAR_MAX 24

static u8 min3(u8 a, u8 b, u8 c)
{
	u8 m = a < b ? a : b;

	return m < c ? m : c;
}

/* The Levenshtein distance, a row at a time. */
static u8 distance(const char *a, size_t len_a, const char *b, size_t len_b)
{
	u8 row[NEAR_MAX + 1], diagonal, above;
	size_t i, j;

	for (j = 0; j <= len_b; j++)
		row[j] = j;
	for (i = 0; i < len_a; i++) {
		diagonal = row[0];
		row[0] = i + 1;
		for (j = 0; j < len_b; j++) {
			above = row[j + 1];
			row[j + 1] = min3(above + 1, row[j] + 1,
					  diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[len_b];
}

bool dp_lang_near(const char *a, const char *b)
{
	size_t len_a = strlen(a), len_b = strlen(b);

	if (len_a > NEAR_MAX || len_b > NEAR_MAX || len_a < 3 || len_b < 3)
		return false;
	return distance(a, len_a, b, len_b) <= (len_b > 5 ? 2 : 1);
}
