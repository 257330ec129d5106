// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* arena: the memory that control and the hit half share. */
#include "kmod/arena.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include <linux/cache.h>
#include <linux/string.h>

/* The hit half knows these by their names and structures. */
#pragma GCC visibility push(hidden)
extern struct dp_wipe dp_wipe;
extern struct dp_private dp_private;
extern u64 dp_table[DP_TABLE_WORDS];
extern u8 dp_arena[DP_KMOD_ARENA];
#pragma GCC visibility pop

u8 dp_arena[DP_KMOD_ARENA] __aligned(DP_PAGE);
struct dp_wipe dp_wipe;
struct dp_private dp_private;
/* Detours find counters by it only where threads have restartable sequences. */
u64 dp_table[DP_TABLE_WORDS];

u64 dp_kmod_arena_begin(void)
{
	memset(dp_arena, 0, sizeof(dp_arena));
	dp_wipe.owner = 1;
	return (u64)dp_arena - DP_ARENA_OFFSET;
}
