// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* number: read 10, 0x1f, 017 or 'c' with a sign, and check its range. */
#include "lang/private.h"
#include <ctype.h>

static int digit(char c)
{
	if (isdigit((u8)c))
		return c - '0';
	return isxdigit((u8)c) ? (c | 32) - 'a' + 10 : 99;
}

static bool is_hex(const struct dp_token *tok)
{
	return tok->len > 2 && tok->s[0] == '0' && (tok->s[1] | 32) == 'x';
}

int dp_lang_number_value(struct dp_lang_reader *r, struct dp_token *tok)
{
	bool hex = is_hex(tok);
	int base = hex ? 16 : tok->s[0] == '0' ? 8 : 10;
	u32 i;

	tok->value = 0;
	for (i = hex ? 2 : 0; i < tok->len; i++) {
		if (digit(tok->s[i]) >= base)
			return dp_lang_bad(r, tok->at,
					   "\"%.*s\" is no number; numbers are "
					   "10, 0x1f, octal 017 or 'c'",
					   DP_TOKEN_SHOWN(tok));
		if (__builtin_mul_overflow(tok->value, base, &tok->value) ||
		    __builtin_add_overflow(tok->value, digit(tok->s[i]),
					   &tok->value))
			return dp_lang_bad(r, tok->at,
					   "this number is too large; "
					   "64 bits are the most");
	}
	return 0;
}

int dp_lang_number(struct dp_lang_reader *r, const char *what,
		   struct dp_lang_number *number)
{
	struct dp_source_place at = r->tok.at;
	bool negative = r->tok.kind == '-';
	int err = negative ? dp_lex_next(r) : 0;

	if (err)
		return err;
	if (r->tok.kind != DP_TOKEN_NUMBER)
		return dp_lang_bad(r, r->tok.at,
				   "%s is a number: 10, 0x1f, octal 017 or 'c'",
				   what);
	number->value = r->tok.value;
	number->negative = negative && number->value;
	number->at = dp_lang_join(at, r->tok.at);
	return dp_lex_next(r);
}

int dp_lang_range(struct dp_lang_reader *r, const struct dp_lang_number *number,
		  const char *what, s64 min, u64 max)
{
	if (number->negative ? min < 0 && number->value <= -(u64)min :
			       number->value <= max &&
				       (min <= 0 || number->value >= (u64)min))
		return 0;
	return dp_lang_bad(r, number->at, "%s is from %lld to %llu, not %s%llu",
			   what, (long long)min, (unsigned long long)max,
			   number->negative ? "-" : "",
			   (unsigned long long)number->value);
}
