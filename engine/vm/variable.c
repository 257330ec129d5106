// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * variable: local and global variables.
 *
 * Other threads' machines share them: inc and dec are atomic, and loads and stores are
 * not torn.
 */
#include "engine/vm/machine.h"

/* The local instructions follow the global ones in the same order. */
#define TO_GLOBAL (DP_OPCODE_PUSH_LV_I - DP_OPCODE_PUSH_GV_I)

static u64 *find(struct dp_vm *vm, bool global, u64 index)
{
	u32 have = global ? vm->nr_gv : vm->nr_lv;

	if (index < have)
		return (global ? vm->gv : vm->lv) + index;
	dp_vm_raise(vm, DP_EX_INVALID_OPERAND,
		    global ? DP_VM_OPERAND_GV : DP_VM_OPERAND_LV, index);
	return NULL;
}

static void store(struct dp_vm *vm, bool global, u64 index, u64 value)
{
	u64 *v = find(vm, global, index);

	if (v)
		__atomic_store_n(v, value, __ATOMIC_RELAXED);
}

static void load(struct dp_vm *vm, bool global, u64 index)
{
	u64 *v = find(vm, global, index);

	if (v)
		dp_vm_push(vm, __atomic_load_n(v, __ATOMIC_RELAXED));
}

static void add(struct dp_vm *vm, bool global, u64 index, u64 n)
{
	u64 *v = find(vm, global, index);

	if (v)
		__atomic_fetch_add(v, n, __ATOMIC_RELAXED);
}

void dp_vm_variable(struct dp_vm *vm, u8 op, u64 arg)
{
	bool global = op < DP_OPCODE_PUSH_LV_I;
	u64 value;

	switch (global ? op : op - TO_GLOBAL) {
	case DP_OPCODE_PUSH_GV:
		arg = dp_vm_pop(vm);
		/* fall through */
	case DP_OPCODE_PUSH_GV_I:
		load(vm, global, arg);
		break;
	case DP_OPCODE_POP_GV:
		value = dp_vm_pop(vm);
		arg = dp_vm_pop(vm);
		store(vm, global, arg, value);
		break;
	case DP_OPCODE_POP_GV_I:
		store(vm, global, arg, dp_vm_pop(vm));
		break;
	case DP_OPCODE_MOVE_GV:
		arg = dp_vm_pop(vm);
		/* fall through */
	case DP_OPCODE_MOVE_GV_I:
		store(vm, global, arg, dp_vm_peek(vm, vm->tos));
		break;
	case DP_OPCODE_INC_GV:
		arg = dp_vm_pop(vm);
		/* fall through */
	case DP_OPCODE_INC_GV_I:
		add(vm, global, arg, 1);
		break;
	case DP_OPCODE_DEC_GV:
		arg = dp_vm_pop(vm);
		/* fall through */
	case DP_OPCODE_DEC_GV_I:
		add(vm, global, arg, -1ull);
		break;
	}
}
