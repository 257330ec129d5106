/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bits: sets of a word, and powers of two. */
#ifndef DP_INSN_BITS_H
#define DP_INSN_BITS_H

#include "port_types.h"

/** dp_bits_count() - how many bits are set. The compiler's own calls a library where the processor may
 *  have no instruction for it. */
static inline u32 dp_bits_count(u64 set)
{
	u32 n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

/** dp_bits_power() - the least power of two that is not less than @n, nor than @least, which is one */
static inline u32 dp_bits_power(u32 n, u32 least)
{
	while (least < n)
		least *= 2;
	return least;
}

#endif
