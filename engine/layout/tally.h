/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* tally: what has become of a probe, and of its hits and records. */
#ifndef DP_LAYOUT_TALLY_H
#define DP_LAYOUT_TALLY_H

#include "port_types.h"

/** enum dp_status_bit - what a program has made of its probe */
enum dp_status_bit {
	DP_PROBE_REMOVED = 1,
	DP_PROBE_SUSPENDED = 2,
	DP_PROBE_FAULTED = 4, /* one of its handlers has */
};

/** enum dp_tally - what else became of hits and records, by probe */
enum dp_tally {
	DP_TALLY_PASSED, /* hits that passcount let pass */
	DP_TALLY_DISABLED, /* hits after maxhits, remove, or suspend */
	DP_TALLY_CONTEXT, /* hits missed for want of a context */
	DP_TALLY_LOST, /* records for which the ring had no room */
	DP_TALLY_DISCARDED, /* records whose original instruction faulted */
	DP_TALLY_RECURSED, /* hits inside a handler */
	DP_TALLY_FAULTED, /* handlers that were given up */
	DP_TALLY_SELF, /* hits of the library's own calls */
	DP_TALLY_VISITS, /* entries that are not followed: the table was full */
	DP_TALLY_ABANDONED, /* visits that were seen to have ended otherwise */
	DP_TALLY_UNSEEN, /* returns of calls that were not followed */
	DP_TALLY_UNMET, /* entries whose program did not want them followed */
	DP_TALLY_DAMAGED, /* visits that made no sense when they ended */
	DP_TALLY_UNWOUND, /* visits that were unwound */
	DP_TALLY_RETURNED, /* that returned from where they had jumped to */
	DP_TALLY_TAILED, /* that were lost sight of there, by another jump */
	DP_TALLY_CUT, /* whose beginning or end was left by a signal's handler */
	DP_TALLY_UNANSWERED, /* handlers in the tool that took too long */
	DP_TALLY_UNHEARD, /* hits while the tool was not there */
	DP_TALLY_TOOL_GONE, /* hits after the end of the tool */
	DP_TALLY_BROUGHT, /* visits that a fork has brought along */
	DP_TALLY_MIDDLE, /* of the first probe of a site: see dp_engine_middle() */
	DP_TALLY_NR,
};

/**
 * struct dp_probe_state - of a probe with a program; hit owns it
 * @count: executions so far; starts at minus passcount
 * @waiting: records that wait for their instruction
 */
struct dp_probe_state {
	s64 count;
	u32 status;
	u32 waiting;
	u64 tally[DP_TALLY_NR];
};

#endif
