/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * call: handlers in C, in a process that probes itself.
 *
 * Handlers run on a stack of the thread's own (struct dp_stack). So the probed code's
 * stack need not be deep. A hit inside a handler is recognised by its stack pointer.
 */
#ifndef DP_HIT_CALL_H
#define DP_HIT_CALL_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/hit/hit.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "engine/layout/own.h"
#include "engine/layout/site.h"
#include "port.h"

/* stack: where the handlers of a thread run. */

#pragma GCC visibility push(hidden)

/** dp_stack_mine() - this thread's stack; takes one if it has none
 *  Return: NULL: all are in use. */
struct dp_stack *dp_stack_mine(void);
/** dp_stack_leave() - this thread is about to end */
void dp_stack_leave(void);
/** dp_stack_known() - this thread's stack, if it has one already */
struct dp_stack *dp_stack_known(void);
/** dp_stack_low() - the lowest address of a stack */
u64 dp_stack_low(const struct dp_stack *stack);
/** dp_stack_alternate() - note this thread's alternate stack, as a trap tells it */
void dp_stack_alternate(const struct dp_trap *trap);
/** dp_stack_set_zone() - note where stacks around @sp are: see struct dp_stack */
void dp_stack_set_zone(struct dp_stack *stack, u64 sp);
/** dp_stack_ask_alternate() - the alternate stack may have changed: ask the kernel */
void dp_stack_ask_alternate(void);
/** dp_stack_nested() - is a thread whose stack pointer is @sp in a handler? */
bool dp_stack_nested(const struct dp_stack *stack, u64 sp);

static inline bool dp_stack_on_alternate(const struct dp_stack *stack, u64 addr)
{
	return addr - stack->alt_sp < stack->alt_size;
}

/**
 * dp_call_hide_alternate() - the thread has left its alternate stack for ours
 * @in_use: a frame is on the alternate stack, wherever the stack pointer was
 *
 * The kernel must not know the alternate stack while the thread is on ours. A signal
 * would overwrite the interrupted handler's frame there, or the frame of this hit.
 * Return: true if dp_call_show_alternate() has to follow.
 */
static inline bool dp_call_hide_alternate(struct dp_stack *stack, bool in_use)
{
	if (!in_use && !dp_stack_on_alternate(stack, stack->sp))
		return false;
	stack->alt_off = 1;
	dp_port_set_altstack(0, 0);
	return true;
}

static inline void dp_call_show_alternate(struct dp_stack *stack)
{
	dp_port_set_altstack(stack->alt_sp, stack->alt_size);
	stack->alt_off = 0;
}

/** dp_call_away() - call @function(@arg) on a thread's own stack
 *  @sp was the thread's stack pointer. Signals wait if that is on the alternate stack. */
void dp_call_away(struct dp_stack *stack, u64 sp, void *arg,
		  u32 (*function)(void *));

#pragma GCC visibility pop

/* handler: call a handler. */

#pragma GCC visibility push(hidden)

/** dp_call_give_up() - a probe's handler has faulted: do not call it again */
void dp_call_give_up(u32 probe);

/** dp_call_handler() - call a handler, with the state that it may change saved around it
 *  @needs: enum dp_insn_state. Return: 0 also if it faulted. */
u64 dp_call_handler(struct dp_stack *stack, u32 probe, u64 handler, u64 a,
		    u64 b, u8 needs);

#pragma GCC visibility pop

/* injected: handlers that the tool has put into the process. */

#pragma GCC visibility push(hidden)

/** dp_injected_begin() - take a stack for a handler, with room for its registers
 *  Return: NULL: no stack is free, or the probe has been switched off. */
struct dp_injected *dp_injected_begin(u32 probe);
/** dp_injected_call() - call the handler with @injected->regs, which it may change
 *  @x87: the x87 or MMX registers are in use */
void dp_injected_call(struct dp_injected *injected, u64 x87);
void dp_injected_end(struct dp_injected *injected);
/** dp_injected_fault() - has an injected handler faulted? Then it is given up. */
bool dp_injected_fault(struct dp_mcontext *regs);

/** dp_call_site() - call the handlers of a site. Those of a trap say where the thread goes
 *  on in any case. */
enum dp_goes dp_call_site(const struct dp_site_entry *site, struct dp_hit *hit);

/** dp_call_after() - a probed instruction has completed: call post_handlers */
void dp_call_after(const struct dp_site_entry *site, struct dp_trap *trap);

/**
 * struct dp_own_use - a function of the process's own, that a program calls
 * @probe: whose program; the probe is given up if the function faults
 * @what: has to be the entry's, which may have changed since
 * @value: out: what it returns; @faulted: it has not
 * @gone: out: it is not there any more
 */
struct dp_own_use {
	const struct dp_own_function *entry;
	u64 what, value;
	const void *argument;
	u32 probe;
	bool called, faulted, gone;
};

/** dp_call_own() - call it, as handlers are called. Return: false if it is not there any more, or cannot
 *  be called here. */
bool dp_call_own(const struct dp_site_entry *site, const struct dp_hit *hit,
		 struct dp_own_use *own);

/** dp_call_go_on() - a jprobe's handler has run: do the instruction, then post_handlers
 *  @regs: registers for the instruction; @trap: the trap that ended the handler */
void dp_call_go_on(const struct dp_site_entry *site, struct dp_regs *regs,
		   struct dp_stack *stack, struct dp_trap *trap);

#pragma GCC visibility pop

/* upcall: handlers that run in the tool. The hit is already counted. */

#pragma GCC visibility push(hidden)

/** dp_upcall_is_heard() - does the tool that owns these probes still answer? */
bool dp_upcall_is_heard(void);
/** dp_upcall_call() - wake the tool */
void dp_upcall_call(void);
/** dp_upcall_site() - as dp_call_site() */
enum dp_goes dp_upcall_site(const struct dp_site_entry *site,
			    struct dp_hit *hit);

#pragma GCC visibility pop

/* jprobe: a handler that is called as the probed function would be. */

#pragma GCC visibility push(hidden)

/** dp_jprobe_enter() - change @regs so that the thread goes on in the jprobe's handler */
void dp_jprobe_enter(u32 probe, const struct dp_site_entry *site,
		     struct dp_regs *regs, struct dp_stack *stack,
		     const struct dp_trap *trap);

/** dp_jprobe_leave() - the handler has come to dp_jprobe_return.
 *  Return: false if no jprobe's handler runs. */
bool dp_jprobe_leave(struct dp_trap *trap);

#pragma GCC visibility pop

/* entry: functions in assembly: called.S, entry.S, vectors.S. */

#pragma GCC visibility push(hidden)

void dp_call_on(void *arg, void (*function)(void *arg), void *top);
void dp_wait_home(const u32 *word, u32 is, const s64 *timeout, u64 regs);

/** struct dp_given - a handler's result; @up: it was given up */
struct dp_given {
	u64 value, up;
};

/** dp_call_busy() - call @function(@arg) on a thread's own stack
 *  @function returns the new value of @stack->busy. */
void dp_call_busy(void *arg, u32 (*function)(void *), struct dp_stack *stack);
/** dp_guard() - call @handler(@a, @b, @c) so that it can be given up
 *  @via: address of code that makes the call, or 0 */
struct dp_given dp_guard(u64 handler, u64 a, u64 b, u64 c, u64 *guard, u64 via);
extern const char dp_guard_up[], dp_call_fast_up[], dp_jprobe_return[];
void dp_vectors_save(u8 *area, u64 level, u64 x87);
void dp_vectors_restore(const u8 *area, u64 level, u64 x87);

#pragma GCC visibility pop

#endif
