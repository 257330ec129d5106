// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* record: can a program make one? If not, no hit has to wait for its instruction. And what it is. */
#include "engine/vm/decode.h"
#include "engine/vm/vm.h"
#include "engine/vm/native/native.h"

#define ELEMENT 8

/* Jumps forward: no more are made than there are. */
static bool is_jump(u8 op)
{
	return op >= DP_OPCODE_JMP && op <= DP_OPCODE_JNZ;
}

/* Does it log nothing, and raise no exception, whatever the values are? */
static bool is_quiet(u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_NOP:
	case DP_OPCODE_EXIT:
	case DP_OPCODE_ABORT:
	case DP_OPCODE_PUSH:
	case DP_OPCODE_PUSH_R:
	case DP_OPCODE_XCHG:
	case DP_OPCODE_DUP_I:
	case DP_OPCODE_ROS:
	case DP_OPCODE_ADD:
	case DP_OPCODE_SUB:
	case DP_OPCODE_RSUB:
	case DP_OPCODE_MUL:
	case DP_OPCODE_NEG:
	case DP_OPCODE_AND:
	case DP_OPCODE_OR:
	case DP_OPCODE_XOR:
	case DP_OPCODE_EQ:
	case DP_OPCODE_LTU:
	case DP_OPCODE_LTS:
	case DP_OPCODE_SHL_I:
	case DP_OPCODE_SHR_I:
	case DP_OPCODE_ROL_I:
	case DP_OPCODE_ROR_I:
	case DP_OPCODE_F64:
	case DP_OPCODE_PUSH_TSP_I:
	case DP_OPCODE_INC_LV_I:
	case DP_OPCODE_DEC_LV_I:
	case DP_OPCODE_INC_GV_I:
	case DP_OPCODE_DEC_GV_I:
	case DP_OPCODE_AGGREGATE:
	case DP_OPCODE_PUSH_TID:
		return true;
	case DP_OPCODE_PBL_I:
	case DP_OPCODE_PBR_I:
	case DP_OPCODE_PZL_I:
	case DP_OPCODE_PZR_I:
		return arg && arg <= 64;
	default:
		return is_jump(op);
	}
}

bool dp_native_records(const u8 *code, u32 len, u32 jmpmax)
{
	u32 at, next, jumps = 0;
	u64 arg;

	for (at = 0; at < len; at = next) {
		next = dp_op_decode(code, at, &arg);
		if (!is_quiet(code[at], arg))
			return true;
		if (!is_jump(code[at]))
			continue;
		if (arg < next || jumps++ == jmpmax)
			return true;
	}
	return false;
}

u32 dp_native_shape(const struct dp_native_record *r, u8 *data,
		    u16 at[DP_NATIVE_ELEMENTS])
{
	u32 len = 0, value = 0, i, k;

	for (i = 0; i < r->nr_items; i++) {
		data[len] = DP_ITEM_ELEMENTS;
		data[len + 1] = r->items[i];
		data[len + 2] = 0;
		len += DP_ITEM_PREFIX;
		for (k = 0; k < r->items[i]; k++, len += ELEMENT)
			at[value++] = (u16)len;
	}
	return len;
}
