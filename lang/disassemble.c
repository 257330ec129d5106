// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* disassemble: write a program as text that assembles to the same image. */
#include "lang/private.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * @marks: by offset: does an instruction begin there, and does a jump go there?
 * @sound: offset of the first byte that cannot be code, or the length of the code
 */
struct listing {
	const struct dp_lang_program *p;
	FILE *out;
	struct mark {
		bool begins, target;
		u32 label;
	} * marks;
	u32 sound;
};

static u64 value_at(const struct listing *l, u32 at, u32 size)
{
	u64 value = 0;
	u32 i;

	for (i = 0; i < size; i++)
		value |= (u64)l->p->code[at + i] << (8 * i);
	return value;
}

/* The target of the jump at @at, whose operand counts from the byte behind itself. */
static u64 target_of(const struct listing *l, u32 at)
{
	u32 word = l->p->word;
	u64 distance = value_at(l, at + 1, word);

	if (word == 4)
		distance = (s64)(s32)distance;
	return at + 1 + word + distance;
}

static bool operand_is_sound(const struct listing *l, u8 operand, u32 at)
{
	u64 value = value_at(l, at, dp_lang_operand_size(operand, l->p->word));

	switch (operand) {
	case DP_OPERAND_REG:
	case DP_OPERAND_REGW:
		return dp_lang_reg_name(value);
	case DP_OPERAND_LV:
		return value < l->p->vars;
	case DP_OPERAND_GV:
		return value < l->p->gvars;
	default:
		return true;
	}
}

/* Bytes of the instruction at @at; 0: there is none. */
static u32 size_at(const struct listing *l, u32 at, u32 end)
{
	const struct dp_lang_op *op = dp_lang_op_at(l->p->code[at]);
	u32 size;

	if (!op)
		return 0;
	size = 1 + dp_lang_operand_size(op->operand, l->p->word);
	if (size > end - at || !operand_is_sound(l, op->operand, at + 1))
		return 0;
	/* The assembler makes no handler that runs off its end. */
	if (size == end - at && !op->ends)
		return 0;
	return size;
}

/* Return: is all of a probe's code instructions? */
static bool mark_point(struct listing *l, const struct dp_lang_point *point)
{
	u32 at = l->sound, size;

	if (point->start != at || point->end <= at ||
	    point->end > l->p->code_len)
		return false;
	for (; at < point->end; at += size) {
		l->sound = at;
		size = size_at(l, at, point->end);
		if (!size)
			return false;
		l->marks[at].begins = true;
	}
	l->sound = at;
	return true;
}

static bool is_jump(const struct listing *l, u32 at)
{
	return l->marks[at].begins &&
	       dp_lang_op_at(l->p->code[at])->operand == DP_OPERAND_REL;
}

static void mark_targets(struct listing *l)
{
	u64 target;
	u32 at, label = 0;

	for (at = 0; at < l->sound; at++) {
		if (!is_jump(l, at) || dp_lang_value_at(l->p, at + 1))
			continue;
		target = target_of(l, at);
		if (target < l->p->code_len && l->marks[target].begins)
			l->marks[target].target = true;
		else
			l->sound = at;
	}
	for (at = 0; at < l->p->code_len; at++)
		if (l->marks[at].target)
			l->marks[at].label = label++;
}

static void mark(struct listing *l)
{
	size_t i;

	for (i = 0; i < l->p->nr_points; i++)
		if (!mark_point(l, &l->p->points[i]))
			break;
	mark_targets(l);
}

static void print_allow(const struct listing *l)
{
	static const char *const words[] = { "write", "reg", "io", "call" };
	const char *before = "allow = ";
	u32 i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (l->p->allow & (1u << i)) {
			fprintf(l->out, "%s%s", before, words[i]);
			before = ",";
		}
	if (l->p->allow)
		fputc('\n', l->out);
}

