/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* native_programs: random programs of what detours can run, with a little of all else. */
#ifndef NATIVE_PROGRAMS_H
#define NATIVE_PROGRAMS_H

#include "native_run.h"
#include "vm_window.h"

static const u8 native_ops[] = {
	DP_OPCODE_NOP,		DP_OPCODE_JMP,		DP_OPCODE_JLT,
	DP_OPCODE_JLE,		DP_OPCODE_JGT,		DP_OPCODE_JGE,
	DP_OPCODE_JZ,		DP_OPCODE_JNZ,		DP_OPCODE_LOOP,
	DP_OPCODE_CALL,		DP_OPCODE_RET,		DP_OPCODE_INC_LV_I,
	DP_OPCODE_EXIT,		DP_OPCODE_ABORT,	DP_OPCODE_SETMIN_I,
	DP_OPCODE_ADD,		DP_OPCODE_SUB,		DP_OPCODE_RSUB,
	DP_OPCODE_MUL,		DP_OPCODE_AND,		DP_OPCODE_OR,
	DP_OPCODE_XOR,		DP_OPCODE_NEG,		DP_OPCODE_EQ,
	DP_OPCODE_LTU,		DP_OPCODE_LTS,		DP_OPCODE_ROL_I,
	DP_OPCODE_ROR_I,	DP_OPCODE_SHL_I,	DP_OPCODE_SHR_I,
	DP_OPCODE_SHL,		DP_OPCODE_ROR,		DP_OPCODE_PBL_I,
	DP_OPCODE_PZL_I,	DP_OPCODE_PZR_I,	DP_OPCODE_PZL,
	DP_OPCODE_PBR_I,	DP_OPCODE_PBR,		DP_OPCODE_PZR,
	DP_OPCODE_XCHG,		DP_OPCODE_DUP_I,	DP_OPCODE_DUP,
	DP_OPCODE_ROS,		DP_OPCODE_PUSH_R,	DP_OPCODE_PUSH,
	DP_OPCODE_PUSH_MEM_U8,	DP_OPCODE_PUSH_MEM_U16, DP_OPCODE_PUSH_MEM_U32,
	DP_OPCODE_PUSH_MEM_U64, DP_OPCODE_PUSH_TSP_I,	DP_OPCODE_POP_TSP_I,
	DP_OPCODE_COPY_TSP_I,	DP_OPCODE_PUSH_SBP_I,	DP_OPCODE_POP_SBP_I,
	DP_OPCODE_PUSH_TSP,	DP_OPCODE_SAVE_TSP,	DP_OPCODE_RESTORE_TSP,
	DP_OPCODE_PUSH_LP,	DP_OPCODE_PUSH_WID,	DP_OPCODE_PUSH_R,
	DP_OPCODE_PUSH_R,	DP_OPCODE_PUSH_R,	DP_OPCODE_PUSH,
	DP_OPCODE_EQ,		DP_OPCODE_LTU,		DP_OPCODE_AND,
	DP_OPCODE_LOG_I,	DP_OPCODE_LOG_I,	DP_OPCODE_LOG,
	DP_OPCODE_SETMAJ_I,	DP_OPCODE_SETMIN,	DP_OPCODE_PUSH_PLP,
	DP_OPCODE_SX,		DP_OPCODE_UX,		DP_OPCODE_PUSH_X,
	DP_OPCODE_LOG_ST,	DP_OPCODE_MALLOC,	DP_OPCODE_ALLOC_GV,
};

#define NATIVE_MOST 120

/* Numbers at which something changes */
static inline u64 native_number(u64 *seed)
{
	static const u64 edges[] = { 0,		  1,	      2,
				     127,	  128,	      255,
				     256,	  0x7fff,     0x8000,
				     0x7fffffff,  0x80000000, 0xffffffff,
				     0x100000000, 1ull << 63, ~0ull,
				     ~0ull << 31 };
	u64 r = vm_random(seed);

	return r & 1 ? edges[r >> 8 & 15] : r & 2 ? r >> 8 & 0xff : r;
}

