/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bytes: copy and clear memory without libc, and without calls that the compiler makes. */
#ifndef DP_ARCH_BYTES_H
#define DP_ARCH_BYTES_H

#include "port_types.h"

/* From so many bytes on the string instructions are worth their start. */
#define DP_BYTES_MANY 128

/* The barriers keep the compiler from making a loop a call of memcpy or memset. */
static inline void dp_bytes_copy(void *to, const void *from, u64 n)
{
	u8 *d = to;
	const u8 *s = from;

	if (n >= DP_BYTES_MANY) {
		__asm__ volatile("rep movsb"
				 : "+D"(d), "+S"(s), "+c"(n)
				 :
				 : "memory");
		return;
	}
	for (; n >= 8; n -= 8, d += 8, s += 8) {
		__builtin_memcpy(d, s, 8);
		__asm__ volatile("" : : : "memory");
	}
	for (; n; n--) {
		*d++ = *s++;
		__asm__ volatile("" : : : "memory");
	}
}

static inline void dp_words_zero(u64 *to, u64 n)
{
	if (n >= DP_BYTES_MANY / 8) {
		__asm__ volatile("rep stosq"
				 : "+D"(to), "+c"(n)
				 : "a"(0ul)
				 : "memory");
		return;
	}
	while (n--) {
		*to++ = 0;
		__asm__ volatile("" : : : "memory");
	}
}

/* @size: 1, 2 or 8 bytes, least significant first; @from: of any alignment */
static inline u64 dp_bytes_load(const u8 *from, u32 size)
{
	u64 word;
	u16 half;

	switch (size) {
	case 1:
		return *from;
	case 2:
		__builtin_memcpy(&half, from, sizeof(half));
		return half;
	default:
		__builtin_memcpy(&word, from, sizeof(word));
		return word;
	}
}

#endif
