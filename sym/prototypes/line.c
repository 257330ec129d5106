// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* line: the words of a line of a prototype file, and what is wrong with them. */
#include <string.h>
#include "sym/prototypes/parse.h"

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Symbols of some languages have dollars in them. */
static bool letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       c == '$';
}

static unsigned int digit_value(char c)
{
	if (digit(c))
		return (unsigned int)(c - '0');
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? (unsigned int)(c - 'a') + 10 : 16;
}

/* Decimal, octal after 0, hexadecimal after 0x. */
static int number(struct dp_proto_line *l)
{
	const char *p = l->word, *end = l->word + l->len;
	unsigned int base = 10, d;

	if (l->len > 1 && *p == '0') {
		base = (p[1] | 0x20) == 'x' ? 16 : 8;
		p += base == 16 ? 2 : 1;
	}
	if (p == end)
		return DP_PROTO_WRONG;
	for (l->value = 0; p < end; p++) {
		d = digit_value(*p);
		if (d >= base || l->value > (~0ull - d) / base)
			return DP_PROTO_WRONG;
		l->value = l->value * base + d;
	}
	return DP_PROTO_NUMBER;
}

static int classify(struct dp_proto_line *l)
{
	const char *p = l->word;

	if (letter(*p) || digit(*p)) {
		while (p < l->end && (letter(*p) || digit(*p)))
			p++;
		l->len = (size_t)(p - l->word);
		return digit(*l->word) ? number(l) : DP_PROTO_NAME;
	}
	l->len = 1;
	if (l->end - p >= 3 && !memcmp(p, "...", 3)) {
		l->len = 3;
		return DP_PROTO_DOTS;
	}
	return strchr("()[]*,;=+-/", *p) && *p ? *p : DP_PROTO_WRONG;
}

void dp_proto_line_next(struct dp_proto_line *l)
{
	while (l->next < l->end && strchr(" \t\r\f\v", *l->next) && *l->next)
		l->next++;
	l->word = l->next;
	l->len = 0;
	l->token = l->word == l->end ? DP_PROTO_END : classify(l);
	l->next = l->word + l->len;
}

void dp_proto_line_begin(struct dp_proto_line *l)
{
	l->next = l->text;
	dp_proto_line_next(l);
}

bool dp_proto_line_is(const struct dp_proto_line *l, const char *name)
{
	return l->token == DP_PROTO_NAME && strlen(name) == l->len &&
	       !memcmp(name, l->word, l->len);
}

bool dp_proto_line_take(struct dp_proto_line *l, int token)
{
	if (l->token != token)
		return false;
	dp_proto_line_next(l);
	return true;
}

int dp_proto_line_must(struct dp_proto_line *l, int token)
{
	char what[] = "'?' is missing";

	if (dp_proto_line_take(l, token))
		return 0;
	what[1] = (char)token;
	return dp_proto_line_wrong(l, what);
}

int dp_proto_line_number(struct dp_proto_line *l, u64 *value)
{
	bool minus = dp_proto_line_take(l, '-');

	*value = minus ? -l->value : l->value;
	if (dp_proto_line_take(l, DP_PROTO_NUMBER))
		return 0;
	return dp_proto_line_wrong(l, "this is no number of 64 bits");
}

static void report(struct dp_proto_line *l, int err, const char *what)
{
	int column = (int)(l->word - l->text);

	if (!l->diag || l->diag->text[0])
		return;
	dp_diag_set(l->diag, err, "%s:%zu:%d: %s", l->file, l->number,
		    column + 1, what);
	dp_diag_caret(l->diag, column, (int)l->len);
}

int dp_proto_line_wrong(struct dp_proto_line *l, const char *what)
{
	report(l, -EINVAL, what);
	return -EINVAL;
}

int dp_proto_line_full(struct dp_proto_line *l)
{
	report(l, -ENOMEM, "there is no memory for it");
	return -ENOMEM;
}
