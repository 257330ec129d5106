// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * chart_frames: the description of the code in a chart, for unwinders.
 *
 * To unwinders, a detour's frame is that of a signal handler: its caller is the program, at
 * the instruction for which the thread stands, with the registers that it has there. So
 * unwinding goes on by the program's own description of that instruction.
 *
 * Source: DWARF 4, 2.5 and 6.4; LSB 5.0, "Exception Frames".
 */
#include "lib/chart.h"
#include "engine/insn/unwind.h"
#include "engine/layout/handler.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* DWARF's numbers of registers; a call's second argument is in R_ARGUMENT */
#define R_ARGUMENT 4
#define R_SP 7
#define R_PC 16

enum {
	OP_DEREF = 0x06,
	OP_CONST1 = 0x08,
	OP_CONST2 = 0x0a,
	OP_CONST4 = 0x0c,
	OP_CONST8 = 0x0e,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_SWAP = 0x16,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_PLUS = 0x22,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_BRA = 0x28,
	OP_GE = 0x2a,
	OP_NE = 0x2e,
	OP_SKIP = 0x2f,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	OP_DEREF_SIZE = 0x94,
	CFA_EXPRESSION = 0x0f,
	CFA_VAL_EXPRESSION = 0x16,
};

/** struct expr - the code of an expression, with what it is about */
struct expr {
	const struct dp_chart *chart;
	const struct dp_chart_tables *tables;
	u8 *code;
	u32 len;
};

static void op(struct expr *e, u8 byte)
{
	e->code[e->len++] = byte;
}

static void number(struct expr *e, u8 how, u64 value, u32 bytes)
{
	op(e, how);
	memcpy(e->code + e->len, &value, bytes);
	e->len += bytes;
}

static void literal(struct expr *e, u8 value)
{
	if (value < 32)
		op(e, OP_LIT0 + value);
	else
		number(e, OP_CONST1, value, 1);
}

static void address(struct expr *e, const void *at)
{
	number(e, OP_CONST8, (u64)at, 8);
}

static void reg(struct expr *e, u8 which)
{
	op(e, OP_BREG0 + which);
	op(e, 0);
}

static void fetch(struct expr *e, u8 bytes)
{
	op(e, OP_DEREF_SIZE);
	op(e, bytes);
}

static void times(struct expr *e, u32 n)
{
	number(e, OP_CONST4, n, 4);
	op(e, OP_MUL);
}

static void shift(struct expr *e, u8 how, u8 by)
{
	literal(e, by);
	op(e, how);
}

/* Return: where the distance is, for land() */
static u32 jump(struct expr *e, u8 how)
{
	number(e, how, 0, 2);
	return e->len;
}

static void land(struct expr *e, u32 from)
{
	int16_t by = (int16_t)(e->len - from);

	memcpy(e->code + from - 2, &by, 2);
}

/* pc ─► its offset in the piece, the piece's address */
static void piece(struct expr *e)
{
	op(e, OP_DUP);
	number(e, OP_CONST2, DP_CHART_PIECE - 1, 2);
	op(e, OP_AND);
	op(e, OP_SWAP);
	number(e, OP_CONST8, e->chart->start & ~(u64)(DP_CHART_PIECE - 1), 8);
	op(e, OP_MINUS);
	shift(e, OP_SHR, DP_CHART_SHIFT);
	shift(e, OP_SHL, 2);
	address(e, e->chart->index);
	op(e, OP_PLUS);
	fetch(e, 4);
	times(e, sizeof(struct dp_chart_piece));
	address(e, e->tables->pieces);
	op(e, OP_PLUS);
}

/* pc ─► its state */
static void only_state(struct expr *e)
{
	piece(e);
	op(e, OP_PLUS);
	fetch(e, 1);
}

/* pc ─► pc, its state */
static void state(struct expr *e)
{
	op(e, OP_DUP);
	only_state(e);
}

