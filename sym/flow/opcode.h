/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opcode: which general registers an instruction changes, and how, as far as its bytes
 * tell easily. */
#ifndef DP_SYM_OPCODE_H
#define DP_SYM_OPCODE_H

#include "engine/insn/insn.h"

/* Numbers as instructions have them. */
#define DP_RSP 4
#define DP_RBP 5
#define DP_NO_BASE 0xff

#define DP_REX_W 8

enum dp_opcode_map {
	DP_MAP_ONE, /* one byte */
	DP_MAP_0F, /* 0f, one byte */
	DP_MAP_OTHER, /* vectors, mostly */
};

/**
 * struct dp_opcode
 * @op: the last byte of the opcode
 * @map: enum dp_opcode_map
 * @rex: its lower four bits
 * @mod, @reg, @rm: of ModRM, extended by @rex; 0 if there is none
 * @base: of a memory operand of the form disp(base), or DP_NO_BASE
 * @disp: its displacement
 * @imm: sign-extended, if it is of 1 or 4 bytes
 */
struct dp_opcode {
	u8 op, map, rex, mod, reg, rm, base;
	bool has_modrm;
	s32 disp, imm;
};

struct dp_opcode dp_opcode_of(const u8 *code, const struct insn_facts *f);

/* past: the origin of a register's value, from the last instructions of a function. */

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

/* NOT_HERE: none of these instructions set it. @code of @len bytes is the function. */
enum dp_source dp_past_source(const struct dp_past *past, const u8 *code,
			      u32 len, u8 reg);

/* Does an instruction load an offset of a table: movslq (r,r,4),r? */
bool dp_past_has_offset(const struct dp_past *past, const u8 *code, u32 len);
static inline void dp_past_add(struct dp_past *past, u32 at)
{
	past->at[past->n++ % DP_LOOK_BACK] = at;
}

#endif
