// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stack: handlers in C run on the stack that was interrupted; their state is the CPU's.
 *
 * In place of engine/hit/stack.c, whose threads have stacks for handlers. A kernel's handlers keep
 * preemption off, so a CPU has one struct dp_stack for each kind of context. An NMI may come
 * while an interrupt's hit is about to call, so they do not share one.
 *
 * No handler runs while any other runs on that CPU: as the kernel's own probes have it.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "port.h"
#include "port/kernel/hit.h"
#include <linux/percpu.h>

struct stacks {
	struct dp_stack of[DP_KERNEL_CONTEXTS];
};

static struct stacks __percpu *stacks;

int dp_kernel_stacks_begin(void)
{
	stacks = alloc_percpu(struct stacks);
	return stacks ? 0 : -ENOMEM;
}

void dp_kernel_stacks_end(void)
{
	free_percpu(stacks);
	stacks = NULL;
}

struct dp_stack *dp_stack_known(void)
{
	return &this_cpu_ptr(stacks)->of[dp_kernel_context()];
}

struct dp_stack *dp_stack_mine(void)
{
	return dp_stack_known();
}

bool dp_stack_nested(const struct dp_stack *stack, u64 sp)
{
	return dp_kernel_handles();
}

void dp_call_busy(void *arg, u32 (*function)(void *), struct dp_stack *stack)
{
	u8 depth = dp_kernel_handler_begin();

	stack->jumped = 0;
	WRITE_ONCE(stack->busy, dp_stack_turn(stack, DP_BUSY_HANDLER));
	barrier();
	function(arg);
	barrier();
	WRITE_ONCE(stack->busy, dp_stack_turn(stack, 0));
	dp_kernel_handler_end(depth);
}

void dp_call_away(struct dp_stack *stack, u64 sp, void *arg,
		  u32 (*function)(void *))
{
	dp_call_busy(arg, function, stack);
}

/* There are no others to be told apart. */
u64 dp_stack_low(const struct dp_stack *stack)
{
	return 0;
}

void dp_stack_set_zone(struct dp_stack *stack, u64 sp)
{
}

void dp_stack_alternate(const struct dp_trap *trap)
{
}

void dp_stack_ask_alternate(void)
{
}

void dp_stack_leave(void)
{
}
