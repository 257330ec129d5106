/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call: handlers in C, where a process probes itself.
 *
 * A thread runs them on a stack of its own (struct dp_stack), so that the probed
 * code's need not be deep, and a hit inside a handler is told by its stack
 * pointer.
 */
#ifndef DP_CALL_H
#define DP_CALL_H

#include "arch/x86/ptregs.h"
#include "engine/insn/tell.h"
#include "engine/layout/frame.h"
#include "engine/layout/probe.h"
#include "engine/layout/site.h"
#include "engine/layout/stack.h"
#include "engine/layout/there.h"
#include "port_types.h"
#include "engine/hit/trap.h"
#include "arch/x86/sigframe.h"

#pragma GCC visibility push(hidden)

/* Of the number that a detour tells */
#define DP_TELL_INDEX (DP_TELL_FOLLOWED - 1)

/**
 * struct dp_call_frame - what entry.S makes of a call from a detour; with
 * DP_TELL_FOLLOWED there is one more word above it, where the thread goes on
 * @regs: all of them; sp and ip for dp_call_detour() to fill in
 * @back: into the detour; @number of the site
 */
struct dp_call_frame {
	struct dp_regs regs;
	u64 back;
	u32 number, pad;
};

/**
 * dp_call_detour() - a detour calls the handlers of its site
 * Return: 0, the thread goes on in the detour; 1, all registers are taken from
 * @frame->regs, ip and sp too.
 */
u64 dp_call_detour(struct dp_call_frame *frame);

/** dp_call_resume() - it goes on there, but with the stack pointer in @frame->regs:
 *  sets their ip */
void dp_call_resume(struct dp_call_frame *frame);

/** dp_call_trap() - a breakpoint does. Leaves in @trap where the thread goes on. */
void dp_call_trap(const struct dp_site_entry *site, struct dp_trap *trap);

/** dp_call_mcontext() - a hook's detour does: ip stays */
void dp_call_mcontext(const struct dp_site_entry *site, struct dp_mcontext *mc);

/** dp_call_after() - a probed instruction has completed: post_handlers */
void dp_call_after(const struct dp_site_entry *site, struct dp_trap *trap);

/** dp_call_go_on() - pre_handlers have been called, and changed @regs: the instruction
 *  is next, and then after-handlers. @trap: with which they were */
void dp_call_go_on(const struct dp_site_entry *site, struct dp_regs *regs,
		   struct dp_stack *stack, struct dp_trap *trap);

/** dp_call_hide_alternate() - the kernel is not to put a signal's frame on the
 *  alternate stack, because the thread has left that for ours; @in_use: or has a
 *  frame there. Return: true if it has to be shown again. */
bool dp_call_hide_alternate(struct dp_stack *stack, bool in_use);
void dp_call_show_alternate(struct dp_stack *stack);

/** dp_call_give_up() - a probe's handler has faulted: it is not called any more */
void dp_call_give_up(u32 probe);

/** dp_call_handler() - call one, with what it may change saved around it;
 *  @needs: enum dp_insn_state. Return: 0 also if it faulted. */
u64 dp_call_handler(struct dp_stack *stack, u32 probe, u64 handler, u64 a,
		    u64 b, u8 needs);

#pragma GCC visibility pop

#endif
