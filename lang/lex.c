// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* lex: split text into words, numbers and punctuation. */
#include "lang/private.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

bool dp_lex_is(const struct dp_token *tok, const char *word)
{
	return strlen(word) == tok->len && !strncasecmp(tok->s, word, tok->len);
}

static bool starts(const struct dp_lang_reader *r, const char *with)
{
	size_t len = strlen(with);

	return (size_t)(r->end - r->pos) >= len && !memcmp(r->pos, with, len);
}

static bool is_word(char c)
{
	return isalnum((u8)c) || (c && strchr("_.@$", c));
}

/* Bytes of the blank here, or 0; the text ends in NUL. Programs copied from web pages have
 * U+00A0. */
static u32 blank(const struct dp_lang_reader *r)
{
	if (starts(r, "\xc2\xa0"))
		return 2;
	return *r->pos != '\n' && isspace((u8)*r->pos);
}

static struct dp_source_place here(const struct dp_lang_reader *r, u32 span)
{
	return (struct dp_source_place){ r->line, r->pos - r->bol, span };
}

bool dp_lex_newline(struct dp_lang_reader *r)
{
	if (r->pos == r->end)
		return false;
	r->bol = ++r->pos;
	r->line++;
	return true;
}

static int skip_comment(struct dp_lang_reader *r)
{
	struct dp_source_place at = here(r, 2);

	for (r->pos += 2; r->pos != r->end; r->pos++) {
		if (starts(r, "*/")) {
			r->pos += 2;
			return 0;
		}
		if (*r->pos == '\n') {
			r->bol = r->pos + 1;
			r->line++;
		}
	}
	return dp_lang_bad(r, at, "this comment is not closed; add */");
}

static int skip_blanks(struct dp_lang_reader *r)
{
	u32 n;
	int err;

	for (;;) {
		n = blank(r);
		if (n) {
			r->pos += n;
		} else if (starts(r, "//")) {
			while (r->pos != r->end && *r->pos != '\n')
				r->pos++;
		} else if (starts(r, "/*")) {
			err = skip_comment(r);
			if (err)
				return err;
		} else {
			return 0;
		}
	}
}

/* Bytes of "%name%" at @s, or 0. */
static u32 substitution(const char *s, const char *end)
{
	const char *p = s + 1;

	if (*s != '%')
		return 0;
	while (p != end && is_word(*p))
		p++;
	return p != end && *p == '%' && p > s + 1 ? p + 1 - s : 0;
}

static int no_value(struct dp_lang_reader *r, u32 len)
{
	return dp_lang_bad(r, here(r, len),
			   "there is no value for %.*s; give it one with "
			   "-D %.*s=VALUE",
			   (int)len, r->pos, (int)len - 2, r->pos + 1);
}

static int stray(struct dp_lang_reader *r)
{
	u32 len = substitution(r->pos, r->end);
	char c = *r->pos;

	if (len)
		return no_value(r, len);
	if (c == '#')
		return dp_lang_bad(r, here(r, 1),
				   "'%c' begins no comment; use //", c);
	if (isprint((u8)c))
		return dp_lang_bad(r, here(r, 1),
				   "'%c' has no meaning here; remove it", c);
	return dp_lang_bad(r, here(r, 1),
			   "the byte 0x%02x has no meaning here; remove it",
			   (u8)c);
}

static int take(struct dp_lang_reader *r, int kind, u32 len)
{
	r->tok.kind = kind;
	r->tok.s = r->pos;
	r->tok.len = len;
	r->tok.at = here(r, len);
	r->pos += len;
	return 0;
}

static int take_word(struct dp_lang_reader *r, int kind)
{
	const char *p = r->pos;

	while (p != r->end && is_word(*p))
		p++;
	return take(r, kind, p - r->pos);
}

