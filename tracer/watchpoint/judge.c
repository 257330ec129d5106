// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * judge: run the code of a condition in the tool.
 *
 * So a condition means the same where the kernel runs the code and where the tool does. It has
 * what condition.c writes: no loop, no call, and no memory but its frame.
 */
#include "tracer/watchpoint/code.h"
#include <string.h>

#define FRAME 1024

/** struct machine - @frame: its end is register 10 */
struct machine {
	u64 reg[MAX_BPF_REG];
	u8 frame[FRAME];
};

/* Offsets are the compiler's own; one beyond the frame reads and writes nothing. */
static u8 *at(struct machine *m, int off, size_t size)
{
	if (off < -FRAME || off > -(int)size)
		return NULL;
	return m->frame + FRAME + off;
}

static size_t size_of(u8 code)
{
	return BPF_SIZE(code) == BPF_DW ? 8 : BPF_SIZE(code) == BPF_W ? 4 : 0;
}

static void load(struct machine *m, const struct bpf_insn *i)
{
	size_t size = size_of(i->code);
	const u8 *from = at(m, i->off, size);

	m->reg[i->dst_reg] = 0;
	if (from)
		memcpy(&m->reg[i->dst_reg], from, size);
}

static void store(struct machine *m, const struct bpf_insn *i)
{
	size_t size = size_of(i->code);
	u8 *to = at(m, i->off, size);

	if (to)
		memcpy(to, &m->reg[i->src_reg], size);
}

static u64 operand(const struct machine *m, const struct bpf_insn *i)
{
	return i->code & BPF_X ? m->reg[i->src_reg] : (u64)(s64)i->imm;
}

static u64 calculate(u8 op, u64 a, u64 b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 63);
	case BPF_RSH:
		return a >> (b & 63);
	case BPF_ARSH:
		return (u64)((s64)a >> (b & 63));
	case BPF_NEG:
		return -a;
	default:
		return b; /* BPF_MOV */
	}
}

static bool jumps(u8 op, u64 a, u64 b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return (s64)a > (s64)b;
	case BPF_JSGE:
		return (s64)a >= (s64)b;
	case BPF_JSLT:
		return (s64)a < (s64)b;
	default:
		return (s64)a <= (s64)b; /* BPF_JSLE */
	}
}

/* Return: the number of the next instruction */
static u32 step(struct machine *m, const struct bpf_insn *i, u32 n)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU64:
		m->reg[i->dst_reg] = calculate(
			BPF_OP(i->code), m->reg[i->dst_reg], operand(m, i));
		break;
	case BPF_LDX:
		load(m, i);
		break;
	case BPF_STX:
		store(m, i);
		break;
	case BPF_LD: /* a number of 64 bits, in two instructions */
		m->reg[i->dst_reg] = (u32)i->imm | (u64)(u32)i[1].imm << 32;
		return n + 2;
	case BPF_JMP:
		if (jumps(BPF_OP(i->code), m->reg[i->dst_reg], operand(m, i)))
			return n + 1 + (u32)i->off;
		break;
	}
	return n + 1;
}

bool dp_watch_judge(const struct dp_watch_code *code,
		    const struct dp_watch_record *record)
{
	struct machine m = { .reg = { 0 } };
	u32 n = 0;

	memcpy(m.frame + FRAME + DP_WATCH_RECORD, record, sizeof(*record));
	while (n < code->n)
		n = step(&m, &code->v[n], n);
	return m.reg[BPF_REG_0];
}
