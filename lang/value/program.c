// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* program: types of the program in casts: (struct node *), (enum hue), (node_t *). */
#include "lang/value/private.h"
#include <ctype.h>
#include <string.h>

/* With "ns::" before it, which debug information does not have in the name. */
static int qualified(const struct dp_value_parser *p)
{
	const char *s = p->text + p->at;
	int n = dp_value_word(p), more;

	while (n && !strncmp(s + n, "::", 2)) {
		struct dp_value_parser rest = { .text = s + n + 2 };

		more = dp_value_word(&rest);
		if (!more)
			break;
		n += 2 + more;
	}
	return n;
}

static int blank(const char *s)
{
	int n = 0;

	while (isspace((unsigned char)s[n]))
		n++;
	return n;
}

/* Is what stands in parentheses a type? It is, behind a star; and a value follows it. */
static bool is_type(const char *s)
{
	bool stars = false;

	for (s += blank(s); *s == '*'; s += blank(s)) {
		stars = true;
		s++;
	}
	if (*s != ')')
		return false;
	s++;
	s += blank(s);
	return stars || isalnum((unsigned char)*s) ||
	       (*s && strchr("_('\"$%@", *s));
}

static bool take(struct dp_value_parser *p, struct dp_value_type *type, int at,
		 int len)
{
	*type = (struct dp_value_type){ .kind = DP_VALUE_NAMED, .bits = 64 };
	p->at += len;
	p->named_at = at;
	p->named_span = p->at - at;
	return true;
}

bool dp_value_program_type(struct dp_value_parser *p,
			   struct dp_value_type *type)
{
	static const char *const kinds[] = { "struct", "union", "enum" };
	int at = p->at, len = dp_value_word(p);
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!dp_value_word_is(p, len, kinds[i]))
			continue;
		p->at += len;
		dp_value_skip(p);
		len = qualified(p);
		if (len)
			return take(p, type, at, len);
		p->at = at;
		return false;
	}
	len = qualified(p);
	return len && is_type(p->text + at + len) && take(p, type, at, len);
}
