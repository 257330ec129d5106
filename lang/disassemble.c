// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* disassemble: a program as text that assembles to the same. */
#include "lang/private.h"
#include <stdlib.h>
#include <string.h>

struct listing {
	const struct dp_lang_program *p;
	FILE *out;
	u8 *targets; /* by offset: something jumps here */
};

static u64 value_at(const struct listing *l, u32 at, u32 size)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < size; i++)
		value |= (u64)l->p->code[at + i] << (8 * i);
	return value;
}

static u64 target_of(const struct listing *l, u32 at, u8 word)
{
	u64 distance = value_at(l, at, word);

	if (word == 4)
		distance = (u64)(s64)(s32)distance;
	return at + word + distance;
}

/* Return: the instruction at an offset; NULL if the code is damaged there. */
static const struct dp_op *op_at(const struct listing *l, u32 at, u32 *next)
{
	const struct dp_op *op = dp_op_by_code(l->p->code[at]);

	if (!op || op->state != DP_OP_READY)
		return NULL;
	*next = at + 1 + dp_op_size(op, l->p->word);
	return *next <= l->p->code_len ? op : NULL;
}

static void find_targets(struct listing *l)
{
	const struct dp_op *op;
	u32 at, next;

	for (at = 0; at < l->p->code_len; at = next) {
		op = op_at(l, at, &next);
		if (!op)
			return;
		if (op->operand == DP_OPERAND_REL) {
			u64 target = target_of(l, at + 1, l->p->word);

			if (target < l->p->code_len)
				l->targets[target] = 1;
		}
	}
}

static void print_operand(const struct listing *l, const struct dp_op *op,
			  u32 at)
{
	u32 size = dp_op_size(op, l->p->word);
	u64 value = value_at(l, at, size);
	const char *name;

	switch (op->operand) {
	case DP_OPERAND_REL:
		fprintf(l->out, "L%llu",
			(unsigned long long)target_of(l, at, l->p->word));
		break;
	case DP_OPERAND_REG:
	case DP_OPERAND_REGW:
		name = dp_reg_name(value);
		fputs(name ? name : "?", l->out);
		break;
	case DP_OPERAND_S16:
		fprintf(l->out, "%d", (int16_t)value);
		break;
	case DP_OPERAND_UL:
		fprintf(l->out, "0x%llx", (unsigned long long)value);
		break;
	default:
		fprintf(l->out, "%llu", (unsigned long long)value);
		break;
	}
}

static bool print_code(const struct listing *l, u32 at, u32 end)
{
	const struct dp_op *op;
	u32 next;

	for (; at < end; at = next) {
		op = op_at(l, at, &next);
		if (!op) {
			fputs("// damaged\n", l->out);
			return false;
		}
		if (l->targets[at])
			fprintf(l->out, "L%u:\n", at);
		fprintf(l->out, "\t%.*s", (int)strcspn(op->text, "%"),
			op->text);
		if (op->operand != DP_OPERAND_NONE)
			print_operand(l, op, at + 1);
		putc('\n', l->out);
	}
	return true;
}

static void print_header(const struct listing *l)
{
	const struct dp_lang_program *p = l->p;

	fprintf(l->out, "name = \"%s\"\nmodtype = %s\n", p->name,
		p->modtype == DP_MODTYPE_USER	? "user" :
		p->modtype == DP_MODTYPE_KERNEL ? "kernel" :
						  "kmod");
	if (p->major)
		fprintf(l->out, "major = %u\n", p->major);
	if (p->id)
		fprintf(l->out, "id = %u\n", p->id);
	fprintf(l->out, "jmpmax = %u\nlogmax = %u\nvars = %u\ngvars = %u\n",
		p->jmpmax, p->logmax, p->vars, p->gvars);
	fprintf(l->out, "stack = %u\n", p->stack);
}

static void print_point(const struct listing *l, const struct dp_lang_point *pt)
{
	fprintf(l->out, "\n%s = ", pt->absolute ? "address" : "offset");
	if (!pt->symbol)
		fprintf(l->out, "0x%llx\n", (unsigned long long)pt->value);
	else if (pt->value)
		fprintf(l->out, "%s %c %lld\n", pt->symbol,
			pt->value < 0 ? '-' : '+',
			pt->value < 0 ? -(long long)pt->value :
					(long long)pt->value);
	else
		fprintf(l->out, "%s\n", pt->symbol);
	if (pt->opcode >= 0)
		fprintf(l->out, "opcode = 0x%02x\n", (unsigned int)pt->opcode);
	if (pt->major != l->p->major)
		fprintf(l->out, "major = %u\n", pt->major);
	fprintf(l->out, "minor = %u\npass_count = %u\nmax_hits = %u\n",
		pt->minor, pt->passcount, pt->maxhits);
	fprintf(l->out, "group = %u\ntype = %u\nlogonfault = %s\n", pt->group,
		pt->type, pt->logonfault ? "yes" : "no");
}

void dp_lang_disassemble(const struct dp_lang_program *program, FILE *out)
{
	struct listing l = { .p = program, .out = out };
	size_t i;

	l.targets = calloc(1, program->code_len + 1);
	if (!l.targets)
		return;
	find_targets(&l);
	print_header(&l);
	for (i = 0; i < program->nr_points; i++) {
		print_point(&l, &program->points[i]);
		if (!print_code(&l, program->points[i].start,
				program->points[i].end))
			break;
	}
	free(l.targets);
}
