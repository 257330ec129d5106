/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arena: the arena, in the module's own memory, where the hit half's text reaches it. */
#ifndef DP_KMOD_ARENA_H
#define DP_KMOD_ARENA_H

#include "port_types.h"

/* Bytes */
#define DP_KMOD_ARENA (14 << 20)

/** dp_kmod_arena_begin() - zero it. Return: its address, for struct dp_mapping: as if the other parts
 *  of an agent's memory stood before it */
u64 dp_kmod_arena_begin(void);

#endif
