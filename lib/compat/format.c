// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* format: printf without floating point, with the kernel's pointers. */
#include "lib/compat/compat.h"
#include "lib/compat/image.h"

struct out {
	char *buf;
	size_t size;
	size_t pos;
};

enum {
	LEFT = 1,
	PLUS = 2,
	SPACE = 4,
	ALTERNATE = 8,
	ZERO = 16,
	UPPER = 32,
	SIGNED = 64,
};

/* One conversion: %[flags][width][.precision][length]conv */
struct spec {
	unsigned int flags;
	int width;
	int precision; /* negative: none */
	int length; /* bytes of an integer argument */
	char conv;
};

static void put(struct out *out, char c)
{
	if (out->pos < out->size)
		out->buf[out->pos] = c;
	out->pos++;
}

static void fill(struct out *out, char c, long n)
{
	while (n-- > 0)
		put(out, c);
}

static void put_padded(struct out *out, const char *s, size_t n,
		       const struct spec *spec)
{
	long pad = spec->width - (long)n;

	if (!(spec->flags & LEFT))
		fill(out, ' ', pad);
	while (n--)
		put(out, *s++);
	if (spec->flags & LEFT)
		fill(out, ' ', pad);
}

static void put_string(struct out *out, const char *s, const struct spec *spec)
{
	size_t most = spec->precision < 0 ? INT_MAX : (size_t)spec->precision;

	if (!s)
		s = "(null)";
	else if ((unsigned long)s < 4096 || IS_ERR(s))
		s = "(efault)";
	put_padded(out, s, strnlen(s, most), spec);
}

static int digits_of(char *digits, u64 value, unsigned int base, bool upper)
{
	const char *set = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	int n = 0;

	for (; value; value /= base)
		digits[n++] = set[value % base];
	return n;
}

/* Write what comes before the digits: a sign, or 0x. */
static int prefix_of(char *prefix, const struct spec *spec, bool negative,
		     unsigned int base, bool zero)
{
	int n = 0;

	if (negative)
		prefix[n++] = '-';
	else if (spec->flags & SIGNED && spec->flags & PLUS)
		prefix[n++] = '+';
	else if (spec->flags & SIGNED && spec->flags & SPACE)
		prefix[n++] = ' ';
	if (base == 16 && spec->flags & ALTERNATE && !zero) {
		prefix[n++] = '0';
		prefix[n++] = spec->flags & UPPER ? 'X' : 'x';
	}
	return n;
}

static void put_number(struct out *out, u64 value, unsigned int base,
		       const struct spec *spec)
{
	bool negative = spec->flags & SIGNED && (s64)value < 0;
	char digits[24], prefix[3];
	int n, zeros, np, i;
	long pad;

	n = digits_of(digits, negative ? -value : value, base,
		      spec->flags & UPPER);
	np = prefix_of(prefix, spec, negative, base, value == 0);
	zeros = (spec->precision < 0 ? 1 : spec->precision) - n;
	if (zeros < 0)
		zeros = 0;
	if (base == 8 && spec->flags & ALTERNATE && !zeros &&
	    (value || !spec->precision))
		zeros = 1;
	pad = spec->width - (long)n - zeros - np;
	if (spec->flags & ZERO && !(spec->flags & LEFT) &&
	    spec->precision < 0 && pad > 0) {
		zeros += pad;
		pad = 0;
	}
	if (!(spec->flags & LEFT))
		fill(out, ' ', pad);
	for (i = 0; i < np; i++)
		put(out, prefix[i]);
	fill(out, '0', zeros);
	while (n)
		put(out, digits[--n]);
	if (spec->flags & LEFT)
		fill(out, ' ', pad);
}

static const char *parse_flags(const char *f, struct spec *spec)
{
	static const char flags[] = "-+ #0"; /* in the order of their bits */
	const char *flag;

	while (*f && (flag = strchr(flags, *f))) {
		spec->flags |= 1u << (flag - flags);
		f++;
	}
	return f;
}

const char *dp_format_count(const char *f, int *value)
{
	*value = 0;
	while (isdigit(*f)) {
		if (*value < 100000000)
			*value = *value * 10 + (*f - '0');
		f++;
	}
	return f;
}

