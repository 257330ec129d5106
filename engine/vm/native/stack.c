// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stack: moves on the stack of a program that is walked; every index wraps. */
#include "engine/vm/native/value.h"
#include "engine/vm/native/walk.h"
#include "engine/vm/ops.h"

static void duplicate(struct dp_walk *w, u64 n)
{
	u8 value = dp_walk_peek(w, w->s->tos);
	u64 size = w->limits->stack_mask + 1ull, i;

	for (i = 0; i < n && i < size; i++)
		dp_walk_poke(w, w->s->tos - 1 - i, value);
	w->s->tos = (u32)(w->s->tos - n) & w->limits->stack_mask;
}

static void exchange(struct dp_walk *w)
{
	u8 a = dp_walk_pop(w), b = dp_walk_pop(w);

	dp_walk_push(w, a);
	dp_walk_push(w, b);
}

/* With the number on the stack */
static void duplicate_by(struct dp_walk *w)
{
	u8 value = dp_walk_pop(w);
	u64 n;

	if (!dp_walk_known(w, dp_walk_pop(w), &n))
		return;
	dp_walk_push(w, value);
	duplicate(w, n);
}

static void push_by(struct dp_walk *w, bool base_is_top)
{
	u64 i;

	if (!dp_walk_known(w, dp_walk_pop(w), &i))
		return;
	i += base_is_top ? w->s->tos : w->s->sbp;
	dp_walk_push(w, dp_walk_peek(w, i));
}

static void pop_by(struct dp_walk *w, bool base_is_top)
{
	u8 value = dp_walk_pop(w);
	u64 i;

	if (!dp_walk_known(w, dp_walk_pop(w), &i))
		return;
	i += base_is_top ? w->s->tos : w->s->sbp;
	dp_walk_poke(w, i, value);
}

static void copy_by(struct dp_walk *w, bool base_is_top)
{
	u64 i;

	if (!dp_walk_known(w, dp_walk_pop(w), &i))
		return;
	i += base_is_top ? w->s->tos : w->s->sbp;
	dp_walk_poke(w, i, dp_walk_peek(w, w->s->tos));
}

/* Relative to the top or the base, with the index on the stack. */
static bool by_index(struct dp_walk *w, u8 op)
{
	switch (op) {
	case DP_OPCODE_PUSH_TSP:
	case DP_OPCODE_PUSH_SBP:
		push_by(w, op == DP_OPCODE_PUSH_TSP);
		return true;
	case DP_OPCODE_POP_TSP:
	case DP_OPCODE_POP_SBP:
		pop_by(w, op == DP_OPCODE_POP_TSP);
		return true;
	case DP_OPCODE_COPY_TSP:
	case DP_OPCODE_COPY_SBP:
		copy_by(w, op == DP_OPCODE_COPY_TSP);
		return true;
	case DP_OPCODE_DUP:
		duplicate_by(w);
		return true;
	default:
		return false;
	}
}

/* Relative to the top or the base, with the index in the instruction. */
static bool by_operand(struct dp_walk *w, u8 op, u64 i)
{
	switch (op) {
	case DP_OPCODE_PUSH_TSP_I:
		dp_walk_push(w, dp_walk_peek(w, w->s->tos + i));
		return true;
	case DP_OPCODE_PUSH_SBP_I:
		dp_walk_push(w, dp_walk_peek(w, w->s->sbp + i));
		return true;
	case DP_OPCODE_POP_TSP_I:
		i += w->s->tos;
		dp_walk_poke(w, i, dp_walk_pop(w));
		return true;
	case DP_OPCODE_POP_SBP_I:
		dp_walk_poke(w, w->s->sbp + i, dp_walk_pop(w));
		return true;
	case DP_OPCODE_COPY_TSP_I:
		dp_walk_poke(w, w->s->tos + i, dp_walk_peek(w, w->s->tos));
		return true;
	case DP_OPCODE_COPY_SBP_I:
		dp_walk_poke(w, w->s->sbp + i, dp_walk_peek(w, w->s->tos));
		return true;
	default:
		return false;
	}
}

static void restore(struct dp_walk *w, u32 *pointer)
{
	u64 to;

	if (dp_walk_known(w, dp_walk_pop(w), &to))
		*pointer = (u32)to & w->limits->stack_mask;
}

bool dp_walk_stack(struct dp_walk *w, u8 op, u64 arg)
{
	struct dp_walk_state *s = w->s;

	switch (op) {
	case DP_OPCODE_XCHG:
		exchange(w);
		return true;
	case DP_OPCODE_DUP_I:
		duplicate(w, arg);
		return true;
	case DP_OPCODE_ROS:
		s->tos = (u32)(s->tos + arg) & w->limits->stack_mask;
		return true;
	case DP_OPCODE_SAVE_SBP:
		dp_walk_push(w, dp_value_const(w->n, s->sbp));
		return true;
	case DP_OPCODE_SAVE_TSP:
		dp_walk_push(w, dp_value_const(w->n, s->tos));
		return true;
	case DP_OPCODE_RESTORE_SBP:
		restore(w, &s->sbp);
		return true;
	case DP_OPCODE_RESTORE_TSP:
		restore(w, &s->tos);
		return true;
	default:
		return by_operand(w, op, arg) || by_index(w, op);
	}
}
