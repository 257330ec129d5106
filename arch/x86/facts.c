// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * facts: what an instruction does with the instruction pointer, why it cannot be run elsewhere, and
 * whether it can fail to complete.
 *
 * A list of integer instructions that cannot fault on registers and constants, and on memory
 * only because of it. All other instructions are taken to fault.
 */
#include "arch/x86/facts.h"

#define MODRM_DISP32 5 /* mod 0, rm 5: relative to rip in 64-bit code */
#define MODRM_SIB 4
#define NO_INDEX 4

static enum dp_insn_class branch_class(const struct dp_x86_parts *p)
{
	u8 op = p->opcode;

	if (p->map == DP_X86_MAP_0F && (op & 0xf0) == 0x80)
		return DP_INSN_JCC;
	if (p->map != DP_X86_MAP_ONE)
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
	if (op == 0xff && dp_x86_modrm_reg(p->modrm) == 2)
		return DP_INSN_CALL_IND;
	if (op == 0xff && dp_x86_modrm_reg(p->modrm) == 4)
		return DP_INSN_JMP_IND;
	return DP_INSN_PLAIN;
}

static const char *refusal_one(const struct dp_x86_parts *p)
{
	switch (p->opcode) {
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
		return dp_x86_modrm_reg(p->modrm) == 3 ?
			       "a far call pushes its own address" :
			       NULL;
	}
	return NULL;
}