const char *dp_format_length(const char *f, int *length)
{
	*length = 4;
	if (*f == 'h')
		*length = f[1] == 'h' ? 1 : 2;
	else if (*f && strchr("lLqzZjt", *f))
		*length = 8;
	else
		return f;
	return f + (f[0] == f[1] && strchr("hl", *f) ? 2 : 1);
}

static u64 extend(u64 value, const struct spec *spec)
{
	switch (spec->length) {
	case 1:
		return spec->flags & SIGNED ? (u64)(s8)value : (u8)value;
	case 2:
		return spec->flags & SIGNED ? (u64)(s16)value : (u16)value;
	case 4:
		return spec->flags & SIGNED ? (u64)(s32)value : (u32)value;
	default:
		return value;
	}
}

static void put_address(struct out *out, const void *p, struct spec spec)
{
	spec.flags &= LEFT;
	if (spec.width < 16)
		spec.flags |= ZERO;
	spec.precision = spec.width < 16 ? -1 : 16;
	if (spec.width < 16)
		spec.width = 16;
	put_number(out, (unsigned long)p, 16, &spec);
}

static void put_symbol(struct out *out, const void *p, struct spec spec,
		       enum dp_symbol_form form)
{
	char name[KSYM_SYMBOL_LEN];

	dp_symbol_print(name, sizeof(name), (unsigned long)p, form);
	put_string(out, name, &spec);
}

/* %*ph, %*phC, %*phD, %*phN: bytes with a space, colon, hyphen, nothing between */
static void put_bytes(struct out *out, const u8 *p, int n, char separator)
{
	static const char digits[] = "0123456789abcdef";
	int i;

	for (i = 0; i < n && i < 64; i++) {
		if (i && separator)
			put(out, separator);
		put(out, digits[p[i] >> 4]);
		put(out, digits[p[i] & 15]);
	}
}

static void put_ip4(struct out *out, const u8 *p)
{
	struct spec spec = { .precision = -1 };
	int i;

	for (i = 0; i < 4; i++) {
		if (i)
			put(out, '.');
		put_number(out, p[i], 10, &spec);
	}
}

static void put_error(struct out *out, const void *p, struct spec spec)
{
	if (!IS_ERR(p)) {
		put_address(out, p, spec);
		return;
	}
	spec.flags = SIGNED | (spec.flags & LEFT);
	put_number(out, (u64)PTR_ERR(p), 10, &spec);
}

static void put_formatted(struct out *out, const char *fmt, va_list args);

static void put_nested(struct out *out, const struct va_format *nested)
{
	va_list copy;

	va_copy(copy, *nested->va);
	put_formatted(out, nested->fmt, copy);
	va_end(copy);
}

static char separator_of(char c)
{
	return c == 'C' ? ':' : c == 'D' ? '-' : c == 'N' ? '\0' : ' ';
}

/* @f points behind the p. An unknown conversion prints the address. */
static void put_pointer(struct out *out, const char *f, const void *p,
			const struct spec *spec)
{
	bool bad = (unsigned long)p < 4096 || IS_ERR(p);

	switch (*f) {
	case 'S':
	case 'F':
		put_symbol(out, p, *spec, DP_SYMBOL_OFFSET);
		return;
	case 's':
	case 'f':
		put_symbol(out, p, *spec, DP_SYMBOL_NAME);
		return;
	case 'B':
		put_symbol(out, p, *spec, DP_SYMBOL_RETURN);
		return;
	case 'e':
		put_error(out, p, *spec);
		return;
	}
	if (!bad && *f == 'V')
		put_nested(out, p);
	else if (!bad && *f == 'h')
		put_bytes(out, p, spec->width ? spec->width : 1,
			  separator_of(f[1]));
	else if (!bad && (*f == 'M' || *f == 'm'))
		put_bytes(out, p, 6, *f == 'm' ? '\0' : ':');
	else if (!bad && (*f == 'I' || *f == 'i') && f[1] == '4')
		put_ip4(out, p);
	else
		put_address(out, p, *spec);
}

