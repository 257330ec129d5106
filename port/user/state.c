// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* state: which registers besides the general ones an instruction can change. */
#include "port/user/decode.h"

static bool general_only(const ZydisDecodedInstruction *in)
{
	return in->meta.isa_ext == ZYDIS_ISA_EXT_BMI1 ||
	       in->meta.isa_ext == ZYDIS_ISA_EXT_BMI2 ||
	       in->meta.isa_ext == ZYDIS_ISA_EXT_TBM;
}

/* Instructions that save or load state in bulk, or of x87 and MMX. */
static bool sweeping(const ZydisDecodedInstruction *in)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_X87_ALU:
	case ZYDIS_CATEGORY_MMX:
	case ZYDIS_CATEGORY_XSAVE:
	case ZYDIS_CATEGORY_XSAVEOPT:
	case ZYDIS_CATEGORY_AMD3DNOW:
	case ZYDIS_CATEGORY_FCMOV:
		return true;
	default:
		return in->mnemonic == ZYDIS_MNEMONIC_LDMXCSR ||
		       in->mnemonic == ZYDIS_MNEMONIC_FXSAVE ||
		       in->mnemonic == ZYDIS_MNEMONIC_FXSAVE64 ||
		       in->mnemonic == ZYDIS_MNEMONIC_FXRSTOR ||
		       in->mnemonic == ZYDIS_MNEMONIC_FXRSTOR64 ||
		       in->mnemonic == ZYDIS_MNEMONIC_EMMS;
	}
}

static bool only_moves(const ZydisDecodedInstruction *in)
{
	return in->meta.category == ZYDIS_CATEGORY_DATAXFER ||
	       in->meta.category == ZYDIS_CATEGORY_LOGICAL ||
	       in->meta.category == ZYDIS_CATEGORY_LOGICAL_FP;
}

static enum dp_insn_state of_operand(const ZydisDecodedInstruction *in,
				     const ZydisDecodedOperand *op, u8 *xmms)
{
	u8 nr;

	if (op->type != ZYDIS_OPERAND_TYPE_REGISTER)
		return DP_STATE_GENERAL;
	switch (ZydisRegisterGetClass(op->reg.value)) {
	case ZYDIS_REGCLASS_XMM:
		nr = (u8)(ZydisRegisterGetId(op->reg.value) + 1);
		*xmms = nr > *xmms ? nr : *xmms;
		return only_moves(in) ? DP_STATE_SSE : DP_STATE_SSE_MATH;
	case ZYDIS_REGCLASS_X87:
	case ZYDIS_REGCLASS_MMX:
	case ZYDIS_REGCLASS_YMM:
	case ZYDIS_REGCLASS_ZMM:
	case ZYDIS_REGCLASS_MASK:
	case ZYDIS_REGCLASS_TMM:
		return DP_STATE_ALL;
	default:
		return DP_STATE_GENERAL;
	}
}

enum dp_insn_state dp_insn_state(const u8 *code, size_t size, u8 *xmms)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	enum dp_insn_state state = DP_STATE_GENERAL, one;
	ZydisDecodedInstruction in;
	u8 i;

	*xmms = 0;
	if (!dp_decode_full(code, size, &in, ops))
		return DP_STATE_ALL;
	if (in.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		return general_only(&in) ? DP_STATE_GENERAL : DP_STATE_ALL;
	if (sweeping(&in))
		return DP_STATE_ALL;
	for (i = 0; i < in.operand_count; i++) {
		one = of_operand(&in, &ops[i], xmms);
		state = one > state ? one : state;
	}
	return state;
}
