// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* opcode: what an instruction does to general registers, as Zydis tells. */
#include "sym/flow/opcode.h"

void dp_opcode_read(struct dp_opcode *o, const u8 *code, size_t size)
{
	ZydisDecoder decoder;
	ZydisDecoderContext context;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
			 ZYDIS_STACK_WIDTH_64);
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, &context,
							code, size, &o->in)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeOperands(
		    &decoder, &context, &o->in, o->op,
		    o->in.operand_count_visible)))
		*o = (struct dp_opcode){ .in.length = 0 };
}

static u8 number_of(ZydisRegister reg)
{
	reg = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
	return ZydisRegisterGetClass(reg) == ZYDIS_REGCLASS_GPR64 ?
		       (u8)ZydisRegisterGetId(reg) :
		       DP_NO_BASE;
}

u8 dp_opcode_reg(const struct dp_opcode *o, u8 i)
{
	return i < o->in.operand_count_visible &&
			       o->op[i].type == ZYDIS_OPERAND_TYPE_REGISTER ?
		       number_of(o->op[i].reg.value) :
		       DP_NO_BASE;
}

bool dp_opcode_has_memory(const struct dp_opcode *o, u8 i)
{
	return i < o->in.operand_count_visible &&
	       o->op[i].type == ZYDIS_OPERAND_TYPE_MEMORY;
}

u8 dp_opcode_base(const struct dp_opcode *o, s64 *disp)
{
	u8 i;

	for (i = 0; i < o->in.operand_count_visible; i++) {
		if (!dp_opcode_has_memory(o, i) ||
		    o->op[i].mem.index != ZYDIS_REGISTER_NONE)
			continue;
		*disp = o->op[i].mem.disp.value;
		return number_of(o->op[i].mem.base);
	}
	return DP_NO_BASE;
}

bool dp_opcode_constant(const struct dp_opcode *o, s64 *value)
{
	if (o->in.operand_count_visible < 2 ||
	    o->op[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	*value = o->op[1].imm.value.s;
	return true;
}
