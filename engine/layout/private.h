/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* private: state that a fork child takes along and then owns. */
#ifndef DP_LAYOUT_PRIVATE_H
#define DP_LAYOUT_PRIVATE_H

#include "port_types.h"
#include "engine/layout/base.h"
#include "engine/layout/semaphore.h"

/* mask: the virtual mask. */

/* The entry of one thread: its dp_thread_id(), and these bits. */
#define DP_MASK_FAULTS (7ull << 48)
/* One bit per caught signal, as the program knows its mask. */
#define DP_MASK_BLOCKED (3ull | DP_MASK_FAULTS)
#define DP_MASK_DEFERRED 16ull /* signals wait: dp_private.deferred */
/* One bit per caught signal: a CLONE_VM child has made its action SIG_IGN, and the parent's is
 * not; or the other way round. */
#define DP_MASK_DIFFERS (12ull | 7ull << 51)
#define DP_MASK_VM_CHILD \
	32ull /* of a CLONE_VM child, which has its parent's pointer */
#define DP_MASK_STATE (DP_MASK_BLOCKED | DP_MASK_DEFERRED | DP_MASK_DIFFERS)
#define DP_MASK_BITS (DP_MASK_STATE | DP_MASK_VM_CHILD)
#define DP_MASKS 8192

#define DP_MASK_PROBES 256

/** dp_mask_bit() - the bit of the @k-th caught signal in a virtual mask */
static inline u64 dp_mask_bit(u32 k)
{
	return k < DP_CAUGHT_JUMPS ? 1ull << k :
				     1ull << (48 + k - DP_CAUGHT_JUMPS);
}

/** dp_mask_bits_of() - the bits of the caught signals in a signal set */
static inline u64 dp_mask_bits_of(u64 mask)
{
	u64 bits = 0;
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		if (mask >> (dp_caught(k) - 1) & 1)
			bits |= dp_mask_bit(k);
	return bits;
}

/** dp_mask_of_bits() - the signal set that has such bits */
static inline u64 dp_mask_of_bits(u64 bits)
{
	u64 mask = 0;
	u32 k;

	for (k = 0; k < DP_CAUGHT; k++)
		if (bits & dp_mask_bit(k))
			mask |= 1ull << (dp_caught(k) - 1);
	return mask;
}

/** dp_mask_differs_bit() - the bit of DP_MASK_DIFFERS for the @k-th caught signal */
static inline u64 dp_mask_differs_bit(u32 k)
{
	return k < DP_CAUGHT_JUMPS ? 4ull << k :
				     1ull << (51 + k - DP_CAUGHT_JUMPS);
}

/** dp_mask_slot() - where the search for a thread begins */
static inline u32 dp_mask_slot(u64 pointer)
{
	return (u32)((pointer * 0x9e3779b97f4a7c15ull) >> 32) % DP_MASKS;
}

/* call: the number of an intercepted system call, and how it is intercepted. */

/* Number of an intercepted call that is only known when it is made */
#define DP_ANY_CALL 0xffffffffu
/* The same, where all arguments are in registers at the call-out; with DP_ANY_CALL the
 * last argument is still on the stack. */
#define DP_PLAIN_CALL 0xfffffffeu
/** dp_call_is_any() - is the number only known when the call is made? */
static inline bool dp_call_is_any(u32 number)
{
	return number == DP_ANY_CALL || number == DP_PLAIN_CALL;
}

/*
 * A masked wait is made where it stands. It is intercepted at the instruction that sets
 * its number, and at the instruction that it returns to. An intercept's number has
 * these bits, and the bytes from the first of these to the second.
 */
#define DP_CALL_ENTERS 0x40000000u
#define DP_CALL_RETURNS 0x20000000u
#define DP_CALL_NUMBER 0xffffu
/*
 * Or musl's __syscall_cp() makes the call. Then the intercepts are: the call of that
 * function; the next call or jump, to the code that sets errno; and the place where a
 * cancelled thread leaves.
 */
#define DP_CALL_THROUGH 0x10000000u
#define DP_CALL_TOUCHED 0x08000000u /* see struct dp_masked_wait */
#define DP_CALL_LENGTH_SHIFT 16
static inline u32 dp_call_length(u32 number)
{
	return number >> DP_CALL_LENGTH_SHIFT & 0xff;
}

/** dp_call_is_masked_wait() - is this the number of a masked wait's intercept? */
static inline bool dp_call_is_masked_wait(u32 number)
{
	return !dp_call_is_any(number) &&
	       number & (DP_CALL_ENTERS | DP_CALL_RETURNS);
}

/** dp_call_goes_through() - is it a masked wait that __syscall_cp() makes? */
static inline bool dp_call_goes_through(u32 number)
{
	return dp_call_is_masked_wait(number) && number & DP_CALL_THROUGH;
}

/* __syscall_cp() and the function that calls it use less stack than this. */
#define DP_THROUGH_STACK 256
/* From __syscall_cp()'s return to the intercept behind it there is less. */
#define DP_THROUGH_TAIL 64

/* filter: a thread's request before it installs a seccomp filter. */

/*
 * A request has the address of the thread's registers (struct dp_mcontext), with which
 * the thread is sent home. Above that it has a number.
 */
