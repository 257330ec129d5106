// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filter: interpret a classic BPF program on system call data that is partly unknown.
 *
 * Jumps lead forward only, so one pass in the order of the instructions follows all paths. A
 * word is known at an instruction if all paths to the instruction agree on its value. A
 * condition on an unknown word takes both branches.
 */
#include "proc/seccomp/filters.h"
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>

struct word {
	u32 value;
	bool known;
};

/** struct state - the machine before an instruction; @reached: a path leads there */
struct state {
	bool reached;
	struct word a, x, mem[BPF_MEMWORDS];
};

/** struct run - the interpretation of one filter
 *  @no, @perhaps, @yes: can a path end with this answer? */
struct run {
	const struct sock_filter *code;
	size_t n;
	u32 nr;
	struct state *at;
	bool no, perhaps, yes;
};

static const struct word unknown;

static struct word constant(u32 value)
{
	return (struct word){ value, true };
}

static struct word common(struct word a, struct word b)
{
	return a.known && b.known && a.value == b.value ? a : unknown;
}

/* A path leads to instruction @to, in state @now. */
static void lead(struct run *run, size_t to, const struct state *now)
{
	struct state *s;
	size_t i;

	if (to >= run->n) { /* the kernel rejects such a program */
		run->perhaps = true;
		return;
	}
	s = &run->at[to];
	if (!s->reached) {
		*s = *now;
		return;
	}
	s->a = common(s->a, now->a);
	s->x = common(s->x, now->x);
	for (i = 0; i < BPF_MEMWORDS; i++)
		s->mem[i] = common(s->mem[i], now->mem[i]);
}

/* A path ends. A tracer, a supervisor or a handler of SIGSYS may let the call pass, or fake
 * its result. */
static void end(struct run *run, struct word result)
{
	if (!result.known) {
		run->perhaps = true;
		return;
	}
	switch (result.value & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		run->yes = true;
		break;
	case SECCOMP_RET_TRACE:
	case SECCOMP_RET_USER_NOTIF:
	case SECCOMP_RET_TRAP:
		run->perhaps = true;
		break;
	default: /* an action that the kernel does not know kills */
		run->no = true;
		break;
	}
}

static struct word data_word(const struct run *run, u32 offset)
{
	if (offset == offsetof(struct seccomp_data, nr))
		return constant(run->nr);
	if (offset == offsetof(struct seccomp_data, arch))
		return constant(AUDIT_ARCH_X86_64);
	return unknown;
}

static struct word loaded(const struct run *run, const struct state *now,
			  const struct sock_filter *f)
{
	switch (f->code & ~BPF_LDX) { /* BPF_LDX as BPF_LD */
	case BPF_W | BPF_ABS:
		return data_word(run, f->k);
	case BPF_W | BPF_LEN:
		return constant(sizeof(struct seccomp_data));
	case BPF_IMM:
		return constant(f->k);
	case BPF_MEM:
		return f->k < BPF_MEMWORDS ? now->mem[f->k] : unknown;
	default:
		return unknown;
	}
}

static struct word computed(u16 op, struct word a, struct word b)
{
	bool shift = op == BPF_LSH || op == BPF_RSH;

	if (op == BPF_NEG && a.known)
		return constant(-a.value);
	if (!a.known || !b.known || (shift && b.value > 31))
		return unknown;
	switch (op) {
	case BPF_ADD:
		return constant(a.value + b.value);
	case BPF_SUB:
		return constant(a.value - b.value);
	case BPF_MUL:
		return constant(a.value * b.value);
	case BPF_DIV:
		return b.value ? constant(a.value / b.value) : unknown;
	case BPF_AND:
		return constant(a.value & b.value);
	case BPF_OR:
		return constant(a.value | b.value);
	case BPF_XOR:
		return constant(a.value ^ b.value);
	case BPF_LSH:
		return constant(a.value << b.value);
	case BPF_RSH:
		return constant(a.value >> b.value);
	default:
		return unknown;
	}
}

/* Return: false if the path ends here. */
static bool compute(struct run *run, struct state *now,
		    const struct sock_filter *f)
{
	struct word b = BPF_SRC(f->code) == BPF_X ? now->x : constant(f->k);
	u16 op = BPF_OP(f->code);

	/* A division by zero makes the filter's answer 0, which kills. */
	if (op == BPF_DIV && !(b.known && b.value))
		run->no = true;
	if (op == BPF_DIV && b.known && !b.value)
		return false;
	now->a = computed(op, now->a, b);
	return true;
}

static bool holds(u16 op, u32 a, u32 b)
{
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	default:
		return a & b;
	}
}

static void jump(struct run *run, size_t pc, const struct state *now)
{
	const struct sock_filter *f = &run->code[pc];
	struct word b = BPF_SRC(f->code) == BPF_X ? now->x : constant(f->k);
	u16 op = BPF_OP(f->code);
	bool known = now->a.known && b.known && op <= BPF_JSET, yes;

	if (op == BPF_JA) {
		lead(run, pc + 1 + f->k, now);
		return;
	}
	yes = known && holds(op, now->a.value, b.value);
	if (!known || yes)
		lead(run, pc + 1 + f->jt, now);
	if (!yes)
		lead(run, pc + 1 + f->jf, now);
}

static void store(struct state *now, u32 k, struct word value)
{
	if (k < BPF_MEMWORDS)
		now->mem[k] = value;
}

static void step(struct run *run, size_t pc)
{
	const struct sock_filter *f = &run->code[pc];
	struct state now = run->at[pc];

	switch (BPF_CLASS(f->code)) {
	case BPF_LD:
		now.a = loaded(run, &now, f);
		break;
	case BPF_LDX:
		now.x = loaded(run, &now, f);
		break;
	case BPF_ST:
		store(&now, f->k, now.a);
		break;
	case BPF_STX:
		store(&now, f->k, now.x);
		break;
	case BPF_ALU:
		if (!compute(run, &now, f))
			return;
		break;
	case BPF_JMP:
		jump(run, pc, &now);
		return;
	case BPF_RET:
		end(run, BPF_RVAL(f->code) == BPF_A ? now.a : constant(f->k));
		return;
	case BPF_MISC:
		if (BPF_MISCOP(f->code) == BPF_TAX)
			now.x = now.a;
		else
			now.a = now.x;
		break;
	}
	lead(run, pc + 1, &now);
}

enum dp_filter_says dp_filter_ask(const struct sock_filter *code, size_t n,
				  u32 nr)
{
	struct state start = { .reached = true,
			       .a = constant(0),
			       .x = constant(0) };
	struct run run = { .code = code, .n = n, .nr = nr };
	size_t pc;

	run.at = calloc(n + 1, sizeof(*run.at));
	if (!run.at)
		return DP_FILTER_PERHAPS;
	lead(&run, 0, &start);
	for (pc = 0; pc < n; pc++)
		if (run.at[pc].reached)
			step(&run, pc);
	free(run.at);
	if (run.perhaps || run.yes == run.no)
		return DP_FILTER_PERHAPS;
	return run.yes ? DP_FILTER_ALWAYS : DP_FILTER_NEVER;
}
