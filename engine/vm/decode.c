// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* decode: instructions of a program, for control. */
#include "engine/vm/decode.h"
#include "arch/arch.h"

u8 dp_op_operand(u8 op)
{
	static const u8 operands[256] = {
#define OPERAND(code, name, operand, ...) [code] = DP_OPERAND_##operand,
		DP_OPS(OPERAND)
	};

	return operands[op];
}

u8 dp_op_size(u8 op)
{
	static const u8 sizes[] = {
		[DP_OPERAND_NONE] = 0, [DP_OPERAND_U8] = 1,
		[DP_OPERAND_U16] = 2,  [DP_OPERAND_S16] = 2,
		[DP_OPERAND_UL] = 8,   [DP_OPERAND_REL] = 8,
		[DP_OPERAND_REG] = 2,  [DP_OPERAND_REGW] = 2,
		[DP_OPERAND_LV] = 2,   [DP_OPERAND_GV] = 2,
		[DP_OPERAND_AGG] = 2,
	};

	return sizes[dp_op_operand(op)];
}

u32 dp_op_decode(const u8 *code, u32 at, u64 *arg)
{
	u8 size = dp_op_size(code[at]), kind = dp_op_operand(code[at]);
	u32 next = at + 1 + size;

	*arg = size ? dp_bytes_load(code + at + 1, size) : 0;
	if (kind == DP_OPERAND_REL)
		*arg += next;
	else if (kind == DP_OPERAND_S16)
		*arg = (u64)(s64)(int16_t)*arg;
	return next;
}
