/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* compat_formats: what modules print and scan, and the same by libc, whose names theirs are. */
#ifndef COMPAT_FORMATS_H
#define COMPAT_FORMATS_H

#include <linux/kernel.h>

int oracle_vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int oracle_vsscanf(const char *s, const char *fmt, va_list args);
size_t oracle_strspn(const char *s, const char *set);

static inline int ours(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

static inline int theirs(char *buf, size_t size, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = oracle_vsnprintf(buf, size, fmt, args);
	va_end(args);
	return n;
}

static inline int scan_ours(const char *s, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = dp_compat_vsscanf(s, fmt, args);
	va_end(args);
	return n;
}

static inline int scan_theirs(const char *s, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = oracle_vsscanf(s, fmt, args);
	va_end(args);
	return n;
}

#endif
