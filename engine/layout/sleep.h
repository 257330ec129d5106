/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* sleep: calls with a signal mask of their own. */
#ifndef DP_LAYOUT_SLEEP_H
#define DP_LAYOUT_SLEEP_H

#include "port_types.h"

#define DP_SLEEPS 256

/**
 * struct dp_sleep - a call that sleeps under a mask of its own; hit owns it
 * @thread: whose it is, and DP_MASK_SHARER; 0: free
 * @mask: what the kernel gets, which has no caught signal; @pair: the same in
 *        the form of pselect6(2)
 * @given: what the program gave. The register that has it has the address of
 *         @mask or @pair as long as the call lasts, by which it is known again
 * @was: caught signals that the program believes to be blocked outside the call
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
struct dp_sleep {
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
 * struct dp_native - such a call that was made without us, or goes on without us
 * @thread: whose it is; 0: free
 * @sp, @back, @behind, @through, @nr: as of a struct dp_sleep
 * @mask: all of it
 */
struct dp_native {
	u64 thread;
	u64 sp, back, behind;
	u64 mask;
	u32 nr, through;
};

#endif
