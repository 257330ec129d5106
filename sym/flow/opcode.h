/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opcode: what an instruction does to which general register, as far as its bytes
 * tell easily. */
#ifndef DP_SYM_OPCODE_H
#define DP_SYM_OPCODE_H

#include "engine/insn/insn.h"

/* As instructions number registers. */
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

#endif
