/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random bytes from the system. */
#ifndef DP_LINUX_RANDOM_H
#define DP_LINUX_RANDOM_H

#include_next <linux/random.h>
#include <linux/types.h>

/** get_random_bytes() - Context: any. */
void get_random_bytes(void *buf, int n) DP_COMPAT(get_random_bytes);
static inline u32 get_random_u32(void)
{
	u32 value;

	get_random_bytes(&value, sizeof(value));
	return value;
}
#define prandom_u32() get_random_u32()
#define get_random_int() get_random_u32()

#endif
