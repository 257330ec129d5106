/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* stacks: those that hits of a session's programs have walked. */
#ifndef DP_KMOD_STACKS_H
#define DP_KMOD_STACKS_H

#include "engine/layout/backtrace.h"
#include "port_types.h"

/* Frames of different stacks that a session keeps, at least */
#define DP_KMOD_STACKS 90000

/** struct dp_stack_walked - @nr frames, the innermost first, and why there are no more; @lost: hits of the session for
 *  whose stacks there was no room. @exact: of each, does its code go on there? If not, it is behind a call */
struct dp_stack_walked {
	u64 frames[DP_BACKTRACE_FRAMES], lost;
	bool exact[DP_BACKTRACE_FRAMES];
	enum dp_backtrace_end end;
	u32 nr;
};

/** dp_stack_get() - the stack of a number that a program has got. Context: task, may sleep. Return: 0; -ENOENT: there is
 *  none */
int dp_stack_get(u32 number, struct dp_stack_walked *walked);

#endif
