/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bytes: as arch/x86/bytes.h, for a processor of which nothing is known. */
#ifndef DP_ARCH_BYTES_H
#define DP_ARCH_BYTES_H

#include "port_types.h"

static inline void dp_bytes_copy(void *to, const void *from, u64 n)
{
	u8 *d = to;
	const u8 *s = from;

	while (n--)
		*d++ = *s++;
}

static inline void dp_words_zero(u64 *to, u64 n)
{
	while (n--)
		*to++ = 0;
}

static inline u64 dp_bytes_load(const u8 *from, u32 size)
{
	u64 word = 0;

	while (size--)
		word = word << 8 | from[size];
	return word;
}

#endif
