// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* value: what a walked program computes, each value once. What is constant is computed here. */
#include "engine/vm/native/value.h"

#define WIDTH 64

static bool is_same(const struct dp_native_value *x,
		    const struct dp_native_value *y)
{
	return x->op == y->op && x->size == y->size && x->a == y->a &&
	       x->b == y->b && x->imm == y->imm;
}

static bool is_truth(const struct dp_native *n, const struct dp_native_value *v)
{
	switch (v->op) {
	case DP_NATIVE_CONST:
		return v->imm <= 1;
	case DP_NATIVE_EQ:
	case DP_NATIVE_LTU:
	case DP_NATIVE_LTS:
		return true;
	case DP_NATIVE_AND:
	case DP_NATIVE_OR:
	case DP_NATIVE_XOR:
		return n->values[v->a].truth && n->values[v->b].truth;
	default:
		return false;
	}
}

static bool is_read(u8 op)
{
	return op == DP_NATIVE_LOAD || op == DP_NATIVE_TEXT ||
	       op == DP_NATIVE_REST;
}

/* Memory may change between two loads, so a load is never another's. */
static u8 put(struct dp_native *n, struct dp_native_value value)
{
	u8 i;

	for (i = 0; i < n->nr_values && !is_read(value.op); i++)
		if (is_same(&n->values[i], &value))
			return i;
	if (n->nr_values == DP_NATIVE_VALUES)
		return DP_NATIVE_NO_VALUE;
	value.truth = is_truth(n, &value);
	n->values[n->nr_values] = value;
	return n->nr_values++;
}

u8 dp_value_const(struct dp_native *n, u64 imm)
{
	return put(n, (struct dp_native_value){ .op = DP_NATIVE_CONST,
						.imm = imm });
}

u8 dp_value_reg(struct dp_native *n, u16 reg)
{
	return put(n,
		   (struct dp_native_value){ .op = DP_NATIVE_REG, .imm = reg });
}

u8 dp_value_text(struct dp_native *n, u8 addr, u8 words)
{
	n->loads = true;
	return addr == DP_NATIVE_NO_VALUE ?
		       addr :
		       put(n, (struct dp_native_value){ .op = DP_NATIVE_TEXT,
							.size = words,
							.a = addr });
}

u8 dp_value_rest(struct dp_native *n, u8 word)
{
	return put(n, (struct dp_native_value){ .op = DP_NATIVE_REST,
						.imm = word });
}

u8 dp_value_load(struct dp_native *n, u8 addr, u8 size)
{
	if (addr == DP_NATIVE_NO_VALUE)
		return addr;
	n->loads = true;
	return put(n, (struct dp_native_value){
			      .op = DP_NATIVE_LOAD, .size = size, .a = addr });
}

static u64 one(enum dp_native_op op, u64 x, u64 by)
{
	switch (op) {
	case DP_NATIVE_NOT:
		return ~x;
	case DP_NATIVE_SHL:
		return x << by;
	case DP_NATIVE_SHR:
		return x >> by;
	case DP_NATIVE_ROL:
		return x << by | x >> (WIDTH - by);
	case DP_NATIVE_SIGNED:
		return (u64)((s64)(x << (WIDTH - by)) >> (WIDTH - by));
	default: /* DP_NATIVE_UNSIGNED */
		return x << (WIDTH - by) >> (WIDTH - by);
	}
}

u8 dp_value_one(struct dp_native *n, enum dp_native_op op, u8 a, u64 imm)
{
	u64 x;

	if (a == DP_NATIVE_NO_VALUE)
		return a;
	if (dp_value_is_const(n, a, &x))
		return dp_value_const(n, one(op, x, imm));
	return put(n, (struct dp_native_value){
			      .op = (u8)op, .a = a, .imm = imm });
}

static u64 two(enum dp_native_op op, u64 x, u64 y)
{
	switch (op) {
	case DP_NATIVE_ADD:
		return x + y;
	case DP_NATIVE_SUB:
		return x - y;
	case DP_NATIVE_MUL:
		return x * y;
	case DP_NATIVE_AND:
		return x & y;
	case DP_NATIVE_OR:
		return x | y;
	case DP_NATIVE_XOR:
		return x ^ y;
	case DP_NATIVE_EQ:
		return x == y;
	case DP_NATIVE_LTU:
		return x < y;
	default: /* DP_NATIVE_LTS */
		return (s64)x < (s64)y;
	}
}

u8 dp_value_two(struct dp_native *n, enum dp_native_op op, u8 a, u8 b)
{
	u64 x, y;

	if (a == DP_NATIVE_NO_VALUE || b == DP_NATIVE_NO_VALUE)
		return DP_NATIVE_NO_VALUE;
	if (dp_value_is_const(n, a, &x) && dp_value_is_const(n, b, &y))
		return dp_value_const(n, two(op, x, y));
	return put(n, (struct dp_native_value){ .op = (u8)op, .a = a, .b = b });
}