/* But for the stack pointer: what is below it is the code's own while it runs. */
static inline u16 native_register(u64 r)
{
	u16 reg = vm_regs[r % VM_NR_REGS];

	return reg == 0x0e || reg == 0x67 ? 0x64 : reg;
}

static inline u32 native_operand(u8 *code, u32 len, u8 kind, u64 *seed)
{
	u64 r = vm_random(seed);

	switch (kind) {
	case DP_OPERAND_NONE:
		return len;
	case DP_OPERAND_U8:
		return vm_put(code, len, r & 64 ? r & 7 : r & 0x4f, 1);
	case DP_OPERAND_UL:
		return vm_put(code, len, native_number(seed), 8);
	case DP_OPERAND_REL:
		return vm_put(code, len, 0, 8);
	case DP_OPERAND_REG:
		return vm_put(code, len, native_register(r), 2);
	case DP_OPERAND_REGW:
		return vm_put(code, len, 0x60, 2);
	case DP_OPERAND_LV:
	case DP_OPERAND_GV:
		return vm_put(code, len, r & 8 ? 1 : r % VM_VARS, 2);
	case DP_OPERAND_AGG:
		return vm_put(code, len, VM_AGGREGATE, 2);
	default: /* small, up or down */
		return vm_put(code, len, (u64)(s64)((s64)(r & 15) - 4), 2);
	}
}

/* Jumps lead forward, but for one in eight. */
static inline void native_land(u8 *code, u32 at, const u32 *begins, u32 n,
			       u64 *seed)
{
	u32 from = 0, r = (u32)vm_random(seed);

	while (from < n - 1 && begins[from] < at + 8)
		from++;
	if (!(r & 7))
		from = 0;
	vm_put(code, at, (u64)begins[from + (r >> 3) % (n - from)] - (at + 8),
	       8);
}

/** native_generate() - a program of about @n instructions. Return: its length. */
static inline u32 native_generate(u8 *code, u32 n, u64 *seed)
{
	u32 begins[NATIVE_MOST + 1], jumps[NATIVE_MOST], nr_jumps = 0, len = 0,
							 i, k;

	for (i = 0; i < n; i++) {
		u64 r = vm_random(seed);
		u8 op = native_ops[(r >> 8) % sizeof(native_ops)];

		if (!(r & 63))
			op = vm_ops[(r >> 8) % VM_NR_OPS].code;
		for (k = 0; vm_ops[k].code != op; k++)
			continue;
		begins[i] = len;
		code[len++] = op;
		if (vm_ops[k].operand == DP_OPERAND_REL)
			jumps[nr_jumps++] = len;
		len = native_operand(code, len, vm_ops[k].operand, seed);
	}
	begins[n] = len;
	code[len++] = DP_OPCODE_EXIT;
	for (i = 0; i < nr_jumps; i++)
		native_land(code, jumps[i], begins, n + 1, seed);
	return len;
}

/* The interpreter alone writes, and what a detour may read stays as it is. */
static inline void native_window(struct native_run *n)
{
	vm_window.at = n->data;
	vm_window.size = NATIVE_PAGE;
	vm_window.drops = true;
	vm_window.allow = DP_ALLOW_ALL;
}

/* Registers with numbers, and addresses of memory, near its end, and of none */
static inline void native_randomize(struct native_run *n, u64 *seed)
{
	u32 i;

	for (i = 0; i < 16; i++) {
		u64 r = vm_random(seed);

		native_in.r[i] = r & 3 ? native_number(seed) :
					 (u64)n->data + (r >> 8) % NATIVE_PAGE;
		if ((r & 0xff) == 4)
			native_in.r[i] =
				(u64)n->data + NATIVE_PAGE - (r >> 8 & 7);
	}
	for (i = 0; i < DP_NR_XMM; i++)
		native_vectors[i] = native_number(seed);
	native_in.r[NATIVE_RSP] = (u64)&n->stack[512];
	native_in.flags = vm_random(seed);
	/* Anywhere in the stream, which may be full */
	n->stream.head.head = vm_random(seed) & ~7ull;
	n->stream.head.limit =
		n->stream.head.head + (vm_random(seed) & 15 ? 8 : 0);
}

#endif
