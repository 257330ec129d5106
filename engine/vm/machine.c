// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * machine: run a program, one instruction after the other.
 *
 * The code is verified: operands are complete, jumps meet instructions, and execution
 * cannot run off the end.
 */
#include "engine/vm/machine.h"
#include "arch/arch.h"

static const u8 operand_of[256] = {
#define OPERAND(code, name, operand, ...) [code] = DP_OPERAND_##operand,
	DP_OPS(OPERAND)
};

static const u8 unit_of[256] = {
#define UNIT(code, name, operand, pops, pushes, ends, state, group, text) \
	[code] = DP_UNIT_##group,
	DP_OPS(UNIT)
};

static u64 take(struct dp_vm *vm, u32 bytes)
{
	u64 value = dp_bytes_load(vm->code + vm->pc, bytes);

	vm->pc += bytes;
	return value;
}

static u64 operand(struct dp_vm *vm, u8 op)
{
	switch (operand_of[op]) {
	case DP_OPERAND_NONE:
		return 0;
	case DP_OPERAND_U8:
		return take(vm, 1);
	case DP_OPERAND_S16:
		return (u64)(s64)(int16_t)take(vm, 2);
	case DP_OPERAND_UL:
		return take(vm, 8);
	case DP_OPERAND_REL: {
		u64 distance = take(vm, 8);

		return vm->pc + distance;
	}
	default:
		return take(vm, 2);
	}
}

static void execute(struct dp_vm *vm)
{
	u32 at = vm->pc++;
	u8 op = vm->code[at];
	u64 arg = operand(vm, op);

	switch (unit_of[op]) {
	case DP_UNIT_FLOW:
		dp_vm_flow(vm, op, arg);
		break;
	case DP_UNIT_LOG:
		dp_vm_log(vm, op, arg);
		break;
	case DP_UNIT_LV:
	case DP_UNIT_GV:
		dp_vm_variable(vm, op, arg);
		break;
	case DP_UNIT_MATH:
		dp_vm_math(vm, op, arg);
		break;
	case DP_UNIT_STACK:
		dp_vm_stack(vm, op, arg);
		break;
	case DP_UNIT_REG:
	case DP_UNIT_DATA:
	case DP_UNIT_VFY:
		dp_vm_data(vm, op, arg);
		break;
	case DP_UNIT_EX:
		dp_vm_handler(vm, op, arg);
		break;
	case DP_UNIT_TRACE:
		dp_vm_trace(vm, op);
		break;
	case DP_UNIT_HEAP:
		dp_vm_heap(vm, op, arg);
		break;
	case DP_UNIT_IO:
		dp_vm_io(vm, op);
		break;
	case DP_UNIT_CALL:
		dp_vm_external(vm);
		break;
	default:
		dp_vm_raise(vm, DP_EX_INVALID_OPCODE, op, at);
		break;
	}
}

static void begin(struct dp_vm *vm)
{
	vm->end = DP_VM_RUNS;
	vm->facility = vm->taken = 0;
	vm->truncated = false;
	vm->lp = vm->plp = vm->stp = vm->heap_used = 0;
	vm->exception = 0;
	vm->parm[0] = vm->parm[1] = 0;
	vm->tos = vm->sbp = 0;
	vm->low = vm->stack_mask + 1;
	vm->used = 0;
	vm->depth = vm->jumps = 0;
	vm->budget = DP_VM_BUDGET;
	vm->frames[0] = (struct dp_vm_frame){ .handler = DP_VM_NO_HANDLER };
}

/* Clear for the next run only the part of the stack that this run has used. */
static void finish(struct dp_vm *vm)
{
	dp_words_zero(&vm->stack[vm->low], vm->stack_mask + 1 - vm->low);
	if (vm->end != DP_VM_EXCEPTION || vm->pending)
		return;
	if (vm->exception == DP_EX_INVALID_ADDR)
		dp_vm_log_fault(vm, DP_ITEM_FAULT, vm->parm[0]);
	else if (vm->exception == DP_EX_SEG_FAULT)
		dp_vm_log_fault(vm, DP_ITEM_SEG_FAULT, vm->parm[0]);
}

void dp_vm_charge(struct dp_vm *vm, u32 n)
{
	vm->budget -= n < vm->budget ? n : vm->budget;
}

/* Only a program that has asked for it hears of its stack's ends: others may use them. */
static void check_stack(struct dp_vm *vm)
{
	if (vm->wrapped && !vm->raised && vm->end == DP_VM_RUNS)
		dp_vm_raise(vm, DP_EX_RPN_STACK_WRAP, 0, 0);
	vm->raised = vm->wrapped = false;
}

void dp_vm_run(struct dp_vm *vm)
{
	begin(vm);
	vm->pending = vm->raised = vm->wrapped = false;
	while (vm->end == DP_VM_RUNS) {
		if (!vm->budget--) {
			/* Not passed to a handler, which could go on for ever. */
			vm->exception = DP_EX_MAX_JMPS;
			vm->parm[0] = DP_VM_BUDGET;
			vm->parm[1] = 1;
			vm->end = DP_VM_EXCEPTION;
			break;
		}
		execute(vm);
		check_stack(vm);
	}
	finish(vm);
}
