/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * trap: the world has interrupted a thread, perhaps because of us.
 *
 * The port fills in struct dp_trap and asks the functions below, in this order:
 *
 *   a breakpoint's trap ──► dp_trap_hit() ──── true: the thread goes on as @regs say
 *                                         └─── false: none of ours
 *   anything else that ───► dp_trap_raised() ─ true: a handler's or a copy's, dealt with
 *   the processor raises                  └─── false: the program's own; @regs say where
 *
 * Then it puts @regs back, and the second stack if @alt_changed.
 */
#ifndef DP_HIT_TRAP_H
#define DP_HIT_TRAP_H

#include "port_types.h"
#include "engine/hit/hit.h"
#include "arch/x86/sigframe.h"

#pragma GCC visibility push(hidden)

/**
 * struct dp_trap - a thread that is interrupted
 * @regs: its registers; of what is behind the pc is where it goes on
 * @at: address of what the world has saved of it: on the thread's stack, or on the one
 *      that it keeps for interruptions
 * @alt_sp, @alt_size: that one, in bytes; a size of 0: the thread has none
 * @alt_changed: set by the engine: these are to be in force when the thread goes on
 * @mask: the port's own, for dp_hit_leave()
 */
struct dp_trap {
	struct dp_mcontext *regs;
	u64 at;
	u64 alt_sp, alt_size;
	bool alt_changed;
	u64 *mask;
};

/**
 * dp_trap_hit() - run the probes of the site whose breakpoint a thread has met
 * @pc: where the breakpoint is
 * @breakpoint: it is one; false: an instruction that raises something else and stands
 *              for one in the middle of a jump
 * Context: the interrupted thread; all that may interrupt it is another trap.
 * Return: true if it was one of ours.
 */
bool dp_trap_hit(struct dp_trap *trap, u64 pc, bool breakpoint);

/** dp_trap_returned() - the breakpoint may be that at which a jprobe's handler ends.
 *  Return: true if it was, and the thread goes on as @trap says. */
bool dp_trap_returned(struct dp_trap *trap);

/**
 * dp_trap_raised() - the processor has raised something else in this thread
 * Return: true if it was in a handler or a probed instruction, and is dealt with.
 * Otherwise @trap->regs say where in the program it was.
 */
bool dp_trap_raised(struct dp_trap *trap);

/** dp_hit_of_trap() - a hit of a thread that is interrupted
 *
 * The world has just written below the stack pointer, unless it has a stack of its own
 * for that: then nothing of the thread's stack is certain.
 */
void dp_hit_of_trap(struct dp_hit *hit, const struct dp_trap *trap);

#pragma GCC visibility pop

#endif
