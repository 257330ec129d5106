// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stack: moves on the RPN stack; every index wraps. */
#include "engine/vm/machine.h"

static void duplicate(struct dp_vm *vm, u64 n)
{
	u64 value = dp_vm_peek(vm, vm->tos), size = vm->stack_mask + 1, i;

	for (i = 0; i < n && i < size; i++)
		dp_vm_poke(vm, vm->tos - 1 - i, value);
	vm->tos = (u32)(vm->tos - n) & vm->stack_mask;
	dp_vm_fill(vm, n < size ? (s64)n : (s64)size);
}

static void exchange(struct dp_vm *vm)
{
	u64 a = dp_vm_pop(vm), b = dp_vm_pop(vm);

	dp_vm_push(vm, a);
	dp_vm_push(vm, b);
}

/* Relative to the top or the base, with the index on the stack. */
static void by_index(struct dp_vm *vm, u8 op)
{
	u64 value, i;

	switch (op) {
	case DP_OPCODE_PUSH_TSP:
	case DP_OPCODE_PUSH_SBP:
		i = dp_vm_pop(vm);
		i += op == DP_OPCODE_PUSH_TSP ? vm->tos : vm->sbp;
		dp_vm_push(vm, dp_vm_peek(vm, i));
		break;
	case DP_OPCODE_POP_TSP:
	case DP_OPCODE_POP_SBP:
		value = dp_vm_pop(vm);
		i = dp_vm_pop(vm);
		i += op == DP_OPCODE_POP_TSP ? vm->tos : vm->sbp;
		dp_vm_poke(vm, i, value);
		break;
	default:
		i = dp_vm_pop(vm);
		i += op == DP_OPCODE_COPY_TSP ? vm->tos : vm->sbp;
		dp_vm_poke(vm, i, dp_vm_peek(vm, vm->tos));
		break;
	}
}

/* Relative to the top or the base, with the index in the instruction. */
static void by_operand(struct dp_vm *vm, u8 op, u64 i)
{
	switch (op) {
	case DP_OPCODE_PUSH_TSP_I:
		dp_vm_push(vm, dp_vm_peek(vm, vm->tos + i));
		break;
	case DP_OPCODE_PUSH_SBP_I:
		dp_vm_push(vm, dp_vm_peek(vm, vm->sbp + i));
		break;
	case DP_OPCODE_POP_TSP_I:
		i += vm->tos;
		dp_vm_poke(vm, i, dp_vm_pop(vm));
		break;
	case DP_OPCODE_POP_SBP_I:
		dp_vm_poke(vm, vm->sbp + i, dp_vm_pop(vm));
		break;
	case DP_OPCODE_COPY_TSP_I:
		dp_vm_poke(vm, vm->tos + i, dp_vm_peek(vm, vm->tos));
		break;
	default:
		dp_vm_poke(vm, vm->sbp + i, dp_vm_peek(vm, vm->tos));
		break;
	}
}

static bool pointers(struct dp_vm *vm, u8 op)
{
	switch (op) {
	case DP_OPCODE_SAVE_SBP:
		dp_vm_push(vm, vm->sbp);
		return true;
	case DP_OPCODE_RESTORE_SBP:
		vm->sbp = (u32)dp_vm_pop(vm) & vm->stack_mask;
		return true;
	case DP_OPCODE_SAVE_TSP:
		dp_vm_push(vm, vm->tos);
		return true;
	case DP_OPCODE_RESTORE_TSP:
		vm->tos = (u32)dp_vm_pop(vm) & vm->stack_mask;
		vm->used = -vm->tos & vm->stack_mask;
		return true;
	default:
		return false;
	}
}

void dp_vm_stack(struct dp_vm *vm, u8 op, u64 arg)
{
	u64 value;

	switch (op) {
	case DP_OPCODE_XCHG:
		exchange(vm);
		break;
	case DP_OPCODE_DUP_I:
		duplicate(vm, arg);
		break;
	case DP_OPCODE_DUP:
		value = dp_vm_pop(vm);
		arg = dp_vm_pop(vm);
		dp_vm_push(vm, value);
		duplicate(vm, arg);
		break;
	case DP_OPCODE_ROS:
		vm->tos = (u32)(vm->tos + arg) & vm->stack_mask;
		dp_vm_fill(vm, -(s64)arg);
		break;
	case DP_OPCODE_PUSH_TSP_I:
	case DP_OPCODE_PUSH_SBP_I:
	case DP_OPCODE_POP_TSP_I:
	case DP_OPCODE_POP_SBP_I:
	case DP_OPCODE_COPY_TSP_I:
	case DP_OPCODE_COPY_SBP_I:
		by_operand(vm, op, arg);
		break;
	default:
		if (!pointers(vm, op))
			by_index(vm, op);
		break;
	}
}
