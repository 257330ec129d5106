/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* backtrace: walk the stack of a thread at a site, and find the number of what is there. */
#ifndef DP_HIT_BACKTRACE_H
#define DP_HIT_BACKTRACE_H

#include "arch/arch.h"
#include "engine/layout/backtrace.h"

#pragma GCC visibility push(hidden)

/**
 * struct dp_backtrace - a walk that has come to a frame
 * @head, @arena, @size: where all is
 * @pc: of the frame; of all but the first one, and those that a signal has interrupted, behind a call
 * @sp, @frame: its stack pointer, and its frame register if @framed
 * @exact: @pc is of the next instruction
 * @regs: all its registers, or NULL; @signal: address of the struct dp_ucontext that has them, or 0
 */
struct dp_backtrace {
	const struct dp_backtrace_head *head;
	char *arena;
	u64 size;
	u64 pc, sp, frame;
	bool framed, exact;
	struct dp_regs *regs;
	u64 signal;
};

/** dp_backtrace_begin() - come to the frame of a thread with such registers, whose pc is the
 *  program's. @head, @arena and @size are there. */
void dp_backtrace_begin(struct dp_backtrace *b, struct dp_regs *regs);

/**
 * dp_backtrace_next() - go to the caller's frame
 * Return: DP_END_NONE; else there is none, and the walk has ended.
 *
 * Context of all: hit half, any stack. Bounded; no fault, whatever the stack has.
 */
enum dp_backtrace_end dp_backtrace_next(struct dp_backtrace *b);

/** dp_backtrace_pass() - the same of a frame that is not shown: what a signal has interrupted may be ours again */
enum dp_backtrace_end dp_backtrace_pass(struct dp_backtrace *b);

/** dp_backtrace_load() - read a word of the program's. Return: @ok is 0: it cannot be read. */
struct dp_load dp_backtrace_load(u64 address);

/** dp_backtrace_trapped() - where a thread is that a signal of the agent's has interrupted, with such a struct
 *  dp_ucontext, which says @pc: behind a breakpoint of ours it is at the instruction there */
u64 dp_backtrace_trapped(u64 signal, u64 pc);

/**
 * dp_backtrace_number() - walk from a frame to the end, and find the number of that stack
 * Return: the number, the same for the same stack; 0: there is no room for one more, which is counted.
 */
u32 dp_backtrace_number(const struct dp_backtrace *from);

/** dp_backtrace_take() - the same of a thread at a site, with these registers, in the agent's arena */
u32 dp_backtrace_take(struct dp_regs *regs);

/* generated: threads in code of ours. */

/** dp_generated_find() - the piece that an address is in, or NULL */
const struct dp_generated *
dp_generated_find(const struct dp_backtrace_head *head, const char *arena,
		  u64 pc);

/** dp_generated_is_agent() - is that code of the agent? */
bool dp_generated_is_agent(const struct dp_backtrace_head *head, u64 pc);

/** dp_generated_leave() - from what a signal has interrupted to the program's instruction for which the
 *  thread stands there; nothing, if it is not ours. Return: as dp_backtrace_next() */
enum dp_backtrace_end dp_generated_leave(struct dp_backtrace *b);

/** dp_generated_register() - a register of the program's, by the machine's number, of a thread that a signal
 *  has interrupted, with such a struct dp_ucontext: where it is now, or where code of ours has saved it */
struct dp_load dp_generated_register(const struct dp_backtrace_head *head,
				     const char *arena, u64 signal, u8 number);

/* known: the stacks that have been walked. */

/**
 * dp_known_step() - the node of a frame
 * @from: node of the frame that it has called; 0: there is none
 * @frame: its pc, maybe with DP_BACKTRACE_EXACT, or enum dp_backtrace_end
 *
 * Lock-free; may be interrupted, and left for good, at any instruction.
 * Return: the node, maybe a new one; 0: there is no room.
 */
u32 dp_known_step(const struct dp_backtrace_head *head, char *arena, u32 from,
		  u64 frame);

/** dp_known_go() - the same, at once where the node is at its home already */
static inline u32 dp_known_go(const struct dp_backtrace_head *head, char *arena,
			      u32 from, u64 frame)
{
	u32 home = dp_known_home(from, frame, head->node_mask);
	const u64 *nodes = (const void *)(arena + head->node);

	if (home && __atomic_load_n(&nodes[home], __ATOMIC_RELAXED) ==
			    dp_known_node(frame, 0))
		return home;
	return dp_known_step(head, arena, from, frame);
}

#pragma GCC visibility pop

#endif