/* Print everything but a pointer. Return: false: it is not a conversion. */
static bool put_plain(struct out *out, struct spec *spec, u64 value)
{
	static const struct {
		char conv;
		u8 base, flags;
	} kinds[] = { { 'd', 10, SIGNED }, { 'i', 10, SIGNED }, { 'u', 10, 0 },
		      { 'x', 16, 0 },	   { 'X', 16, UPPER },	{ 'o', 8, 0 } };
	char one = (char)value;
	size_t i;

	if (spec->conv == 's') {
		put_string(out, (const char *)value, spec);
		return true;
	}
	if (spec->conv == 'c') {
		put_padded(out, &one, 1, spec);
		return true;
	}
	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (kinds[i].conv != spec->conv)
			continue;
		spec->flags |= kinds[i].flags;
		put_number(out, extend(value, spec), kinds[i].base, spec);
		return true;
	}
	return false;
}

static const char *parse_spec(const char *f, struct spec *spec, va_list *args)
{
	*spec = (struct spec){ .precision = -1 };
	f = parse_flags(f, spec);
	if (*f == '*') {
		spec->width = va_arg(*args, int);
		if (spec->width < 0) {
			spec->flags |= LEFT;
			spec->width = -spec->width;
		}
		f++;
	} else {
		f = dp_format_count(f, &spec->width);
	}
	if (*f == '.') {
		f++;
		if (*f == '*') {
			spec->precision = va_arg(*args, int);
			f++;
		} else {
			f = dp_format_count(f, &spec->precision);
		}
	}
	f = dp_format_length(f, &spec->length);
	spec->conv = *f;
	return *f ? f + 1 : f;
}

static u64 fetch(const struct spec *spec, va_list *args)
{
	return spec->length == 8 || spec->conv == 's' ?
		       va_arg(*args, unsigned long) :
		       va_arg(*args, unsigned int);
}

static void put_formatted(struct out *out, const char *fmt, va_list args)
{
	const char *f = fmt, *start;
	struct spec spec;
	va_list ap;

	/* A va_list parameter decays to a pointer, so its address has another type. */
	va_copy(ap, args);
	while (*f) {
		if (*f != '%') {
			put(out, *f++);
			continue;
		}
		start = f;
		f = parse_spec(f + 1, &spec, &ap);
		if (spec.conv == '%') {
			put(out, '%');
		} else if (spec.conv == 'p') {
			put_pointer(out, f, va_arg(ap, void *), &spec);
			while (isalnum(*f))
				f++;
		} else if (spec.conv == 'n') {
			(void)va_arg(ap, void *);
		} else if (!memchr("sdiuxXoc", spec.conv, 8) ||
			   !put_plain(out, &spec, fetch(&spec, &ap))) {
			while (start < f)
				put(out, *start++);
		}
	}
	va_end(ap);
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	struct out out = { .buf = buf, .size = size };

	put_formatted(&out, fmt, args);
	if (size)
		buf[out.pos < size ? out.pos : size - 1] = '\0';
	return (int)out.pos;
}

int vscnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	int n = vsnprintf(buf, size, fmt, args);

	if (!size)
		return 0;
	return (size_t)n < size ? n : (int)size - 1;
}

int vsprintf(char *buf, const char *fmt, va_list args)
{
	return vsnprintf(buf, INT_MAX, fmt, args);
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	return DP_VARIADIC(vsnprintf(buf, size, fmt, args));
}

int scnprintf(char *buf, size_t size, const char *fmt, ...)
{
	return DP_VARIADIC(vscnprintf(buf, size, fmt, args));
}

int sprintf(char *buf, const char *fmt, ...)
{
	return DP_VARIADIC(vsprintf(buf, fmt, args));
}

int dp_symbol_print(char *buf, size_t size, unsigned long addr,
		    enum dp_symbol_form form)
{
	unsigned long behind = form == DP_SYMBOL_RETURN && addr;
	struct dp_symbol symbol;
	int n;

	if (!dp_image_symbol(addr - behind, &symbol) || !symbol.name[0])
		return scnprintf(buf, size, "0x%lx", addr);
	n = scnprintf(buf, size, "%s", symbol.name);
	if (form != DP_SYMBOL_NAME)
		n += scnprintf(buf + n, size - (size_t)n, "+0x%lx/0x%lx",
			       symbol.offset + behind, symbol.size);
	if (symbol.object[0])
		n += scnprintf(buf + n, size - (size_t)n, " [%s]",
			       symbol.object);
	return n;
}
