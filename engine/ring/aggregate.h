/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aggregate: put the values of a hit into a table. */
#ifndef DP_RING_AGGREGATE_H
#define DP_RING_AGGREGATE_H

#include "port_types.h"

#pragma GCC visibility push(hidden)

/**
 * dp_aggregate_put() - a hit of table @number
 * @first: the first word of its keys; their others, and then its values, are below it, as on a stack
 *
 * It is in the table then, or counted as lost. Context: hit half, any stack; lock-free; may be
 * interrupted, and left for good, at any instruction.
 */
void dp_aggregate_put(u32 number, const u64 *first);
/** dp_aggregate_lose() - a hit whose values cannot be read */
void dp_aggregate_lose(u32 number);

#pragma GCC visibility pop

#endif
