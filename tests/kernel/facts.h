/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* facts: what one decoder has found of an instruction, for another one to be compared with. */
#ifndef DP_KERNEL_FACTS_H
#define DP_KERNEL_FACTS_H

#include "engine/insn/insn.h"

/* Where the guest's first program leaves them */
#define DP_FACTS_FILE "/facts"

/** struct dp_fact - an instruction and its facts, without padding; @refusal: a hash of the phrase */
struct dp_fact {
	u8 code[DP_INSN_MAX];
	u8 len, class, rip_relative, modrm_off, disp_off, disp_size, imm_off;
	u8 imm_size, opcode_off, cc, faults, base, index, scale, segment,
		memory;
	u8 pad;
	s32 target;
	u32 refusal;
	s64 disp;
};

static inline void dp_fact_fill(struct dp_fact *to, const struct insn_facts *f)
{
	const char *why = f->refusal;

	to->len = f->len;
	to->class = f->class;
	to->rip_relative = f->rip_relative;
	to->modrm_off = f->modrm_off;
	to->disp_off = f->disp_off;
	to->disp_size = f->disp_size;
	to->imm_off = f->imm_off;
	to->imm_size = f->imm_size;
	to->opcode_off = f->opcode_off;
	to->cc = f->cc;
	to->faults = f->faults;
	to->base = f->operand.base;
	to->index = f->operand.index;
	to->scale = f->operand.scale;
	to->segment = f->operand.segment;
	to->memory = f->operand.memory;
	to->pad = 0;
	to->target = f->target;
	to->disp = f->operand.disp;
	for (to->refusal = 0; why && *why; why++)
		to->refusal = to->refusal * 31 + (u8)*why;
}

#endif
