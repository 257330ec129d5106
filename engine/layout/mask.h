/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* mask: what the program believes to be blocked. */
#ifndef DP_LAYOUT_MASK_H
#define DP_LAYOUT_MASK_H

#include "port_types.h"
#include "engine/layout/caught.h"

/* Of one thread: what it is known by, dp_thread_id(), and these. */
#define DP_MASK_FAULTS (7ull << 48)
#define DP_MASK_BLOCKED \
	(3ull | DP_MASK_FAULTS) /* a bit a caught signal, as the program knows it */
#define DP_MASK_HELD 16ull /* one has come meanwhile: see dp_private.held */
#define DP_MASK_IGNORES 4ull /* a vfork child has made its action SIG_IGN */
#define DP_MASK_DEFAULT 8ull /* or SIG_DFL */
#define DP_MASK_SHARER 32ull /* a vfork child's, who has its parent's pointer */
#define DP_MASK_STATE (31ull | DP_MASK_FAULTS)
#define DP_MASK_BITS (63ull | DP_MASK_FAULTS)
#define DP_MASKS 8192

#define DP_MASK_PROBES 256

/** dp_mask_bit() - the @k-th caught signal is believed to be blocked */
static inline u64 dp_mask_bit(u32 k)
{
	return k < DP_CAUGHT_JUMPS ? 1ull << k :
				     1ull << (48 + k - DP_CAUGHT_JUMPS);
}

/** dp_mask_slot() - where the search for a thread pointer begins */
static inline u32 dp_mask_slot(u64 pointer)
{
	return (u32)((pointer * 0x9e3779b97f4a7c15ull) >> 32) % DP_MASKS;
}

#endif
