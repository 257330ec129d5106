// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * faults: which instructions cannot fail to complete, or only for want of memory.
 *
 * A list of integer instructions that cannot fault on registers and constants, and on memory
 * only because of it; with moves of vectors that ask for no alignment. All other instructions
 * are taken to fault.
 */
#include "port/user/decode.h"

#define REGISTER_FORM 3 /* ModRM.mod */

static bool is_register(const ZydisDecodedInstruction *in)
{
	return in->raw.modrm.mod == REGISTER_FORM;
}

/* Map 0, by opcode: has it a ModRM operand, and can nothing but that operand fail? */
static bool plain_default(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode, reg = in->raw.modrm.reg;

	if (op < 0x40) /* add or adc sbb and sub xor cmp */
		return (op & 7) < 4;
	if (op == 0xf6 || op == 0xf7) /* but not div and idiv */
		return reg < 6;
	if (op == 0xfe || op == 0xff)
		return reg < 2;
	return op == 0x63 || op == 0x69 || op == 0x6b || op == 0x80 ||
	       op == 0x81 || (op >= 0x83 && op <= 0x8b) || op == 0xc0 ||
	       op == 0xc1 || (op >= 0xd0 && op <= 0xd3) ||
	       ((op == 0xc6 || op == 0xc7) && !reg);
}

/* … has it no such operand, and can nothing fail? */
static bool safe_default(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode;

	if (op < 0x40)
		return (op & 7) >= 4 && (op & 7) < 6;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0x90 && op <= 0x99) ||
	    (op >= 0xb0 && op <= 0xbf) || (op >= 0xe0 && op <= 0xe3))
		return true; /* jcc; xchg, nop, cwde; mov; loop */
	return op == 0x8d || op == 0xa8 || op == 0xa9 || op == 0xe9 ||
	       op == 0xeb || op == 0xf5 || op == 0xf8 || op == 0xf9 ||
	       op == 0xfc || op == 0xfd;
}

/* The same of map 0f. A bit that a register counts may be outside the operand. */
static bool plain_0f(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode;

	if (op == 0xa3 || op == 0xab || op == 0xb3 || op == 0xbb)
		return is_register(in);
	return (op >= 0x40 && op <= 0x4f) || (op >= 0x90 && op <= 0x9f) ||
	       op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad ||
	       op == 0xaf || op == 0xb6 || op == 0xb7 || op == 0xb8 ||
	       op == 0xba || (op >= 0xbc && op <= 0xbf);
}

static bool safe_0f(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode;

	return op == 0x05 || op == 0x1e || op == 0x1f ||
	       (op >= 0x80 && op <= 0x8f) ||
	       (op >= 0xc8 && op <= 0xcf); /* syscall; nop, endbr; jcc; bswap */
}

static bool is_map(const ZydisDecodedInstruction *in, ZydisOpcodeMap map)
{
	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       in->opcode_map == map;
}

static bool safe(const ZydisDecodedInstruction *in)
{
	/* lock with a register operand is undefined. */
	if (in->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return false;
	if (is_map(in, ZYDIS_OPCODE_MAP_DEFAULT))
		return safe_default(in) ||
		       (plain_default(in) && is_register(in));
	return is_map(in, ZYDIS_OPCODE_MAP_0F) &&
	       (safe_0f(in) || (plain_0f(in) && is_register(in)));
}

static u8 plain_faults(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode;

	if (safe(in))
		return DP_FAULTS_NEVER;
	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    in->opcode_map != ZYDIS_OPCODE_MAP_DEFAULT)
		return DP_FAULTS_OTHER;
	if ((op >= 0x50 && op <= 0x57) || op == 0x68 || op == 0x6a)
		return DP_FAULTS_PUSH;
	return op >= 0x58 && op <= 0x5f ? DP_FAULTS_POP : DP_FAULTS_OTHER;
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

/* The operand of an indirect branch. Return: false if its form is not supported. */
static bool branch_operand(const u8 *code, u8 len, struct dp_operand_ref *ref)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction in;

	if (!dp_decode_full(code, len, &in, ops) || in.address_width != 64)
		return false;
	if (ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER) {
		ref->base = number_of(ops[0].reg.value);
		return true;
	}
	if (ops[0].type != ZYDIS_OPERAND_TYPE_MEMORY)
		return false;
	note_memory(&ops[0], ref);
	return true;
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
	if (in->address_width != 64 || is_register(in))
		return false;
	if (is_map(in, ZYDIS_OPCODE_MAP_DEFAULT))
		return plain_default(in);
	return is_map(in, ZYDIS_OPCODE_MAP_0F) &&
	       (plain_0f(in) || is_exchange(in->opcode) ||
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

void dp_decode_faults(const u8 *code, const ZydisDecodedInstruction *in,
		      struct insn_facts *f)
{
	switch (f->class) {
	case DP_INSN_CALL:
		f->faults = DP_FAULTS_CALL;
		break;
	case DP_INSN_RET:
		f->faults = DP_FAULTS_RET;
		break;
	case DP_INSN_JMP_IND:
	case DP_INSN_CALL_IND:
		f->faults = f->class == DP_INSN_JMP_IND ? DP_FAULTS_BRANCH :
							  DP_FAULTS_BRANCH_CALL;
		if (!branch_operand(code, in->length, &f->operand))
			f->faults = DP_FAULTS_OTHER;
		break;
	default:
		f->faults = plain_faults(in);
		break;
	}
}
