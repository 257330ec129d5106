// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* decode: facts about an instruction, from Zydis. */
#include "port/user/decode.h"

#define MODRM_DISP32 5 /* mod 0, rm 5: relative to rip in 64-bit code */

static const ZydisDecoder *decoder(bool minimal)
{
	static ZydisDecoder both[2];
	static bool ready[2];
	ZydisDecoder *d = &both[minimal];

	if (!ready[minimal]) {
		ZydisDecoderInit(d, ZYDIS_MACHINE_MODE_LONG_64,
				 ZYDIS_STACK_WIDTH_64);
		ZydisDecoderEnableMode(d, ZYDIS_DECODER_MODE_MINIMAL, minimal);
		ready[minimal] = true;
	}
	return d;
}

bool dp_decode_full(const u8 *code, size_t size, ZydisDecodedInstruction *in,
		    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT])
{
	return ZYAN_SUCCESS(
		ZydisDecoderDecodeFull(decoder(false), code, size, in, ops));
}

static bool has_prefix(const ZydisDecodedInstruction *in, u8 value)
{
	u8 i;

	for (i = 0; i < in->raw.prefix_count; i++)
		if (in->raw.prefixes[i].value == value)
			return true;
	return false;
}

static bool legacy(const ZydisDecodedInstruction *in, ZydisOpcodeMap map)
{
	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       in->opcode_map == map;
}

/* 66 before a near branch means 16 bits on some makers' processors and nothing on others',
 * unless REX.W overrides it. */
static bool short_operand(const ZydisDecodedInstruction *in)
{
	return has_prefix(in, 0x66) && !in->raw.rex.W;
}

static enum dp_insn_class branch_class(const ZydisDecodedInstruction *in)
{
	u8 op = in->opcode;

	if (legacy(in, ZYDIS_OPCODE_MAP_0F) && (op & 0xf0) == 0x80)
		return DP_INSN_JCC;
	if (!legacy(in, ZYDIS_OPCODE_MAP_DEFAULT))
		return DP_INSN_PLAIN;
	if ((op & 0xf0) == 0x70)
		return DP_INSN_JCC;
	if (op >= 0xe0 && op <= 0xe3)
		return DP_INSN_LOOP;
	if (op == 0xe8)
		return DP_INSN_CALL;
	if (op == 0xe9 || op == 0xeb)
		return DP_INSN_JMP;
	if (op == 0xc2 || op == 0xc3)
		return DP_INSN_RET;
	if (op == 0xff && in->raw.modrm.reg == 2)
		return DP_INSN_CALL_IND;
	if (op == 0xff && in->raw.modrm.reg == 4)
		return DP_INSN_JMP_IND;
	return DP_INSN_PLAIN;
}

static const char *refusal_default(const ZydisDecodedInstruction *in)
{
	switch (in->opcode) {
	case 0xcc:
		return "int3 is a breakpoint of the program's own";
	case 0xcd:
		return "int raises an interrupt that names its own address";
	case 0xf1:
		return "int1 raises a debug trap that names its own address";
	case 0xf4:
		return "hlt only stops a processor";
	case 0xcf:
		return "iret returns by a frame of its own";
	case 0xff:
		return in->raw.modrm.reg == 3 ?
			       "a far call pushes its own address" :
			       NULL;
	}
	return NULL;
}

static const char *refusal_0f(const ZydisDecodedInstruction *in)
{
	switch (in->opcode) {
	case 0x0b:
	case 0xb9:
	case 0xff:
		return "ud2 is meant to fault where it stands";
	case 0x07:
	case 0x34:
	case 0x35:
		return "it belongs to the kernel's way in and out";
	}
	return NULL;
}

static const char *refusal(const ZydisDecodedInstruction *in,
			   const struct insn_facts *f)
{
	const char *why = NULL;

	if (legacy(in, ZYDIS_OPCODE_MAP_DEFAULT))
		why = refusal_default(in);
	else if (legacy(in, ZYDIS_OPCODE_MAP_0F))
		why = refusal_0f(in);
	if (why)
		return why;
	if (f->rip_relative && has_prefix(in, 0x67))
		return "its operand is relative to a 32-bit instruction pointer";
	if (f->class != DP_INSN_PLAIN && f->class != DP_INSN_SYSCALL &&
	    short_operand(in))
		return "a near branch with a 16-bit operand differs between processors";
	return NULL;
}

static void classify(const ZydisDecodedInstruction *in, struct insn_facts *f)
{
	f->class = branch_class(in);
	if (legacy(in, ZYDIS_OPCODE_MAP_0F) && in->opcode == 0x05)
		f->class = DP_INSN_SYSCALL;
	if (f->class == DP_INSN_JCC)
		f->cc = in->opcode & 0xf;
	if (in->raw.imm[0].is_relative)
		f->target = (s32)in->raw.imm[0].value.s;
	else if (f->rip_relative)
		f->target = (s32)in->raw.disp.value;
	f->refusal = refusal(in, f);
	/* Of instructions with a relative operand, only xbegin is no branch. */
	if (!f->refusal && in->raw.imm[0].is_relative &&
	    f->class == DP_INSN_PLAIN)
		f->refusal = "xbegin remembers its own address";
	if (f->refusal)
		f->class = DP_INSN_REFUSED;
}

/* The first of ModRM, displacement and immediate follows the opcode. */
static u8 opcode_offset(const struct insn_facts *f)
{
	u8 next = f->modrm_off ? f->modrm_off :
		  f->disp_off  ? f->disp_off :
		  f->imm_off   ? f->imm_off :
				 f->len;

	return next - 1;
}

int dp_insn_facts(const u8 *code, size_t size, struct insn_facts *f)
{
	ZydisDecodedInstruction in;

	*f = (struct insn_facts){ 0 };
	/* The minimal decoder gives lengths and raw fields. */
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(true), NULL,
							code, size, &in)))
		return -EILSEQ;
	f->len = in.length;
	if (in.attributes & ZYDIS_ATTRIB_HAS_MODRM) {
		f->modrm_off = in.raw.modrm.offset;
		/* Moves to and from control and debug registers ignore mod. */
		f->rip_relative = in.raw.modrm.mod == 0 &&
				  in.raw.modrm.rm == MODRM_DISP32 &&
				  in.raw.disp.size == 32;
	}
	if (in.raw.disp.size) {
		f->disp_off = in.raw.disp.offset;
		f->disp_size = in.raw.disp.size / 8;
	}
	if (in.raw.imm[0].size) {
		f->imm_off = in.raw.imm[0].offset;
		f->imm_size = in.raw.imm[0].size / 8;
	}
	f->opcode_off = opcode_offset(f);
	classify(&in, f);
	dp_decode_faults(code, &in, f);
	return 0;
}