static void print_filter(const struct listing *l)
{
	const struct dp_lang_filter *f = &l->p->filter;

	if (f->pid >= 0)
		fprintf(l->out, "pid = %lld\n", (long long)f->pid);
	if (f->comm)
		fprintf(l->out, "comm = \"%s\"\n", f->comm);
	if (f->user)
		fprintf(l->out, "uid = \"%s\"\n", f->user);
	if (f->cgroup)
		fprintf(l->out, "cgroup = \"%s\"\n", f->cgroup);
}

static void print_build(const struct dp_lang_program *p, FILE *out)
{
	u32 i;

	if (!p->build_len)
		return;
	fputs("build_id = ", out);
	for (i = 0; i < p->build_len; i++)
		fprintf(out, "%02x", p->build[i]);
	putc('\n', out);
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
	if (p->jmpmax != DP_JMP_MAX)
		fprintf(l->out, "jmpmax = %u\n", p->jmpmax);
	if (p->logmax != DP_LOG_DEFAULT)
		fprintf(l->out, "logmax = %u\n", p->logmax);
	if (p->ex_logmax != DP_EX_LOG_MAX)
		fprintf(l->out, "ex_logmax = %u\n", p->ex_logmax);
	if (p->heapmax != DP_HEAP_MAX)
		fprintf(l->out, "heapmax = %u\n", p->heapmax);
	if (p->autostacktrace)
		fputs("autostacktrace = yes\n", l->out);
	if (p->vars)
		fprintf(l->out, "vars = %u\n", p->vars);
	if (p->gvars)
		fprintf(l->out, "gvars = %u\n", p->gvars);
	if (p->stack != DP_STACK_DEFAULT)
		fprintf(l->out, "stack = %u\n", p->stack);
	print_build(p, l->out);
	print_allow(l);
	print_filter(l);
}

/* Names that are no word, as those of C++ and Rust, have quotes. */
static const char *quote_for(const char *symbol)
{
	const char *p = symbol;

	while (isalnum((u8)*p) || (*p && strchr("_.@$", *p)))
		p++;
	return *p || isdigit((u8)*symbol) || !*symbol ? "\"" : "";
}

static void print_place(const struct listing *l,
			const struct dp_lang_point *point)
{
	const char *q = point->symbol ? quote_for(point->symbol) : "";

	fprintf(l->out, "\n%s = ", point->absolute ? "address" : "offset");
	if (!point->symbol)
		fprintf(l->out, "0x%llx", (unsigned long long)point->value);
	else if (point->usdt)
		fprintf(l->out, "usdt:%s", point->symbol);
	else if (point->hook)
		fprintf(l->out, "hook:%s%s%s", q, point->symbol, q);
	else
		fprintf(l->out, "%s%s%s", q, point->symbol, q);
	if (point->symbol && point->value < 0)
		fprintf(l->out, " - 0x%llx", -(unsigned long long)point->value);
	else if (point->symbol && point->value)
		fprintf(l->out, " + 0x%llx", (unsigned long long)point->value);
	fputc('\n', l->out);
}

static const char *const watch_words[] = {
	[DP_LANG_WATCH_WRITE] = "w",
	[DP_LANG_WATCH_ACCESS] = "rw",
	[DP_LANG_WATCH_EXECUTE] = "x",
};

