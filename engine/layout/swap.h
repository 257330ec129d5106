/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * swap: instructions of a process's own that are exchanged, each with its own length.
 *
 * The process probes itself, so this is memory of the library's, which a fork child has a copy of.
 */
#ifndef DP_LAYOUT_SWAP_H
#define DP_LAYOUT_SWAP_H

#include "port_types.h"

#define DP_SWAP_GONE 1

/**
 * struct dp_swaps - where instructions are exchanged
 * @at: the one that is being exchanged now; 0: none
 * @size: its bytes, and of all others
 * @mask: slots, less one
 * @slot: addresses, found by dp_swap_slot() and then one by one; 0: free; DP_SWAP_GONE
 */
struct dp_swaps {
	u64 at;
	u32 size, mask;
	u64 slot[];
};

static inline u32 dp_swap_slot(u64 addr)
{
	return (u32)(addr * 0x9e3779b97f4a7c15ull >> 40);
}

#endif
