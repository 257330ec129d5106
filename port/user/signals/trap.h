/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* trap: caught signals, which are ours or the program's. */
#ifndef DP_PORT_USER_SIGNALS_TRAP_H
#define DP_PORT_USER_SIGNALS_TRAP_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"

#pragma GCC visibility push(hidden)

/* signals.S: the handler of caught signals, and the code that it returns to */
extern const char dp_trap_entry[], dp_trap_restorer[];

/** dp_trap_inside() - is an address in the agent's text? Of the handlers that the kernel
 *  has, only dp_trap_entry is. */
static inline bool dp_trap_inside(u64 addr)
{
	return addr - dp_arena.control.base < DP_AGENT_TEXT;
}

/**
 * dp_hit_trap() - a caught signal has arrived
 * @info, @uc: the kernel's
 *
 * Context: signal handler on the interrupted thread, under dp_marks_trap().
 * Return: 0: the thread goes on as @uc says; else the address of the program's
 * own handler, to be entered with the frame as it is.
 */
u64 dp_hit_trap(struct dp_siginfo *info, struct dp_ucontext *uc);

/**
 * dp_foreign_trap() - a caught signal that belongs to the program
 *
 * Return: as dp_hit_trap().
 */
u64 dp_foreign_trap(struct dp_siginfo *info, struct dp_ucontext *uc);

/* child: how a fork child leaves, in two halves. */

/** dp_hit_leave_text() - the first half of dp_hit_leave(): the text. Return: of that */
bool dp_hit_leave_text(void);
/** dp_hit_leave_signals() - the second half of dp_hit_leave(): actions and masks */
void dp_hit_leave_signals(u64 *mask);

#pragma GCC visibility pop

#endif
