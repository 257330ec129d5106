// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* flow: jumps and calls of a program that is walked. */
#include "engine/vm/native/value.h"
#include "engine/vm/native/walk.h"
#include "engine/vm/ops.h"

/* It counts as a jump whether it is taken or not. */
static void loop(struct dp_walk *w, u64 target)
{
	u8 left = dp_value_two(w->n, DP_NATIVE_SUB, dp_walk_peek(w, w->s->tos),
			       dp_value_const(w->n, 1));

	if (w->s->jumps == w->limits->jmpmax) {
		w->end = DP_NATIVE_LEAVE;
		return;
	}
	dp_walk_poke(w, w->s->tos, left);
	dp_walk_test(w, left, true, target, true);
}

static void call(struct dp_walk *w, u64 target)
{
	struct dp_walk_state *s = w->s;

	if (s->depth == DP_VM_FRAMES - 1) {
		w->end = DP_NATIVE_LEAVE;
		return;
	}
	s->depth++;
	s->frames[s->depth].sbp = s->sbp;
	s->frames[s->depth].back = s->pc;
	dp_walk_jump(w, target);
}

static void ret(struct dp_walk *w)
{
	struct dp_walk_state *s = w->s;

	if (!s->depth) {
		w->end = DP_NATIVE_LEAVE;
		return;
	}
	s->pc = s->frames[s->depth].back;
	s->sbp = s->frames[s->depth].sbp;
	s->depth--;
}

/* Is the top less than 0, or 0 less than the top? */
static void compare(struct dp_walk *w, bool top_first, bool truth, u64 target)
{
	u8 top = dp_walk_peek(w, w->s->tos), zero = dp_value_const(w->n, 0);

	dp_walk_test(w,
		     dp_value_two(w->n, DP_NATIVE_LTS, top_first ? top : zero,
				  top_first ? zero : top),
		     truth, target, false);
}

bool dp_walk_flow(struct dp_walk *w, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_JMP:
		dp_walk_jump(w, arg);
		return true;
	case DP_OPCODE_JLT:
	case DP_OPCODE_JGE:
		compare(w, true, op == DP_OPCODE_JLT, arg);
		return true;
	case DP_OPCODE_JGT:
	case DP_OPCODE_JLE:
		compare(w, false, op == DP_OPCODE_JGT, arg);
		return true;
	case DP_OPCODE_JZ:
	case DP_OPCODE_JNZ:
		dp_walk_test(w, dp_walk_peek(w, w->s->tos), op == DP_OPCODE_JNZ,
			     arg, false);
		return true;
	case DP_OPCODE_LOOP:
		loop(w, arg);
		return true;
	case DP_OPCODE_CALL:
		call(w, arg);
		return true;
	case DP_OPCODE_RET:
		ret(w);
		return true;
	default:
		return false;
	}
}
