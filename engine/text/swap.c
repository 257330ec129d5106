// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * swap: one instruction of live text is exchanged for another of the same length.
 *
 * Threads may be executing it. The first byte is a breakpoint while the others change: a thread that
 * meets it goes on where the hit half is told, and never inside. So each write that can be seen is
 * one byte, wherever cache lines end.
 */
#include "arch/arch.h"
#include "engine/text/strategy.h"
#include "engine/text/swap.h"

static int write_synced(struct dp_target *target, u64 addr, const u8 *bytes,
			size_t n)
{
	int err = target->ops->write(target, addr, bytes, n);

	return err ? err : dp_text_sync(target);
}

/* Put the first byte back after a failure. */
static int undo(struct dp_target *target, u64 addr, const u8 *from, int err)
{
	write_synced(target, addr + 1, from + 1, DP_SWAP_SIZE - 1);
	write_synced(target, addr, from, 1);
	return err;
}

int dp_text_swap(struct dp_target *target, u64 addr, const u8 *from,
		 const u8 *to)
{
	static const u8 breakpoint[] = { DP_BREAKPOINT };
	int err = dp_text_expect(target, addr, from, DP_SWAP_SIZE);

	if (!err)
		err = write_synced(target, addr, breakpoint, 1);
	if (err)
		return err;
	err = write_synced(target, addr + 1, to + 1, DP_SWAP_SIZE - 1);
	if (!err)
		err = write_synced(target, addr, to, 1);
	return err ? undo(target, addr, from, err) : 0;
}
