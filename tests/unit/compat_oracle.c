// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* compat_oracle: libc's own functions, out of reach of compat's names. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int oracle_vsnprintf(char *buf, size_t size, const char *fmt, va_list args);
int oracle_vsscanf(const char *s, const char *fmt, va_list args);
size_t oracle_strspn(const char *s, const char *set);

int oracle_vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	return vsnprintf(buf, size, fmt, args);
}

int oracle_vsscanf(const char *s, const char *fmt, va_list args)
{
	return vsscanf(s, fmt, args);
}

size_t oracle_strspn(const char *s, const char *set)
{
	return strspn(s, set);
}
