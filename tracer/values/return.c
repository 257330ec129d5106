// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * return: values of what a function returns, in the values of a spec.
 *
 * What leads to retval is computed when the function returns, everything else at its entry. No
 * value is of both: a register has another value by then.
 */
#include "tracer/values/code.h"
#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "sym/prototypes.h"
#include <errno.h>

#define RAX 0x60 /* its number among DP_REGS */

static const struct dp_value_type nanoseconds = { .kind = DP_VALUE_UNSIGNED,
						  .bits = 64 };

/* Neither a table nor debug information has said what it is. */
static bool is_unknown(struct dp_value_type type)
{
	return type.kind == DP_VALUE_UNTYPED && !type.bits;
}

bool dp_code_is_retval(const struct dp_values *values, const struct dp_value *v)
{
	return (v->op == DP_VALUE_NAME || v->op == DP_VALUE_RETVAL) &&
	       (dp_value_is(values, v, "retval") ||
		dp_value_is(values, v, "$retval"));
}

/* A cast, or a format, says what it is, where nothing else does. */
static void take_type(struct dp_values *values, const struct dp_value *v)
{
	struct dp_value *of = &values->v[v->left];

	if ((v->op != DP_VALUE_CAST && v->op != DP_VALUE_SHOWN) ||
	    of->op != DP_VALUE_RETVAL || !is_unknown(of->type))
		return;
	of->type = (struct dp_value_type){ .bits = 64 };
	if (v->type.kind == DP_VALUE_FLOAT && !v->type.stars)
		of->type = v->type;
}

void dp_code_bind_returned(struct dp_values *values,
			   const struct dp_prototype *f)
{
	u32 i;

	for (i = 0; i < values->nr; i++) {
		struct dp_value *v = &values->v[i];

		if (v->op != DP_VALUE_NAME)
			continue;
		if (dp_value_is(values, v, "latency")) {
			v->op = DP_VALUE_RETVAL;
			v->type = nanoseconds;
		}
		if (!dp_code_is_retval(values, v))
			continue;
		v->op = DP_VALUE_RETVAL;
		if (f && f->returns)
			v->type = dp_code_known(f->returns);
	}
	for (i = 0; i < values->nr; i++)
		take_type(values, &values->v[i]);
}

bool dp_code_is_of_return(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];

	if (v->op <= DP_VALUE_VARIABLE)
		return v->op == DP_VALUE_RETVAL;
	return dp_code_is_of_return(values, v->left) ||
	       (v->op >= DP_VALUE_OR && dp_code_is_of_return(values, v->right));
}

static bool is_refused(struct dp_coder *c, const struct dp_value *v)
{
	struct dp_value_type type = v->type;

	if (is_unknown(type))
		dp_code_bad(
			c, v, -ENODATA,
			"it is not known what this function returns: write (int)retval, (char *)retval, retval:s64 or retval:f64");
	else if (!type.stars && type.kind == DP_VALUE_STRUCT)
		dp_code_bad(
			c, v, -EOPNOTSUPP,
			"a struct that is returned, not its address, is not there yet");
	else if (!type.stars && type.kind == DP_VALUE_VOID)
		dp_code_bad(
			c, v, -EINVAL,
			"this function returns nothing, or what no register holds");
	return c->err;
}

/* The clock's rate is filled in for each process: nanoseconds of 2^30 ticks. */
static void push_rate(struct dp_coder *c)
{
	struct dp_trace_program *o = c->out;

	dp_code_push(c, 0);
	if (o->nr_rates == DP_TRACE_RATES)
		c->err = c->err ?:
				  dp_diag_set(c->diag, -EINVAL,
					      "latency is there too often");
	else
		o->rate_at[o->nr_rates++] = o->len - 8;
}

/* ticks * rate >> 30, of the upper bits and of the lower 30 */
static void push_latency(struct dp_coder *c)
{
	dp_code_op(c, DP_OPCODE_PUSH_TOLD);
	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_op8(c, DP_OPCODE_SHR_I, DP_TRACE_RATE_BITS);
	push_rate(c);
	dp_code_op(c, DP_OPCODE_MUL);
	dp_code_op(c, DP_OPCODE_XCHG);
	dp_code_op8(c, DP_OPCODE_PZL_I, DP_TRACE_RATE_BITS);
	push_rate(c);
	dp_code_op(c, DP_OPCODE_MUL);
	dp_code_op8(c, DP_OPCODE_SHR_I, DP_TRACE_RATE_BITS);
	dp_code_op(c, DP_OPCODE_ADD);
}

u16 dp_code_return_register(void)
{
	return RAX;
}

struct dp_value_type dp_code_returned(struct dp_coder *c,
				      const struct dp_value *v)
{
	struct dp_value_type type = v->type;
	bool real = type.kind == DP_VALUE_FLOAT && !type.stars;

	if (is_refused(c, v))
		return type;
	if (!dp_code_is_retval(c->values, v)) {
		push_latency(c);
		return type;
	}
	dp_code_op16(c, DP_OPCODE_PUSH_R, real ? DP_REG_XMM : RAX);
	return type;
}
