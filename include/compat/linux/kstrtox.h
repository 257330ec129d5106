/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Numbers from text. */
#ifndef DP_LINUX_KSTRTOX_H
#define DP_LINUX_KSTRTOX_H

#include <linux/types.h>

/*
 * kstrtoTYPE() - the whole of @s, but for one newline at its end, is a number
 * @base: 2 to 36; 0 takes 0x and 0 at the beginning for hexadecimal and octal
 * Context: any. Return: 0; -EINVAL; -ERANGE. @res is written on success only.
 */
int kstrtoull(const char *s, unsigned int base, unsigned long long *res)
	DP_COMPAT(kstrtoull);
int kstrtoll(const char *s, unsigned int base, long long *res)
	DP_COMPAT(kstrtoll);
int kstrtoul(const char *s, unsigned int base, unsigned long *res)
	DP_COMPAT(kstrtoul);
int kstrtol(const char *s, unsigned int base, long *res) DP_COMPAT(kstrtol);
int kstrtouint(const char *s, unsigned int base, unsigned int *res)
	DP_COMPAT(kstrtouint);
int kstrtoint(const char *s, unsigned int base, int *res) DP_COMPAT(kstrtoint);
int kstrtou16(const char *s, unsigned int base, u16 *res) DP_COMPAT(kstrtou16);
int kstrtos16(const char *s, unsigned int base, s16 *res) DP_COMPAT(kstrtos16);
int kstrtou8(const char *s, unsigned int base, u8 *res) DP_COMPAT(kstrtou8);
int kstrtos8(const char *s, unsigned int base, s8 *res) DP_COMPAT(kstrtos8);
/** kstrtobool() - y Y t T 1 on ON, n N f F 0 off OFF: the first letters count */
int kstrtobool(const char *s, bool *res) DP_COMPAT(kstrtobool);
#define strtobool kstrtobool
#define kstrtou64(s, base, res) kstrtoull(s, base, (unsigned long long *)(res))
#define kstrtos64(s, base, res) kstrtoll(s, base, (long long *)(res))
#define kstrtou32(s, base, res) kstrtouint(s, base, res)
#define kstrtos32(s, base, res) kstrtoint(s, base, res)
#define strict_strtoul kstrtoul
#define strict_strtol kstrtol

/* The numbers at the beginning; @end, if any, is set behind them. */
unsigned long long simple_strtoull(const char *s, char **end, unsigned int base)
	DP_COMPAT(simple_strtoull);
long long simple_strtoll(const char *s, char **end, unsigned int base)
	DP_COMPAT(simple_strtoll);
unsigned long simple_strtoul(const char *s, char **end, unsigned int base)
	DP_COMPAT(simple_strtoul);
long simple_strtol(const char *s, char **end, unsigned int base)
	DP_COMPAT(simple_strtol);

#endif
