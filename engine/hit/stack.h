/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stack: where the handlers of a thread run. */
#ifndef DP_HIT_STACK_H
#define DP_HIT_STACK_H

#include "port_types.h"
#include "engine/hit/trap.h"
#include "engine/layout/stack.h"

#pragma GCC visibility push(hidden)

/** dp_stack_mine() - of this thread, or NULL when there are no more */
struct dp_stack *dp_stack_mine(void);
/** dp_stack_leave() - this thread is about to end */
void dp_stack_leave(void);
/** dp_stack_known() - the same, if it has one already */
struct dp_stack *dp_stack_known(void);
/** dp_stack_low() - its lowest address */
u64 dp_stack_low(const struct dp_stack *stack);
/** dp_stack_alternate() - a trap tells of this thread's alternate stack */
void dp_stack_alternate(const struct dp_trap *trap);
/** dp_stack_ask_alternate() - it may have changed: ask the kernel */
void dp_stack_ask_alternate(void);
/** dp_stack_nested() - is a thread whose stack pointer is @sp in a handler? */
bool dp_stack_nested(const struct dp_stack *stack, u64 sp);

/** dp_call_away() - call @function(@arg) on a thread's own stack. Its stack pointer
 *  was @sp. Signals wait if that is on its alternate stack. */
void dp_call_away(struct dp_stack *stack, u64 sp, void *arg,
		  u32 (*function)(void *));

#pragma GCC visibility pop

#endif
