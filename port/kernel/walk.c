// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * walk: the stack of a thread at a site, as the kernel's unwinder has it; stands for engine/hit/backtrace.c.
 *
 *     registers of the hit ─► unwind_start() ─► unwind_next_frame()… ─► the known stacks ─► a number
 *
 * The unwinder is made for any context, NMIs too: it takes no lock, and reads the stacks of the CPU and the task alone.
 * What it calls may have probes. It is in a hit then, so they are counted, and run nothing. Frames are bounded.
 */
#include "engine/hit/backtrace.h"
#include "engine/hit/hit.h"
#include "port/kernel/hit.h"
#include "port.h"
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/segment.h>
#include <asm/unwind.h>

/* The kernel's text is in the upper half of addresses, whose bits above these are all set. */
static u64 frame_of(u64 pc, bool exact)
{
	return (pc & (DP_BACKTRACE_EXACT - 1)) |
	       (exact ? DP_BACKTRACE_EXACT : 0);
}

/* What an interruption has pushed is a frame whose code goes on at the same instruction. */
static bool is_interrupted(struct unwind_state *state, u64 pc)
{
	const struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return regs && regs->ip == pc;
}

/* The frame of a task's kernel code that user space has called ends with what it has pushed there. */
static bool is_whole(struct unwind_state *state)
{
	struct pt_regs *regs = unwind_get_entry_regs(state, NULL);

	return !unwind_error(state) &&
	       (unwind_done(state) || (regs && user_mode(regs)));
}

static enum dp_backtrace_end end_of(struct unwind_state *state, u32 frames)
{
	return is_whole(state)		     ? DP_END_COMPLETE :
	       frames == DP_BACKTRACE_FRAMES ? DP_END_DEEP :
					       DP_END_UNKNOWN;
}

static u32 walk(const struct dp_backtrace_head *head, char *arena,
		struct pt_regs *regs)
{
	u32 node = dp_known_go(head, arena, 0, frame_of(regs->ip, true)), n = 1;
	struct unwind_state state;
	unsigned long pc;

	unwind_start(&state, current, regs, NULL);
	while (node && n < DP_BACKTRACE_FRAMES && !unwind_done(&state)) {
		pc = unwind_get_return_address(&state);
		if (!pc)
			break;
		node = dp_known_go(head, arena, node,
				   frame_of(pc, is_interrupted(&state, pc)));
		n++;
		unwind_next_frame(&state);
	}
	return node ? dp_known_go(head, arena, node, end_of(&state, n)) : 0;
}

u32 dp_backtrace_take(struct dp_regs *regs)
{
	const struct dp_backtrace_head *head =
		dp_at(dp_arena.control.backtrace_off);
	struct dp_known_account *account;
	struct pt_regs copy;
	u32 number;

	/* In user space, the kernel has no frame of the program's. */
	if (!dp_arena.control.backtrace_off || dp_kernel_is_users())
		return 0;
	memcpy(&copy, regs, sizeof(copy));
	copy.cs = __KERNEL_CS;
	copy.ss = __KERNEL_DS;
	number = walk(head, dp_at(0), &copy);
	if (!number) {
		account = dp_at(head->account);
		__atomic_fetch_add(&account->lost, 1, __ATOMIC_RELAXED);
	}
	return number;
}
