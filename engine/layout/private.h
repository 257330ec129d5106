/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* private: state that a fork child takes along and then owns. */
#ifndef DP_LAYOUT_PRIVATE_H
#define DP_LAYOUT_PRIVATE_H

#include "port_types.h"
#include "engine/layout/base.h"

/* mask: the virtual mask, which the program takes for its own. */

/* Of one thread: what it is known by, dp_thread_id(), and these. */
#define DP_MASK_FAULTS (7ull << 48)
/* A bit a caught signal, as the program knows it. */
#define DP_MASK_BLOCKED (3ull | DP_MASK_FAULTS)
#define DP_MASK_DEFERRED 16ull /* one is deferred: see dp_private.deferred */
#define DP_MASK_IGNORES 4ull /* a vfork child has made its action SIG_IGN */
#define DP_MASK_DEFAULT 8ull /* or SIG_DFL */
#define DP_MASK_VM_CHILD \
	32ull /* a vfork child's, who has its parent's pointer */
#define DP_MASK_STATE (31ull | DP_MASK_FAULTS)
#define DP_MASK_BITS (63ull | DP_MASK_FAULTS)
#define DP_MASKS 8192

#define DP_MASK_PROBES 256

/** dp_mask_bit() - the bit of the @k-th caught signal in a virtual mask */
static inline u64 dp_mask_bit(u32 k)
{
	return k < DP_CAUGHT_JUMPS ? 1ull << k :
				     1ull << (48 + k - DP_CAUGHT_JUMPS);
}

/** dp_mask_slot() - where the search for a thread pointer begins */
static inline u32 dp_mask_slot(u64 pointer)
{
	return (u32)((pointer * 0x9e3779b97f4a7c15ull) >> 32) % DP_MASKS;
}

/* call: the number of an intercepted system call, and how it is intercepted. */

/* Number of an intercepted call that is only known when it is made */
#define DP_ANY_CALL 0xffffffffu
/* The same, and it is asked for no sooner than all its arguments are in registers; of
 * the other one the last is still on the stack. */
#define DP_PLAIN_CALL 0xfffffffeu
/** dp_call_is_any() - is it one of these? */
static inline bool dp_call_is_any(u32 number)
{
	return number == DP_ANY_CALL || number == DP_PLAIN_CALL;
}

/*
 * A call that sleeps under a mask of its own is made where it stands. It is
 * intercepted at the instruction that sets its number and at the one that it returns
 * to: the number with these bits, and from the first one to the second so many
 * bytes.
 */
#define DP_CALL_ENTERS 0x40000000u
#define DP_CALL_RETURNS 0x20000000u
#define DP_CALL_NUMBER 0xffffu
/*
 * Or it is made by musl's __syscall_cp(), for many: intercepted are the call of that one,
 * and the next call or jump, which is to what sets errno; and where that one does not
 * return, but the thread is cancelled.
 */
#define DP_CALL_THROUGH 0x10000000u
#define DP_CALL_TOUCHED 0x08000000u /* see struct dp_masked_wait */
#define DP_CALL_LENGTH_SHIFT 16
static inline u32 dp_call_length(u32 number)
{
	return number >> DP_CALL_LENGTH_SHIFT & 0xff;
}

/** dp_call_is_masked_wait() - is it such a place? */
static inline bool dp_call_is_masked_wait(u32 number)
{
	return !dp_call_is_any(number) &&
	       number & (DP_CALL_ENTERS | DP_CALL_RETURNS);
}

/** dp_call_goes_through() - is it one of these? */
static inline bool dp_call_goes_through(u32 number)
{
	return dp_call_is_masked_wait(number) && number & DP_CALL_THROUGH;
}

/* Of the function that makes it, and of the one that it is made for, there is less on
 * the stack. */
#define DP_THROUGH_STACK 256
/* From the return of the first one to the intercept behind it there is less. */
#define DP_THROUGH_TAIL 64

/* filter: what a thread says that is about to install a seccomp filter. */

/*
 * A thread that is about to install a seccomp filter: the address of its registers
 * (struct dp_mcontext), with which it is sent home, and above that a number.
 */