/* pc ─► the address of its note */
static void note(struct expr *e)
{
	piece(e);
	op(e, OP_SWAP);
	shift(e, OP_SHR, DP_CHART_GRAIN_SHIFT);
	shift(e, OP_SHL, 2);
	op(e, OP_PLUS);
	number(e, OP_CONST4, offsetof(struct dp_chart_piece, note), 4);
	op(e, OP_PLUS);
	fetch(e, 4);
	times(e, sizeof(struct dp_chart_note));
	address(e, e->tables->notes);
	op(e, OP_PLUS);
}

/* Does the state on top differ? It is dropped. */
static u32 unless(struct expr *e, u8 which)
{
	literal(e, which);
	op(e, OP_NE);
	return jump(e, OP_BRA);
}

/* pc ─► pc, or if it is in a stub, where that has been called from */
static void follow_stub(struct expr *e)
{
	u32 other;

	state(e);
	other = unless(e, DP_CHART_CALLED);
	op(e, OP_DROP);
	reg(e, R_SP);
	op(e, OP_DEREF);
	land(e, other);
}

/* state ─► bytes from the thread's stack pointer to the program's */
static void depth(struct expr *e)
{
	shift(e, OP_SHL, 1);
	address(e, e->tables->sp);
	op(e, OP_PLUS);
	fetch(e, 2);
}

/* address, state ─► where the thread's frame is, if it is not at that address; state */
static void find_frame(struct expr *e)
{
	u32 other;

	op(e, OP_DUP);
	other = unless(e, DP_UNWIND_IN_ARGUMENT);
	op(e, OP_SWAP);
	op(e, OP_DROP);
	reg(e, R_ARGUMENT);
	op(e, OP_SWAP);
	land(e, other);
	op(e, OP_DUP);
	other = unless(e, DP_UNWIND_IN_STACK);
	op(e, OP_SWAP);
	literal(e, offsetof(struct dp_stack, regs));
	op(e, OP_PLUS);
	op(e, OP_DEREF);
	op(e, OP_SWAP);
	land(e, other);
}

/* A stub is called from a place in a detour that has a depth of its own. */
static void stack_pointer(struct expr *e)
{
	u32 other;

	reg(e, R_SP);
	reg(e, R_PC);
	only_state(e);
	op(e, OP_DUP);
	other = unless(e, DP_CHART_CALLED);
	op(e, OP_DROP);
	literal(e, 8);
	op(e, OP_PLUS);
	reg(e, R_SP);
	op(e, OP_DEREF);
	only_state(e);
	land(e, other);
	find_frame(e);
	depth(e);
	op(e, OP_PLUS);
}

/* pc ─► pc, or if there is an island, where its jump leads */
static void follow_island(struct expr *e)
{
	u32 other;

	state(e);
	other = unless(e, DP_UNWIND_ISLAND);
	op(e, OP_DUP);
	literal(e, 1);
	op(e, OP_PLUS);
	fetch(e, 4);
	shift(e, OP_SHL, 32);
	shift(e, OP_SHRA, 32);
	op(e, OP_PLUS);
	literal(e, DP_JUMP_SIZE);
	op(e, OP_PLUS);
	land(e, other);
}

/* pc, state ─► the address of the program's instruction */
static void instruction(struct expr *e)
{
	u32 other, end;

	shift(e, OP_SHR, DP_UNWIND_INSN);
	op(e, OP_SWAP);
	note(e);
	op(e, OP_SWAP);
	op(e, OP_DUP);
	other = unless(e, DP_UNWIND_DUPLICATE);
	op(e, OP_DROP);
	literal(e, offsetof(struct dp_chart_note, duplicate));
	op(e, OP_PLUS);
	op(e, OP_DEREF);
	end = jump(e, OP_SKIP);
	land(e, other);
	op(e, OP_OVER);
	op(e, OP_PLUS);
	literal(e, offsetof(struct dp_chart_note, offset));
	op(e, OP_PLUS);
	fetch(e, 1);
	op(e, OP_SWAP);
	op(e, OP_DEREF);
	op(e, OP_PLUS);
	land(e, end);
}

static void program_counter(struct expr *e)
{
	reg(e, R_PC);
	follow_stub(e);
	follow_island(e);
	state(e);
	instruction(e);
}

/* The slot of a register ahead of the first instruction */
static void noted_slot(struct expr *e, u8 number_of)
{
	reg(e, R_PC);
	note(e);
	literal(e, offsetof(struct dp_chart_note, slot) + number_of);
	op(e, OP_PLUS);
	fetch(e, 1);
}

