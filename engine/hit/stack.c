// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stack: where the handlers of a thread run.
 *
 * A thread takes a stack at its first hit and keeps it. The stack's address is in the
 * library's thread-local storage, so finding it again is one load. The stack of an
 * ended thread goes to the next thread that looks for a stack.
 */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/hit/thread.h"
#include "engine/instance/instance.h"
#include "port.h"
#include "engine/layout/base.h"
#include "engine/layout/handler.h"

static u64 *self(void)
{
	return (u64 *)(dp_hit_thread() +
		       (u64)(s64)dp_arena.control.self_offset);
}

static u32 *owners(void)
{
	return dp_at(dp_arena.control.owner_off);
}

static u64 base_of(u32 i)
{
	return dp_arena.control.stack_base + (u64)i * DP_STACK_SIZE;
}

static struct dp_stack *stack_at(u32 i)
{
	return (void *)(base_of(i) + DP_STACK_SIZE - sizeof(struct dp_stack));
}

u64 dp_stack_low(const struct dp_stack *stack)
{
	return (u64)stack + sizeof(*stack) - DP_STACK_SIZE + DP_PAGE;
}

/* Before the stack has an owner: a waiter for handlers looks at stacks up to this one. */
static void note(u32 i)
{
	u32 *stacks = &dp_arena.hit.stacks;
	u32 was = __atomic_load_n(stacks, __ATOMIC_RELAXED);

	while (was < i + 1 &&
	       !__atomic_compare_exchange_n(stacks, &was, i + 1, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static bool take(u32 i, u32 tid)
{
	u32 was = __atomic_load_n(&owners()[i], __ATOMIC_RELAXED);

	/* An earlier thread had our own id. */
	if (was && (was & ~DP_OWNER_COMES) != tid &&
	    dp_port_thread_lives(was & ~DP_OWNER_COMES))
		return false;
	note(i);
	return __atomic_compare_exchange_n(&owners()[i], &was,
					   tid | DP_OWNER_COMES, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Leave of a zone around @sp what does not reach into @size bytes at @start. */
static void cut(u64 *low, u64 *high, u64 sp, u64 start, u64 size)
{
	if (start > sp && start < *high)
		*high = start;
	else if (start + size <= sp && start + size > *low)
		*low = start + size;
	else if (sp - start < size)
		*high = *low;
}

void dp_stack_set_zone(struct dp_stack *stack, u64 sp)
{
	u64 low = 0, high = ~0ull;

	cut(&low, &high, sp, (u64)stack - DP_STACK_SIZE, DP_STACK_SIZE);
	if (stack->alt_size)
		cut(&low, &high, sp, stack->alt_sp, stack->alt_size);
	/* A signal's handler has hits. */
	stack->zone_size = 0;
	dp_barrier();
	stack->zone = low;
	dp_barrier();
	stack->zone_size = high > low ? high - low : 0;
}

/* Unused stacks first: no system call has to check whether an owner still lives. */
static struct dp_stack *claim(u32 tid)
{
	struct dp_stack *stack;
	u32 i, pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < dp_arena.control.nr_stacks; i++) {
			if (!pass &&
			    __atomic_load_n(&owners()[i], __ATOMIC_RELAXED))
				continue;
			if (!take(i, tid))
				continue;
			stack = stack_at(i);
			if (dp_port_unlock(base_of(i) + DP_PAGE,
					   DP_STACK_SIZE - DP_PAGE))
				return NULL;
			dp_abandoned_drop(stack);
			stack->tid = tid;
			stack->mine = tid | DP_INSTANCE_RESERVED;
			dp_stack_forget_turns(stack);
			stack->zone_size = stack->bare_high = 0;
			stack->busy = dp_stack_turn(stack, 0);
			stack->jumped = stack->alt_off = 0;
			stack->task = 0;
			stack->thread = dp_hit_thread();
			__atomic_store_n(&owners()[i], tid, __ATOMIC_RELEASE);
			return stack;
		}
	return NULL;
}

void dp_stack_leave(void)
{
	struct dp_stack *stack = dp_stack_known();

	if (!stack || !dp_wipe.owner || !dp_hit_is_owners())
		return;
	dp_abandoned_drop(stack);
	*self() = 0;
	__atomic_store_n(&owners()[((u64)stack - dp_arena.control.stack_base) /
				   DP_STACK_SIZE],
			 0, __ATOMIC_RELEASE);
}

/* Handlers for another process have no such stacks. */
struct dp_stack *dp_stack_known(void)
{
	return dp_arena.control.self_offset ? (void *)*self() : NULL;
}

struct dp_stack *dp_stack_mine(void)
{
	struct dp_stack *stack = dp_stack_known();
	u32 tid;

	if (stack || !dp_arena.control.self_offset)
		return stack;
	tid = dp_port_tid();
	stack = claim(tid);
	if (!stack)
		return NULL;
	dp_port_altstack(&stack->alt_sp, &stack->alt_size);
	*self() = (u64)stack;
	return stack;
}

/* Was the thread in a handler when the signal interrupted it? */
static bool interrupts(const struct dp_stack *stack)
{
	u64 sp;

	if (dp_port_interrupted(stack->alt_sp, stack->alt_size, &sp))
		return sp - dp_stack_low(stack) < DP_STACK_SIZE - DP_PAGE;
	/* Something else than a signal handler runs there. Handlers that generated code calls have
	 * interrupted nothing there. */
	return dp_stack_busy(stack) != DP_BUSY_HANDLER ||
	       !dp_stack_on_alternate(stack, stack->sp);
}

void dp_stack_ask_alternate(void)
{
	struct dp_stack *stack;

	if (!dp_wipe.owner || !dp_hit_is_owners())
		return;
	stack = dp_stack_known();
	if (!stack || stack->alt_off)
		return;
	stack->zone_size = 0;
	dp_port_altstack(&stack->alt_sp, &stack->alt_size);
	dp_stack_set_zone(stack, (u64)__builtin_frame_address(0));
}

void dp_stack_alternate(const struct dp_trap *trap)
{
	struct dp_stack *stack = dp_stack_known();

	if (!stack || stack->alt_off)
		return;
	if (stack->alt_sp == trap->alt_sp && stack->alt_size == trap->alt_size)
		return;
	stack->zone_size = 0;
	stack->alt_sp = trap->alt_sp;
	stack->alt_size = trap->alt_size;
	dp_stack_set_zone(stack, dp_mcontext_sp(trap->regs));
}

/*
 * In a handler the stack pointer is on the handler stack, and in a signal handler that
 * interrupts it, too. Exceptions: the signal handler runs on the alternate stack, or
 * the handler is a jprobe's. With any other stack pointer the thread has left the
 * handler by siglongjmp.
 */
bool dp_stack_nested(const struct dp_stack *stack, u64 sp)
{
	if (sp - dp_stack_low(stack) < DP_STACK_SIZE - DP_PAGE)
		return true;
	if (!dp_stack_busy(stack))
		return false;
	if (dp_stack_busy(stack) == DP_BUSY_SELF)
		return true;
	if (stack->jumped)
		return sp <= stack->sp;
	return dp_stack_on_alternate(stack, sp) && interrupts(stack);
}

/*
 * From the alternate stack to ours and back. Signals wait meanwhile: the kernel must
 * not use the alternate stack. It can be told so only on our stack.
 */
void dp_call_away(struct dp_stack *stack, u64 sp, void *arg,
		  u32 (*function)(void *))
{
	bool shut = dp_stack_on_alternate(stack, sp);
	u64 deferred = 0;

	if (shut)
		deferred = dp_port_defer(true);
	dp_call_busy(arg, function, stack);
	if (shut)
		dp_port_defer_end(deferred);
}
