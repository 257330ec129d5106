// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* scan: sscanf. */
#include "lib/compat/compat.h"

struct scan {
	const char *s;
	const char *f; /* the conversion, from its letter on */
	int width; /* 0: none given */
	int length; /* bytes of the integer it is stored in */
	bool skip;
};

static void store(struct scan *scan, va_list *args, u64 value)
{
	void *to;

	if (scan->skip)
		return;
	to = va_arg(*args, void *);
	memcpy(to, &value, (size_t)scan->length);
}

/* A copy limits the digits to the width; no number is longer than @text. */
static bool scan_number(struct scan *scan, va_list *args, unsigned int base,
			bool negative_too)
{
	char text[68], *end, *begin = text;
	long long value;
	size_t n;

	scan->s = skip_spaces(scan->s);
	n = strnlen(scan->s, sizeof(text) - 1);
	if (scan->width && n > (size_t)scan->width)
		n = (size_t)scan->width;
	memcpy(text, scan->s, n);
	text[n] = '\0';
	if (*begin == '+')
		begin++;
	if (*begin == '-' && !negative_too)
		return false;
	value = simple_strtoll(begin, &end, base);
	if (end == begin || end[-1] == '-')
		return false;
	scan->s += end - text;
	store(scan, args, (u64)value);
	return true;
}

static bool in_set(const char *set, const char *end, char c)
{
	bool invert = *set == '^';

	for (set += invert; set < end; set++) {
		if (set + 2 < end && set[1] == '-') {
			if (c >= set[0] && c <= set[2])
				return !invert;
			set += 2;
		} else if (*set == c) {
			return !invert;
		}
	}
	return invert;
}

/* Store characters of @set up to the width; without @set, up to a space. */
static bool scan_text(struct scan *scan, va_list *args, const char *set,
		      const char *set_end)
{
	int max = scan->width ? scan->width : INT_MAX, n = 0;
	char *to = scan->skip ? NULL : va_arg(*args, char *);

	if (!set)
		scan->s = skip_spaces(scan->s);
	while (n < max && *scan->s &&
	       (set ? in_set(set, set_end, *scan->s) : !isspace(*scan->s))) {
		if (to)
			to[n] = *scan->s;
		scan->s++;
		n++;
	}
	if (to)
		to[n] = '\0';
	return n > 0;
}

/* As many as there are, up to the width. */
static bool scan_chars(struct scan *scan, va_list *args)
{
	char *to = scan->skip ? NULL : va_arg(*args, char *);
	int n, max = scan->width ? scan->width : 1;

	for (n = 0; n < max && *scan->s; n++, scan->s++)
		if (to)
			*to++ = *scan->s;
	return n;
}

static const char *set_end(const char *f)
{
	f += *f == '^';
	f += *f == ']';
	while (*f && *f != ']')
		f++;
	return f;
}

/* Return: whether the input matches. scan->f moves behind the conversion. */
static bool convert(struct scan *scan, va_list *args)
{
	static const char numbers[] = "diuxXpo";
	static const u8 bases[] = { 10, 0, 10, 16, 16, 16, 8 };
	char conv = *scan->f++;
	const char *set = scan->f,
		   *number = memchr(numbers, conv, sizeof(bases));

	if (number)
		return scan_number(scan, args, bases[number - numbers],
				   number < numbers + 2);
	switch (conv) {
	case 's':
		return scan_text(scan, args, NULL, NULL);
	case 'c':
		return scan_chars(scan, args);
	case '[':
		scan->f = set_end(set);
		if (!*scan->f)
			return false;
		return scan_text(scan, args, set, scan->f++);
	default:
		return false;
	}
}

int dp_compat_vsscanf(const char *s, const char *fmt, va_list args)
{
	struct scan scan = { .s = s, .f = fmt };
	va_list ap;
	int n = 0;

	va_copy(ap, args);
	while (*scan.f) {
		if (isspace(*scan.f)) {
			scan.s = skip_spaces(scan.s);
			scan.f++;
		} else if (scan.f[0] != '%' || scan.f[1] == '%') {
			scan.f += *scan.f == '%';
			if (*scan.f != *scan.s)
				break;
			scan.f++;
			scan.s++;
		} else {
			scan.f++;
			scan.skip = *scan.f == '*';
			scan.f = dp_format_count(scan.f + scan.skip,
						 &scan.width);
			scan.f = dp_format_length(scan.f, &scan.length);
			if (*scan.f == 'n') {
				scan.f++;
				store(&scan, &ap, (u64)(scan.s - s));
				continue;
			}
			if (!convert(&scan, &ap))
				break;
			n += !scan.skip;
		}
	}
	va_end(ap);
	return n;
}

int dp_compat_sscanf(const char *s, const char *fmt, ...)
{
	return DP_VARIADIC(dp_compat_vsscanf(s, fmt, args));
}
