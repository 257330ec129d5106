/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* retprobe: calls that are tracked by stubs, or by the slots of their return addresses. */
#ifndef DP_INSTANCE_RETPROBE_H
#define DP_INSTANCE_RETPROBE_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/layout/handler.h"

#pragma GCC visibility push(hidden)

/**
 * struct dp_returned - what entry.S makes of a return to a stub
 * @back: the number of the stub's frame; replaced by the address where the thread goes
 *        on
 */
struct dp_returned {
	struct dp_regs regs;
	u64 back;
};

/** dp_return_hit() - a tracked call has returned */
void dp_return_hit(struct dp_returned *at);

/** dp_return_unwound() - an exception passes a tracked call
 *  Return: where to go on with it, as if called from @at->back. */
u64 dp_return_unwound(struct dp_returned *at);

/** dp_return_passed() - an exception passes a call, and no handler wants to know
 *  Context: the unwinder's personality routine, which goes on by itself. */
void dp_return_passed(u64 number);

/* landing: exceptions pass tracked calls without a stop at each stub. */

/** dp_return_bare() - give calls above the one at @slot their own return addresses while @exception passes;
 *  @sp: the stack pointer
 *  Context: the unwinder's personality routine, in the search phase; no handler runs. */
void dp_return_bare(u64 sp, u64 slot, u64 exception);
/** dp_return_landed() - an unwinder sets the stack pointer. Context: a handler. Return: 0. */
u32 dp_return_landed(u64 user, struct dp_regs *regs);
/** dp_return_is_bare() - does a call have its own return address that long? @now: what its slot holds */
bool dp_return_is_bare(const struct dp_stack *stack, const struct dp_frame *f,
		       u64 now);

/** dp_return_end() - end the call of a frame in the thread's list without calling handlers
 *  Context: a handler of the thread's. */
void dp_return_end(struct dp_stack *stack, struct dp_frame *f,
		   enum dp_call_end how);

/**
 * dp_return_enter() - a function with a return probe is entered
 * @begun: set to the call's frame, if this is its first probe; for dp_return_through()
 */
void dp_return_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack,
		     struct dp_frame **begun);
/** dp_return_through() - where to go on so that the stub calls @cont
 *  The processor then predicts the return. */
u64 dp_return_through(struct dp_frame *frame, u64 cont);

/** dp_return_ask() - call the entry handler
 *  Return: false if it refuses: then the instance in hand is free. */
bool dp_return_ask(struct dp_stack *stack, struct dp_instance *ri,
		   struct dp_regs *regs);
/** dp_return_finish() - the call of the instance in hand has ended
 *  Calls its handler with @regs, if the handler wants to know. */
void dp_return_finish(struct dp_stack *stack, struct dp_instance *ri,
		      struct dp_regs *regs, enum dp_call_end how);

/* slot: calls that are tracked by the place of their return address. */

/** dp_slot_enter() - a function whose exits are probed is entered */
void dp_slot_enter(u32 probe, struct dp_regs *regs, struct dp_stack *stack);
/** dp_slot_exit() - a function is about to be left by the instruction of @site */
void dp_slot_exit(u32 probe, const struct dp_site_entry *site,
		  struct dp_regs *regs, struct dp_stack *stack);

/** struct dp_quick - a call's instance, and its handler or 0, which entry.S calls */
struct dp_quick {
	u64 instance, handler;
};

/**
 * dp_return_quick_enter() - dp_return_enter() for the usual call
 *
 * Context: handler stack; @stack->sp and @stack->regs are set. dp_return_quick_begin()
 * has to follow.
 * Return: no instance: nothing has been done, and the call is not the usual one.
 */
struct dp_quick dp_return_quick_enter(const struct dp_probe_entry *probe,
				      struct dp_regs *regs,
				      struct dp_stack *stack);
/** dp_return_quick_begin() - the entry handler has been called; @veto: it refuses */
void dp_return_quick_begin(u32 veto, struct dp_stack *stack);

/** dp_return_quick_hit() - dp_return_hit() for the usual call, up to its handler;
 *  dp_return_quick_end() - after the handler */
struct dp_quick dp_return_quick_hit(struct dp_returned *at,
				    struct dp_stack *stack);
void dp_return_quick_end(struct dp_stack *stack);

#pragma GCC visibility pop

#endif
