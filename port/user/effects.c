// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* effects: what an instruction does with general registers, one operand at a time. */
#include "port/user/decode.h"
#include "engine/insn/effects.h"

/* Status flags: all others say how the processor is to work. */
#define STATUS                                                    \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | \
	 ZYDIS_CPUFLAG_ZF | ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

static bool only_status_flags(const ZydisDecodedInstruction *in)
{
	const ZydisAccessedFlags *f = in->cpu_flags;

	return !f || !((f->tested | f->modified | f->set_0 | f->set_1 |
			f->undefined) &
		       ~(ZydisAccessedFlagsMask)STATUS);
}

/* With a register for the number of the bit, the bit may be far from the operand. */
static bool counts_bits(const ZydisDecodedInstruction *in,
			const ZydisDecodedOperand *ops)
{
	return ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       (in->mnemonic == ZYDIS_MNEMONIC_BT ||
		in->mnemonic == ZYDIS_MNEMONIC_BTS ||
		in->mnemonic == ZYDIS_MNEMONIC_BTR ||
		in->mnemonic == ZYDIS_MNEMONIC_BTC);
}

/* General registers, memory through them, and nothing that the operands do not tell */
static bool is_told(const ZydisDecodedInstruction *in,
		    const ZydisDecodedOperand *ops)
{
	switch (in->meta.category) {
	case ZYDIS_CATEGORY_BITBYTE:
		return !counts_bits(in, ops) && only_status_flags(in);
	case ZYDIS_CATEGORY_BINARY:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_CMOV:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_CONVERT:
	case ZYDIS_CATEGORY_DATAXFER:
	case ZYDIS_CATEGORY_LOGICAL:
	case ZYDIS_CATEGORY_MISC:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_ROTATE:
	case ZYDIS_CATEGORY_SEMAPHORE:
	case ZYDIS_CATEGORY_SETCC:
	case ZYDIS_CATEGORY_SHIFT:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_BMI1:
	case ZYDIS_CATEGORY_BMI2:
		return only_status_flags(in);
	case ZYDIS_CATEGORY_SYSTEM:
		return in->mnemonic == ZYDIS_MNEMONIC_RDTSC ||
		       in->mnemonic == ZYDIS_MNEMONIC_RDTSCP;
	default:
		return false;
	}
}

