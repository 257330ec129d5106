/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Hashes of integers and pointers. */
#ifndef DP_LINUX_HASH_H
#define DP_LINUX_HASH_H

#include <linux/types.h>

/* Multiplication by the golden ratio's fraction; the high bits are the best. */
static inline u32 hash_32(u32 value, unsigned int bits)
{
	return (value * 0x9e3779b1u) >> (32 - bits);
}

static inline u32 hash_64(u64 value, unsigned int bits)
{
	return (u32)((value * 0x9e3779b97f4a7c15ull) >> (64 - bits));
}

#define hash_long(value, bits) hash_64(value, bits)
#define hash_ptr(p, bits) hash_64((unsigned long)(p), bits)
#define hash_min(value, bits) \
	(sizeof(value) <= 4 ? hash_32(value, bits) : hash_64(value, bits))

#endif
