// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* faults: the memory that an instruction accesses, if nothing else can fail. */
#include "port/user/decode.h"
#include "arch/facts.h"

#define REGISTER_FORM 3 /* ModRM.mod */

static bool is_map(const ZydisDecodedInstruction *in, ZydisOpcodeMap map)
{
	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       in->opcode_map == map;
}

static u8 number_of(ZydisRegister reg)
{
	ZydisRegister big = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg);

	return reg == ZYDIS_REGISTER_NONE || reg == ZYDIS_REGISTER_RIP ?
		       DP_NO_REG :
		       (u8)ZydisRegisterGetId(big);
}

/* A rip-relative operand is relative to the next instruction. */
static void note_memory(const ZydisDecodedOperand *op,
			struct dp_operand_ref *ref)
{
	ref->memory = 1;
	ref->base = number_of(op->mem.base);
	ref->index = number_of(op->mem.index);
	ref->scale = op->mem.scale;
	ref->disp = op->mem.disp.value;
	if (op->mem.segment == ZYDIS_REGISTER_FS)
		ref->segment = DP_SEG_FS;
	if (op->mem.segment == ZYDIS_REGISTER_GS)
		ref->segment = DP_SEG_GS;
}

static bool is_mmx(const ZydisDecodedInstruction *in,
		   const ZydisDecodedOperand *ops)
{
	u8 i;

	for (i = 0; i < in->operand_count; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ZydisRegisterGetClass(ops[i].reg.value) ==
			    ZYDIS_REGCLASS_MMX)
			return true;
	return false;
}

/* Between memory and a vector register, of any alignment */
static bool is_vector_move(const ZydisDecodedInstruction *in,
			   const ZydisDecodedOperand *ops)
{
	switch (in->mnemonic) {
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_MOVLPS:
	case ZYDIS_MNEMONIC_MOVLPD:
	case ZYDIS_MNEMONIC_MOVHPS:
	case ZYDIS_MNEMONIC_MOVHPD:
		return true;
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVQ:
		return !is_mmx(in, ops);
	default:
		return false;
	}
}

static bool is_exchange(u8 op)
{
	return op == 0xb0 || op == 0xb1 || op == 0xc0 || op == 0xc1;
}

static bool fails_for_memory_alone(const ZydisDecodedInstruction *in,
				   const ZydisDecodedOperand *ops)
{
	if (in->address_width != 64 || in->raw.modrm.mod == REGISTER_FORM)
		return false;
	if (is_map(in, ZYDIS_OPCODE_MAP_DEFAULT))
		return dp_x86_plain_one(in->opcode,
					(u8)(in->raw.modrm.reg << 3));
	return is_map(in, ZYDIS_OPCODE_MAP_0F) &&
	       (dp_x86_plain_0f(in->opcode, false) || is_exchange(in->opcode) ||
		is_vector_move(in, ops));
}

bool dp_insn_memory(const u8 *code, size_t size, struct dp_insn_memory *m)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	const ZydisDecodedOperand *op = NULL;
	ZydisDecodedInstruction in;
	u8 i;

	*m = (struct dp_insn_memory){ 0 };
	if (!dp_decode_full(code, size, &in, ops) ||
	    !fails_for_memory_alone(&in, ops))
		return false;
	for (i = 0; i < in.operand_count; i++) {
		if (ops[i].type != ZYDIS_OPERAND_TYPE_MEMORY)
			continue;
		if (op)
			return false;
		op = &ops[i];
	}
	if (!op || op->size < 8 || op->size > 8 * 64)
		return false;
	note_memory(op, &m->operand);
	m->size = (u8)(op->size / 8);
	m->writes = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	return true;
}