/* The number of a general register, or -1 */
static int number_of(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(
		ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ?
		       ZydisRegisterGetId(whole) :
		       -1;
}

static bool add_register(struct dp_insn_effects *e,
			 const ZydisDecodedOperand *op)
{
	ZydisRegisterClass class = ZydisRegisterGetClass(op->reg.value);
	int n = number_of(op->reg.value);
	u16 bit = n < 0 ? 0 : (u16)(1u << n);

	if (class == ZYDIS_REGCLASS_FLAGS || class == ZYDIS_REGCLASS_IP)
		return true;
	/* What rdtscp reads beside it is no register of the thread's. */
	if (n < 0)
		return op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
		       !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
	if (op->actions & ZYDIS_OPERAND_ACTION_MASK_READ)
		e->reads |= bit;
	if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		return true;
	e->writes |= bit;
	/* A part of the register keeps its value. */
	if (op->size < 32 || op->actions & ZYDIS_OPERAND_ACTION_CONDWRITE)
		e->keeps |= bit;
	return true;
}

static bool add_memory(struct dp_insn_effects *e,
		       const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *op)
{
	int base = op->mem.base == ZYDIS_REGISTER_RIP ? -1 :
							number_of(op->mem.base);
	int index = number_of(op->mem.index);
	bool stack = in->meta.category == ZYDIS_CATEGORY_PUSH ||
		     in->meta.category == ZYDIS_CATEGORY_POP ||
		     in->meta.category == ZYDIS_CATEGORY_CALL ||
		     in->meta.category == ZYDIS_CATEGORY_RET ||
		     in->mnemonic == ZYDIS_MNEMONIC_LEAVE;

	/* The stack of these is known by what they are. */
	if (stack && op->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN)
		return true;
	if (e->memory || in->address_width != 64)
		return false;
	e->memory = true;
	e->address = op->mem.type == ZYDIS_MEMOP_TYPE_AGEN;
	e->base = base;
	e->index = index;
	e->disp = op->mem.disp.has_displacement ? op->mem.disp.value : 0;
	e->size = op->size / 8;
	e->loads = op->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
	e->stores = op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
	e->segment = op->mem.segment == ZYDIS_REGISTER_FS ||
		     op->mem.segment == ZYDIS_REGISTER_GS;
	return op->mem.type == ZYDIS_MEMOP_TYPE_MEM || e->address;
}

static bool is_whole(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64 &&
	       number_of(op->reg.value) >= 0;
}

static bool is_word(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->size == 64;
}

/* A whole register that goes to another, or to or from a word of memory */
static void find_move(struct dp_insn_effects *e,
		      const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops)
{
	if (in->mnemonic != ZYDIS_MNEMONIC_MOV)
		return;
	if (is_whole(&ops[0]) && is_whole(&ops[1]))
		e->what = DP_EFFECT_MOVE;
	else if (is_whole(&ops[0]) && is_word(&ops[1]))
		e->what = DP_EFFECT_LOAD;
	else if (is_word(&ops[0]) && is_whole(&ops[1]))
		e->what = DP_EFFECT_STORE;
	else
		return;
	e->to = is_whole(&ops[0]) ? number_of(ops[0].reg.value) : -1;
	e->from = is_whole(&ops[1]) ? number_of(ops[1].reg.value) : -1;
}

/* What becomes of the stack pointer, or of what is computed from it */
static void find_stack(struct dp_insn_effects *e,
		       const ZydisDecodedInstruction *in,
		       const ZydisDecodedOperand *ops)
{
	bool constant = ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	if (in->mnemonic == ZYDIS_MNEMONIC_PUSH) {
		e->what = DP_EFFECT_PUSH;
		e->from = is_whole(&ops[0]) ? number_of(ops[0].reg.value) : -1;
	} else if (in->mnemonic == ZYDIS_MNEMONIC_POP) {
		e->what = DP_EFFECT_POP;
		e->to = is_whole(&ops[0]) ? number_of(ops[0].reg.value) : -1;
	} else if (in->mnemonic == ZYDIS_MNEMONIC_LEAVE) {
		e->what = DP_EFFECT_LEAVE;
	} else if ((in->mnemonic == ZYDIS_MNEMONIC_ADD ||
		    in->mnemonic == ZYDIS_MNEMONIC_SUB) &&
		   is_whole(&ops[0]) && constant) {
		e->what = DP_EFFECT_ADD;
		e->to = number_of(ops[0].reg.value);
		e->disp = ops[1].imm.value.s;
		if (in->mnemonic == ZYDIS_MNEMONIC_SUB)
			e->disp = -e->disp;
	} else if (in->mnemonic == ZYDIS_MNEMONIC_LEA && is_whole(&ops[0])) {
		e->what = DP_EFFECT_LEA;
		e->to = number_of(ops[0].reg.value);
	}
}

/* xor %eax, %eax; mov $0, %eax */
static void find_zero(struct dp_insn_effects *e,
		      const ZydisDecodedInstruction *in,
		      const ZydisDecodedOperand *ops)
{
	bool same = (in->mnemonic == ZYDIS_MNEMONIC_XOR ||
		     in->mnemonic == ZYDIS_MNEMONIC_SUB) &&
		    ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[0].reg.value == ops[1].reg.value;
	bool zero = in->mnemonic == ZYDIS_MNEMONIC_MOV &&
		    ops[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    !ops[1].imm.value.u;

	if ((!same && !zero) || ops[0].size < 32 ||
	    number_of(ops[0].reg.value) < 0)
		return;
	e->what = DP_EFFECT_ZERO;
	e->to = number_of(ops[0].reg.value);
	e->reads = 0;
}

bool dp_insn_effects(const u8 *code, size_t size, struct dp_insn_effects *e)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT] = { 0 };
	ZydisDecodedInstruction in;
	bool told;
	u8 i;

	*e = (struct dp_insn_effects){
		.base = -1, .index = -1, .to = -1, .from = -1
	};
	if (!dp_decode_full(code, size, &in, ops))
		return false;
	if (in.mnemonic == ZYDIS_MNEMONIC_NOP ||
	    in.mnemonic == ZYDIS_MNEMONIC_ENDBR64 ||
	    in.mnemonic == ZYDIS_MNEMONIC_PAUSE)
		return true;
	told = is_told(&in, ops);
	for (i = 0; i < in.operand_count && told; i++)
		if (ops[i].type == ZYDIS_OPERAND_TYPE_REGISTER)
			told = add_register(e, &ops[i]);
		else if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
			told = add_memory(e, &in, &ops[i]);
		else
			told = ops[i].type != ZYDIS_OPERAND_TYPE_POINTER;
	if (!told)
		return false;
	find_move(e, &in, ops);
	find_stack(e, &in, ops);
	find_zero(e, &in, ops);
	return true;
}
