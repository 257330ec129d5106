// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* string: strings, memory and characters. */
#include "lib/compat/compat.h"

void *memcpy(void *to, const void *from, size_t n)
{
	void *result = to;

	__asm__ volatile("rep movsb"
			 : "+D"(to), "+S"(from), "+c"(n)
			 :
			 : "memory");
	return result;
}

void *memmove(void *to, const void *from, size_t n)
{
	char *d = to;
	const char *s = from;

	if ((unsigned long)d - (unsigned long)s >= n)
		return memcpy(to, from, n);
	while (n--)
		d[n] = s[n];
	return to;
}

void *memset(void *p, int c, size_t n)
{
	void *result = p;

	__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(c) : "memory");
	return result;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}

void *memchr(const void *p, int c, size_t n)
{
	const u8 *s = p;

	for (; n; n--, s++)
		if (*s == (u8)c)
			return (void *)s;
	return NULL;
}

size_t strnlen(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i])
		i++;
	return i;
}

size_t strlen(const char *s)
{
	return strnlen(s, (size_t)-1);
}

char *strcpy(char *to, const char *from)
{
	return memcpy(to, from, strlen(from) + 1);
}

char *strncpy(char *to, const char *from, size_t n)
{
	size_t len = strnlen(from, n);

	memcpy(to, from, len);
	memset(to + len, 0, n - len);
	return to;
}

ssize_t strscpy(char *to, const char *from, size_t size)
{
	size_t len = strnlen(from, size);

	if (!size)
		return -E2BIG;
	if (len == size) {
		memcpy(to, from, size - 1);
		to[size - 1] = '\0';
		return -E2BIG;
	}
	memcpy(to, from, len + 1);
	return (ssize_t)len;
}

ssize_t strscpy_pad(char *to, const char *from, size_t size)
{
	ssize_t len = strscpy(to, from, size);

	if (len >= 0)
		memset(to + len, 0, size - (size_t)len);
	return len;
}

size_t strlcpy(char *to, const char *from, size_t size)
{
	strscpy(to, from, size);
	return strlen(from);
}

char *strcat(char *to, const char *from)
{
	strcpy(to + strlen(to), from);
	return to;
}

char *strncat(char *to, const char *from, size_t n)
{
	char *end = to + strlen(to);
	size_t len = strnlen(from, n);

	memcpy(end, from, len);
	end[len] = '\0';
	return to;
}

size_t strlcat(char *to, const char *from, size_t size)
{
	size_t have = strnlen(to, size);

	if (have < size)
		strscpy(to + have, from, size - have);
	return have + strlen(from);
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n; n--, a++, b++)
		if (*a != *b || !*a)
			return (u8)*a - (u8)*b;
	return 0;
}

int strcmp(const char *a, const char *b)
{
	return strncmp(a, b, (size_t)-1);
}

int strncasecmp(const char *a, const char *b, size_t n)
{
	int d;

	for (; n; n--, a++, b++) {
		d = tolower((u8)*a) - tolower((u8)*b);
		if (d || !*a)
			return d;
	}
	return 0;
}

int strcasecmp(const char *a, const char *b)
{
	return strncasecmp(a, b, (size_t)-1);
}

char *strnchr(const char *s, size_t n, int c)
{
	for (; n; n--, s++) {
		if (*s == (char)c)
			return (char *)s;
		if (!*s)
			break;
	}
	return NULL;
}

char *strchr(const char *s, int c)
{
	return strnchr(s, (size_t)-1, c);
}

char *strrchr(const char *s, int c)
{
	const char *end = s + strlen(s);

	for (;; end--) {
		if (*end == (char)c)
			return (char *)end;
		if (end == s)
			return NULL;
	}
}

char *strnstr(const char *s, const char *what, size_t n)
{
	size_t len = strlen(what), have = strnlen(s, n);

	for (; have >= len; have--, s++)
		if (!memcmp(s, what, len))
			return (char *)s;
	return NULL;
}

char *strstr(const char *s, const char *what)
{
	return strnstr(s, what, (size_t)-1);
}

size_t strspn(const char *s, const char *accept)
{
	size_t n = 0;

	while (s[n] && strchr(accept, s[n]))
		n++;
	return n;
}

size_t strcspn(const char *s, const char *reject)
{
	size_t n = 0;

	while (s[n] && !strchr(reject, s[n]))
		n++;
	return n;
}

char *strpbrk(const char *s, const char *accept)
{
	s += strcspn(s, accept);
	return *s ? (char *)s : NULL;
}

char *strsep(char **s, const char *delimiters)
{
	char *begin = *s, *end;

	if (!begin)
		return NULL;
	end = strpbrk(begin, delimiters);
	if (end)
		*end++ = '\0';
	*s = end;
	return begin;
}

char *skip_spaces(const char *s)
{
	while (isspace(*s))
		s++;
	return (char *)s;
}

char *strim(char *s)
{
	size_t n = strlen(s);

	while (n && isspace(s[n - 1]))
		n--;
	s[n] = '\0';
	return skip_spaces(s);
}

static size_t length_without_newline(const char *s)
{
	size_t n = strlen(s);

	return n && s[n - 1] == '\n' ? n - 1 : n;
}

bool sysfs_streq(const char *a, const char *b)
{
	size_t n = length_without_newline(a);

	return n == length_without_newline(b) && !memcmp(a, b, n);
}

#define DP_CTYPE(name, result) \
	int name(int c)        \
	{                      \
		return result; \
	}

DP_CTYPE(isdigit, c >= '0' && c <= '9')
DP_CTYPE(isupper, c >= 'A' && c <= 'Z')
DP_CTYPE(islower, c >= 'a' && c <= 'z')
DP_CTYPE(isalpha, isupper(c) || islower(c))
DP_CTYPE(isalnum, isalpha(c) || isdigit(c))
DP_CTYPE(isxdigit,
	 isdigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
DP_CTYPE(isspace, c == ' ' || (c >= '\t' && c <= '\r'))
DP_CTYPE(isprint, c >= ' ' && c <= '~')
DP_CTYPE(ispunct, isprint(c) && c != ' ' && !isalnum(c))
DP_CTYPE(tolower, isupper(c) ? c + 32 : c)
DP_CTYPE(toupper, islower(c) ? c - 32 : c)
