/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* facts: the parts of an instruction of x86-64, and what follows from them. */
#ifndef DP_X86_FACTS_H
#define DP_X86_FACTS_H

#include "engine/insn/insn.h"
#include "port_types.h"

/** enum dp_x86_map - the tables of opcodes (Intel SDM vol. 2, appendix A); all that have a VEX, EVEX or
 *  XOP prefix are DP_X86_MAP_OTHER */
enum dp_x86_map { DP_X86_MAP_ONE, DP_X86_MAP_0F, DP_X86_MAP_OTHER };

/**
 * struct dp_x86_parts - what a decoder has found
 * @opcode: the last byte of the opcode; @modrm, @sib: as they stand, if there are any
 * @disp: the displacement, with its sign; @relative: the distance of a branch, if @is_relative
 * @is_16, @is_32: it has a prefix for operands of 16 bits, and for addresses of 32 bits
 */
struct dp_x86_parts {
	enum dp_x86_map map;
	u8 opcode, modrm, sib;
	bool has_modrm, is_16, is_32, is_relative;
	bool locks, rex_w, rex_x, rex_b, fs, gs;
	s64 disp, relative;
};

/** dp_x86_facts() - fill in what follows from the parts
 *  @facts: lengths and offsets are there, but for that of the opcode. Pure. */
void dp_x86_facts(const struct dp_x86_parts *parts, struct insn_facts *facts);

/** dp_x86_plain_one(), dp_x86_plain_0f() - of a map, an instruction of which nothing but its ModRM operand can
 *  fail. @in_register: that is a register */
bool dp_x86_plain_one(u8 opcode, u8 modrm);
bool dp_x86_plain_0f(u8 opcode, bool in_register);

static inline bool dp_x86_in_register(u8 modrm)
{
	return modrm >> 6 == 3;
}

static inline u8 dp_x86_modrm_reg(u8 modrm)
{
	return modrm >> 3 & 7;
}

#endif
