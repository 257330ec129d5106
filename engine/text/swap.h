/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* swap: one instruction of live text is exchanged for another of the same length. */
#ifndef DP_TEXT_SWAP_H
#define DP_TEXT_SWAP_H

#include "engine/text/target.h"
#include "arch/arch.h"

#define DP_SWAP_SIZE DP_JUMP_SIZE

/**
 * dp_text_swap() - exchange the instruction @from at @addr for @to, each of DP_SWAP_SIZE bytes
 *
 * Meanwhile a thread that comes there may trap. The caller has told the hit half: struct dp_swaps.
 * Return: 0; -EBUSY other bytes are there; an error of the target, then @from is there.
 */
int dp_text_swap(struct dp_target *target, u64 addr, const u8 *from,
		 const u8 *to);

#endif
