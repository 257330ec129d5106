/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: what the other headers of the layout are made of. */
#ifndef DP_LAYOUT_BASE_H
#define DP_LAYOUT_BASE_H

#include "port_types.h"

/* page: the unit in which memory is mapped. */

#define DP_PAGE 4096u

/* span: a piece of the target's memory. */

/** struct dp_span - [start, start + size) in the target; control owns it */
struct dp_span {
	u64 start;
	u64 size;
};

/**
 * struct dp_mapped - a mapping of code in which there are sites; control owns it
 * @offset, @inode, @dev_major, @dev_minor: of what file, as /proc/PID/maps says:
 *        something else may be there later. 0: of none
 */
struct dp_mapped {
	u64 start;
	u64 size;
	u64 offset, inode;
	u32 dev_major, dev_minor;
};

/* few: counts in memory that a target can write. */

/** dp_few() - a count from shared memory: never more than there is room for */
static inline u32 dp_few(const u32 *count, u32 room)
{
	u32 n = *(const volatile u32 *)count;

	return n < room ? n : room;
}

/* thread: what a thread is known by. */

/**
 * dp_thread_id() - what a thread is known by
 * @pointer: its thread pointer, 47 bits; 0: there is no libc that has set it
 * @tid: its id, which counts then
 *
 * Leaves free the bits of DP_MASK_BITS, and the highest one.
 */
#define DP_THREAD_BARE (1ull << 46)
static inline u64 dp_thread_id(u64 pointer, u32 tid)
{
	if (!pointer)
		return DP_THREAD_BARE | (u64)tid << 6;
	return (pointer & ~63ull) | (pointer & 63) << 57;
}

/** dp_thread_is_bare() - is it one without a thread pointer? */
static inline bool dp_thread_is_bare(u64 id)
{
	return (id ^ DP_THREAD_BARE) < 1ull << 32;
}

/* caught: the signals that the hit half catches. */

/*
 * Signals that the breakpoints of jumps raise: SIGTRAP; and SIGILL, where a
 * breakpoint has to be another instruction than DP_BREAKPOINT (dp_jump_upward()).
 */
#define DP_CAUGHT_JUMPS 2
/* Where handlers in C run, their faults, too, and those of copies. */
#define DP_CAUGHT 5
static inline u32 dp_caught(u32 k)
{
	/* SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE; no table, for the sake of
	 * code that must not have data. */
	return (u32)(0x87b45ull >> 4 * k) & 15;
}

/** dp_caught_mask() - the first @n of them as a signal set */
static inline u64 dp_caught_mask(u32 n)
{
	u64 mask = 0;

	while (n-- > 0)
		mask |= 1ull << (dp_caught(n) - 1);
	return mask;
}

/* action: what a process does on a signal. */

/** struct dp_kernel_sigaction - what rt_sigaction(2) takes */
struct dp_kernel_sigaction {
	u64 handler;
	u64 flags;
	u64 restorer;
	u64 mask;
};

/* Actions are published by index and never change once published, until the
 * ring comes round. */
#define DP_ACTION_RING 32

#endif
