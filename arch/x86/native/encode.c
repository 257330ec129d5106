// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* encode: single instructions of 64 bits. */
#include "arch/x86/native/encode.h"

#define REX 0x40
#define REX_W 8
#define SIB_RSP 0x24 /* no index, base rsp or r12 */

/* The prefix of an instruction whose ModRM has @reg and @rm */
static void put_rex(struct dp_out *o, u8 wide, u8 reg, struct dp_x86_rm rm)
{
	DP_PUT(o, (u8)(REX | wide | (reg >> 3) << 2 | rm.reg >> 3));
}

static void put_modrm(struct dp_out *o, u8 reg, struct dp_x86_rm rm)
{
	u8 low = (u8)((reg & 7) << 3 | (rm.reg & 7)), mod;

	if (!rm.memory) {
		DP_PUT(o, (u8)(0xc0 | low));
		return;
	}
	/* Without a displacement, rbp and r13 would mean something else. */
	mod = !rm.disp && (rm.reg & 7) != DP_RBP ? 0 :
	      rm.disp == (int8_t)rm.disp	 ? 1 :
						   2;
	DP_PUT(o, (u8)(mod << 6 | low));
	if ((rm.reg & 7) == DP_RSP)
		DP_PUT(o, SIB_RSP);
	if (mod == 1)
		DP_PUT(o, (u8)rm.disp);
	else if (mod == 2)
		dp_put32(o, (u32)rm.disp);
}

static void put_op(struct dp_out *o, u8 op, u8 reg, struct dp_x86_rm rm)
{
	put_rex(o, REX_W, reg, rm);
	DP_PUT(o, op);
	put_modrm(o, reg, rm);
}

/* With a code of two bytes */
static void put_op2(struct dp_out *o, u8 wide, u8 op, u8 reg,
		    struct dp_x86_rm rm)
{
	put_rex(o, wide, reg, rm);
	DP_PUT(o, 0x0f, op);
	put_modrm(o, reg, rm);
}

void dp_x86_mov(struct dp_out *o, u8 to, struct dp_x86_rm from)
{
	put_op(o, 0x8b, to, from);
}

void dp_x86_store(struct dp_out *o, struct dp_x86_rm to, u8 from)
{
	put_op(o, 0x89, from, to);
}

void dp_x86_mov_vector(struct dp_out *o, u8 to, u8 from)
{
	DP_PUT(o, 0x66);
	put_op2(o, REX_W, 0x7e, from, dp_x86_in(to));
}

void dp_x86_mov_imm(struct dp_out *o, u8 to, u64 imm)
{
	if (!imm) {
		put_rex(o, 0, to, dp_x86_in(to));
		DP_PUT(o, 0x31);
		put_modrm(o, to, dp_x86_in(to));
	} else if (imm == (u32)imm) {
		put_rex(o, 0, 0, dp_x86_in(to));
		DP_PUT(o, (u8)(0xb8 | (to & 7)));
		dp_put32(o, (u32)imm);
	} else if ((s64)imm == (s32)imm) {
		put_op(o, 0xc7, 0, dp_x86_in(to));
		dp_put32(o, (u32)imm);
	} else {
		put_rex(o, REX_W, 0, dp_x86_in(to));
		DP_PUT(o, (u8)(0xb8 | (to & 7)));
		dp_put64(o, imm);
	}
}

void dp_x86_lea(struct dp_out *o, u8 to, struct dp_x86_rm from)
{
	put_op(o, 0x8d, to, from);
}

void dp_x86_extend(struct dp_out *o, u8 to, struct dp_x86_rm from, u8 bits,
		   bool with_sign)
{
	if (bits == 32 && with_sign) {
		put_op(o, 0x63, to, from);
	} else if (bits == 32) { /* mov of 32 bits clears the others */
		put_rex(o, 0, to, from);
		DP_PUT(o, 0x8b);
		put_modrm(o, to, from);
	} else {
		put_op2(o, REX_W,
			(u8)((with_sign ? 0xbe : 0xb6) | (bits == 16)), to,
			from);
	}
}

void dp_x86_alu(struct dp_out *o, enum dp_x86_alu op, u8 to,
		struct dp_x86_rm from)
{
	put_op(o, (u8)(op << 3 | 3), to, from);
}

void dp_x86_alu_imm(struct dp_out *o, enum dp_x86_alu op, struct dp_x86_rm to,
		    s32 imm)
{
	bool small = imm == (int8_t)imm;

	put_op(o, small ? 0x83 : 0x81, (u8)op, to);
	if (small)
		DP_PUT(o, (u8)imm);
	else
		dp_put32(o, (u32)imm);
}

void dp_x86_imul(struct dp_out *o, u8 to, struct dp_x86_rm from)
{
	put_op2(o, REX_W, 0xaf, to, from);
}

void dp_x86_not(struct dp_out *o, u8 reg)
{
	put_op(o, 0xf7, 2, dp_x86_in(reg));
}

void dp_x86_shift(struct dp_out *o, enum dp_x86_shift op, u8 reg, u8 by)
{
	put_op(o, 0xc1, (u8)op, dp_x86_in(reg));
	DP_PUT(o, by);
}

void dp_x86_set(struct dp_out *o, u8 cc, u8 to)
{
	put_op2(o, 0, (u8)(0x90 | cc), 0, dp_x86_in(to));
	put_op2(o, 0, 0xb6, to, dp_x86_in(to)); /* movzbl */
}

void dp_x86_test(struct dp_out *o, u8 reg)
{
	put_op(o, 0x85, reg, dp_x86_in(reg));
}
