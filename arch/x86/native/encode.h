/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * encode: single instructions of 64 bits, for code that is made of a program.
 *
 * Source: Intel SDM vol. 2.
 */
#ifndef DP_X86_NATIVE_ENCODE_H
#define DP_X86_NATIVE_ENCODE_H

#include "arch/x86/emit.h"

/** enum dp_x86_reg - registers by their numbers in an instruction */
enum dp_x86_reg {
	DP_RAX,
	DP_RCX,
	DP_RDX,
	DP_RBX,
	DP_RSP,
	DP_RBP,
	DP_RSI,
	DP_RDI,
	DP_R8,
	DP_R9,
	DP_R10,
	DP_R11,
	DP_R12,
	DP_R13,
	DP_R14,
	DP_R15,
	DP_X86_REGS,
};

/** enum dp_x86_alu - operations that are encoded alike */
enum dp_x86_alu {
	DP_ALU_ADD = 0,
	DP_ALU_OR = 1,
	DP_ALU_AND = 4,
	DP_ALU_SUB = 5,
	DP_ALU_XOR = 6,
	DP_ALU_CMP = 7,
};

/** enum dp_x86_shift - shifts and rotations, likewise */
enum dp_x86_shift {
	DP_SHIFT_ROL = 0,
	DP_SHIFT_SHL = 4,
	DP_SHIFT_SHR = 5,
	DP_SHIFT_SAR = 7,
};

/** enum dp_x86_cc - conditions of jumps; with the lowest bit, the opposite */
enum dp_x86_cc {
	DP_CC_B = 2,
	DP_CC_E = 4,
	DP_CC_L = 12,
	DP_CC_NOT = 1,
	DP_CC_ALWAYS = 16,
};

/** struct dp_x86_rm - what an instruction reads: a register, or memory at @reg + @disp */
struct dp_x86_rm {
	u8 reg;
	bool memory;
	s32 disp;
};

static inline struct dp_x86_rm dp_x86_in(u8 reg)
{
	return (struct dp_x86_rm){ .reg = reg };
}

static inline struct dp_x86_rm dp_x86_at(u8 reg, s32 disp)
{
	return (struct dp_x86_rm){ reg, true, disp };
}

/** dp_x86_mov() - @to = @from, 64 bits; dp_x86_store() - @to = @from, in memory */
void dp_x86_mov(struct dp_out *o, u8 to, struct dp_x86_rm from);
void dp_x86_store(struct dp_out *o, struct dp_x86_rm to, u8 from);
/** dp_x86_mov_vector() - @to = the low 64 bits of xmm register @from */
void dp_x86_mov_vector(struct dp_out *o, u8 to, u8 from);
/** dp_x86_mov_imm() - as short as it can be. Changes flags. */
void dp_x86_mov_imm(struct dp_out *o, u8 to, u64 imm);
/** dp_x86_lea() - @to = address of @from, in memory */
void dp_x86_lea(struct dp_out *o, u8 to, struct dp_x86_rm from);
/** dp_x86_extend() - the low @bits, 8, 16 or 32, of @from: with their sign, or without */
void dp_x86_extend(struct dp_out *o, u8 to, struct dp_x86_rm from, u8 bits,
		   bool with_sign);
void dp_x86_alu(struct dp_out *o, enum dp_x86_alu op, u8 to,
		struct dp_x86_rm from);
void dp_x86_alu_imm(struct dp_out *o, enum dp_x86_alu op, struct dp_x86_rm to,
		    s32 imm);
void dp_x86_imul(struct dp_out *o, u8 to, struct dp_x86_rm from);
void dp_x86_not(struct dp_out *o, u8 reg);
void dp_x86_shift(struct dp_out *o, enum dp_x86_shift op, u8 reg, u8 by);
/** dp_x86_set() - @to = 1 if the condition holds, else 0. Changes no flag. */
void dp_x86_set(struct dp_out *o, u8 cc, u8 to);
/** dp_x86_test() - flags of @reg, against 0 */
void dp_x86_test(struct dp_out *o, u8 reg);

#endif
