// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * words: the words of a text that may be names of variables or types of the program.
 *
 * A word that is none is asked for in vain, which does no harm.
 */
#include "tracer/values/words.h"
#include "tracer/values/code.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_tag(const char *s, size_t len)
{
	return (len == 6 && !memcmp(s, "struct", 6)) ||
	       (len == 5 && !memcmp(s, "union", 5)) ||
	       (len == 4 && !memcmp(s, "enum", 4));
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (is_letter(s[n]))
		n++;
	return n;
}

static bool has(const struct dp_words *w, const char *text)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		if (!strcmp(w->v[i].text, text))
			return true;
	return false;
}

/* @tag: "struct", or NULL */
static int add(struct dp_words *w, const char *tag, size_t tag_len,
	       const char *s, size_t len)
{
	char *text;

	if (w->n == DP_WORDS_MAX || !len || isdigit((unsigned char)*s))
		return 0;
	text = calloc(1, tag_len + len + 2);
	if (!text)
		return -ENOMEM;
	if (tag)
		memcpy(text, tag, tag_len);
	if (tag)
		strcat(text, " ");
	strncat(text, s, len);
	if (has(w, text)) {
		free(text);
		return 0;
	}
	w->v[w->n++] =
		(struct dp_word){ text, !tag && dp_code_is_ours(s, (int)len) };
	return 0;
}

/* Members, formats and registers are no names. */
static bool is_behind(const char *text, const char *s, const char *mark)
{
	size_t len = strlen(mark);

	while (s > text && isspace((unsigned char)s[-1]))
		s--;
	return (size_t)(s - text) >= len && !memcmp(s - len, mark, len);
}

static bool is_name(const char *text, const char *s)
{
	if (is_behind(text, s, "::"))
		return true;
	return !is_behind(text, s, ".") && !is_behind(text, s, "->") &&
	       !is_behind(text, s, ":") && !is_behind(text, s, "%") &&
	       !is_behind(text, s, "$");
}

static const char *skip_quoted(const char *s)
{
	for (s++; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s + 1 : s;
}

/* The last part of "ns::node" is the name. */
static size_t skip_spaces_of_names(const char **s)
{
	size_t len = word_length(*s);

	while (len && !strncmp(*s + len, "::", 2) && is_letter((*s)[len + 2])) {
		*s += len + 2;
		len = word_length(*s);
	}
	return len;
}

static int add_word(struct dp_words *w, const char *text, const char **s,
		    bool all)
{
	const char *tag = NULL;
	size_t len = word_length(*s), tag_len = 0;
	bool name = all || is_name(text, *s);
	int err = 0;

	if (is_tag(*s, len)) {
		tag = *s;
		tag_len = len;
		for (*s += len; isspace((unsigned char)**s);)
			++*s;
	}
	len = skip_spaces_of_names(s);
	if (name)
		err = add(w, tag, tag_len, *s, len);
	*s += len;
	return err;
}

static int add_words(struct dp_words *w, const char *text, bool all)
{
	const char *s = text;
	int err = 0;

	while (s && *s && !err) {
		if (*s == '"')
			s = skip_quoted(s);
		else if (is_letter(*s))
			err = add_word(w, text, &s, all);
		else
			s++;
	}
	return err;
}

int dp_words_add(struct dp_words *w, const char *text)
{
	return add_words(w, text, false);
}

int dp_words_add_all(struct dp_words *w, const char *text)
{
	return add_words(w, text, true);
}

void dp_words_free(struct dp_words *w)
{
	size_t i;

	for (i = 0; i < w->n; i++)
		free(w->v[i].text);
	w->n = 0;
}