static const char *refusal_0f(const struct dp_x86_parts *p)
{
	switch (p->opcode) {
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

/* 66 before a near branch means 16 bits on some makers' processors and nothing on others',
 * unless REX.W overrides it. */
static bool short_operand(const struct dp_x86_parts *p)
{
	return p->is_16 && !p->rex_w;
}

static const char *refusal(const struct dp_x86_parts *p,
			   const struct insn_facts *f)
{
	const char *why = NULL;

	if (p->map == DP_X86_MAP_ONE)
		why = refusal_one(p);
	else if (p->map == DP_X86_MAP_0F)
		why = refusal_0f(p);
	if (why)
		return why;
	if (f->rip_relative && p->is_32)
		return "its operand is relative to a 32-bit instruction pointer";
	if (f->class != DP_INSN_PLAIN && f->class != DP_INSN_SYSCALL &&
	    short_operand(p))
		return "a near branch with a 16-bit operand differs between processors";
	return NULL;
}

static void classify(const struct dp_x86_parts *p, struct insn_facts *f)
{
	f->class = branch_class(p);
	if (p->map == DP_X86_MAP_0F && p->opcode == 0x05)
		f->class = DP_INSN_SYSCALL;
	if (f->class == DP_INSN_JCC)
		f->cc = p->opcode & 0xf;
	if (p->is_relative)
		f->target = (s32)p->relative;
	else if (f->rip_relative)
		f->target = (s32)p->disp;
	f->refusal = refusal(p, f);
	/* Of instructions with a relative operand, only xbegin is no branch. */
	if (!f->refusal && p->is_relative && f->class == DP_INSN_PLAIN)
		f->refusal = "xbegin remembers its own address";
	if (f->refusal)
		f->class = DP_INSN_REFUSED;
}

bool dp_x86_plain_one(u8 op, u8 modrm)
{
	u8 reg = dp_x86_modrm_reg(modrm);

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

/* Has it no ModRM operand in memory, and can nothing fail? */
static bool safe_one(u8 op)
{
	if (op < 0x40)
		return (op & 7) >= 4 && (op & 7) < 6;
	if ((op >= 0x70 && op <= 0x7f) || (op >= 0x90 && op <= 0x99) ||
	    (op >= 0xb0 && op <= 0xbf) || (op >= 0xe0 && op <= 0xe3))
		return true; /* jcc; xchg, nop, cwde; mov; loop */
	return op == 0x8d || op == 0xa8 || op == 0xa9 || op == 0xe9 ||
	       op == 0xeb || op == 0xf5 || op == 0xf8 || op == 0xf9 ||
	       op == 0xfc || op == 0xfd;
}

/* A bit that a register counts may be outside the operand. */
bool dp_x86_plain_0f(u8 op, bool in_register)
{
	if (op == 0xa3 || op == 0xab || op == 0xb3 || op == 0xbb)
		return in_register;
	return (op >= 0x40 && op <= 0x4f) || (op >= 0x90 && op <= 0x9f) ||
	       op == 0xa4 || op == 0xa5 || op == 0xac || op == 0xad ||
	       op == 0xaf || op == 0xb6 || op == 0xb7 || op == 0xb8 ||
	       op == 0xba || (op >= 0xbc && op <= 0xbf);
}

static bool safe_0f(u8 op)
{
	return op == 0x05 || op == 0x1e || op == 0x1f ||
	       (op >= 0x80 && op <= 0x8f) ||
	       (op >= 0xc8 && op <= 0xcf); /* syscall; nop, endbr; jcc; bswap */
}

static bool safe(const struct dp_x86_parts *p)
{
	bool in_register = dp_x86_in_register(p->modrm);

	/* lock with a register operand is undefined. */
	if (p->locks)
		return false;
	if (p->map == DP_X86_MAP_ONE)
		return safe_one(p->opcode) ||
		       (dp_x86_plain_one(p->opcode, p->modrm) && in_register);
	return p->map == DP_X86_MAP_0F &&
	       (safe_0f(p->opcode) ||
		(dp_x86_plain_0f(p->opcode, in_register) && in_register));
}

static u8 plain_faults(const struct dp_x86_parts *p)
{
	u8 op = p->opcode;

	if (safe(p))
		return DP_FAULTS_NEVER;
	if (p->map != DP_X86_MAP_ONE)
		return DP_FAULTS_OTHER;
	if ((op >= 0x50 && op <= 0x57) || op == 0x68 || op == 0x6a)
		return DP_FAULTS_PUSH;
	return op >= 0x58 && op <= 0x5f ? DP_FAULTS_POP : DP_FAULTS_OTHER;
}

static u8 extended(u8 number, bool rex)
{
	return number | (u8)(rex ? 8 : 0);
}

/* Source: Intel SDM vol. 2, tables 2-2 and 2-3. */
static void note_memory(const struct dp_x86_parts *p,
			struct dp_operand_ref *ref)
{
	u8 mod = p->modrm >> 6, rm = p->modrm & 7, sib = p->sib;

	ref->memory = 1;
	ref->base = ref->index = DP_NO_REG;
	ref->disp = p->disp;
	ref->segment = p->fs ? DP_SEG_FS : p->gs ? DP_SEG_GS : 0;
	if (rm != MODRM_SIB) {
		if (mod || rm != MODRM_DISP32)
			ref->base = extended(rm, p->rex_b);
		return;
	}
	if (mod || (sib & 7) != MODRM_DISP32)
		ref->base = extended(sib & 7, p->rex_b);
	if (extended(sib >> 3 & 7, p->rex_x) == NO_INDEX)
		return;
	ref->index = extended(sib >> 3 & 7, p->rex_x);
	ref->scale = (u8)(1 << (sib >> 6));
}

/* The operand of an indirect branch. Return: false if its form is not supported. */
static bool branch_operand(const struct dp_x86_parts *p,
			   struct dp_operand_ref *ref)
{
	if (p->is_32)
		return false;
	if (dp_x86_in_register(p->modrm))
		ref->base = extended(p->modrm & 7, p->rex_b);
	else
		note_memory(p, ref);
	return true;
}

static void note_faults(const struct dp_x86_parts *p, struct insn_facts *f)
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
		if (!branch_operand(p, &f->operand))
			f->faults = DP_FAULTS_OTHER;
		break;
	default:
		f->faults = plain_faults(p);
	}
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

void dp_x86_facts(const struct dp_x86_parts *p, struct insn_facts *f)
{
	f->opcode_off = opcode_offset(f);
	/* Moves to and from control and debug registers ignore mod. */
	f->rip_relative = p->has_modrm && p->modrm >> 6 == 0 &&
			  (p->modrm & 7) == MODRM_DISP32 && f->disp_size == 4;
	classify(p, f);
	note_faults(p, f);
}
