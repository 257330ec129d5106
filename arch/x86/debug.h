/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* debug: arch/debug.h for x86-64. Source: Intel SDM, volume 3, 18.2. */
#ifndef DP_ARCH_X86_DEBUG_H
#define DP_ARCH_X86_DEBUG_H

#include <sys/user.h>
#include "port_types.h"

#define DP_DEBUG_STATUS \
	(__builtin_offsetof(struct user, u_debugreg) + 6 * sizeof(u64))
#define DP_DEBUG_CONTROL \
	(__builtin_offsetof(struct user, u_debugreg) + 7 * sizeof(u64))

static inline u64 dp_debug_at(u32 n)
{
	return __builtin_offsetof(struct user, u_debugreg) + n * sizeof(u64);
}

/* Two bits switch it on, four say what it watches. */
static inline u64 dp_debug_mask(u32 n)
{
	return 3ull << (2 * n) | 0xfull << (16 + 4 * n);
}

static inline u64 dp_debug_execute(u32 n)
{
	return 1ull << (2 * n);
}

static inline u64 dp_debug_bits(u32 n, u32 len, bool reads)
{
	u64 size = len == 8 ? 2 : len - 1;

	return dp_debug_execute(n) | (size << 2 | (reads ? 3 : 1))
					     << (16 + 4 * n);
}

#endif
