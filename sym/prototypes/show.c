// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* show: values as text, by their types. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sym/prototypes/parse.h"

/* A text that may be longer than its room */
struct out {
	char *buf;
	size_t len, at;
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o,
						      const char *fmt, ...)
{
	size_t at = o->at < o->len ? o->at : o->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->buf + at, o->len - at, fmt, ap);
	va_end(ap);
	o->at += n > 0 ? (size_t)n : 0;
}

static u64 cut(const struct dp_prototype_type *type, u64 value)
{
	return type->size >= 8 ? value : value & ((1ull << type->size * 8) - 1);
}

u64 dp_proto_extend(const struct dp_prototype_type *type, u64 value)
{
	u64 sign = 1ull << (type->size * 8 - 1);

	value = cut(type, value);
	return type->is_signed ? (value ^ sign) - sign : value;
}

static void show_plain(struct out *o, const struct dp_prototype_type *type,
		       u64 value)
{
	value = dp_proto_extend(type, value);
	put(o, type->is_signed ? "%ld" : "%lu", value);
}

/* A character that C writes so within quotes */
static void show_char(struct out *o, u8 c)
{
	static const char named[] = "\a\b\t\n\v\f\r", letters[] = "abtnvfr";
	const char *at = c ? strchr(named, c) : NULL;

	if (at)
		put(o, "'\\%c'", letters[at - named]);
	else if (c == '\'' || c == '\\')
		put(o, "'\\%c'", c);
	else if (c >= ' ' && c < 0x7f)
		put(o, "'%c'", c);
	else
		put(o, c ? "'\\x%02x'" : "'\\0'", c);
}

static void show_bits(struct out *o, u64 bits, unsigned int n)
{
	unsigned int i, first;
	const char *comma = "";

	put(o, "<");
	for (i = 0; i < n; i++) {
		if (!(bits >> i & 1))
			continue;
		for (first = i; i + 1 < n && (bits >> (i + 1) & 1);)
			i++;
		put(o, i > first ? "%s%u-%u" : "%s%u", comma, first, i);
		comma = ",";
	}
	put(o, ">");
}

/* Those that are not set, if there are fewer of them. */
static void show_bitvec(struct out *o, u64 value, unsigned int n)
{
	bool inverse = (unsigned int)__builtin_popcountll(value) > n / 2;

	if (inverse)
		put(o, "~");
	show_bits(o, inverse ? ~value : value, n);
}

/* Names are as wide as the type: -1 is the highest value of one without a sign. */
static void show_enum(struct out *o, const struct dp_prototype_type *type,
		      u64 value)
{
	u32 i;

	for (i = 0; i < type->n; i++)
		if (cut(type, type->names[i].value) == cut(type, value)) {
			put(o, "%s", type->names[i].text);
			return;
		}
	show_plain(o, type, value);
}

/* A name goes for all of its mask, so that a mask has one name at most. What has no bit is
 * named if nothing else is there. */
static bool has_flag(const struct dp_prototype_name *name, u64 value, u64 rest)
{
	if (!name->mask)
		return !value && !name->value;
	return (value & name->mask) == name->value &&
	       (rest & name->mask) == name->value;
}

static void show_flags(struct out *o, const struct dp_prototype_type *type,
		       u64 value)
{
	u64 rest = cut(type, value), all = rest;
	const char *bar = "";
	u32 i;

	for (i = 0; i < type->n; i++) {
		if (!has_flag(&type->names[i], all, rest))
			continue;
		put(o, "%s%s", bar, type->names[i].text);
		rest &= ~type->names[i].mask;
		bar = "|";
	}
	if (rest)
		put(o, "%s0x%lx", bar, rest);
	else if (!*bar)
		put(o, "0");
}

/* As few digits as read back as the same number. */
static void show_float(struct out *o, unsigned int bits, u64 value)
{
	char text[40];
	double d;
	float f;
	u32 low = (u32)value;
	int digits = 0;

	memcpy(&f, &low, sizeof(f));
	memcpy(&d, &value, sizeof(d));
	if (bits == 32)
		d = (double)f;
	do {
		snprintf(text, sizeof(text), "%.*g", ++digits, d);
	} while (digits < 17 && (bits == 32 ? strtof(text, NULL) != f :
					      strtod(text, NULL) != d));
	put(o, "%s", text);
}

static void show_hex(struct out *o, const struct dp_prototype_type *type,
		     u64 value)
{
	value = cut(type, value);
	put(o, value ? "0x%lx" : "0", value);
}

static void show_int(struct out *o, const struct dp_prototype_type *type,
		     u64 value)
{
	switch (type->lens) {
	case DP_PROTOTYPE_CHAR:
		return show_char(o, (u8)value);
	case DP_PROTOTYPE_OCT:
		value = cut(type, value);
		return put(o, value ? "0%lo" : "0", value);
	case DP_PROTOTYPE_HEX:
		return show_hex(o, type, value);
	case DP_PROTOTYPE_BOOL:
		return put(o, cut(type, value) ? "true" : "false");
	case DP_PROTOTYPE_BITVEC:
		return show_bitvec(o, cut(type, value), type->bits);
	case DP_PROTOTYPE_ENUM:
		return show_enum(o, type, value);
	case DP_PROTOTYPE_FLAGS:
		return show_flags(o, type, value);
	default:
		return show_plain(o, type, value);
	}
}

int dp_prototypes_show(char *buf, size_t len,
		       const struct dp_prototype_type *type, u64 value)
{
	struct out o = { buf, len, 0 };

	*buf = '\0';
	if (type->kind == DP_PROTOTYPE_INT)
		show_int(&o, type, value);
	else if (type->kind == DP_PROTOTYPE_POINTER && value)
		put(&o, "0x%lx", value);
	else if (type->kind == DP_PROTOTYPE_POINTER)
		put(&o, "NULL");
	else if (type->kind == DP_PROTOTYPE_FLOAT && type->bits <= 64)
		show_float(&o, type->bits, value);
	else
		return -EOPNOTSUPP;
	return (int)o.at;
}

bool dp_prototypes_failed(const struct dp_prototype *f, u64 value)
{
	if (f->fails == DP_PROTOTYPE_FAILS_UNKNOWN)
		return false;
	value = dp_proto_extend(f->returns, value);
	return f->fails == DP_PROTOTYPE_FAILS_ERRNO ? value == f->failure :
						      value;
}

static void show_error(struct out *o, int err)
{
	const char *name = strerrorname_np(err);
	const char *words = strerrordesc_np(err);

	if (name && words)
		put(o, " %s (%s)", name, words);
}

/* A value that means failure, and no more, reads best as a number with a sign. */
int dp_prototypes_show_return(char *buf, size_t len,
			      const struct dp_prototype *f, u64 value, int err)
{
	bool failed = dp_prototypes_failed(f, value);
	struct out o = { buf, len, 0 };
	int n = 0;

	*buf = '\0';
	if (failed && f->returns->kind == DP_PROTOTYPE_INT)
		put(&o, "%ld", dp_proto_extend(f->returns, value));
	else if (failed && value == ~0ull)
		put(&o, "-1");
	else if (f->returns->kind != DP_PROTOTYPE_VOID)
		n = dp_prototypes_show(buf, len, f->returns, value);
	if (n < 0)
		return n;
	o.at += (size_t)n;
	if (failed && f->fails == DP_PROTOTYPE_FAILS_ERROR)
		err = (int)dp_proto_extend(f->returns, value);
	if (failed && err > 0)
		show_error(&o, err);
	return (int)o.at;
}
