// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * swap: a thread has met the breakpoint under which an instruction is exchanged.
 *
 * The thread goes on behind it: neither the old instruction nor the new one does anything then,
 * because whoever exchanges them has seen to that. The trap may come late. Then the breakpoint has
 * gone, and the thread executes what is there now.
 */
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"
#include "engine/layout/swap.h"
#include "arch/arch.h"
#include "port.h"

/* A breakpoint that is there still is another's, if it is so often */
#define LOOKS 4

static bool is_swapped(const struct dp_swaps *s, u64 pc)
{
	u32 i = dp_swap_slot(pc) & s->mask;
	u64 at;

	for (; (at = __atomic_load_n(&s->slot[i], __ATOMIC_ACQUIRE));
	     i = (i + 1) & s->mask)
		if (at == pc)
			return true;
	return false;
}

bool dp_swap_trapped(struct dp_trap *trap, u64 pc)
{
	const struct dp_swaps *s = (void *)__atomic_load_n(
		&dp_arena.control.swaps, __ATOMIC_ACQUIRE);
	u8 byte = DP_BREAKPOINT;
	int i;

	if (!s || !is_swapped(s, pc))
		return false;
	for (i = 0; i < LOOKS; i++) {
		/* A fork child that was made meanwhile has the breakpoint for good. */
		if (__atomic_load_n(&s->at, __ATOMIC_ACQUIRE) == pc ||
		    dp_hit_who() == DP_WHO_CHILD) {
			dp_mcontext_set_pc(trap->regs, pc + s->size);
			return true;
		}
		if (dp_port_read(&byte, pc, 1) == 1 && byte != DP_BREAKPOINT) {
			dp_mcontext_set_pc(trap->regs, pc);
			return true;
		}
	}
	return false;
}
