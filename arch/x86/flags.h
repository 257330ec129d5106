/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* flags: the processor's flags, and the conditions of branches. */
#ifndef DP_ARCH_FLAGS_H
#define DP_ARCH_FLAGS_H

#include "port_types.h"

#define DP_CF 0x1
#define DP_PF 0x4
#define DP_ZF 0x40
#define DP_SF 0x80
#define DP_OF 0x800

/** dp_condition() - is a condition met? @cc: the machine's number, 0 to 15 */
static inline bool dp_condition(u8 cc, u64 flags)
{
	/* Of pairs of conditions; the last two also compare SF and OF. */
	static const u16 any[] = { DP_OF, DP_CF, DP_ZF, DP_CF | DP_ZF,
				   DP_SF, DP_PF, 0,	DP_ZF };
	bool less = cc >= 12 && !(flags & DP_SF) != !(flags & DP_OF);

	return (less || flags & any[cc >> 1]) != (cc & 1);
}

#endif
