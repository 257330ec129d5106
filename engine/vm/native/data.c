// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* data: literals, registers and memory of a program that is walked. */
#include "arch/arch.h"
#include "engine/vm/native/value.h"
#include "engine/vm/native/walk.h"
#include "engine/vm/ops.h"

#define WORD_WIDTH 64

static bool push_memory(struct dp_walk *w, u8 size)
{
	if (w->limits->loads)
		dp_walk_push(w, dp_value_load(w->n, dp_walk_pop(w), size));
	else
		w->end = DP_NATIVE_LEAVE;
	return true;
}

bool dp_walk_data(struct dp_walk *w, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_PUSH:
		dp_walk_push(w, dp_value_const(w->n, arg));
		return true;
	case DP_OPCODE_PUSH_WID:
		dp_walk_push(w, dp_value_const(w->n, (u64)-WORD_WIDTH));
		return true;
	case DP_OPCODE_PUSH_R:
	case DP_OPCODE_PUSH_U:
		if (!dp_native_reads((u16)arg))
			return false;
		dp_walk_push(w, dp_value_reg(w->n, (u16)arg));
		return true;
	case DP_OPCODE_PUSH_MEM_U8:
		return push_memory(w, 1);
	case DP_OPCODE_PUSH_MEM_U16:
		return push_memory(w, 2);
	case DP_OPCODE_PUSH_MEM_U32:
		return push_memory(w, 4);
	case DP_OPCODE_PUSH_MEM_U64:
		return push_memory(w, 8);
	default:
		return false;
	}
}
