/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* bits: sets of a word. */
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

#endif
