/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* map: what a code map holds, for those that draw it and those that ask it. */
#ifndef DP_SYM_FLOW_MAP_H
#define DP_SYM_FLOW_MAP_H

#include "port_types.h"

struct dp_range;

#define DP_TEXT_MAX 16

/**
 * struct dp_text - one executable segment
 * @code: its bytes, only while the map is drawn
 * @target: a bit for each byte: control may arrive here
 * @insn: a bit for each byte: an instruction begins here
 * @named: a bit for each byte: known by more than jumps and frame descriptions:
 *         it is called, has a name, or its address stands somewhere
 */
struct dp_text {
	u64 start, end;
	u8 *code;
	u64 *target, *insn, *named;
};

/* What a piece has, and what that means. */
enum dp_piece_flag {
	DP_PIECE_FDE = 1, /* known by its frame description, not by a name */
	DP_PIECE_COMPUTED = 2, /* jumps to an address that it computes */
	DP_PIECE_UNKNOWN = 4, /* jumps to a register, set who knows where */
	DP_PIECE_INSIDE = 8, /* takes an address of its own inside */
	DP_PIECE_TABLE = 16, /* refers to a table of offsets from itself */
	DP_PIECE_PAIR = 32, /* the same, of offsets from its own inside */
	DP_PIECE_JUMP = 64, /* targets of a jump are not known */
	DP_PIECE_LOST = 128, /* not understood for another reason */
};

/** struct dp_piece - a function, or what one description knows of it */
struct dp_piece {
	u64 start;
	u32 len;
	u8 flags;
};

/** struct dp_way - from one piece into another */
struct dp_way {
	u64 from, to;
};

/** struct dp_ways - any number of them */
struct dp_ways {
	struct dp_way *v;
	size_t n, room;
};

/**
 * struct dp_code_map
 * @jump: direct jumps out of pieces, and falls out of their ends, ascending by
 *        @to; @from is somewhere in the piece
 * @hidden: what no instruction tells: landing pads, entries of jump tables that
 *          lead out of the function; ascending by @from, the piece's start
 * @inner: indirect jumps by tables of whole addresses, ascending
 */
struct dp_code_map {
	u64 bias;
	struct dp_text text[DP_TEXT_MAX];
	size_t n_text;
	struct dp_piece *piece; /* ascending, without overlap */
	size_t n_piece, room_piece;
	struct dp_range *padding; /* ascending */
	size_t n_padding, room_padding;
	struct dp_ways jump, hidden;
	u64 *inner;
	size_t n_inner, room_inner;
};

#endif
