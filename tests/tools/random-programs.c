// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * random-programs SEED N WHERE: a file of N probes with random handlers, as text.
 *
 * They are verified, and their listing is assembled again: to the same bytes. None writes memory or
 * registers; what differs from run to run (the process, its CPU) is not among them.
 */
#include <stdio.h>
#include "lang/lang.h"
#include "tests/unit/vm_programs.h"

#define CODE_MOST 60000u
#define HANDLER VM_CODE_MOST(24)

/* What another run, or another CPU, may have otherwise; and what makes a file */
static bool is_steady(u8 op, u16 operand)
{
	switch (op) {
	case DP_OPCODE_PUSH_PID:
	case DP_OPCODE_PUSH_PROCID:
	case DP_OPCODE_PUSH_TASK:
		return false;
	case DP_OPCODE_EXIT_N:
		return (u8)operand > 3;
	case DP_OPCODE_PUSH_R:
	case DP_OPCODE_PUSH_U:
		return operand != DP_REG_CPUID &&
		       (operand < DP_REG_FR0 || operand > DP_REG_FDS);
	default:
		return true;
	}
}

static bool reads_memory(u8 op)
{
	return (op >= DP_OPCODE_PUSH_MEM_U8 && op <= DP_OPCODE_PUSH_MEM_U64) ||
	       op == DP_OPCODE_LOG_MRF || op == DP_OPCODE_LOG_STR;
}

static bool is_stack_pointer(u8 op, u8 reg)
{
	return (op == DP_OPCODE_PUSH_R || op == DP_OPCODE_PUSH_U) &&
	       (reg == 0x0e || reg == 0x67);
}

/* Below the stack pointer is what the probe needs, which differs from way to way. */
static bool may_look_below(const u8 *code, u32 len)
{
	bool reads = false, has = false;
	u32 at;

	for (at = 0; at < len; at += 1 + vm_operand_size(code[at])) {
		reads |= reads_memory(code[at]);
		has |= is_stack_pointer(code[at], code[at + 1]);
	}
	return reads && has;
}

static bool fits(const u8 *code, u32 len)
{
	struct dp_vm_limits limits = { VM_VARS, VM_VARS, 0, vm_tables };
	u32 start = 0, offset, at;
	const char *why;

	if (dp_vm_verify(code, len, &limits, &start, 1, &offset, &why))
		return false;
	for (at = 0; at < len; at += 1 + vm_operand_size(code[at]))
		if (vm_ops[vm_row(code[at])].state != DP_OP_READY ||
		    !is_steady(code[at],
			       (u16)(code[at + 1] | (u16)(code[at + 2] << 8))))
			return false;
	return !may_look_below(code, len);
}

static void add(struct dp_lang_program *p, const u8 *code, u32 len)
{
	struct dp_lang_point *point = &p->points[p->nr_points];

	memcpy(p->code + p->code_len, code, len);
	*point = (struct dp_lang_point){
		.symbol = p->points[0].symbol,
		.opcode = -1,
		.minor = (u16)p->nr_points,
		.maxhits = DP_MAXHITS_DEFAULT,
		.heap = DP_HEAP_MAX,
		.ex_mask = p->nr_points % 4 ? DP_EX_MASK_DEFAULT : 0xffff,
		.start = p->code_len,
		.end = p->code_len + len,
	};
	p->code_len += len;
	p->nr_points++;
}

static int check(const struct dp_lang_program *p, const char *text, size_t len)
{
	struct dp_lang_program *again;
	struct dp_diag diag;

	dp_diag_clear(&diag);
	if (dp_lang_assemble("listing", text, len, 8, &again, NULL, &diag)) {
		fprintf(stderr, "%s\n", diag.text);
		return 1;
	}
	if (again->code_len != p->code_len ||
	    memcmp(again->code, p->code, p->code_len)) {
		fprintf(stderr, "the listing has other code\n");
		return 1;
	}
	dp_lang_free(again);
	return 0;
}

int main(int argc, char **argv)
{
	static struct vm_bench bench;
	static u8 code[HANDLER + 2], all[CODE_MOST];
	u64 seed = argc == 4 ? strtoull(argv[1], NULL, 0) * 2654435761 + 1 : 0;
	u32 n = seed ? (u32)atoi(argv[2]) : 0, len;
	struct dp_lang_program p = {
		.name = "logger",
		.modtype = DP_MODTYPE_USER,
		.jmpmax = 200,
		.logmax = 300,
		.vars = VM_VARS,
		.gvars = VM_VARS,
		.stack = DP_STACK_DEFAULT,
		.ex_logmax = DP_EX_LOG_MAX,
		.heapmax = DP_HEAP_MAX,
		.filter.pid = -1,
		.word = 8,
		.code = all,
	};
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!n)
		return 2;
	p.points = calloc(n, sizeof(*p.points));
	p.points[0].symbol = argv[3];
	strcpy(bench.text, "some text that a program may log");
	while (p.nr_points < n && p.code_len + HANDLER < CODE_MOST) {
		len = vm_generate(&bench, code, 1 + vm_random(&seed) % 24,
				  &seed);
		if (fits(code, len))
			add(&p, code, len);
	}
	out = open_memstream(&text, &size);
	dp_lang_disassemble(&p, out);
	fclose(out);
	fputs(text, stdout);
	return check(&p, text, size);
}