static void print_point(const struct listing *l,
			const struct dp_lang_point *point)
{
	print_place(l, point);
	if (point->opcode >= 0)
		fprintf(l->out, "opcode = 0x%02x\n", point->opcode);
	if (point->minor)
		fprintf(l->out, "minor = %u\n", point->minor);
	if (point->major != l->p->major)
		fprintf(l->out, "major = %u\n", point->major);
	if (point->passcount)
		fprintf(l->out, "passcount = %u\n", point->passcount);
	if (point->maxhits != DP_MAXHITS_DEFAULT)
		fprintf(l->out, "maxhits = %u\n", point->maxhits);
	if (point->group)
		fprintf(l->out, "group = %u\n", point->group);
	if (point->type)
		fprintf(l->out, "type = %u\n", point->type);
	if (point->logonfault)
		fputs("logonfault = yes\n", l->out);
	if (point->retprobe)
		fputs("retprobe = yes\n", l->out);
	if (point->watch)
		fprintf(l->out, "watch = %s\n", watch_words[point->watch]);
	if (point->len)
		fprintf(l->out, "len = %u\n", point->len);
	if (point->ex_mask != DP_EX_MASK_DEFAULT)
		fprintf(l->out, "ex_mask = 0x%x\n", point->ex_mask);
	if (point->heap != l->p->heapmax)
		fprintf(l->out, "heap = %u\n", point->heap);
}

static void print_symbol(const struct listing *l,
			 const struct dp_lang_symbol *s, u64 value)
{
	const char *q = quote_for(s->name);
	s64 addend = l->p->word == 4 ? (s32)value : (s64)value;

	fprintf(l->out, "&%s%s%s", q, s->name, q);
	if (addend < 0)
		fprintf(l->out, " - 0x%llx", -(unsigned long long)addend);
	else if (addend)
		fprintf(l->out, " + 0x%llx", (unsigned long long)addend);
}

static void print_operand(const struct listing *l, u32 at, u8 operand)
{
	u64 value =
		value_at(l, at + 1, dp_lang_operand_size(operand, l->p->word));
	const struct dp_lang_symbol *symbol =
		operand == DP_OPERAND_UL ? dp_lang_symbol_at(l->p, at + 1) :
					   NULL;

	if (symbol) {
		print_symbol(l, symbol, value);
		return;
	}
	switch (operand) {
	case DP_OPERAND_NONE:
		break;
	case DP_OPERAND_REL:
		fprintf(l->out, "L%u", l->marks[target_of(l, at)].label);
		break;
	case DP_OPERAND_REG:
	case DP_OPERAND_REGW:
		fputs(dp_lang_reg_name(value), l->out);
		break;
	case DP_OPERAND_S16:
		fprintf(l->out, "%d", (int16_t)value);
		break;
	case DP_OPERAND_UL:
		fprintf(l->out, value < 1024 ? "%llu" : "0x%llx",
			(unsigned long long)value);
		break;
	default:
		fprintf(l->out, "%u", (u32)value);
	}
}

static void print_code(const struct listing *l,
		       const struct dp_lang_point *point)
{
	const struct dp_lang_value *value;
	const struct dp_lang_op *op;
	u32 at;

	for (at = point->start; at < point->end && at < l->sound; at++) {
		if (!l->marks[at].begins)
			continue;
		if (l->marks[at].target)
			fprintf(l->out, "L%u:\n", l->marks[at].label);
		value = dp_lang_value_at(l->p, at + 1);
		if (value) {
			fprintf(l->out, "\tpush v,\"%s\"\n", value->text);
			continue;
		}
		op = dp_lang_op_at(l->p->code[at]);
		fprintf(l->out, "\t%.*s", (int)strcspn(op->text, "%"),
			op->text);
		print_operand(l, at, op->operand);
		fputc('\n', l->out);
	}
}

void dp_lang_disassemble(const struct dp_lang_program *program, FILE *out)
{
	struct listing l = { .p = program, .out = out };
	size_t i;

	l.marks = calloc(program->code_len + 1, sizeof(*l.marks));
	if (!l.marks) {
		fputs("// no memory for a listing\n", out);
		return;
	}
	mark(&l);
	print_header(&l);
	for (i = 0; i < program->nr_points; i++) {
		print_point(&l, &program->points[i]);
		print_code(&l, &program->points[i]);
		if (program->points[i].end > l.sound)
			break;
	}
	if (l.sound != program->code_len)
		fputs("// damaged\n", out);
	free(l.marks);
}
