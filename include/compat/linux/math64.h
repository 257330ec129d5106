/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Divisions of 64-bit numbers. */
#ifndef DP_LINUX_MATH64_H
#define DP_LINUX_MATH64_H

#include <linux/types.h>

#define do_div(n, base)                            \
	({                                         \
		u32 dp_base = (base);              \
		u32 dp_rest = (u64)(n) % dp_base;  \
		(n) = (u64)(n) / dp_base;          \
		dp_rest;                           \
	})

static inline u64 div_u64(u64 n, u32 d)
{
	return n / d;
}

static inline s64 div_s64(s64 n, s32 d)
{
	return n / d;
}

static inline u64 div64_u64(u64 n, u64 d)
{
	return n / d;
}

static inline s64 div64_s64(s64 n, s64 d)
{
	return n / d;
}

static inline u64 div_u64_rem(u64 n, u32 d, u32 *rest)
{
	*rest = n % d;
	return n / d;
}

#define div64_ul div64_u64

#endif
