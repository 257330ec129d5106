/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* words: what names in values may be of the program. */
#ifndef DP_TRACER_VALUES_WORDS_H
#define DP_TRACER_VALUES_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/** struct dp_word - a name: "x", "struct node"; @local: it is something else already, unless the
 *  function has such a variable */
struct dp_word {
	char *text;
	bool local;
};

#define DP_WORDS_MAX 64

struct dp_words {
	struct dp_word v[DP_WORDS_MAX];
	size_t n;
};

/** dp_words_add() - add the names in a list of values, or a condition. @text: or NULL.
 *  Return: 0; -ENOMEM. */
int dp_words_add(struct dp_words *w, const char *text);
/** dp_words_add_all() - add all words of it, those of members, too */
int dp_words_add_all(struct dp_words *w, const char *text);
void dp_words_free(struct dp_words *w);

#endif
