// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* type: the names of types in casts, and of formats. */
#include "lang/value/private.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define STARS_MAX 8
#define COUNT_MAX 64

/* Words that are a type, each with its bits. */
static const struct {
	const char *word;
	struct dp_value_type type;
} types[] = {
	{ "char", { .kind = DP_VALUE_CHAR, .bits = 8 } },
	{ "short", { .kind = DP_VALUE_SIGNED, .bits = 16 } },
	{ "int", { .kind = DP_VALUE_SIGNED, .bits = 32 } },
	{ "long", { .kind = DP_VALUE_SIGNED, .bits = 64 } },
	{ "bool", { .kind = DP_VALUE_BOOL, .bits = 8 } },
	{ "_Bool", { .kind = DP_VALUE_BOOL, .bits = 8 } },
	{ "size_t", { .kind = DP_VALUE_UNSIGNED, .bits = 64 } },
	{ "ssize_t", { .kind = DP_VALUE_SIGNED, .bits = 64 } },
	{ "off_t", { .kind = DP_VALUE_SIGNED, .bits = 64 } },
	{ "time_t", { .kind = DP_VALUE_SIGNED, .bits = 64 } },
	{ "pid_t", { .kind = DP_VALUE_SIGNED, .bits = 32 } },
	{ "uid_t", { .kind = DP_VALUE_UNSIGNED, .bits = 32 } },
	{ "gid_t", { .kind = DP_VALUE_UNSIGNED, .bits = 32 } },
	{ "intptr_t", { .kind = DP_VALUE_SIGNED, .bits = 64 } },
	{ "uintptr_t", { .kind = DP_VALUE_HEX, .bits = 64 } },
	{ "float", { .kind = DP_VALUE_FLOAT, .bits = 32 } },
	{ "double", { .kind = DP_VALUE_FLOAT, .bits = 64 } },
	{ "void", { .kind = DP_VALUE_VOID } },
};

/* Formats; without bits, the number of bits is the value's. */
static const struct {
	const char *word;
	u8 kind, bits;
} formats[] = {
	{ "symbol", DP_VALUE_SYMBOL, 64 }, { "sym", DP_VALUE_SYMBOL, 64 },
	{ "symstr", DP_VALUE_SYMBOL, 64 }, { "ip", DP_VALUE_SYMBOL, 64 },
	{ "enum", DP_VALUE_ENUM, 0 },	   { "d", DP_VALUE_SIGNED, 0 },
	{ "u", DP_VALUE_UNSIGNED, 0 },	   { "x", DP_VALUE_HEX, 0 },
	{ "hex", DP_VALUE_HEX, 0 },	   { "o", DP_VALUE_OCTAL, 0 },
	{ "c", DP_VALUE_CHAR, 8 },	   { "char", DP_VALUE_CHAR, 8 },
	{ "bool", DP_VALUE_BOOL, 8 },	   { "s", DP_VALUE_STRING, 0 },
	{ "str", DP_VALUE_STRING, 0 },	   { "string", DP_VALUE_STRING, 0 },
	{ "ustring", DP_VALUE_STRING, 0 },
};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

/* What is known of ftrace, perf and C, and is not there; what does instead */
static const struct {
	const char *word, *why;
} absent[] = {
	{ "bitfield",
	  "a bit field is b4@8/32: four bits from bit 8 on, of 32" },
	{ "struct", "a struct is shown by its type: *(struct NAME *)…" },
	{ "union", "a union is shown by its type: *(union NAME *)…" },
};

/* u8 … x64, f32, f64 */
static bool is_sized(const struct dp_value_parser *p, int len,
		     struct dp_value_type *type)
{
	static const u8 kinds[] = { DP_VALUE_UNSIGNED, DP_VALUE_SIGNED,
				    DP_VALUE_HEX, DP_VALUE_FLOAT };
	static const char letters[] = "usxf";
	char word[8];
	u8 i, bits;

	for (i = 0; letters[i]; i++)
		for (bits = letters[i] == 'f' ? 32 : 8; bits <= 64; bits *= 2) {
			snprintf(word, sizeof(word), "%c%d", letters[i], bits);
			if (!dp_value_word_is(p, len, word))
				continue;
			*type = (struct dp_value_type){ .kind = kinds[i],
							.bits = bits };
			return true;
		}
	return false;
}

/* uint8_t … int64_t */
static bool is_standard(const struct dp_value_parser *p, int len,
			struct dp_value_type *type)
{
	char word[12];
	u8 bits;
	int sign;

	for (bits = 8; bits <= 64; bits *= 2)
		for (sign = 0; sign < 2; sign++) {
			snprintf(word, sizeof(word), "%sint%d_t",
				 sign ? "" : "u", bits);
			if (!dp_value_word_is(p, len, word))
				continue;
			*type = (struct dp_value_type){
				.kind = sign ? DP_VALUE_SIGNED :
					       DP_VALUE_UNSIGNED,
				.bits = bits
			};
			return true;
		}
	return false;
}

static bool is_named(const struct dp_value_parser *p, int len,
		     struct dp_value_type *type)
{
	size_t i;

	for (i = 0; i < LENGTH(types); i++)
		if (dp_value_word_is(p, len, types[i].word)) {
			*type = types[i].type;
			return true;
		}
	return is_sized(p, len, type) || is_standard(p, len, type);
}

static bool accept_word(struct dp_value_parser *p, const char *word)
{
	int len;

	dp_value_skip(p);
	len = dp_value_word(p);
	if (!len || !dp_value_word_is(p, len, word))
		return false;
	p->at += len;
	return true;
}

