/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* watched: what a hit of a watchpoint says. */
#ifndef DP_TRACER_WATCHED_H
#define DP_TRACER_WATCHED_H

#include "port_types.h"

struct dp_record_copy;
struct dp_session;

/**
 * struct dp_watched - the data of a watchpoint's record
 * @now: what was there when the thread had trapped, with zeros above the watched bytes;
 *       @before: the same of the hit before, whichever thread's, or of when the tool came
 * @pc: where the thread went on
 * @by: the instruction that did it; 0: not known
 * @known: @now and @before are
 */
struct dp_watched {
	u64 now, before, pc, by;
	u32 known, pad;
};

/** dp_watched_print() - print the record of a watchpoint as a line of trace
 *  Context: tool; may sleep. Source: ours. */
void dp_watched_print(struct dp_session *s, const struct dp_record_copy *r);

#endif