static int take_character(struct dp_lang_reader *r)
{
	static const char names[] = "nt0\\'", values[] = "\n\t\0\\'";
	const char *p = r->pos, *name;
	bool escape = r->end - p > 1 && p[1] == '\\';
	u32 len = escape ? 4 : 3;

	if (r->end - p < (int)len || p[len - 1] != '\'' ||
	    !isprint((u8)p[len - 2]) || (!escape && p[1] == '\''))
		return dp_lang_bad(r, here(r, 1),
				   "a character is one between quotes: 'c', "
				   "'\\n', '\\t', '\\0', '\\\\' or '\\''");
	r->tok.value = (u8)p[1];
	if (escape) {
		name = strchr(names, p[2]);
		if (!name)
			return dp_lang_bad(r, here(r, 4),
					   "there is no '\\%c'; there are "
					   "'\\n', '\\t', '\\0', '\\\\' "
					   "and '\\''",
					   p[2]);
		r->tok.value = values[name - names];
	}
	return take(r, DP_TOKEN_NUMBER, len);
}

static int check_name(struct dp_lang_reader *r, const char *s, u32 len)
{
	u32 i, subst;

	for (i = 0; i < len; i++) {
		r->pos = s + i;
		if (iscntrl((u8)s[i]))
			return dp_lang_bad(r, here(r, 1),
					   "a name has no control characters; "
					   "remove this byte 0x%02x",
					   (u8)s[i]);
		subst = substitution(s + i, s + len);
		if (subst)
			return no_value(r, subst);
		/* Only the next '%' can begin a substitution: skip the word before it. */
		if (s[i] == '%')
			while (i + 1 < len && is_word(s[i + 1]))
				i++;
	}
	return 0;
}

static int take_quoted(struct dp_lang_reader *r)
{
	const char *s = r->pos + 1, *p = s;
	struct dp_source_place at = here(r, 1);
	int err;

	while (p != r->end && *p != '"' && *p != '\n')
		p++;
	if (p == r->end || *p == '\n')
		return dp_lang_bad(r, at, "this quote is not closed; add '\"'");
	err = check_name(r, s, p - s);
	if (err)
		return err;
	r->pos = s;
	take(r, DP_TOKEN_NAME, p - s);
	at.span = p - s + 2;
	r->tok.at = at;
	r->pos = p + 1;
	return 0;
}

static int take_bare(struct dp_lang_reader *r)
{
	const char *s = r->pos, *end;
	int err;

	while (r->pos != r->end && *r->pos != '\n' && !blank(r)) {
		if (starts(r, "//") || starts(r, "/*"))
			return dp_lang_bad(r, here(r, 2),
					   "put a blank before a comment, or "
					   "double quotes around this name");
		if (*r->pos == '"')
			return dp_lang_bad(r, here(r, 1),
					   "a name has no quotes inside; "
					   "remove this one");
		r->pos++;
	}
	end = r->pos;
	err = check_name(r, s, end - s);
	r->pos = err ? r->pos : s;
	return err ? err : take(r, DP_TOKEN_NAME, end - s);
}

int dp_lex_name(struct dp_lang_reader *r)
{
	int err = skip_blanks(r);

	if (err)
		return err;
	return starts(r, "\"") ? take_quoted(r) : take_bare(r);
}

int dp_lex_next(struct dp_lang_reader *r)
{
	int err = skip_blanks(r);

	if (err)
		return err;
	if (r->pos == r->end || *r->pos == '\n')
		return take(r, DP_TOKEN_END, 0);
	if (isdigit((u8)*r->pos)) {
		take_word(r, DP_TOKEN_NUMBER);
		return dp_lang_number_value(r, &r->tok);
	}
	if (is_word(*r->pos))
		return take_word(r, DP_TOKEN_WORD);
	if (*r->pos == '\'')
		return take_character(r);
	if (*r->pos == '"')
		return take_quoted(r);
	if (*r->pos == ';')
		return take(r, DP_TOKEN_END, 1);
	if (strchr("=,:+-&", *r->pos))
		return take(r, *r->pos, 1);
	return stray(r);
}
