// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* math: arithmetic and logic of a program that is walked. */
#include "engine/vm/native/value.h"
#include "engine/vm/native/walk.h"
#include "engine/vm/ops.h"

#define WIDTH 64

/* Return: DP_NATIVE_NO_VALUE: it is none of these. */
static u8 shifted(struct dp_walk *w, u8 op, u8 x, u64 by)
{
	switch (op) {
	case DP_OPCODE_ROL:
	case DP_OPCODE_ROL_I:
		by %= WIDTH;
		return by ? dp_value_one(w->n, DP_NATIVE_ROL, x, by) : x;
	case DP_OPCODE_ROR:
	case DP_OPCODE_ROR_I:
		by %= WIDTH;
		return by ? dp_value_one(w->n, DP_NATIVE_ROL, x, WIDTH - by) :
			    x;
	default:
		break;
	}
	if (by >= WIDTH)
		return dp_value_const(w->n, 0);
	if (!by)
		return x;
	return dp_value_one(w->n,
			    op == DP_OPCODE_SHL || op == DP_OPCODE_SHL_I ?
				    DP_NATIVE_SHL :
				    DP_NATIVE_SHR,
			    x, by);
}

/* Bit @n, and those above it; those below are what it is: all, or none. */
static u8 propagated_right(struct dp_walk *w, u8 x, u64 n)
{
	u8 high = shifted(w, DP_OPCODE_SHR_I, x, n - 1);
	u8 bit = dp_value_two(w->n, DP_NATIVE_AND, high,
			      dp_value_const(w->n, 1));
	u8 all =
		dp_value_two(w->n, DP_NATIVE_SUB, dp_value_const(w->n, 0), bit);
	u8 below = dp_value_two(w->n, DP_NATIVE_AND, all,
				dp_value_const(w->n, (1ull << (n - 1)) - 1));

	return dp_value_two(w->n, DP_NATIVE_OR,
			    shifted(w, DP_OPCODE_SHL_I, high, n - 1), below);
}

/* Bits count from 1. */
static u8 propagated(struct dp_walk *w, u8 op, u8 x, u64 n)
{
	u8 high;

	if (!n || n > WIDTH)
		return DP_NATIVE_NO_VALUE;
	switch (op) {
	case DP_OPCODE_PBL:
	case DP_OPCODE_PBL_I:
		return n == WIDTH ? x :
				    dp_value_one(w->n, DP_NATIVE_SIGNED, x, n);
	case DP_OPCODE_PZL:
	case DP_OPCODE_PZL_I:
		return n == WIDTH ?
			       x :
			       dp_value_one(w->n, DP_NATIVE_UNSIGNED, x, n);
	case DP_OPCODE_PBR:
	case DP_OPCODE_PBR_I:
		return propagated_right(w, x, n);
	case DP_OPCODE_PZR:
	case DP_OPCODE_PZR_I:
		high = shifted(w, DP_OPCODE_SHR_I, x, n - 1);
		return shifted(w, DP_OPCODE_SHL_I, high, n - 1);
	default:
		return DP_NATIVE_NO_VALUE;
	}
}

static bool shift(struct dp_walk *w, u8 op, u64 arg)
{
	u8 x;

	switch (op) {
	case DP_OPCODE_ROL_I:
	case DP_OPCODE_ROR_I:
	case DP_OPCODE_SHL_I:
	case DP_OPCODE_SHR_I:
		dp_walk_push(w, shifted(w, op, dp_walk_pop(w), arg));
		return true;
	case DP_OPCODE_ROL:
	case DP_OPCODE_ROR:
	case DP_OPCODE_SHL:
	case DP_OPCODE_SHR:
		x = dp_walk_pop(w);
		if (dp_walk_known(w, dp_walk_pop(w), &arg))
			dp_walk_push(w, shifted(w, op, x, arg));
		return true;
	default:
		return false;
	}
}

static bool propagate(struct dp_walk *w, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_PBL:
	case DP_OPCODE_PBR:
	case DP_OPCODE_PZL:
	case DP_OPCODE_PZR:
		if (!dp_walk_known(w, dp_walk_pop(w), &arg))
			return true;
		__attribute__((__fallthrough__));
	case DP_OPCODE_PBL_I:
	case DP_OPCODE_PBR_I:
	case DP_OPCODE_PZL_I:
	case DP_OPCODE_PZR_I:
		dp_walk_push(w, propagated(w, op, dp_walk_pop(w), arg));
		return true;
	default:
		return false;
	}
}

/* What the code byte computes of the top and the next element, and in which order */
static bool is_of_two(u8 op, enum dp_native_op *what, bool *top_first)
{
	static const struct {
		u8 op, what, top_first;
	} ops[] = {
		{ DP_OPCODE_ADD, DP_NATIVE_ADD, 0 },
		{ DP_OPCODE_SUB, DP_NATIVE_SUB, 1 },
		{ DP_OPCODE_RSUB, DP_NATIVE_SUB, 0 },
		{ DP_OPCODE_MUL, DP_NATIVE_MUL, 0 },
		{ DP_OPCODE_AND, DP_NATIVE_AND, 0 },
		{ DP_OPCODE_OR, DP_NATIVE_OR, 0 },
		{ DP_OPCODE_XOR, DP_NATIVE_XOR, 0 },
		{ DP_OPCODE_EQ, DP_NATIVE_EQ, 0 },
		{ DP_OPCODE_LTU, DP_NATIVE_LTU, 0 },
		{ DP_OPCODE_LTS, DP_NATIVE_LTS, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (ops[i].op == op) {
			*what = ops[i].what;
			*top_first = ops[i].top_first;
			return true;
		}
	return false;
}

bool dp_walk_math(struct dp_walk *w, u8 op, u64 arg)
{
	enum dp_native_op what;
	bool top_first;
	u8 top, next;

	if (op == DP_OPCODE_NEG) {
		dp_walk_push(w, dp_value_one(w->n, DP_NATIVE_NOT,
					     dp_walk_pop(w), 0));
		return true;
	}
	if (!is_of_two(op, &what, &top_first))
		return shift(w, op, arg) || propagate(w, op, arg);
	top = dp_walk_pop(w);
	next = dp_walk_pop(w);
	dp_walk_push(w, dp_value_two(w->n, what, top_first ? top : next,
				     top_first ? next : top));
	return true;
}
