// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * name: the names of values: registers, arguments, facts of the hit.
 *
 * perf and ftrace write %di for the whole register rdi, and count arguments from 1.
 */
#include "tracer/values/code.h"
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ARGUMENT_MAX 64
#define WORD 8
#define RSP 0x67 /* its number among DP_REGS */

static bool is_register(const char *text, int len, const char *name)
{
	return (int)strlen(name) == len && !memcmp(text, name, len);
}

static int find_register(const char *text, int len)
{
#define REGISTER(number, name, ...)        \
	if (is_register(text, len, #name)) \
		return number;
	DP_REGS(REGISTER)
	DP_SPECIAL_REGS(REGISTER)
#undef REGISTER
	return -1;
}

/* "%di", "%r8", "%flags" */
static int find_marked(const char *text, int len)
{
#define FIELD(number, name, field, narrow, ...)          \
	if (!(narrow) && is_register(text, len, #field)) \
		return number;
	DP_REGS(FIELD)
#undef FIELD
	return find_register(text, len);
}

/* A number behind @prefix. Return: it, or -1. */
static int number_behind(const char *text, int len, const char *prefix)
{
	int n = (int)strlen(prefix), value = 0;

	if (len <= n || len > n + 2 || memcmp(text, prefix, n))
		return -1;
	for (; n < len; n++) {
		if (text[n] < '0' || text[n] > '9')
			return -1;
		value = 10 * value + text[n] - '0';
	}
	return value < ARGUMENT_MAX ? value : -1;
}

static const char *name_of(const struct dp_values *values,
			   const struct dp_value *v)
{
	return values->text + v->at;
}

int dp_code_find_argument(const char *text, int len)
{
	int n = number_behind(text, len, "$arg");

	return n > 0 ? n - 1 : number_behind(text, len, "arg");
}

static void push_stack(struct dp_coder *c, u64 offset)
{
	dp_code_op16(c, DP_OPCODE_PUSH_R, RSP);
	dp_code_push(c, offset);
	dp_code_op(c, DP_OPCODE_ADD);
	dp_code_op(c, DP_OPCODE_PUSH_MEM_U64);
}

/* Function arguments in order: System V AMD64 ABI 3.2.3. */
u16 dp_code_argument_register(int n)
{
	static const u16 regs[DP_TRACE_ARGS] = { 0x64, 0x65, 0x63,
						 0x62, 0x68, 0x69 };

	return regs[n];
}

void dp_code_argument(struct dp_coder *c, const struct dp_value *v, int n)
{
	if (n < DP_TRACE_ARGS)
		dp_code_op16(c, DP_OPCODE_PUSH_R, dp_code_argument_register(n));
	else if (c->at_entry)
		push_stack(c, (u64)(n - DP_TRACE_ARGS + 1) * WORD);
	else
		dp_code_bad(
			c, v, -EINVAL,
			"the stack has this argument at the function's entry only");
}

/* The System V AMD64 ABI passes eight in registers, each in the low bits of one. */
void dp_code_float_argument(struct dp_coder *c, const struct dp_value *v, int n)
{
	if (n < DP_TRACE_FLOAT_ARGS)
		dp_code_op16(c, DP_OPCODE_PUSH_R, (u16)(DP_REG_XMM + n));
	else
		dp_code_bad(
			c, v, -EINVAL,
			"farg0 to farg7 are in registers; those behind are on the stack, among the others: *(double *)(rsp+8)");
}

/* Number of a vector register: "xmm8", "%xmm8", "farg0"; -1: it is none */
static int find_vector(const char *text, int len)
{
	int marked = *text == '%', n;

	n = number_behind(text + marked, len - marked, "xmm");
	if (n < 0 && !marked)
		n = number_behind(text, len, "farg");
	return n;
}

static struct dp_value_type push_vector(struct dp_coder *c,
					const struct dp_value *v, int n)
{
	static const struct dp_value_type real = { .kind = DP_VALUE_FLOAT,
						   .bits = 64 };

	if (*name_of(c->values, v) == 'f')
		dp_code_float_argument(c, v, n);
	else if (n < DP_NR_XMM)
		dp_code_op16(c, DP_OPCODE_PUSH_R, (u16)(DP_REG_XMM + n));
	else
		dp_code_bad(c, v, -EINVAL,
			    "of vector registers, xmm0 to xmm15 can be read");
	return real;
}

bool dp_code_is_vector(const struct dp_values *values, const struct dp_value *v)
{
	return v->op == DP_VALUE_NAME &&
	       find_vector(name_of(values, v), v->span) >= 0;
}

/* What is known by its name, and is no value. */
static const struct {
	const char *name, *why;
} absent[] = {
	{ "latency", "a latency is that of a call that returns: r:FUNCTION" },
	{ "comm",
	  "every line has the name of its thread; conditions have its number: tid == 1234" },
	{ "$comm",
	  "every line has the name of its thread; conditions have its number: tid == 1234" },
	{ "time", "every line has its time" },
	{ "$params", "parameters are shown where no values are given" },
	{ "$vars", "parameters are shown where no values are given" },
	{ "stack",
	  "a stack is a key of what is kept, {count() by stack}; trace --stack shows that of each hit" },
};

static bool is_absent(struct dp_coder *c, const struct dp_value *v)
{
	size_t i;

	if (dp_code_is_retval(c->values, v)) {
		dp_code_bad(
			c, v, -EINVAL,
			"retval is of return probes: r:FUNCTION(retval:s32)");
		return true;
	}
	for (i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		if (dp_value_is(c->values, v, absent[i].name)) {
			dp_code_bad(c, v, -EOPNOTSUPP, "%s", absent[i].why);
			return true;
		}
	return false;
}

/* pid, tid, cpu, caller, $stack, $stack0 … Return: false: none of them */
static bool push_fact(struct dp_coder *c, const struct dp_value *v)
{
	int word = number_behind(name_of(c->values, v), v->span, "$stack");

	if (dp_value_is(c->values, v, "pid"))
		dp_code_op(c, DP_OPCODE_PUSH_PID);
	else if (dp_value_is(c->values, v, "tid"))
		dp_code_op(c, DP_OPCODE_PUSH_TID);
	else if (dp_value_is(c->values, v, "cpu"))
		dp_code_op(c, DP_OPCODE_PUSH_PROCID);
	else if (dp_value_is(c->values, v, "$stack"))
		dp_code_op16(c, DP_OPCODE_PUSH_R, RSP);
	else if (dp_value_is(c->values, v, "caller") && !c->at_entry)
		dp_code_bad(
			c, v, -EINVAL,
			"the stack has the caller at the function's entry only");
	else if (dp_value_is(c->values, v, "caller"))
		push_stack(c, 0);
	else if (word >= 0)
		push_stack(c, (u64)word * WORD);
	else
		return false;
	return true;
}

static struct dp_value_type push_parameter(struct dp_coder *c,
					   const struct dp_value *v)
{
	if (v->number >= ARGUMENT_MAX) {
		dp_code_bad(
			c, v, -EOPNOTSUPP,
			"how this is passed is not known: it, one before it, or what the function returns, is a struct of which not all is known");
		return DP_CODE_UNTYPED;
	}
	dp_code_argument(c, v, (int)v->number);
	dp_code_extend(c, v->type);
	return v->type;
}

/* What a note does not tell is no argument, whatever the registers have. */
static void refuse_argument(struct dp_coder *c, const struct dp_value *v)
{
	u32 n = c->prototype->scope->n;

	if (*name_of(c->values, v) == 'f')
		dp_code_bad(
			c, v, -EINVAL,
			"floating-point arguments of a tracepoint are among the others: arg0, arg1 …");
	else if (n)
		dp_code_bad(c, v, -EINVAL,
			    "%.60s has %u argument%s, from arg0 on",
			    c->prototype->name, n, n == 1 ? "" : "s");
	else
		dp_code_bad(c, v, -EINVAL, "%.60s has no arguments",
			    c->prototype->name);
}

static bool is_tracepoint(const struct dp_coder *c)
{
	return c->prototype && c->prototype->scope &&
	       c->prototype->scope->of_tracepoint;
}

static void refuse(struct dp_coder *c, const struct dp_value *v)
{
	char names[100];

	if (is_tracepoint(c)) {
		dp_code_bad(
			c, v, -EINVAL,
			"a value of a tracepoint is arg0, arg1 …, a register (rdi, eax …) or what these point to");
		return;
	}
	if (!c->prototype) {
		dp_code_bad(
			c, v, -ENODATA,
			"a value is arg0, arg1 …, a register (rdi, eax …) or what these point to; of this function no names are known");
		return;
	}
	dp_code_names(c->prototype, names, sizeof(names));
	dp_code_bad(
		c, v, -ENODATA,
		"this function has %s; a value is one of these, a register (rdi, eax …) or what they point to",
		*names ? names : "parameters without names: arg0, arg1 …");
}

/* All but facts that are the same then */
static bool is_of_entry(const struct dp_coder *c, const struct dp_value *v)
{
	return v->op == DP_VALUE_PARAMETER ||
	       (!dp_value_is(c->values, v, "pid") &&
		!dp_value_is(c->values, v, "cpu"));
}

static bool is_number(const struct dp_coder *c, const struct dp_value *v)
{
	return dp_value_is(c->values, v, "pid") ||
	       dp_value_is(c->values, v, "tid") ||
	       dp_value_is(c->values, v, "cpu");
}

struct dp_value_type dp_code_name(struct dp_coder *c, const struct dp_value *v)
{
	static const struct dp_value_type number = { .kind = DP_VALUE_UNSIGNED,
						     .bits = 32 };
	const char *text = name_of(c->values, v);
	int arg = dp_code_find_argument(text, v->span);
	int vector = find_vector(text, v->span);
	int reg = *text == '%' ? find_marked(text + 1, v->span - 1) :
				 find_register(text, v->span);

	if (c->at_return && is_of_entry(c, v)) {
		dp_code_bad(
			c, v, -EINVAL,
			"this is read at the entry, retval at the return: each is a value of its own, or joined by &&");
		return DP_CODE_UNTYPED;
	}
	if (v->op == DP_VALUE_PARAMETER)
		return push_parameter(c, v);
	if (is_tracepoint(c) && (arg >= 0 || (vector >= 0 && *text == 'f'))) {
		refuse_argument(c, v);
		return DP_CODE_UNTYPED;
	}
	if (vector >= 0)
		return push_vector(c, v, vector);
	if (arg >= 0)
		dp_code_argument(c, v, arg);
	else if (reg >= 0)
		dp_code_op16(c, DP_OPCODE_PUSH_R, (u16)reg);
	else if (is_absent(c, v) || push_fact(c, v))
		return is_number(c, v) ? number : DP_CODE_UNTYPED;
	else
		refuse(c, v);
	return DP_CODE_UNTYPED;
}

bool dp_code_touches_name(const struct dp_values *values,
			  const struct dp_value *v)
{
	const char *text = name_of(values, v);

	if (v->op == DP_VALUE_PARAMETER)
		return v->number >= DP_TRACE_ARGS;
	return dp_code_find_argument(text, v->span) >= DP_TRACE_ARGS ||
	       number_behind(text, v->span, "$stack") >= 0 ||
	       dp_value_is(values, v, "caller");
}

bool dp_code_is_register(const char *text, int len)
{
	return find_register(text, len) >= 0;
}

bool dp_code_is_ours(const char *text, int len)
{
	static const char *const facts[] = { "pid",    "cpu",	  "caller",
					     "retval", "latency", "comm",
					     "tid",    "time",	  "stack" };
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (is_register(text, len, facts[i]))
			return true;
	return find_register(text, len) >= 0 ||
	       dp_code_find_argument(text, len) >= 0;
}
