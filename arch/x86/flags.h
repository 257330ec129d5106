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
	bool less = !(flags & DP_SF) != !(flags & DP_OF), is;

	switch (cc >> 1) {
	case 0:
		is = flags & DP_OF;
		break;
	case 1:
		is = flags & DP_CF;
		break;
	case 2:
		is = flags & DP_ZF;
		break;
	case 3:
		is = flags & (DP_CF | DP_ZF);
		break;
	case 4:
		is = flags & DP_SF;
		break;
	case 5:
		is = flags & DP_PF;
		break;
	case 6:
		is = less;
		break;
	default:
		is = less || flags & DP_ZF;
		break;
	}
	return is != (cc & 1);
}

#endif
