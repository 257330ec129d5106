// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * real: comparisons of floating-point numbers, as C makes them, in integers.
 *
 * A number's key is its magnitude bits with its sign: an integer that is less where the number
 * is less, and one integer for both zeros. Keys of numbers are those between the keys of the
 * infinities; beyond are those that are no number, for which only != holds.
 *
 *   value OP constant   the key is in a range: one unsigned comparison
 *   value OP value      the keys compare, and both are of numbers; a float that meets a double
 *                       becomes one first
 *
 * A float meets a constant at the nearest floats below and above it.
 */
#include "tracer/values/code.h"
#include "engine/vm/ops.h"
#include <errno.h>
#include <string.h>

#define SIGN_32 31
#define SIGN_64 63

/* The constant that a node is: of double, of float, or an integer that becomes a double. */
static bool constant_of(const struct dp_value *v, double *is)
{
	if (v->op == DP_VALUE_REAL)
		memcpy(is, &v->number, sizeof(*is));
	else if (v->op == DP_VALUE_NUMBER)
		*is = v->negative ? (double)(s64)v->number : (double)v->number;
	else
		return false;
	return true;
}

/* Keys */

static s64 key_of_bits(u8 bits, u64 value)
{
	u8 sign = bits == 32 ? SIGN_32 : SIGN_64;
	s64 magnitude = (s64)(value & ((1ull << sign) - 1));

	return value >> sign & 1 ? -magnitude : magnitude;
}

/** struct keys - of the nearest numbers of @bits that are not above, and not below, a constant;
 *  @infinity: of the greatest one */
struct keys {
	s64 below, above, infinity;
};

static struct keys keys_of(u8 bits, double constant)
{
	float narrow = (float)constant;
	struct keys k = { .infinity = 0x7ff0000000000000 };
	u64 value = 0;

	if (bits == 32) {
		k.infinity = 0x7f800000;
		memcpy(&value, &narrow, sizeof(narrow));
	} else {
		memcpy(&value, &constant, sizeof(constant));
	}
	k.below = k.above = key_of_bits(bits, value);
	if (bits == 32 && (double)narrow > constant)
		k.below--;
	if (bits == 32 && (double)narrow < constant)
		k.above++;
	return k;
}

/* Of the number on the stack: magnitude * (1 - 2 * sign) */
static void push_key(struct dp_coder *c, u8 bits)
{
	u8 sign = bits == 32 ? SIGN_32 : SIGN_64;

	dp_code_op8(c, DP_OPCODE_DUP_I, 1);
	dp_code_op8(c, DP_OPCODE_SHR_I, sign);
	dp_code_op8(c, DP_OPCODE_SHL_I, 1);
	dp_code_push(c, 1);
	dp_code_op(c, DP_OPCODE_SUB);
	dp_code_op(c, DP_OPCODE_XCHG);
	dp_code_op8(c, DP_OPCODE_PZL_I, sign);
	dp_code_op(c, DP_OPCODE_MUL);
}

/* In place of the key: is it in [@low, @high]? */
static void push_between(struct dp_coder *c, s64 low, s64 high)
{
	if (low > high) {
		dp_code_op8(c, DP_OPCODE_ROS, 1);
		dp_code_push(c, 0);
		return;
	}
	dp_code_push(c, (u64)low);
	dp_code_op(c, DP_OPCODE_RSUB);
	dp_code_push(c, (u64)high - (u64)low + 1);
	dp_code_op(c, DP_OPCODE_LTU);
}

/* Comparisons */

/* In place of the key: what comes of its comparison */
static void compare_key(struct dp_coder *c, u8 op, const struct keys *k)
{
	switch (op) {
	case DP_VALUE_LT:
		push_between(c, -k->infinity, k->above - 1);
		break;
	case DP_VALUE_LE:
		push_between(c, -k->infinity, k->below);
		break;
	case DP_VALUE_GT:
		push_between(c, k->below + 1, k->infinity);
		break;
	case DP_VALUE_GE:
		push_between(c, k->above, k->infinity);
		break;
	default:
		/* None is between two neighbours. */
		push_between(c, k->above, k->below);
		if (op == DP_VALUE_NE)
			dp_code_negate(c);
	}
}

