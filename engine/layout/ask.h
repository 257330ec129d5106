/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* ask: threads that wait for a handler in the tool. */
#ifndef DP_LAYOUT_ASK_H
#define DP_LAYOUT_ASK_H

#include "port_types.h"

/** enum dp_ask_state - whose turn it is */
enum dp_ask_state {
	DP_ASK_FREE,
	DP_ASK_TAKEN, /* a thread fills it in, or reads what came */
	DP_ASK_ASKED, /* the tool is to take it */
	DP_ASK_RUNS, /* the handler does; the thread waits */
	DP_ASK_ANSWERED, /* it is the thread's again */
	DP_ASK_LEFT, /* the thread has gone on; the tool is to free it */
};

/**
 * struct dp_ask - a thread that waits for a handler in the tool
 * @state: enum dp_ask_state; whoever waits for it is woken
 * @tid: of the thread, in the target's namespace; @probe: whose handler
 * @regs: struct dp_regs. The handler changes them.
 */
struct dp_ask {
	u32 state;
	u32 tid, probe, pad;
	u64 regs[21];
	u64 more;
};

/**
 * struct dp_asks - all of them
 * @keeper: a robust futex (linux/futex.h) that a thread of the tool holds as long
 *          as the tool answers
 * @calls: counts what was asked; the tool waits for it to change
 * @high: one more than the last that was ever used
 */
struct dp_asks {
	u32 keeper, calls, high, pad;
	u64 more[6];
	struct dp_ask v[];
};
#define DP_ASKS 1024

#endif
