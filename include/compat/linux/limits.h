/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Limits: the system's, and those of the kernel's types. */
#ifndef DP_LINUX_LIMITS_H
#define DP_LINUX_LIMITS_H

#include_next <linux/limits.h>

#define DP_LIMIT_U(type) ((type)~(type)0)
#ifndef INT_MAX
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX (INT_MAX * 2U + 1U)
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX - 1L)
#define ULONG_MAX (LONG_MAX * 2UL + 1UL)
#define SHRT_MAX 32767
#define SHRT_MIN (-SHRT_MAX - 1)
#define USHRT_MAX 65535
#endif
#ifndef LLONG_MAX
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define ULLONG_MAX (LLONG_MAX * 2ULL + 1ULL)
#endif
#define U8_MAX 255
#define S8_MAX 127
#define S8_MIN (-128)
#define U16_MAX 65535
#define S16_MAX 32767
#define S16_MIN (-32768)
#define U32_MAX 4294967295U
#define S32_MAX 2147483647
#define S32_MIN (-S32_MAX - 1)
#define U64_MAX 18446744073709551615ULL
#define S64_MAX 9223372036854775807LL
#define S64_MIN (-S64_MAX - 1LL)
#ifndef SIZE_MAX
#define SIZE_MAX (~(size_t)0)
#endif

#endif
