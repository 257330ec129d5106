// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* number: numbers from text. */
#include "lib/compat/compat.h"

static unsigned int digit_of(char c)
{
	if (isdigit(c))
		return (unsigned int)(c - '0');
	if (isalpha(c))
		return (unsigned int)(tolower(c) - 'a' + 10);
	return 99;
}

static const char *take_base(const char *s, unsigned int *base)
{
	bool hex = s[0] == '0' && tolower(s[1]) == 'x' && isxdigit(s[2]);

	if (*base == 0)
		*base = hex ? 16 : s[0] == '0' ? 8 : 10;
	return hex && *base == 16 ? s + 2 : s;
}

/* Return: behind the digits; @s if there are none. *@over: the number is too large. */
static const char *take_digits(const char *s, unsigned int base, u64 *value,
			       bool *over)
{
	unsigned int digit;

	*value = 0;
	*over = false;
	for (; (digit = digit_of(*s)) < base; s++) {
		if (__builtin_mul_overflow(*value, (u64)base, value) ||
		    __builtin_add_overflow(*value, (u64)digit, value))
			*over = true;
	}
	return s;
}

int kstrtoull(const char *s, unsigned int base, unsigned long long *res)
{
	const char *begin, *end;
	bool over;
	u64 value;

	if (*s == '+')
		s++;
	begin = take_base(s, &base);
	end = take_digits(begin, base, &value, &over);
	if (end == begin)
		return -EINVAL;
	if (*end == '\n')
		end++;
	if (*end)
		return -EINVAL;
	if (over)
		return -ERANGE;
	*res = value;
	return 0;
}

int kstrtoll(const char *s, unsigned int base, long long *res)
{
	bool negative = *s == '-';
	unsigned long long value;
	int err = kstrtoull(s + negative, base, &value);

	if (negative && s[1] == '+')
		return -EINVAL;
	if (err)
		return err;
	if (value > (unsigned long long)S64_MAX + negative)
		return -ERANGE;
	*res = (long long)(negative ? -value : value);
	return 0;
}

#define DP_NARROW(name, wide_name, wide, type)                \
	int name(const char *s, unsigned int base, type *res) \
	{                                                     \
		wide value;                                   \
		int err = wide_name(s, base, &value);         \
                                                              \
		if (err)                                      \
			return err;                           \
		if (value != (wide)(type)value)               \
			return -ERANGE;                       \
		*res = (type)value;                           \
		return 0;                                     \
	}

DP_NARROW(kstrtoul, kstrtoull, unsigned long long, unsigned long)
DP_NARROW(kstrtol, kstrtoll, long long, long)
DP_NARROW(kstrtouint, kstrtoull, unsigned long long, unsigned int)
DP_NARROW(kstrtoint, kstrtoll, long long, int)
DP_NARROW(kstrtou16, kstrtoull, unsigned long long, u16)
DP_NARROW(kstrtos16, kstrtoll, long long, s16)
DP_NARROW(kstrtou8, kstrtoull, unsigned long long, u8)
DP_NARROW(kstrtos8, kstrtoll, long long, s8)

int kstrtobool(const char *s, bool *res)
{
	char first, second;

	if (!s)
		return -EINVAL;
	first = (char)tolower(s[0]);
	second = first ? (char)tolower(s[1]) : '\0';
	if (first == 'y' || first == 't' || first == '1' ||
	    (first == 'o' && second == 'n'))
		*res = true;
	else if (first == 'n' || first == 'f' || first == '0' ||
		 (first == 'o' && second == 'f'))
		*res = false;
	else
		return -EINVAL;
	return 0;
}

unsigned long long simple_strtoull(const char *s, char **end, unsigned int base)
{
	const char *begin = take_base(s, &base);
	bool over;
	u64 value;
	const char *stop = take_digits(begin, base, &value, &over);

	if (end)
		*end = (char *)stop;
	return value;
}

long long simple_strtoll(const char *s, char **end, unsigned int base)
{
	if (*s == '-')
		return -(long long)simple_strtoull(s + 1, end, base);
	return (long long)simple_strtoull(s, end, base);
}

unsigned long simple_strtoul(const char *s, char **end, unsigned int base)
{
	return simple_strtoull(s, end, base);
}

long simple_strtol(const char *s, char **end, unsigned int base)
{
	return simple_strtoll(s, end, base);
}
