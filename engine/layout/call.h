/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* call: the number of a hooked system call, and how it is hooked. */
#ifndef DP_LAYOUT_CALL_H
#define DP_LAYOUT_CALL_H

#include "port_types.h"

/* Number of a hooked call that is only known when it is made */
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
 * hooked at the instruction that sets its number and at the one that it returns
 * to: the number with these bits, and from the first one to the second so many
 * bytes.
 */
#define DP_CALL_ENTERS 0x40000000u
#define DP_CALL_RETURNS 0x20000000u
#define DP_CALL_NUMBER 0xffffu
/*
 * Or it is made by musl's __syscall_cp(), for many: hooked are the call of that one,
 * and the next call or jump, which is to what sets errno; and where that one does not
 * return, but the thread is cancelled.
 */
#define DP_CALL_THROUGH 0x10000000u
#define DP_CALL_TOUCHED 0x08000000u /* see struct dp_sleep */
#define DP_CALL_LENGTH_SHIFT 16
static inline u32 dp_call_length(u32 number)
{
	return number >> DP_CALL_LENGTH_SHIFT & 0xff;
}

/** dp_call_sleeps() - is it such a place? */
static inline bool dp_call_sleeps(u32 number)
{
	return !dp_call_is_any(number) &&
	       number & (DP_CALL_ENTERS | DP_CALL_RETURNS);
}

/** dp_call_goes_through() - is it one of these? */
static inline bool dp_call_goes_through(u32 number)
{
	return dp_call_sleeps(number) && number & DP_CALL_THROUGH;
}

/* Of the function that makes it, and of the one that it is made for, there is less on
 * the stack. */
#define DP_THROUGH_STACK 256
/* From the return of the first one to the hook behind it there is less. */
#define DP_THROUGH_TAIL 64

#endif
