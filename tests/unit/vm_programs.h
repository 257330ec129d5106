/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vm_programs: random programs that the verifier accepts, and a machine to run
 * them on with its surroundings watched.
 */
#ifndef VM_PROGRAMS_H
#define VM_PROGRAMS_H

#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"
#include <stdlib.h>
#include <string.h>

#define VM_VARS 4
#define VM_HEAP 512
#define VM_GUARD 0x5ca1ab1e5ca1ab1eull

struct vm_bench {
	u64 before;
	struct dp_vm vm;
	u64 behind;
	u64 lv_before, lv[VM_VARS], lv_behind;
	u64 gv_before, gv[VM_VARS], gv_behind;
	u64 log_before;
	u8 log[DP_VM_LOG];
	u64 traces_before;
	u8 traces[DP_VM_TRACES];
	u64 heap_before;
	u8 heap[VM_HEAP];
	u64 globals_before;
	struct dp_vm_globals globals;
	u64 globals_behind;
	struct dp_regs regs;
	char text[64];
};

static inline void vm_bench_init(struct vm_bench *b)
{
	memset(b, 0, sizeof(*b));
	b->log_before = b->traces_before = b->heap_before = b->globals_before =
		b->globals_behind = VM_GUARD;
	b->before = b->behind = b->lv_before = b->lv_behind = b->gv_before =
		b->gv_behind = VM_GUARD;
	b->vm.lv = b->lv;
	b->vm.gv = b->gv;
	b->vm.nr_lv = b->vm.nr_gv = VM_VARS;
	b->vm.stack_mask = DP_VM_STACK - 1;
	b->vm.jmpmax = 65535;
	b->vm.logmax = DP_VM_LOG;
	b->vm.log = b->log;
	b->vm.tracemax = DP_VM_TRACES;
	b->vm.traces = b->traces;
	b->vm.heapmax = VM_HEAP;
	b->vm.heap = b->heap;
	b->vm.globals = &b->globals;
	b->vm.ex_mask = DP_EX_MASK;
	b->vm.regs = &b->regs;
	strcpy(b->text, "some text that a program may log");
}

static inline bool vm_bench_intact(const struct vm_bench *b)
{
	u32 i;

	for (i = 0; i < DP_VM_STACK; i++)
		if (b->vm.stack[i])
			return false;
	return b->before == VM_GUARD && b->behind == VM_GUARD &&
	       b->lv_before == VM_GUARD && b->lv_behind == VM_GUARD &&
	       b->gv_before == VM_GUARD && b->gv_behind == VM_GUARD &&
	       b->log_before == VM_GUARD && b->traces_before == VM_GUARD &&
	       b->heap_before == VM_GUARD && b->globals_before == VM_GUARD &&
	       b->globals_behind == VM_GUARD && b->vm.stp <= b->vm.tracemax &&
	       b->vm.lp <= b->vm.logmax && b->vm.end != DP_VM_RUNS;
}

static inline u64 vm_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

