/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * marks: caught signals that the mask of a running handler blocks.
 *
 * The kernel restores a thread's mask when a handler returns, and the agent does not see
 * that. So what a handler's mask blocks has to be in the kernel's mask itself. No caught
 * signal may be there. Eight real-time signals of which the program uses none stand for
 * them:
 *
 *   NUDGE     always; a deferred signal comes when the kernel lets it through
 *   SIGNALS   one for each caught signal that is blocked
 *   EIGHT     the program's mask has all eight real-time signals; otherwise none
 *   NEVER     not set; a mask of the program that has the other seven has it, too
 *
 * A handler that interrupts another one has the union of their masks, and so of their marks.
 * A mask without marks, and one that the program has set outside of handlers, has its caught
 * signals in the table of virtual masks.
 */
#ifndef DP_LAYOUT_MARKS_H
#define DP_LAYOUT_MARKS_H

#include "port_types.h"
#include "engine/layout/base.h"

/* The first of the eight. libc and well-known runtimes use others. */
#define DP_MARKS_FIRST 50u
#define DP_MARKS_ALL (0xffull << (DP_MARKS_FIRST - 1))
#define DP_MARK_NUDGE (1ull << (DP_MARKS_FIRST - 1))
#define DP_MARKS_SIGNALS_SHIFT DP_MARKS_FIRST
#define DP_MARK_EIGHT (1ull << (DP_MARKS_FIRST + 5))
#define DP_MARK_NEVER (1ull << (DP_MARKS_FIRST + 6))

/* struct dp_private: @marks */
#define DP_MARKS_USED 1ull /* masks may have marks */
#define DP_MARKS_REFUSED 2ull /* the program uses one of the eight signals */
#define DP_MARKS_NUDGES 4ull /* the action for NUDGE is ours */

/** dp_marks_even() - has @mask all of the eight signals, or none? Only then can it have
 *  marks instead. */
static inline bool dp_marks_even(u64 mask)
{
	return !(mask & DP_MARKS_ALL) || (mask & DP_MARKS_ALL) == DP_MARKS_ALL;
}

/** dp_marks_are() - has @mask, of a thread or action in the kernel, marks? */
static inline bool dp_marks_are(u64 mask)
{
	return (mask & (DP_MARK_NUDGE | DP_MARK_NEVER)) == DP_MARK_NUDGE;
}

/** dp_marks_caught() - the caught signals for which @mask has marks */
static inline u64 dp_marks_caught(u64 mask)
{
	u64 caught = 0;
	u32 k;

	for (k = 0; dp_marks_are(mask) && k < DP_CAUGHT; k++)
		if (mask >> (DP_MARKS_SIGNALS_SHIFT + k) & 1)
			caught |= 1ull << (dp_caught(k) - 1);
	return caught;
}

/** dp_marks_off() - the program's mask for the kernel's: signals in place of their marks */
static inline u64 dp_marks_off(u64 mask)
{
	u64 eight = mask & DP_MARK_EIGHT ? DP_MARKS_ALL : 0;

	if (!dp_marks_are(mask))
		return mask;
	return (mask & ~DP_MARKS_ALL) | eight | dp_marks_caught(mask);
}

/**
 * dp_marks_on() - the kernel's mask for the program's: marks in place of signals
 * @caught: the signals that may not be in the kernel's mask
 *
 * A mask that is not even gets no marks.
 */
static inline u64 dp_marks_on(u64 mask, u64 caught)
{
	u64 marks = DP_MARK_NUDGE;
	u32 k;

	if (!dp_marks_even(mask))
		return mask & ~caught;
	for (k = 0; k < DP_CAUGHT; k++)
		if (mask & caught & 1ull << (dp_caught(k) - 1))
			marks |= 1ull << (DP_MARKS_SIGNALS_SHIFT + k);
	if (mask & DP_MARKS_ALL)
		marks |= DP_MARK_EIGHT;
	return (mask & ~(caught | DP_MARKS_ALL)) | marks;
}

/* libc cancels threads by it. */
#define DP_MARKS_CANCEL (1ull << 31)
/* The kernel never has SIGKILL and SIGSTOP in a mask. */
#define DP_MARKS_UNKNOWN (1ull << 8 | 1ull << 18 | DP_MARKS_CANCEL)

/**
 * dp_marks_trap() - the mask of the agent's handler: caught signals come, all others wait
 * @own: the process probes itself. A handler may be in a call that another thread cancels, and
 *       libc waits for the signal then: that comes, too.
 *
 * It has marks for all caught signals, and all other signals but the eight. No program has that.
 */
static inline u64 dp_marks_trap(bool own)
{
	return ~(dp_caught_mask(DP_CAUGHT) | DP_MARK_EIGHT | DP_MARK_NEVER |
		 (own ? DP_MARKS_CANCEL : 0));
}

/** dp_marks_in_trap() - is @mask, of a thread in the kernel, that of the agent's handler? */
static inline bool dp_marks_in_trap(u64 mask)
{
	return (mask | DP_MARKS_UNKNOWN) ==
	       (dp_marks_trap(true) | DP_MARKS_UNKNOWN);
}

/** dp_marks_trap_shown() - @mask without these marks: as the kernel would have it */
static inline u64 dp_marks_trap_shown(u64 mask)
{
	return dp_marks_in_trap(mask) ? mask | DP_MARK_EIGHT | DP_MARK_NEVER :
					mask;
}

#endif