/* "long long int", "unsigned char", "unsigned" */
static bool take_base(struct dp_value_parser *p, struct dp_value_type *type)
{
	bool no_sign = accept_word(p, "unsigned");
	bool sign = !no_sign && accept_word(p, "signed");
	int len;

	dp_value_skip(p);
	len = dp_value_word(p);
	if (!len || !is_named(p, len, type)) {
		*type = (struct dp_value_type){ .kind = DP_VALUE_SIGNED,
						.bits = 32 };
		if (!no_sign && !sign)
			return false;
	} else {
		p->at += len;
		while (type->bits == 64 && accept_word(p, "long"))
			continue;
		if (type->kind == DP_VALUE_SIGNED)
			accept_word(p, "int");
	}
	if (no_sign)
		type->kind = DP_VALUE_UNSIGNED;
	if (sign)
		type->kind = DP_VALUE_SIGNED;
	return true;
}

bool dp_value_type(struct dp_value_parser *p, struct dp_value_type *type)
{
	while (accept_word(p, "const") || accept_word(p, "volatile"))
		continue;
	dp_value_skip(p);
	if (!take_base(p, type) && !dp_value_program_type(p, type))
		return false;
	while (accept_word(p, "const"))
		continue;
	while (dp_value_accept(p, "*"))
		if (++type->stars > STARS_MAX)
			dp_value_bad(p, p->at - 1, 1, -EINVAL,
				     "too many '*' in this type");
	if (!type->stars && type->kind == DP_VALUE_VOID)
		dp_value_bad(p, p->at - 4, 4, -EINVAL,
			     "no value is void; void * is a type");
	return true;
}

static bool find_format(const struct dp_value_parser *p, int len,
			struct dp_value_type *type)
{
	size_t i;

	if (is_sized(p, len, type))
		return true;
	for (i = 0; i < LENGTH(formats); i++)
		if (dp_value_word_is(p, len, formats[i].word)) {
			*type = (struct dp_value_type){
				.kind = formats[i].kind, .bits = formats[i].bits
			};
			return true;
		}
	return false;
}

static void refuse(struct dp_value_parser *p, int len)
{
	size_t i;

	for (i = 0; i < LENGTH(absent); i++)
		if (dp_value_word_is(p, len, absent[i].word))
			dp_value_bad(p, p->at, len, -EOPNOTSUPP, absent[i].why);
	dp_value_bad(
		p, p->at, len, -EINVAL,
		"a format is u8 to u64, s8 to s64, x8 to x64, f32, f64, d, u, x, o, c, bool, enum, sym, str or b4@8/32; u8[16] is an array");
}

/* A number of a bit field: up to @most */
static u8 take_bits(struct dp_value_parser *p, u64 most)
{
	int at = p->at;
	u64 n = dp_value_number(p);

	if (n > most)
		dp_value_bad(
			p, at, p->at - at, -EINVAL,
			"a bit field is within the 8, 16, 32 or 64 bits behind its '/'");
	return (u8)n;
}

/* b4@8/32: four bits, from bit 8 on, of 32. Return: false: it is none. */
static bool take_field(struct dp_value_parser *p, int len,
		       struct dp_value_type *type)
{
	int at = p->at;
	const char *s = p->text + at;
	u64 within;

	if (len < 2 || *s != 'b' || s[len] != '@' ||
	    strspn(s + 1, "0123456789") != (size_t)len - 1)
		return false;
	p->at++;
	*type = (struct dp_value_type){ .kind = DP_VALUE_UNSIGNED };
	type->bits = take_bits(p, 64);
	p->at++;
	type->from = take_bits(p, 63);
	if (!dp_value_accept(p, "/"))
		dp_value_bad(
			p, p->at, 1, -EINVAL,
			"the size of what has the bit field is missing: /32");
	within = take_bits(p, 64);
	if (!type->bits || within < 8 || within & (within - 1) ||
	    type->from + type->bits > within)
		dp_value_bad(
			p, at, p->at - at, -EINVAL,
			"a bit field is within the 8, 16, 32 or 64 bits behind its '/'");
	type->within = (u8)within;
	return true;
}

void dp_value_format(struct dp_value_parser *p, struct dp_value_type *type)
{
	u64 count;
	int len, at;

	dp_value_skip(p);
	len = dp_value_word(p);
	if (take_field(p, len, type))
		return;
	if (!find_format(p, len, type)) {
		refuse(p, len);
		return;
	}
	p->at += len;
	at = p->at;
	if (!dp_value_accept(p, "["))
		return;
	dp_value_skip(p);
	count = dp_value_number(p);
	if (type->kind == DP_VALUE_STRING)
		dp_value_bad(
			p, at, p->at - at, -EOPNOTSUPP,
			"an array of strings is not there yet: each is a value, as +8(+0(%di)):string");
	if (!dp_value_accept(p, "]") || !count || count > COUNT_MAX ||
	    !type->bits || type->kind == DP_VALUE_SYMBOL)
		dp_value_bad(p, at, p->at - at, -EINVAL,
			     "an array has 1 to 64 elements of a size: x8[16]");
	type->count = (u16)count;
}

u32 dp_value_size(struct dp_value_type type)
{
	return type.stars ? 8 : type.bits / 8;
}

bool dp_value_has_sign(struct dp_value_type type)
{
	return !type.stars &&
	       (type.kind == DP_VALUE_SIGNED || type.kind == DP_VALUE_CHAR);
}