#define VM_OP_ROW(code, name, operand, pops, pushes, ends, state, ...) \
	{ code, DP_OPERAND_##operand, DP_OP_##state, ends, pops },
static const struct {
	u8 code, operand, state, ends;
	int pops;
} vm_ops[] = { DP_OPS(VM_OP_ROW) };
#define VM_NR_OPS (sizeof(vm_ops) / sizeof(vm_ops[0]))

static const u16 vm_regs[] = {
#define VM_REG_ROW(number, ...) number,
	DP_REGS(VM_REG_ROW) DP_SPECIAL_REGS(VM_REG_ROW)
		DP_VECTOR_REGS(VM_REG_ROW) DP_WIDE_REGS(VM_REG_ROW)
};
#define VM_NR_REGS (sizeof(vm_regs) / sizeof(vm_regs[0]))

static inline u32 vm_put(u8 *code, u32 at, u64 value, u32 size)
{
	memcpy(code + at, &value, size);
	return at + size;
}

/* Literals that lead somewhere: small, an address, the first block of a heap, what "alloc gv" gives
 * first, a segment; or anything. */
static inline u64 vm_literal(struct vm_bench *b, u64 *seed)
{
	u64 r = vm_random(seed);

	switch (r & 7) {
	case 0:
		return r >> 8 & 0xff;
	case 1:
	case 2:
		return (u64)b->text + (r >> 8 & 63);
	case 3:
		return (u64) - (s64)(r >> 8 & 0xff);
	case 4:
		return 8;
	case 5:
		return r & 8 ? DP_VM_GLOBALS : 0x2b;
	case 6:
		return r >> 8 & 3;
	default:
		return r;
	}
}

/* A register that can be written */
static inline u16 vm_writable(u64 *seed)
{
	static const struct {
		u16 number;
		bool writable;
	} regs[] = {
#define VM_WRITABLE(number, name, field, half, writable) { number, writable },
		DP_REGS(VM_WRITABLE)
	};
	u64 i;

	do
		i = vm_random(seed) % (sizeof(regs) / sizeof(regs[0]));
	while (!regs[i].writable);
	return regs[i].number;
}

static inline u32 vm_push(u8 *code, u32 len, u64 value)
{
	code[len] = DP_OPCODE_PUSH;
	return vm_put(code, len + 1, value, 8);
}

/* Eight tokens of a pattern: those that mean something, and letters of the text */
static inline u64 vm_pattern(struct vm_bench *b, u64 *seed)
{
	u64 word = 0, i, r;

	for (i = 0; i < 8; i++) {
		r = vm_random(seed);
		word = word << 8 |
		       (r & 1 ? 1 + r % 5 : (u8)b->text[(r >> 8) % 32]);
	}
	return word;
}

/* A block of the heap, with another one behind it perhaps, and an offset in it */
static inline u32 vm_block(u8 *code, u32 len, bool offset, u64 *seed)
{
	u64 r = vm_random(seed);

	len = vm_push(code, len, r & 127);
	code[len++] = DP_OPCODE_MALLOC;
	if (!offset && r & 128) {
		code[len++] = DP_OPCODE_DUP_I;
		code[len++] = 1;
		code[len++] = DP_OPCODE_MALLOC;
		code[len++] = DP_OPCODE_ROS;
		code[len++] = 1;
	}
	return offset ? vm_push(code, len, r >> 8 & 7) : len;
}

/* Elements for an instruction, or none */
static inline u32 vm_elements(struct vm_bench *b, u8 *code, u32 len, u8 op,
			      int n, u64 *seed)
{
	u64 r = vm_random(seed);

	if (r & 1)
		return len;
	if (op == DP_OPCODE_FREE ||
	    (op >= DP_OPCODE_PUSHH_U8 && op <= DP_OPCODE_POPH_U64))
		return vm_block(code, len, op != DP_OPCODE_FREE, seed);
	if (op == DP_OPCODE_LIKE) {
		len = vm_push(code, len, vm_pattern(b, seed));
		len = vm_push(code, len, vm_pattern(b, seed));
		len = vm_push(code, len, (u64)b->text + (r >> 8 & 31));
		return vm_push(code, len, r >> 16 & 63);
	}
	for (; n > 0; n--)
		len = vm_push(code, len, vm_literal(b, seed));
	return len;
}

static inline u32 vm_row(u8 code)
{
	u32 k = 0;

	while (vm_ops[k].code != code)
		k++;
	return k;
}

/* A hit of each table has as many words. */
#define VM_TABLE_WORDS 3
#define VM_AGGREGATE (VM_TABLE_WORDS << DP_AGGREGATE_SHIFT)
static const u8 vm_tables[DP_VM_AGGREGATES] = { [0 ... DP_VM_AGGREGATES - 1] =
							VM_TABLE_WORDS };

static inline u32 vm_operand_size(u8 code)
{
	static const u8 sizes[] = {
		[DP_OPERAND_U8] = 1,   [DP_OPERAND_U16] = 2,
		[DP_OPERAND_S16] = 2,  [DP_OPERAND_UL] = 8,
		[DP_OPERAND_REL] = 8,  [DP_OPERAND_REG] = 2,
		[DP_OPERAND_REGW] = 2, [DP_OPERAND_LV] = 2,
		[DP_OPERAND_GV] = 2,   [DP_OPERAND_AGG] = 2,
	};

	return sizes[vm_ops[vm_row(code)].operand];
}

/* Few instructions end a program, and many set a handler or open a call, so that what is behind
 * them runs, too. Half are of some neighbours in the table, which are @near. */
static inline u32 vm_choose(u64 near, u64 *seed)
{
	u64 r = vm_random(seed);
	u32 k = (u32)((r & 8 ? r >> 8 : near + (r >> 8) % 8) % VM_NR_OPS);

	if (!(r & 0xf0))
		return vm_row(r & 1 ? DP_OPCODE_SX : DP_OPCODE_CALL);
	return vm_ops[k].ends && r & 7 ? vm_row(DP_OPCODE_NOP) : k;
}

/* Four pushes, and the instruction itself */
#define VM_CODE_MOST(n) (((n) + 1) * 5 * 9)

/**
 * vm_generate() - a random program of about @n instructions, and elements for some of them
 * @code: room for VM_CODE_MOST(@n) bytes
 * What it may write is the window's: see vm_window.h.
 * Return: its length.
 */
static inline u32 vm_generate(struct vm_bench *b, u8 *code, u32 n, u64 *seed)
{
	u32 begins[256], jumps[256], nr_jumps = 0, len = 0, i;
	u64 near = vm_random(seed) % VM_NR_OPS;

	for (i = 0; i < n; i++) {
		u32 k = vm_choose(near, seed);
		u16 reg = vm_regs[vm_random(seed) % VM_NR_REGS];

		begins[i] = len;
		len = vm_elements(b, code, len, vm_ops[k].code, vm_ops[k].pops,
				  seed);
		code[len++] = vm_ops[k].code;
		switch (vm_ops[k].operand) {
		case DP_OPERAND_NONE:
			break;
		case DP_OPERAND_U8:
			len = vm_put(code, len, vm_random(seed) & 0x4f, 1);
			break;
		case DP_OPERAND_UL:
			len = vm_put(code, len, vm_literal(b, seed), 8);
			break;
		case DP_OPERAND_REL:
			jumps[nr_jumps++] = len;
			len = vm_put(code, len, 0, 8);
			break;
		case DP_OPERAND_REG:
			len = vm_put(code, len, reg, 2);
			break;
		case DP_OPERAND_REGW:
			len = vm_put(code, len, vm_writable(seed), 2);
			break;
		case DP_OPERAND_LV:
		case DP_OPERAND_GV:
			len = vm_put(code, len, vm_random(seed) % VM_VARS, 2);
			break;
		case DP_OPERAND_AGG:
			len = vm_put(code, len, VM_AGGREGATE, 2);
			break;
		default: /* counts, of which small ones lead farther */
			len = vm_put(code, len,
				     vm_random(seed) >>
					     (vm_random(seed) & 1 ? 0 : 60),
				     2);
			break;
		}
	}
	code[len++] = DP_OPCODE_EXIT;
	for (i = 0; i < nr_jumps; i++) {
		u64 to = begins[vm_random(seed) % n];

		vm_put(code, jumps[i], to - (jumps[i] + 8), 8);
	}
	return len;
}

#endif