#define DP_FILTER_NUMBER 48
/** dp_filter_regs() - the address */
static inline u64 dp_filter_regs(u64 ask)
{
	return ask & ((1ull << DP_FILTER_NUMBER) - 1);
}

/** dp_filter_answered() - is @ask answered, if @answered was the last that was? */
static inline bool dp_filter_answered(u64 ask, u64 answered)
{
	u64 ahead = (answered >> DP_FILTER_NUMBER) - (ask >> DP_FILTER_NUMBER);

	return (s64)(ahead << DP_FILTER_NUMBER) >= 0;
}

/* masked_wait: calls with a signal mask of their own (the pselect class). */

#define DP_MASKED_WAITS 256

/**
 * struct dp_masked_wait - a call that waits under a mask of its own; hit owns it
 * @thread: whose it is, and DP_MASK_VM_CHILD; 0: free
 * @mask: what the kernel gets, which has no caught signal; @pair: the same in
 *        the form of pselect6(2)
 * @given: what the program gave. The register that has it has the address of
 *         @mask or @pair as long as the call lasts, by which it is known again
 * @was: caught signals in the virtual mask outside the call
 * @real: if @closed, the thread's mask; it has all signals blocked then, but for
 *        the time of the call
 * @sp: stack pointer of the call
 * @call: address of the instruction that sets its number
 * @detour, @detour_len: where that is made instead
 * @back: where it returns to; @behind: the same in the program's text
 * @serial: counts calls
 * @stacked: what was given is on the stack, too
 * @through: it is made by a function that is called for it: @call is where, and
 *           @behind where that one returns to; @back is 0
 * @touched: there may be breakpoints between @call and the return
 * @unknown: any call, for all that can be told in the handler that it returns from: there
 *           is no mask, only the return
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
 * struct dp_kernel_wait - such a call that is in the kernel without us, or goes on without us
 * @thread: whose it is; 0: free
 * @sp, @back, @behind, @through, @nr: as of a struct dp_masked_wait
 * @mask: all of it
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
 * struct dp_stepped - the thread that the tool is bringing out of the agent
 * @thread: 0: none; @mask: its signal mask
 * @masked: the one that it has for the stepping only, or 0
 * @own: does it step by itself, too?
 *
 * It counts once the tool has ended: see port/user/signals/stepped.c.
 */
struct dp_stepped {
	u64 thread, mask, masked, own;
};

/** dp_stepped_undoes() - is @mask in force for the stepping only, and to become @s->mask? The
 *  first caught signal tells of a step, and is never blocked meanwhile. */
static inline bool dp_stepped_undoes(const struct dp_stepped *s, u64 mask)
{
	return s->masked && s->masked != s->mask &&
	       (mask == s->masked || mask == (s->mask & ~dp_caught_mask(1)));
}

/**
 * struct dp_private - state that a fork child takes along and then owns
 * @in_force: our signal actions are, all of them, and the masks are ours. Until then,
 *            and from when that ends, the kernel is asked: see dp_mask_catches()
 * @in_masks: for each caught signal a bit a signal: the program's action for
 *            that one blocks it
 * @stepped: see struct dp_stepped
 * @recovering: a tool has begun to take out what another one left, whose arena it cannot write
 * @masks: threads that block a caught signal, or once did: a hash table. None is
 *         ever really blocked.
 * @deferred: signals that wait for their thread to unblock them
 * @actions: the program's own for the caught signals. @current is the stamp of
 *           the one in force, at ring[stamp % RING]; @next the last one taken
 * @clones: threads that are making a process, and how: flags of clone(2)
 * @masked_waits: calls with a mask of their own; @serial of the last one; @unknowns: how many
 *          are not known
 * @kernel_waits: those that have not passed here, for the time between
 * @stacks: for the work of intercepts, where the program's own are small
 */
struct dp_private {
	u64 in_force;
	u64 in_masks[DP_CAUGHT];
	struct dp_stepped stepped;
	u64 recovering;
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
		u32 current;
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
};

#endif
