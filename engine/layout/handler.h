/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* handler: stacks and state for handlers in C, here and in the tool. */
#ifndef DP_LAYOUT_HANDLER_H
#define DP_LAYOUT_HANDLER_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/base.h"

/* stack: where handlers in C run, and the state of a thread there. */

/*
 * Each thread has a stack for handlers, at @stack_base. The highest bytes of a stack
 * are its struct dp_stack. The lowest page is never mapped. The program's signal handlers
 * run there, too, where a signal interrupts a handler: they need most of it.
 */
#define DP_STACK_SIZE (64 * DP_PAGE)
#define DP_STACKS 4096 /* at most */
#define DP_BUSY_HANDLER 1
#define DP_BUSY_FAST 2 /* called by entry.S */
#define DP_BUSY_SELF 3 /* no handler, but library code */
#define DP_BUSY_ENTER 4 /* a return probe's entry handler */
#define DP_BUSY_RETURN 5
#define DP_BUSY_FOLLOWED 6 /* called by a detour */
#define DP_BUSY_PAIR 7 /* a return probe's handlers that are followed */
#define DP_BUSY_KINDS 0xffull /* which of these: the lowest byte of @busy */
#define DP_BUSY_TURN 0x100 /* what @busy grows by with each use of the stack */
#define DP_OWNER_COMES 0x80000000u /* the stack is being prepared */

#define DP_HINTS 32
#define DP_SPARE_FRAMES 4

/**
 * struct dp_stack - the state of a thread in handlers; hit owns it
 * @tid: the thread that has the stack
 * @busy: a handler runs: DP_BUSY_*; above that, how often the stack has been used
 * @jumped: a jprobe's handler runs, on the program's own stack
 * @mine: @used and @held of an instance that the thread has reserved and not taken
 * @sp: the program's stack pointer meanwhile, where @busy is DP_BUSY_HANDLER or DP_BUSY_ENTER
 * @probe: 1 + index of the probe whose handler runs
 * @regs: address of the registers that the handler got
 * @guard: stack pointer with which the handler can be given up
 * @frames: address of the frame of the innermost tracked call
 * @spare: first frame of the thread's own list of free ones; @nr_spare: how many
 * @kept: number of a frame that an unwinder is still to look at, 0 for none
 * @patience: calls to be missed before the next search for abandoned ones
 * @hints: where to look for a free instance first; @turns: addresses of such, for
 *         the usual call, by site
 * @instance: address of the instance in hand, whose call's entry or end is handled
 * @rest: address of the next instance to handle; @taken: number of the frame in hand
 * @counter: address of a counter of @instance that is about to become @sum
 * @detached: number of the first detached frame that the thread has still to look at
 * @thread: its thread pointer
 * @task: what the library says of the thread, 0: it was not asked yet
 * @faulting: while a fault_handler runs, a stack pointer above it
 * @alt_sp, @alt_size: the alternate signal stack; @alt_off: the kernel does not know it
 * @zone, @zone_size: memory of stacks where neither this one nor the alternate one is; @zone_size 0: not
 *         known
 * @bare_low, @bare_high: slots of calls that have no stubs, while @exception passes; @bare_high 0: there are
 *         none: see landing.c
 * @x87: the x87 registers are saved, too
 */
struct dp_stack {
	u32 tid;
	u32 jumped, alt_off, pad;
	u64 busy;
	u64 mine;
	u64 frames;
	u32 probe, x87;
	u64 regs;
	u64 instance; /* the end of a line: see pairs.S */
	u64 guard;
	u64 sp;
	u64 alt_sp, alt_size;
	u64 zone, zone_size;
	u64 bare_low, bare_high, exception;
	u64 site;
	u64 faulting;
	u64 after; /* the handler runs after an instruction */
	u64 rest, counter, sum;
	u64 task, thread;
	u8 vectors[DP_VECTORS_SIZE] __attribute__((aligned(64)));
	u64 trapped[21]; /* the registers of a hit by a breakpoint */
	u64 faulted[21]; /* the registers of a fault in a handler */
	u64 saved[21]; /* a jprobe: registers for the function */
	u64 words[9]; /* the return address and stack arguments */
	u64 words_size; /* in bytes: fewer where the stack ends */
	u32 spare, nr_spare;
	u32 patience, kept, taken, detached;
	u32 hints[DP_HINTS];
	u64 turns[DP_HINTS];
};

/** dp_stack_busy() - what runs there: DP_BUSY_*, 0: nothing */
static inline u32 dp_stack_busy(const struct dp_stack *stack)
{
	return (u32)(__atomic_load_n(&stack->busy, __ATOMIC_RELAXED) &
		     DP_BUSY_KINDS);
}

/** dp_stack_turn() - @busy from now on, if something of this kind begins to run, or, with 0,
 *  what runs has ended */
static inline u64 dp_stack_turn(const struct dp_stack *stack, u32 kind)
{
	u64 busy = __atomic_load_n(&stack->busy, __ATOMIC_RELAXED);

	return (busy | DP_BUSY_KINDS) + 1 + kind;
}

/** dp_stack_forget_turns() - erase its notes of instances
 *  The thread's next call at each site looks for one. Context: its thread, or another one. */
static inline void dp_stack_forget_turns(struct dp_stack *stack)
{
	u32 i;

	for (i = 0; i < DP_HINTS; i++)
		__atomic_store_n(&stack->turns[i], 0, __ATOMIC_RELAXED);
}

/* upcall: threads that wait for a handler in the tool. */

/** enum dp_upcall_state - whose turn it is: the thread's or the tool's */
enum dp_upcall_state {
	DP_UPCALL_FREE,
	DP_UPCALL_TAKEN, /* a thread fills it in, or reads what came */
	DP_UPCALL_REQUESTED, /* the tool is to take it */
	DP_UPCALL_RUNS, /* the handler runs; the thread waits */
	DP_UPCALL_ANSWERED, /* the answer is there: the thread's turn */
	DP_UPCALL_ABANDONED, /* the thread has gone on; the tool is to free it */
};

/**
 * struct dp_upcall - a thread that waits for a handler in the tool
 * @state: enum dp_upcall_state; a futex
 * @tid: of the thread, in the target's namespace; @probe: the handler's probe
 * @regs: struct dp_regs; the handler changes them
 */
struct dp_upcall {
	u32 state;
	u32 tid, probe, pad;
	u64 regs[21];
	u64 more;
};

/**
 * struct dp_upcalls - all upcalls
 * @owner: a robust futex (linux/futex.h) that a thread of the tool holds while it
 *         answers
 * @calls: counts requests; the tool waits for it to change
 * @high: one more than the last upcall that was ever used
 */
struct dp_upcalls {
	u32 owner, calls, high, pad;
	u64 more[6];
	struct dp_upcall v[];
};
#define DP_UPCALLS 1024

/* injected: handlers that the tool has put into the process. */

/**
 * struct dp_injected - a thread in an injected handler; the handler's stack lies behind
 * it
 * @probe: 1 + index; 0: free
 * @guard: stack pointer with which the handler can be given up
 */
struct dp_injected {
	u32 probe, pad;
	u64 guard;
	u64 regs[21];
	u8 vectors[DP_VECTORS_SIZE] __attribute__((aligned(64)));
};
#define DP_INJECTED_MAX 64
#define DP_INJECTED_SIZE (5 * DP_PAGE)

#endif
