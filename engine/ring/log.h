/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* log: records on their way to the reader. */
#ifndef DP_RING_LOG_H
#define DP_RING_LOG_H

#include "port_types.h"
#include "arch/arch.h"
#include "engine/layout/instance.h"
#include "engine/layout/ring.h"

#pragma GCC visibility push(hidden)

/** dp_log_put() - hand a record to the reader, or count it lost
 *  @parts: the data, @nr of them, at least one, @head->len bytes; @head->cpu is filled in here. A writer that has waited
 *  for the reader moves @head->ticks and @leaving->entered by that; NULL: there is none.
 *  @now: @head->ticks may be the time at which the reader can see it, so that what one CPU records
 *  is in order of time */
void dp_log_put(struct dp_record *head, struct dp_leaving *leaving,
		const struct dp_log_part *parts, u32 nr, bool now);
/** dp_log_wait() - where writers wait for the reader: wait until there is room.
 *  Return: how long, in ticks */
u64 dp_log_wait(void);
/** dp_log_commit() - hand a context's record to the reader, or count it lost */
void dp_log_commit(struct dp_context *ctx);
/** dp_log_discard() - count a context's record as discarded, and undo its execution's
 *  count */
void dp_log_discard(struct dp_context *ctx);

#pragma GCC visibility pop

#endif
