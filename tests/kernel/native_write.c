// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* native_write: random programs of what detours can run, with a little of all else. */
#include "tests/kernel/native.h"
#include <linux/kernel.h>
#include <linux/string.h>

/* Instructions of a program at most, and of them those that begin one of the pieces below */
#define MOST 48
#define PIECES 24

static u64 seed = 88172645463325252ull;

u64 dpnative_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545f4914f6cdd1dull;
}

static u32 below(u32 n)
{
	return (u32)(dpnative_random() >> 33) % n;
}

static const u8 plain[] = {
	DP_OPCODE_ADD,	       DP_OPCODE_SUB,	   DP_OPCODE_RSUB,
	DP_OPCODE_MUL,	       DP_OPCODE_AND,	   DP_OPCODE_OR,
	DP_OPCODE_XOR,	       DP_OPCODE_NEG,	   DP_OPCODE_EQ,
	DP_OPCODE_LTU,	       DP_OPCODE_LTS,	   DP_OPCODE_EQ,
	DP_OPCODE_LTU,	       DP_OPCODE_LTS,	   DP_OPCODE_DIV,
	DP_OPCODE_XCHG,	       DP_OPCODE_NOP,	   DP_OPCODE_ROL,
	DP_OPCODE_SHR,	       DP_OPCODE_PBL,	   DP_OPCODE_DUP,
	DP_OPCODE_PUSH_WID,    DP_OPCODE_PUSH_LP,  DP_OPCODE_PUSH_TASK,
	DP_OPCODE_PUSH_X,      DP_OPCODE_SAVE_TSP, DP_OPCODE_EXIT,
	DP_OPCODE_ABORT,       DP_OPCODE_RET,	   DP_OPCODE_PUSH_TSP,
	DP_OPCODE_RESTORE_TSP,
};

/* With an operand: numbers of bits or elements */
static const u8 counted[] = {
	DP_OPCODE_ROL_I, DP_OPCODE_ROR_I, DP_OPCODE_SHL_I, DP_OPCODE_SHR_I,
	DP_OPCODE_PBL_I, DP_OPCODE_PBR_I, DP_OPCODE_PZL_I, DP_OPCODE_PZR_I,
	DP_OPCODE_DUP_I, DP_OPCODE_ROS,
};

static const u8 jumps[] = { DP_OPCODE_JMP, DP_OPCODE_JLT,  DP_OPCODE_JLE,
			    DP_OPCODE_JGT, DP_OPCODE_JGE,  DP_OPCODE_JZ,
			    DP_OPCODE_JNZ, DP_OPCODE_LOOP, DP_OPCODE_CALL,
			    DP_OPCODE_SX };

static const u8 loads[] = { DP_OPCODE_PUSH_MEM_U8, DP_OPCODE_PUSH_MEM_U16,
			    DP_OPCODE_PUSH_MEM_U32, DP_OPCODE_PUSH_MEM_U64 };

/* Numbers at which something changes */
static u64 number(void)
{
	static const u64 edges[] = {
		0,	    1,		2,	     127,
		128,	    255,	0x7fff,	     0x8000,
		0x7fffffff, 0x80000000, 0xffffffff,  0x100000000,
		1ull << 63, ~0ull,	~0ull << 31, (1ull << 63) - 1
	};
	u64 r = dpnative_random();

	return r & 1 ? edges[r >> 8 & 15] : r & 2 ? r >> 8 & 0xff : r >> 3;
}

static void push_number(struct dp_asm *c, u64 value)
{
	dp_asm_op(c, DP_OPCODE_PUSH);
	dp_asm_put(c, value, 8);
}

/* All but the stack pointer, and the flags, which instructions of a handler's would change; halves, too */
static void push_register(struct dp_asm *c)
{
	static const u16 some[] = { 0x60, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66,
				    0x68, 0x69, 0x6a, 0x6b, 0x6c, 0x6d, 0x6e,
				    0x6f, 0x70, 0x06, 0x09, 0x0a, 0x0b, 0x71 };

	dp_asm_op(c, DP_OPCODE_PUSH_R);
	dp_asm_put(c, some[below(ARRAY_SIZE(some))], 2);
}

/* At r12 to r15, and near */
static void push_memory(struct dp_asm *c)
{
	dp_asm_op(c, DP_OPCODE_PUSH_R);
	dp_asm_put(c, 0x6c + (below(4) ? 0 : below(4)), 2);
	push_number(c, below(8) ? below(24) : 1ull << 63);
	dp_asm_op(c, DP_OPCODE_ADD);
	dp_asm_put(c, loads[below(ARRAY_SIZE(loads))], 1);
}

static void put_piece(struct dp_asm *c, bool jump)
{
	switch (jump ? 6 + below(2) : below(7)) {
	case 0:
	case 1:
		push_register(c);
		break;
	case 2:
		push_number(c, number());
		break;
	case 3:
		push_memory(c);
		break;
	case 4:
		dp_asm_put(c, counted[below(ARRAY_SIZE(counted))], 1);
		dp_asm_put(c, below(8) ? below(66) : below(256), 1);
		break;
	case 5:
		dp_asm_put(c, plain[below(ARRAY_SIZE(plain))], 1);
		break;
	case 6:
		if (below(3)) {
			push_register(c);
			break;
		}
		dp_asm_put(c, below(6) ? DP_OPCODE_INC_LV_I : DP_OPCODE_LOG_I,
			   1);
		dp_asm_put(c, !below(4), 2);
		break;
	default:
		dp_asm_put(c, jumps[below(ARRAY_SIZE(jumps))], 1);
		dp_asm_put(c, 0, 8);
		break;
	}
}

/* Let each jump lead to some instruction, mostly forward. */
static void aim(struct dp_asm *c, const u32 *begins, u32 n)
{
	u32 i, to;
	u64 by;

	for (i = 0; i + 1 < n; i++) {
		u32 at = begins[i];

		if (!memchr(jumps, c->bytes[at], sizeof(jumps)))
			continue;
		to = below(8) && i + 1 < n ? i + 1 + below(n - i - 1) :
					     below(n);
		by = (u64)begins[to] - (at + 9);
		memcpy(c->bytes + at + 1, &by, sizeof(by));
	}
}

/* Most end like a condition's. */
static void put_end(struct dp_asm *c)
{
	if (below(4)) {
		dp_asm_put(c, below(2) ? DP_OPCODE_JNZ : DP_OPCODE_JLT, 1);
		dp_asm_put(c, 1, 8);
		dp_asm_op(c, DP_OPCODE_ABORT);
		dp_asm_op(c, DP_OPCODE_INC_LV_I);
		dp_asm_put(c, 0, 2);
	}
	dp_asm_put(c, below(4) ? DP_OPCODE_EXIT : DP_OPCODE_ABORT, 1);
}

void dpnative_write(struct dp_asm *c)
{
	u32 begins[MOST], pieces = 4 + below(PIECES), i, n = 0;

	c->n = 0;
	for (i = 0; i < pieces; i++) {
		begins[n++] = c->n;
		put_piece(c, !below(5));
	}
	begins[n++] = c->n;
	put_end(c);
	aim(c, begins, n);
}
