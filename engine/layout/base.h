/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* base: types and constants that the other headers of the layout use. */
#ifndef DP_LAYOUT_BASE_H
#define DP_LAYOUT_BASE_H

#include "port_types.h"

/* page: the unit in which memory is mapped. */

#define DP_PAGE 4096u

/* span: a range of the target's memory. */

/** struct dp_span - [start, start + size) in the target; control owns it */
struct dp_span {
	u64 start;
	u64 size;
};

/**
 * struct dp_mapped - a patched mapping; control owns it
 * @offset, @inode, @dev_major, @dev_minor: its file, as /proc/PID/maps says; 0: none.
 *         Another mapping may be there later.
 */
struct dp_mapped {
	u64 start;
	u64 size;
	u64 offset, inode;
	u32 dev_major, dev_minor;
};

/* few: counts in memory that the target can write. */

/** dp_few() - a count from shared memory, limited to @room */
static inline u32 dp_few(const u32 *count, u32 room)
{
	u32 n = *(const volatile u32 *)count;

	return n < room ? n : room;
}

/* thread: how a thread is identified. */

/**
 * dp_thread_id() - the number that identifies a thread
 * @pointer: its thread pointer, 47 bits; 0: no libc has set it
 * @tid: its id, which is used in that case
 *
 * Leaves free the bits of DP_MASK_BITS, and the highest bit.
 */
#define DP_THREAD_BARE (1ull << 46)
static inline u64 dp_thread_id(u64 pointer, u32 tid)
{
	if (!pointer)
		return DP_THREAD_BARE | (u64)tid << 6;
	return (pointer & ~63ull) | (pointer & 63) << 57;
}

/** dp_thread_is_bare() - is @id of a thread without a thread pointer? */
static inline bool dp_thread_is_bare(u64 id)
{
	return (id ^ DP_THREAD_BARE) < 1ull << 32;
}

/* caught: the signals that the hit half catches. */

/*
 * Signals that the breakpoints of jumps raise: SIGTRAP; and SIGILL, where another
 * instruction than DP_BREAKPOINT has to stand (dp_jump_upward()).
 */
#define DP_CAUGHT_JUMPS 2
/* Where handlers in C run: also the signals of faults in them and in copies */
#define DP_CAUGHT 5
static inline u32 dp_caught(u32 k)
{
	/* SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE. Not a table, because some code that
	 * uses this must not have data. */
	return (u32)(0x87b45ull >> 4 * k) & 15;
}

/** dp_caught_mask() - the first @n caught signals as a signal set */
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

/* Actions are published by index. A published action does not change until the ring
 * comes round. */
#define DP_ACTION_RING 32

#endif
