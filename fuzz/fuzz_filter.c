// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* filter, fuzzed: what is said of a program holds for a run with any words. */
#include "proc/seccomp/filters.h"
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NR 15
#define WORDS (sizeof(struct seccomp_data) / 4)

struct machine {
	u32 a, x, mem[BPF_MEMWORDS], data[WORDS];
};

static u32 loaded(const struct machine *m, const struct sock_filter *f)
{
	switch (BPF_MODE(f->code)) {
	case BPF_IMM:
		return f->k;
	case BPF_MEM:
		return m->mem[f->k % BPF_MEMWORDS];
	case BPF_LEN:
		return sizeof(struct seccomp_data);
	default:
		return m->data[f->k / 4 % WORDS];
	}
}

static u32 computed(u32 op, u32 a, u32 b)
{
	switch (op) {
	case BPF_ADD:
		return a + b;
	case BPF_SUB:
		return a - b;
	case BPF_MUL:
		return a * b;
	case BPF_DIV:
		return a / b;
	case BPF_AND:
		return a & b;
	case BPF_OR:
		return a | b;
	case BPF_XOR:
		return a ^ b;
	case BPF_LSH:
		return a << (b & 31);
	case BPF_RSH:
		return a >> (b & 31);
	default:
		return -a;
	}
}

static int taken(u32 op, u32 a, u32 b)
{
	return op == BPF_JEQ ? a == b :
	       op == BPF_JGT ? a > b :
	       op == BPF_JGE ? a >= b :
			       (a & b) != 0;
}

/* Of a program that the kernel would take. Return: its answer. */
static u32 run(const struct sock_filter *code, size_t n, struct machine *m)
{
	size_t pc;

	for (pc = 0; pc < n; pc++) {
		const struct sock_filter *f = &code[pc];
		u32 b = BPF_SRC(f->code) == BPF_X ? m->x : f->k;

		switch (BPF_CLASS(f->code)) {
		case BPF_LD:
			m->a = loaded(m, f);
			break;
		case BPF_LDX:
			m->x = loaded(m, f);
			break;
		case BPF_ST:
			m->mem[f->k] = m->a;
			break;
		case BPF_STX:
			m->mem[f->k] = m->x;
			break;
		case BPF_ALU:
			if (BPF_OP(f->code) == BPF_DIV && !b)
				return SECCOMP_RET_KILL_THREAD;
			m->a = computed(BPF_OP(f->code), m->a, b);
			break;
		case BPF_JMP:
			if (BPF_OP(f->code) == BPF_JA)
				pc += f->k;
			else
				pc += taken(BPF_OP(f->code), m->a, b) ? f->jt :
									f->jf;
			break;
		case BPF_RET:
			return BPF_RVAL(f->code) == BPF_A ? m->a : f->k;
		default:
			if (BPF_MISCOP(f->code) == BPF_TAX)
				m->x = m->a;
			else
				m->a = m->x;
			break;
		}
	}
	abort();
}

/* The instruction nearest to what the bytes say that the kernel would take. */
static void correct(struct sock_filter *f, size_t left)
{
	static const u16 loads[] = { BPF_W | BPF_ABS, BPF_IMM, BPF_MEM,
				     BPF_W | BPF_LEN };
	static const u16 alus[] = {
		BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND,
		BPF_OR,	 BPF_XOR, BPF_LSH, BPF_RSH, BPF_NEG
	};
	u16 class = BPF_CLASS(f->code), pick = f->code >> 8;
	u16 src = f->code & BPF_X;

	if (class == BPF_LD || class == BPF_LDX) {
		f->code = class | loads[pick % (class == BPF_LD ? 4 : 3)];
		if (class == BPF_LDX && BPF_MODE(f->code) == BPF_ABS)
			f->code = BPF_LDX | BPF_IMM;
		if (BPF_MODE(f->code) == BPF_ABS)
			f->k = f->k % WORDS * 4;
		if (BPF_MODE(f->code) == BPF_MEM)
			f->k %= BPF_MEMWORDS;
	} else if (class == BPF_ST || class == BPF_STX) {
		f->code = class;
		f->k %= BPF_MEMWORDS;
	} else if (class == BPF_ALU) {
		f->code = BPF_ALU | alus[pick % 10] | src;
		if (pick % 10 > 6)
			f->k %= 32;
		if (alus[pick % 10] == BPF_DIV && !f->k)
			f->k = 1;
	} else if (class == BPF_JMP && left) {
		f->code = (u16)(BPF_JMP | pick % 5 << 4 | src);
		f->jt = (u8)(f->jt % left);
		f->jf = (u8)(f->jf % left);
		if (BPF_OP(f->code) == BPF_JA)
			f->k %= left;
	} else if (class == BPF_MISC) {
		f->code = BPF_MISC | (src ? BPF_TXA : BPF_TAX);
	} else {
		f->code = BPF_RET | (src ? BPF_A : BPF_K);
	}
}

static int permits(u32 answer)
{
	answer &= SECCOMP_RET_ACTION_FULL;
	return answer == SECCOMP_RET_ALLOW || answer == SECCOMP_RET_LOG;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sock_filter code[64];
	struct machine m = { 0 };
	enum dp_filter_says says;
	size_t n, i;
	u32 answer;

	if (size < sizeof(m.data) + sizeof(*code))
		return 0;
	memcpy(m.data, data, sizeof(m.data));
	m.data[0] = NR;
	m.data[1] = AUDIT_ARCH_X86_64;
	n = (size - sizeof(m.data)) / sizeof(*code);
	if (n > 64)
		n = 64;
	memcpy(code, data + sizeof(m.data), n * sizeof(*code));
	/* Whatever it is, it is looked through. */
	dp_filter_ask(code, n, NR);
	for (i = 0; i < n; i++)
		correct(&code[i], n - 1 - i);
	code[n - 1] = (struct sock_filter)BPF_STMT(
		BPF_RET | BPF_K, data[0] & 1 ? SECCOMP_RET_ALLOW : 0);
	says = dp_filter_ask(code, n, NR);
	answer = run(code, n, &m);
	if ((says == DP_FILTER_ALWAYS && !permits(answer)) ||
	    (says == DP_FILTER_NEVER && permits(answer)))
		abort();
	return 0;
}
