/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ways: how control gets from one piece of code into another.
 *
 * Addresses are those of the file. Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_WAYS_H
#define DP_SYM_FLOW_WAYS_H

#include "port_types.h"

struct dp_code_map;
struct dp_piece;
struct dp_ways;

int dp_ways_add(struct dp_ways *ways, u64 from, u64 to);
/* From one piece to another that nothing else leads into from outside. */
int dp_ways_hide(struct dp_code_map *map, const struct dp_piece *from, u64 to);
void dp_ways_sort(struct dp_code_map *map);
/* The first of @jump with to >= @addr; of @hidden with from >= @addr. */
size_t dp_ways_to(const struct dp_ways *ways, u64 addr);
size_t dp_ways_from(const struct dp_ways *ways, u64 addr);

#endif
