/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bytes: moving them without libc, and without the compiler calling it. */
#ifndef DP_ARCH_BYTES_H
#define DP_ARCH_BYTES_H

#include "port_types.h"

static inline void dp_bytes_copy(void *to, const void *from, u64 n)
{
	__asm__ volatile("rep movsb"
			 : "+D"(to), "+S"(from), "+c"(n)
			 :
			 : "memory");
}

static inline void dp_words_zero(u64 *to, u64 n)
{
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0ul) : "memory");
}

#endif
