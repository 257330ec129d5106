/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pieces: which bytes of a module belong to which function.
 *
 * Addresses are those of the file. Context of every function: tool process; may allocate.
 */
#ifndef DP_SYM_FLOW_PIECES_H
#define DP_SYM_FLOW_PIECES_H

#include "port_types.h"
#include "sym/flow/map.h"
#include "sym/flow/survey.h"

int dp_pieces_load(struct dp_survey *s);
struct dp_piece *dp_pieces_find(const struct dp_code_map *map, u64 addr);
static inline u64 dp_piece_end(const struct dp_piece *p)
{
	return p->start + p->len;
}

#endif
