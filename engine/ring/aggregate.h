/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aggregate: put the values of a hit into a table. */
#ifndef DP_RING_AGGREGATE_H
#define DP_RING_AGGREGATE_H

#include "port_types.h"
#include "engine/layout/aggregate.h"

#pragma GCC visibility push(hidden)

/**
 * dp_aggregate_put() - a hit of table @t
 * @first: the first word of its keys; their others, and then its values, are below it, as on a stack
 *
 * It is in the table then, or counted as lost. Context: hit half, any stack; lock-free; may be
 * interrupted, and left for good, at any instruction.
 */
void dp_aggregate_put(const struct dp_aggregate_entry *t, const u64 *first);
/** dp_aggregate_put_texts() - the same, where words are addresses of strings, whose words belong there
 *  and behind it; @texts: of struct dp_native_record */
void dp_aggregate_put_texts(const struct dp_aggregate_entry *t, u64 *first,
			    u64 texts);
/** dp_aggregate_lose() - a hit whose values cannot be read */
void dp_aggregate_lose(const struct dp_aggregate_entry *t);
/** dp_aggregate_table() - the table of this number, which an instruction has that is verified */
const struct dp_aggregate_entry *dp_aggregate_table(u32 number);

#pragma GCC visibility pop

#endif
