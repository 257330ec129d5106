/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* few: counts in memory that a target can write. */
#ifndef DP_LAYOUT_FEW_H
#define DP_LAYOUT_FEW_H

#include "port_types.h"

/** dp_few() - a count from shared memory: never more than there is room for */
static inline u32 dp_few(const u32 *count, u32 room)
{
	u32 n = *(const volatile u32 *)count;

	return n < room ? n : room;
}

#endif
