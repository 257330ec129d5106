// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* lex: the tokens of one line. */
#include "lang/private.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool is_first(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '.' || c == '/';
}

static bool is_more(char c)
{
	return is_first(c) || isdigit((unsigned char)c) || c == '@' || c == '$';
}

struct dp_source_place dp_lex_place(const struct dp_assembler *a,
				    const struct dp_token *t)
{
	return (struct dp_source_place){ a->number, t->start,
					 t->len ? t->len : 1 };
}

static struct dp_token *add(struct dp_assembler *a, int kind, u32 start)
{
	struct dp_token *t = &a->tokens[a->nr_tokens];
	struct dp_source_place here = { a->number, start, 1 };

	if (a->nr_tokens == DP_TOKENS_MAX) {
		dp_lang_fail(
			a, here, -EINVAL,
			"this line is too long: one instruction or one KEY = VALUE a line");
		return NULL;
	}
	*t = (struct dp_token){ .kind = kind, .start = start, .len = 1 };
	a->nr_tokens++;
	return t;
}

static int digit(char c)
{
	if (isdigit((unsigned char)c))
		return c - '0';
	if (isxdigit((unsigned char)c))
		return tolower((unsigned char)c) - 'a' + 10;
	return 99;
}

static u32 lex_number(struct dp_assembler *a, u32 i)
{
	struct dp_token *t = add(a, DP_TOKEN_NUMBER, i);
	const char *s = a->line;
	u32 base = 10, end = i;

	if (!t)
		return i;
	while (end < a->len && isalnum((unsigned char)s[end]))
		end++;
	t->len = end - i;
	if (s[i] == '0' && t->len > 1) {
		base = tolower((unsigned char)s[i + 1]) == 'x' ? 16 : 8;
		i += base == 16 ? 2 : 1;
		if (i == end)
			dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
				     "there are no digits in this number");
	}
	for (; i < end && !a->err; i++) {
		if (digit(s[i]) >= (int)base)
			dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
				     "this is neither a number nor a name");
		else if (__builtin_mul_overflow(t->value, (u64)base,
						&t->value) ||
			 __builtin_add_overflow(t->value, (u64)digit(s[i]),
						&t->value))
			dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
				     "this number has more than 64 bits");
	}
	return end;
}

static char unescape(char c)
{
	static const char from[] = "nt0\\'", to[] = "\n\t\0\\'";
	const char *p = c ? strchr(from, c) : NULL;

	return p ? to[p - from] : c;
}

static u32 lex_character(struct dp_assembler *a, u32 i)
{
	struct dp_token *t = add(a, DP_TOKEN_NUMBER, i);
	const char *s = a->line;
	u32 start = i++;
	char c;

	if (!t)
		return start;
	if (i + 1 < a->len && s[i] == '\\')
		c = unescape(s[++i]);
	else
		c = i < a->len ? s[i] : '\0';
	if (i + 1 >= a->len || s[i + 1] != '\'') {
		dp_lang_fail(
			a, dp_lex_place(a, t), -EINVAL,
			"a character constant is one character between quotes: 'a'");
		return a->len;
	}
	t->value = (u64)(unsigned char)c;
	t->len = i + 2 - start;
	return i + 2;
}

static u32 lex_quoted(struct dp_assembler *a, u32 i)
{
	struct dp_token *t = add(a, DP_TOKEN_QUOTED, i);
	u32 end = i + 1;

	if (!t)
		return i;
	while (end < a->len && a->line[end] != '"')
		end++;
	if (end >= a->len)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "this quote is not closed");
	t->len = end + 1 - i;
	return end + 1;
}

static u32 lex_word(struct dp_assembler *a, u32 i)
{
	struct dp_token *t = add(a, DP_TOKEN_WORD, i);
	u32 end = i;

	if (!t)
		return i;
	while (end < a->len && is_more(a->line[end]))
		end++;
	t->len = end - i;
	return end;
}

