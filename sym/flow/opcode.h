/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* opcode: what an instruction does to general registers. */
#ifndef DP_SYM_OPCODE_H
#define DP_SYM_OPCODE_H

#include <Zydis/Zydis.h>
#include "port_types.h"

/* Numbers as instructions have them. */
#define DP_RSP 4
#define DP_RBP 5
#define DP_NO_BASE 0xff

/** struct dp_opcode - an instruction and its visible operands; no instruction has none */
struct dp_opcode {
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT_VISIBLE];
};

void dp_opcode_read(struct dp_opcode *o, const u8 *code, size_t size);
/* The register, whole or in part, that operand @i is, or DP_NO_BASE. */
u8 dp_opcode_reg(const struct dp_opcode *o, u8 i);
bool dp_opcode_has_memory(const struct dp_opcode *o, u8 i);
/* The register of a memory operand of the form disp(base), or DP_NO_BASE. */
u8 dp_opcode_base(const struct dp_opcode *o, s64 *disp);
/* The second operand, if it is a constant. */
bool dp_opcode_constant(const struct dp_opcode *o, s64 *value);

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
