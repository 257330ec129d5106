// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * faults: which instructions cannot fail to complete.
 *
 * A list of integer instructions on registers and constants that cannot fault. All other
 * instructions are taken to fault.
 */
#include "port/user/decode.h"

#define REGISTER_FORM 3 /* ModRM.mod */

static bool is_register(const ZydisDecodedInstruction *in)
{
	return in->raw.modrm.mod == REGISTER_FORM;
}

/* Map 0, by opcode. */
static bool safe_default(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode, reg = in->raw.modrm.reg;

	if (op < 0x40) /* add or adc sbb and sub xor cmp */
		return (op & 7) >= 4 ? (op & 7) < 6 : is_register(in);
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0x90 && op <= 0x99) ||
	    (op >= 0xb0 && op <= 0xbf) || (op >= 0xe0 && op <= 0xe3))
		return true; /* jcc; xchg, nop, cwde; mov; loop */
	if (op == 0x63 || op == 0x69 || op == 0x6b || op == 0x80 ||
	    op == 0x81 || (op >= 0x83 && op <= 0x8b) || op == 0xc0 ||
	    op == 0xc1 || (op >= 0xd0 && op <= 0xd3) ||
	    ((op == 0xc6 || op == 0xc7) && !reg))
		return is_register(in);
	if (op == 0xf6 || op == 0xf7) /* but not div and idiv */
		return is_register(in) && reg < 6;
	if (op == 0xfe || op == 0xff)
		return is_register(in) && reg < 2;
	return op == 0x8d || op == 0xa8 || op == 0xa9 || op == 0xe9 ||
	       op == 0xeb || op == 0xf5 || op == 0xf8 || op == 0xf9 ||
	       op == 0xfc || op == 0xfd;
}

static bool safe_0f(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode;

	if (op == 0x05 || op == 0x1e || op == 0x1f ||
	    (op >= 0x80 && op <= 0x8f) || (op >= 0xc8 && op <= 0xcf))
		return true; /* syscall; nop, endbr; jcc; bswap */
	if ((op >= 0x40 && op <= 0x4f) || (op >= 0x90 && op <= 0x9f) ||
	    op == 0xa3 || op == 0xa4 || op == 0xa5 || op == 0xab ||
	    (op >= 0xac && op <= 0xad) || op == 0xaf || op == 0xb3 ||
	    (op >= 0xb6 && op <= 0xb8) || (op >= 0xba && op <= 0xbf))
		return is_register(in);
	return false;
}

static bool safe(const ZydisDecodedInstruction *in)
{
	/* lock with a register operand is undefined. */
	if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	    (in->attributes & ZYDIS_ATTRIB_HAS_LOCK))
		return false;
	if (in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
		return safe_default(in);
	return in->opcode_map == ZYDIS_OPCODE_MAP_0F && safe_0f(in);
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

/* The operand of an indirect branch; a rip-relative one is relative to the next instruction.
 * Return: false if its form is not supported. */
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
	ref->memory = 1;
	ref->base = number_of(ops[0].mem.base);
	ref->index = number_of(ops[0].mem.index);
	ref->scale = ops[0].mem.scale;
	ref->disp = ops[0].mem.disp.value;
	if (ops[0].mem.segment == ZYDIS_REGISTER_FS)
		ref->segment = DP_SEG_FS;
	if (ops[0].mem.segment == ZYDIS_REGISTER_GS)
		ref->segment = DP_SEG_GS;
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