static u32 lex_other(struct dp_assembler *a, u32 i)
{
	struct dp_source_place here = { a->number, i, 1 };
	char c = a->line[i];

	if (strchr(":=,+-", c) && c) {
		add(a, c, i);
		return i + 1;
	}
	if (c == '#')
		dp_lang_fail(
			a, here, -EOPNOTSUPP,
			"preprocessor lines (#define, #include ...) are not there yet");
	else if (c == '%')
		dp_lang_fail(a, here, -EOPNOTSUPP,
			     "substitutions (%%KEY%%) are not there yet");
	else if (c == ';')
		dp_lang_fail(a, here, -EINVAL,
			     "';' is no comment here: comments begin with //");
	else
		dp_lang_fail(
			a, here, -EINVAL,
			"this character has no meaning in a probe program");
	return i + 1;
}

/* Text that comes out of a document has no-break spaces (U+00A0) in it. */
static void blank_spaces(struct dp_assembler *a)
{
	char *p = a->line;

	while ((p = strstr(p, "\xc2\xa0")))
		p[0] = p[1] = ' ';
}

/* Comments become blanks, so that columns stay what they are. */
static void blank_comments(struct dp_assembler *a)
{
	bool quoted = false;
	u32 i;

	for (i = 0; i < a->len; i++) {
		char *s = a->line + i;
		bool two = i + 1 < a->len;

		if (a->in_comment) {
			if (two && s[0] == '*' && s[1] == '/') {
				a->in_comment = false;
				s[1] = ' ';
			}
			s[0] = ' ';
		} else if (*s == '"') {
			quoted = !quoted;
		} else if (!quoted && two && s[0] == '/' && s[1] == '/') {
			memset(s, ' ', a->len - i);
		} else if (!quoted && two && s[0] == '/' && s[1] == '*') {
			a->in_comment = true;
			s[0] = s[1] = ' ';
		}
	}
}

void dp_lex_line(struct dp_assembler *a)
{
	u32 i = 0;

	a->nr_tokens = a->next = 0;
	blank_spaces(a);
	blank_comments(a);
	while (i < a->len && !a->err) {
		char c = a->line[i];

		if (isspace((unsigned char)c))
			i++;
		else if (isdigit((unsigned char)c))
			i = lex_number(a, i);
		else if (c == '\'')
			i = lex_character(a, i);
		else if (c == '"')
			i = lex_quoted(a, i);
		else if (is_first(c))
			i = lex_word(a, i);
		else
			i = lex_other(a, i);
	}
	a->tokens[a->nr_tokens] =
		(struct dp_token){ .kind = DP_TOKEN_END, .start = a->len };
}

const struct dp_token *dp_lex_peek(const struct dp_assembler *a, u32 ahead)
{
	u32 i = a->next + ahead;

	return &a->tokens[i < a->nr_tokens ? i : a->nr_tokens];
}

bool dp_lex_accept(struct dp_assembler *a, int kind)
{
	if (dp_lex_peek(a, 0)->kind != kind)
		return false;
	a->next++;
	return true;
}

void dp_lex_copy(const struct dp_assembler *a, const struct dp_token *t,
		 char *to, size_t size)
{
	size_t i;

	for (i = 0; i < t->len && i < size - 1; i++)
		to[i] = (char)tolower((unsigned char)a->line[t->start + i]);
	to[i] = '\0';
}

bool dp_lex_number(struct dp_assembler *a, u64 *value, bool *negative,
		   struct dp_source_place *place)
{
	const struct dp_token *t = dp_lex_peek(a, 0);
	u32 sign = t->kind == '-';

	t = dp_lex_peek(a, sign);
	if (t->kind != DP_TOKEN_NUMBER)
		return false;
	*place = dp_lex_place(a, dp_lex_peek(a, 0));
	place->span = t->start + t->len - place->column;
	*negative = sign;
	*value = sign ? -t->value : t->value;
	if (sign && t->value > 1ull << 63)
		dp_lang_fail(a, *place, -EINVAL,
			     "this number has more than 64 bits");
	a->next += sign + 1;
	return true;
}

void dp_lex_end(struct dp_assembler *a)
{
	const struct dp_token *t = dp_lex_peek(a, 0);

	if (t->kind != DP_TOKEN_END)
		dp_lang_fail(a, dp_lex_place(a, t), -EINVAL,
			     "nothing more may stand on this line");
}
