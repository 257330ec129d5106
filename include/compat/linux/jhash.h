/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A hash of bytes. Its values are not the kernel's. */
#ifndef DP_LINUX_JHASH_H
#define DP_LINUX_JHASH_H

#include <linux/types.h>

static inline u32 jhash(const void *key, u32 length, u32 seed)
{
	const u8 *p = key;
	u32 hash = seed ^ 2166136261u;

	while (length--)
		hash = (hash ^ *p++) * 16777619u;
	return hash;
}

#define jhash2(key, words, seed) jhash(key, (words) * 4, seed)
#define jhash_1word(a, seed) ({ u32 dp_w = (a); jhash(&dp_w, 4, seed); })

#endif
