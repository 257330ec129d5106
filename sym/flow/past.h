/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * past: where the last instructions of a function got their values from.
 *
 * Addresses are those of the file. Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_PAST_H
#define DP_SYM_FLOW_PAST_H

#include "port_types.h"

/* Where did a register get its value from? */
enum dp_source {
	DP_SOURCE_NOT_HERE, /* not set by this instruction */
	DP_SOURCE_WHOLE, /* a whole address */
	DP_SOURCE_COMPUTED,
};

#define DP_LOOK_BACK 16

/** struct dp_past - the last instructions of a function, by their offsets */
struct dp_past {
	u32 at[DP_LOOK_BACK];
	u32 n;
};

/* NOT_HERE: it was not set by these. @code of @len bytes is the function. */
enum dp_source dp_past_source(const struct dp_past *past, const u8 *code,
			      u32 len, u8 reg);

/* Is there one that loads an offset of a table: movslq (r,r,4),r? */
bool dp_past_has_offset(const struct dp_past *past, const u8 *code, u32 len);
static inline void dp_past_add(struct dp_past *past, u32 at)
{
	past->at[past->n++ % DP_LOOK_BACK] = at;
}

#endif