static u8 mirrored(u8 op)
{
	switch (op) {
	case DP_VALUE_LT:
		return DP_VALUE_GT;
	case DP_VALUE_LE:
		return DP_VALUE_GE;
	case DP_VALUE_GT:
		return DP_VALUE_LT;
	case DP_VALUE_GE:
		return DP_VALUE_LE;
	default:
		return op;
	}
}

static void test_constant(struct dp_coder *c, u16 n, u8 op, double constant)
{
	u8 bits = dp_code_real_bits(c->values, n);
	struct keys k = keys_of(bits, constant);

	dp_code_value(c, n);
	push_key(c, bits);
	compare_key(c, op, &k);
}

static void push_wide_key(struct dp_coder *c, u16 n, u8 bits)
{
	dp_code_value(c, n);
	if (dp_code_real_bits(c->values, n) != bits)
		dp_code_op(c, DP_OPCODE_F64);
	push_key(c, bits);
}

/* And is the key at index @at of the stack, from its top, that of a number? */
static void and_number(struct dp_coder *c, u16 at, u8 bits)
{
	s64 infinity = keys_of(bits, 0).infinity;

	dp_code_op16(c, DP_OPCODE_PUSH_TSP_I, at);
	push_between(c, -infinity, infinity);
	dp_code_op(c, DP_OPCODE_AND);
}

/* keys, left below right ─► keys, is the comparison true of the keys? */
static void compare_keys(struct dp_coder *c, u8 op)
{
	bool swapped = op == DP_VALUE_GT || op == DP_VALUE_LE;

	/* A copy of the first, then of the other one: below it, that is as far. */
	dp_code_op16(c, DP_OPCODE_PUSH_TSP_I, !swapped);
	dp_code_op16(c, DP_OPCODE_PUSH_TSP_I, swapped ? 2 : 1);
	if (op == DP_VALUE_EQ || op == DP_VALUE_NE)
		dp_code_op(c, DP_OPCODE_EQ);
	else
		dp_code_op(c, DP_OPCODE_LTS);
	if (op == DP_VALUE_LE || op == DP_VALUE_GE)
		dp_code_negate(c);
}

static void test_two(struct dp_coder *c, const struct dp_value *v)
{
	u8 left = dp_code_real_bits(c->values, v->left);
	u8 right = dp_code_real_bits(c->values, v->right);
	u8 bits = left > right ? left : right, i;

	push_wide_key(c, v->left, bits);
	push_wide_key(c, v->right, bits);
	compare_keys(c, v->op);
	and_number(c, 1, bits);
	and_number(c, 2, bits);
	for (i = 0; i < 2; i++) {
		dp_code_op(c, DP_OPCODE_XCHG);
		dp_code_op8(c, DP_OPCODE_ROS, 1);
	}
	if (v->op == DP_VALUE_NE)
		dp_code_negate(c);
}

static const struct dp_value *at(const struct dp_coder *c, u16 n)
{
	return &c->values->v[n];
}

static void refuse(struct dp_coder *c, u16 n)
{
	/* A name that is not known is the first error. */
	dp_code_value(c, n);
	dp_code_bad(
		c, at(c, n), -EINVAL,
		"a floating-point number is compared with another one, or with a constant");
}

void dp_code_test_real(struct dp_coder *c, const struct dp_value *v)
{
	double left, right;

	if (constant_of(at(c, v->right), &right) &&
	    dp_code_real_bits(c->values, v->left))
		test_constant(c, v->left, v->op, right);
	else if (constant_of(at(c, v->left), &left) &&
		 dp_code_real_bits(c->values, v->right))
		test_constant(c, v->right, mirrored(v->op), left);
	else if (!dp_code_real_bits(c->values, v->left))
		refuse(c, v->left);
	else if (!dp_code_real_bits(c->values, v->right))
		refuse(c, v->right);
	else
		test_two(c, v);
}

void dp_code_truth_of_real(struct dp_coder *c, u16 n)
{
	test_constant(c, n, DP_VALUE_NE, 0);
}

u8 dp_code_real_bits(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];
	struct dp_value_type type = v->type;

	if (v->op == DP_VALUE_REAL || dp_code_is_vector(values, v))
		return 64;
	if (v->op != DP_VALUE_SHOWN)
		type = dp_code_type(values, n);
	return type.kind == DP_VALUE_FLOAT && !type.stars && !type.count ?
		       type.bits :
		       0;
}
