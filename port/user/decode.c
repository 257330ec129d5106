// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* decode: facts about an instruction, from Zydis. */
#include "port/user/decode.h"
#include "arch/facts.h"

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

static bool is_map(const ZydisDecodedInstruction *in, ZydisOpcodeMap map)
{
	return in->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       in->opcode_map == map;
}

static void note_prefix(u8 prefix, struct dp_x86_parts *p)
{
	switch (prefix) {
	case 0x64:
	case 0x65:
		p->fs = prefix == 0x64;
		p->gs = prefix == 0x65;
		break;
	case 0x66:
		p->is_16 = true;
		break;
	case 0x67:
		p->is_32 = true;
		break;
	}
}

static void take_apart(const ZydisDecodedInstruction *in,
		       struct dp_x86_parts *p)
{
	u8 i;

	p->map = is_map(in, ZYDIS_OPCODE_MAP_DEFAULT) ? DP_X86_MAP_ONE :
		 is_map(in, ZYDIS_OPCODE_MAP_0F)      ? DP_X86_MAP_0F :
							DP_X86_MAP_OTHER;
	p->opcode = in->opcode;
	p->has_modrm = in->attributes & ZYDIS_ATTRIB_HAS_MODRM;
	p->modrm = (u8)(in->raw.modrm.mod << 6 | in->raw.modrm.reg << 3 |
			in->raw.modrm.rm);
	p->sib = (u8)((in->raw.sib.scale & 3) << 6 | in->raw.sib.index << 3 |
		      in->raw.sib.base);
	p->locks = in->attributes & ZYDIS_ATTRIB_HAS_LOCK;
	p->rex_w = in->raw.rex.W;
	p->rex_x = in->raw.rex.X;
	p->rex_b = in->raw.rex.B;
	p->disp = in->raw.disp.value;
	p->is_relative = in->raw.imm[0].is_relative;
	p->relative = in->raw.imm[0].value.s;
	for (i = 0; i < in->raw.prefix_count; i++)
		note_prefix(in->raw.prefixes[i].value, p);
}

int dp_insn_facts(const u8 *code, size_t size, struct insn_facts *f)
{
	struct dp_x86_parts parts = { 0 };
	ZydisDecodedInstruction in;

	*f = (struct insn_facts){ 0 };
	/* The minimal decoder gives lengths and raw fields. */
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(decoder(true), NULL,
							code, size, &in)))
		return -EILSEQ;
	f->len = in.length;
	if (in.attributes & ZYDIS_ATTRIB_HAS_MODRM)
		f->modrm_off = in.raw.modrm.offset;
	if (in.raw.disp.size) {
		f->disp_off = in.raw.disp.offset;
		f->disp_size = in.raw.disp.size / 8;
	}
	if (in.raw.imm[0].size) {
		f->imm_off = in.raw.imm[0].offset;
		f->imm_size = in.raw.imm[0].size / 8;
	}
	take_apart(&in, &parts);
	dp_x86_facts(&parts, f);
	return 0;
}
