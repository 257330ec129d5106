/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* thread: what a thread is known by. */
#ifndef DP_LAYOUT_THREAD_H
#define DP_LAYOUT_THREAD_H

#include "port_types.h"

/**
 * dp_thread_id() - what a thread is known by
 * @pointer: its thread pointer, 47 bits; 0: there is no libc that has set it
 * @tid: its id, which counts then
 *
 * Leaves free the bits of DP_MASK_BITS, and the highest one.
 */
#define DP_THREAD_BARE (1ull << 46)
static inline u64 dp_thread_id(u64 pointer, u32 tid)
{
	if (!pointer)
		return DP_THREAD_BARE | (u64)tid << 6;
	return (pointer & ~63ull) | (pointer & 63) << 57;
}

/** dp_thread_is_bare() - is it one without a thread pointer? */
static inline bool dp_thread_is_bare(u64 id)
{
	return (id ^ DP_THREAD_BARE) < 1ull << 32;
}

#endif