/* The slot of rax or rcx: an inner count has its own. */
static void first_slots(struct expr *e, u8 number_of)
{
	u32 other, end;

	reg(e, R_PC);
	only_state(e);
	address(e, e->tables->inner);
	op(e, OP_PLUS);
	fetch(e, 1);
	other = jump(e, OP_BRA);
	noted_slot(e, number_of);
	end = jump(e, OP_SKIP);
	land(e, other);
	literal(e, number_of + 1);
	land(e, end);
}

/* A register that may be in a slot */
static void saved(struct expr *e, u8 which, u8 number_of)
{
	u32 other, end;

	reg(e, R_SP);
	reg(e, R_PC);
	only_state(e);
	find_frame(e);
	address(e, e->tables->saved);
	op(e, OP_PLUS);
	fetch(e, 1);
	if (number_of < 2)
		first_slots(e, number_of);
	else
		noted_slot(e, number_of);
	op(e, OP_OVER);
	op(e, OP_OVER);
	op(e, OP_GE);
	other = jump(e, OP_BRA);
	reg(e, which);
	end = jump(e, OP_SKIP);
	land(e, other);
	op(e, OP_MINUS);
	shift(e, OP_SHL, 3);
	op(e, OP_PLUS);
	op(e, OP_DEREF);
	land(e, end);
}

static void uleb(u8 *out, u32 *len, u32 value)
{
	out[(*len)++] = (u8)(value | 0x80);
	out[(*len)++] = (u8)(value >> 7);
}

/* Length, which takes two bytes, and code */
static void put_expr(u8 *out, u32 *len, const struct expr *e)
{
	uleb(out, len, e->len);
	memcpy(out + *len, e->code, e->len);
	*len += e->len;
}

static void put_saved(u8 *out, u32 *len, struct expr *e)
{
	/* rax, rcx, rdx, rsi, rdi, r8 … r11 */
	static const u8 which[DP_CHART_REGS] = { 0, 2, 1, 4, 5, 8, 9, 10, 11 };
	u8 i;

	for (i = 0; i < DP_CHART_REGS; i++) {
		e->len = 0;
		saved(e, which[i], i);
		out[(*len)++] = CFA_VAL_EXPRESSION;
		out[(*len)++] = which[i];
		put_expr(out, len, e);
	}
}

/* Version 1, "zRS": addresses of eight bytes, frames as of signals; return address in R_PC */
static u32 put_cie(u8 *out)
{
	static const u8 cie[] = { 20, 0,   0,	0,   0, 0, 0,	 0,
				  1,  'z', 'R', 'S', 0, 1, 0x78, R_PC,
				  1,  4,   0,	0,   0, 0, 0,	 0 };

	memcpy(out, cie, sizeof(cie));
	return sizeof(cie);
}

static void put_rules(u8 *out, u32 *len, struct expr *e)
{
	e->len = 0;
	stack_pointer(e);
	out[(*len)++] = CFA_EXPRESSION;
	put_expr(out, len, e);
	e->len = 0;
	program_counter(e);
	out[(*len)++] = CFA_VAL_EXPRESSION;
	out[(*len)++] = R_PC;
	put_expr(out, len, e);
	put_saved(out, len, e);
}

u32 dp_chart_describe(const struct dp_chart *chart,
		      const struct dp_chart_tables *tables, u8 *out, u32 *fde)
{
	u8 code[512];
	struct expr e = { .chart = chart, .tables = tables, .code = code };
	u64 range[2] = { chart->start, chart->end - chart->start };
	u32 at = put_cie(out), len = at + 4, word = len;

	*fde = at;
	memcpy(out + len, &word, 4);
	len += 4;
	memcpy(out + len, range, sizeof(range));
	len += sizeof(range);
	out[len++] = 0; /* no augmentation */
	put_rules(out, &len, &e);
	while (len % 8)
		out[len++] = 0;
	word = len - at - 4;
	memcpy(out + at, &word, 4);
	memset(out + len, 0, 4);
	return len + 4;
}
