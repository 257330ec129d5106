// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* word: the words and numbers of values. */
#include "lang/value/private.h"
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

void dp_value_bad(struct dp_value_parser *p, int at, int span, int err,
		  const char *why)
{
	if (p->err)
		return;
	p->err = dp_diag_set(p->diag, err, "%s", why);
	dp_diag_caret(p->diag, p->column + at, span);
}

void dp_value_skip(struct dp_value_parser *p)
{
	while (isspace((unsigned char)p->text[p->at]))
		p->at++;
}

bool dp_value_accept(struct dp_value_parser *p, const char *word)
{
	dp_value_skip(p);
	if (strncmp(p->text + p->at, word, strlen(word)))
		return false;
	p->at += (int)strlen(word);
	return true;
}

int dp_value_word(const struct dp_value_parser *p)
{
	const char *s = p->text + p->at;
	int n = 0;

	if (isdigit((unsigned char)*s))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n;
}

bool dp_value_word_is(const struct dp_value_parser *p, int len,
		      const char *word)
{
	return (int)strlen(word) == len && !memcmp(p->text + p->at, word, len);
}

/* Nanoseconds of the unit at *@end, which goes behind it; 1: there is none */
static u64 take_unit(char **end)
{
	static const struct {
		const char *word;
		u64 ns;
	} units[] = { { "ns", 1 },
		      { "us", 1000 },
		      { "ms", 1000000 },
		      { "s", 1000000000 } };
	size_t i, n;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		n = strlen(units[i].word);
		if (strncmp(*end, units[i].word, n) ||
		    isalnum((unsigned char)(*end)[n]))
			continue;
		*end += n;
		return units[i].ns;
	}
	return 1;
}

static u64 take_number(struct dp_value_parser *p, bool time)
{
	const char *text = p->text + p->at;
	u64 value, ns = 1;
	char *end;
	bool bad;

	errno = 0;
	value = strtoull(text, &end, 0);
	bad = errno || end == text || !isdigit((unsigned char)*text);
	if (time)
		ns = take_unit(&end);
	if (bad || isalnum((unsigned char)*end) || value > ~0ull / ns)
		dp_value_bad(p, p->at, (int)(end - text) + 1, -EINVAL,
			     "this is not a number of 64 bits");
	p->at += (int)(end - text);
	return value * ns;
}

u64 dp_value_number(struct dp_value_parser *p)
{
	return take_number(p, false);
}

u64 dp_value_time(struct dp_value_parser *p)
{
	return take_number(p, true);
}

bool dp_value_is_real(const struct dp_value_parser *p)
{
	const char *s = p->text + p->at;

	if (*s == '0' && (s[1] == 'x' || s[1] == 'X'))
		return false;
	while (isdigit((unsigned char)*s))
		s++;
	return *s == '.' || *s == 'e' || *s == 'E';
}

double dp_value_real(struct dp_value_parser *p)
{
	const char *text = p->text + p->at;
	char *end;
	double value = strtod(text, &end);

	if (*end == 'f' || *end == 'F') {
		value = (double)strtof(text, &end);
		end++;
	}
	if (isalnum((unsigned char)*end) || *end == '.' || *end == '_')
		dp_value_bad(p, p->at, (int)(end - text) + 1, -EINVAL,
			     "this is no floating-point number: 1.5, -2e3");
	else if (value > DBL_MAX)
		dp_value_bad(p, p->at, (int)(end - text), -EINVAL,
			     "this is above all floating-point numbers");
	p->at += (int)(end - text);
	return value;
}

bool dp_value_is(const struct dp_values *values, const struct dp_value *v,
		 const char *word)
{
	return (int)strlen(word) == v->span &&
	       !memcmp(values->text + v->at, word, v->span);
}
