// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * landing: exceptions pass tracked calls without a stop at each stub.
 *
 *	search ──► the first stub's personality ─► dp_return_bare(): the return addresses of the
 *	           thread's calls are the program's again, so the unwinder meets no more stubs
 *	cleanup ─► the unwinder sets the stack pointer ─► dp_return_landed()
 *	           calls on the stack below have ended: unwound
 *	           where the exception is caught: calls above have their stubs again
 *
 * In between the functions that are passed run their cleanups. None of the bare calls returns meanwhile. A
 * thread that leaves the unwinder, or a cleanup, by longjmp leaves calls bare; those are found abandoned.
 *
 * Only frames on the stack on which the unwinder runs are made bare. Others may be a coroutine's, which another
 * thread resumes.
 */
#include "engine/instance/retprobe.h"
#include "engine/instance/instance.h"
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "arch/arch.h"

#define MOST_STACK (8u << 20)
/* What is farther up the list keeps its stubs. */
#define MOST_FRAMES 64

/* Where the stack ends that @sp is on, if it is the thread's own, or 0 */
static u64 top_of(const struct dp_stack *stack, u64 sp)
{
	u64 first = dp_arena.control.first_stack;

	if (stack->thread - sp < MOST_STACK)
		return stack->thread;
	return first - sp < MOST_STACK ? first : 0;
}

static u64 stub_back(const struct dp_frame *f)
{
	return dp_stub_of(f) + DP_STUB_BACK;
}

static bool has_stub(const struct dp_frame *f)
{
	return *(const volatile u64 *)f->slot == stub_back(f);
}

bool dp_return_is_bare(const struct dp_stack *stack, const struct dp_frame *f,
		       u64 now)
{
	return f->slot - stack->bare_low <=
		       stack->bare_high - stack->bare_low &&
	       stack->bare_high && now == f->ret_addr;
}

/* Of a slot on this stack */
static bool is_bare(const struct dp_stack *stack, const struct dp_frame *f)
{
	return dp_return_is_bare(stack, f, *(const volatile u64 *)f->slot);
}

/* Say so first: a signal's handler may look. */
static void bare(struct dp_stack *stack, const struct dp_frame *f)
{
	if (!stack->bare_high || f->slot < stack->bare_low)
		stack->bare_low = f->slot;
	if (f->slot > stack->bare_high)
		stack->bare_high = f->slot;
	dp_barrier();
	*(volatile u64 *)f->slot = f->ret_addr;
}

/* Calls whose slots are from @from up to @to, on this stack */
static void bare_between(struct dp_stack *stack, u64 from, u64 to)
{
	u64 at = stack->frames;
	u32 n;

	for (n = 0; at && n < MOST_FRAMES; n++) {
		struct dp_frame *f = dp_abandoned_frame(at);

		at = f->next;
		if (f->slot >= from && f->slot < to && has_stub(f) &&
		    !dp_frame_wants_to_hear(f))
			bare(stack, f);
	}
}

/* The unwinder still reads @slot, from where it knows the address of the stub at which it is. */
void dp_return_bare(u64 sp, u64 slot, u64 exception)
{
	struct dp_stack *stack = dp_stack_known();

	if (!stack || !dp_wipe.owner || !dp_hit_is_owners() ||
	    dp_stack_nested(stack, sp) || slot < sp)
		return;
	stack->exception = exception;
	bare_between(stack, slot + DP_WORD, top_of(stack, sp));
}

/* Has a call ended whose slot is from @from up to @to? The unwinder has put its destination into the last
 * word. If that is the landing pad of stubs, that ends the call. So it does for who wants to hear of it. */
static bool has_ended(const struct dp_stack *stack, const struct dp_frame *f,
		      u64 from, u64 to)
{
	if (f->slot < from || f->slot >= to || dp_frame_wants_to_hear(f))
		return false;
	if (f->slot + DP_WORD == to)
		return *(const volatile u64 *)f->slot !=
		       dp_arena.control.frame_pad;
	return has_stub(f) || is_bare(stack, f);
}

static void end_between(struct dp_stack *stack, u64 from, u64 to)
{
	u64 at = stack->frames, next;

	for (; at; at = next) {
		struct dp_frame *f = dp_abandoned_frame(at);

		next = f->next;
		if (has_ended(stack, f, from, to))
			dp_return_end(stack, f, DP_CALL_UNWOUND);
	}
}

/* Calls from @from up have their stubs again. */
static void cover(struct dp_stack *stack, u64 from)
{
	u64 at;

	if (stack->bare_low < from)
		stack->bare_low = from;
	for (at = stack->bare_low <= stack->bare_high ? stack->frames : 0; at;
	     at = dp_abandoned_frame(at)->next) {
		struct dp_frame *f = dp_abandoned_frame(at);

		/* The slot is on this stack if it is in between. */
		if (f->slot >= from && f->slot <= stack->bare_high &&
		    is_bare(stack, f))
			*(volatile u64 *)f->slot = stub_back(f);
	}
	dp_barrier();
	stack->bare_high = 0;
}

/* The exception's last word says where it is caught. */
static void go_on(struct dp_stack *stack, u64 exception, u64 sp)
{
	if (*(const u64 *)(exception + DP_EXCEPTION_CATCHER) == sp)
		cover(stack, sp);
	else
		bare_between(stack, sp, stack->bare_low);
}

u32 dp_return_landed(u64 user, struct dp_regs *regs)
{
	struct dp_stack *stack = dp_stack_known();
	u64 from = dp_regs_sp(regs), sp = dp_regs_landing(regs);

	(void)user;
	if (!stack || !stack->frames)
		return 0;
	/* From the alternate stack to another one there may be anything. */
	if (sp - from < MOST_STACK && dp_stack_on_alternate(stack, from) ==
					      dp_stack_on_alternate(stack, sp))
		end_between(stack, from, sp);
	if (stack->bare_high && dp_regs_exception(regs) == stack->exception)
		go_on(stack, stack->exception, sp);
	return 0;
}