#define DP_FILTER_NUMBER 48
/** dp_filter_regs() - the address of the registers */
static inline u64 dp_filter_regs(u64 ask)
{
	return ask & ((1ull << DP_FILTER_NUMBER) - 1);
}

/** dp_filter_answered() - is @ask answered, if @answered was the last to be? */
static inline bool dp_filter_answered(u64 ask, u64 answered)
{
	u64 ahead = (answered >> DP_FILTER_NUMBER) - (ask >> DP_FILTER_NUMBER);

	return (s64)(ahead << DP_FILTER_NUMBER) >= 0;
}

/* masked_wait: calls that sleep under a mask of their own (the pselect class). */

#define DP_MASKED_WAITS 256

/**
 * struct dp_masked_wait - a masked wait; hit owns it
 * @thread: its dp_thread_id(), and DP_MASK_VM_CHILD; 0: free
 * @mask: the mask that the kernel gets, without caught signals; @pair: the same in the
 *        form of pselect6(2)
 * @given: what the program gave. As long as the call lasts, its register has the
 *         address of @mask or @pair instead. That identifies the call.
 * @was: caught signals in the virtual mask outside the call
 * @real: if @closed, the thread's mask; all signals are blocked then except during the
 *        call
 * @sp: stack pointer of the call
 * @call: address of the instruction that sets its number
 * @detour, @detour_len: where that instruction runs instead
 * @back: where the call returns to; @behind: the same in the program's text
 * @serial: counts calls
 * @stacked: what was given is on the stack, too
 * @through: another function makes the call: @call is where that is called, @behind
 *         where it returns to; @back is 0
 * @touched: there may be breakpoints between @call and the return
 * @unknown: the entry stands for a handler's return to an unknown call: no mask, only
 *         the return
 */
struct dp_masked_wait {
	u64 thread;
	u64 mask;
	u64 pair[2];
	u64 given;
	u64 was, real;
	u64 sp;
	u64 call, detour, back, behind;
	u64 serial;
	u32 nr, closed, detour_len, stacked;
	u32 through, touched;
	u64 unknown;
};

/**
 * struct dp_kernel_wait - a masked wait that began without us, or goes on without us
 * @thread: its dp_thread_id(); 0: free
 * @sp, @back, @behind, @through, @nr: as of a struct dp_masked_wait
 * @mask: the whole mask
 */
struct dp_kernel_wait {
	u64 thread;
	u64 sp, back, behind;
	u64 mask;
	u32 nr, through;
};

#define DP_CLONES 64

#define DP_DEFERRED 32

#define DP_INTERCEPT_STACKS 16
#define DP_INTERCEPT_STACK_WORDS 126

/**
 * struct dp_private - state that a fork child takes along and then owns
 * @in_force: all signal actions and masks are ours. While it is 0, the kernel is asked:
 *         see dp_mask_catches()
 * @in_masks: for each caught signal, the signals whose actions block it
 * @marks: DP_MARKS_ flags; hit changes it while @in_force is set
 * @recovering: a tool has begun to remove another tool's probes, and cannot write that
 *         arena
 * @leaving: a tool takes the agent out. A thread lingers at the end of an intercept, where the
 *         tool can complete it
 * @masks: threads that block a caught signal, or once did: a hash table. The kernel
 *         never blocks it.
 * @deferred: deferred signals
 * @actions: virtual actions. @in_place is the stamp of the action in force, at
 *         ring[stamp % DP_ACTION_RING]; @next the last stamp taken
 * @clones: threads that are making a process, and how: flags of clone(2)
 * @masked_waits: @serial is of the last one; @unknowns of them have @unknown
 * @kernel_waits: masked waits that the agent has not seen begin
 * @stacks: for the work of intercepts, where the program's stacks are small
 * @led: @number of the last struct dp_led whose thread has gone on without its tracer
 * @nr_semaphores: of @semaphores, so many have ever been used
 * @sequence: see struct dp_stream_put; @row_sequence: see struct dp_row_put
 */
struct dp_private {
	u64 in_force;
	u64 in_masks[DP_CAUGHT];
	u64 marks;
	u64 recovering;
	u64 leaving;
	u64 masks[DP_MASKS];
	struct dp_deferred {
		u64 thread; /* 0: free */
		u64 info[16];
	} deferred[DP_DEFERRED];
	struct dp_clone {
		u64 thread; /* 0: free */
		u64 flags;
		u64 sp; /* with which the child begins */
		u64 virtual_mask; /* of the thread that makes it */
	} clones[DP_CLONES];
	struct dp_actions {
		u32 in_place;
		u32 next;
		struct dp_action_slot {
			u32 stamp;
			u32 pad;
			struct dp_kernel_sigaction action;
		} ring[DP_ACTION_RING];
	} actions[DP_CAUGHT];
	u64 serial, unknowns;
	struct dp_masked_wait masked_waits[DP_MASKED_WAITS];
	struct dp_kernel_wait kernel_waits[DP_MASKED_WAITS];
	struct dp_intercept_stack {
		u64 busy, pad;
		u64 words[DP_INTERCEPT_STACK_WORDS];
	} stacks[DP_INTERCEPT_STACKS];
	u64 sequence[4] __attribute__((aligned(32)));
	u64 led;
	u64 nr_semaphores;
	struct dp_semaphore semaphores[DP_SEMAPHORES];
	u64 row_sequence[4] __attribute__((aligned(32)));
};

#endif
