// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* opcode: the bytes of an instruction, taken apart. */
#include <string.h>
#include "sym/flow/opcode.h"

#define REX_B 1
#define REX_X 2
#define REX_R 4
#define NO_INDEX 4
#define NOTHING 5 /* as rm or base, with mod 0: no register */

static s32 number(const u8 *at, u8 size)
{
	s32 v = 0;

	if (size == 1)
		return (int8_t)*at;
	if (size == 4)
		memcpy(&v, at, sizeof(v));
	return v;
}

static u8 map_of(const u8 *code, const struct insn_facts *f)
{
	if (*code == 0xc4 || *code == 0xc5 || *code == 0x62)
		return DP_MAP_OTHER;
	if (!f->opcode_off || code[f->opcode_off - 1] == 0x0f)
		return f->opcode_off ? DP_MAP_0F : DP_MAP_ONE;
	/* 0f 38, 0f 3a */
	if (f->opcode_off > 1 && code[f->opcode_off - 2] == 0x0f)
		return DP_MAP_OTHER;
	return DP_MAP_ONE;
}

static u8 rex_of(const u8 *code, const struct insn_facts *f, u8 map)
{
	u8 at = f->opcode_off - (map == DP_MAP_0F ? 1 : 0);

	if (map == DP_MAP_OTHER || !at || (code[at - 1] & 0xf0) != 0x40)
		return 0;
	return code[at - 1] & 0xf;
}

static u8 base_of(const struct dp_opcode *o, const u8 *modrm)
{
	u8 sib, index;

	if (o->mod == 3 || (!o->mod && (o->rm & 7) == NOTHING))
		return DP_NO_BASE;
	if ((o->rm & 7) != DP_RSP)
		return o->rm;
	sib = modrm[1];
	index = (sib >> 3 & 7) | (o->rex & REX_X ? 8 : 0);
	if (index != NO_INDEX || (!o->mod && (sib & 7) == NOTHING))
		return DP_NO_BASE;
	return (sib & 7) | (o->rex & REX_B ? 8 : 0);
}

struct dp_opcode dp_opcode_of(const u8 *code, const struct insn_facts *f)
{
	struct dp_opcode o = { .op = code[f->opcode_off], .base = DP_NO_BASE };
	u8 modrm;

	o.map = map_of(code, f);
	o.rex = rex_of(code, f, o.map);
	o.disp = number(code + f->disp_off, f->disp_size);
	o.imm = number(code + f->imm_off, f->imm_size);
	o.has_modrm = f->modrm_off;
	if (!o.has_modrm)
		return o;
	modrm = code[f->modrm_off];
	o.mod = modrm >> 6;
	o.reg = (modrm >> 3 & 7) | (o.rex & REX_R ? 8 : 0);
	o.rm = (modrm & 7) | (o.rex & REX_B ? 8 : 0);
	if (o.map != DP_MAP_OTHER)
		o.base = base_of(&o, code + f->modrm_off);
	return o;
}
