// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* flow: jumps, calls, and the ends of a program. */
#include "engine/vm/machine.h"

/* The facilities that there are, and the first that can be registered */
#define FACILITY_MAX 3
#define FACILITY_REGISTERED 16

/* Every jump taken counts, so that no loop is endless. */
static bool may_jump(struct dp_vm *vm)
{
	if (vm->jumps < vm->jmpmax) {
		vm->jumps++;
		return true;
	}
	dp_vm_raise(vm, DP_EX_MAX_JMPS, vm->jmpmax, 0);
	return false;
}

static void jump(struct dp_vm *vm, bool taken, u64 target)
{
	if (taken && may_jump(vm))
		vm->pc = (u32)target;
}

static void loop(struct dp_vm *vm, u64 target)
{
	if (!may_jump(vm))
		return;
	dp_vm_poke(vm, vm->tos, dp_vm_peek(vm, vm->tos) - 1);
	if (dp_vm_peek(vm, vm->tos))
		vm->pc = (u32)target;
}

static void call(struct dp_vm *vm, u64 target)
{
	struct dp_vm_frame *f;

	if (vm->depth == DP_VM_FRAMES - 1) {
		dp_vm_raise(vm, DP_EX_CALL_STACK_OVERFLOW, vm->depth, 0);
		return;
	}
	if (!may_jump(vm))
		return;
	f = &vm->frames[++vm->depth];
	*f = (struct dp_vm_frame){
		.sbp = vm->sbp,
		.back = vm->pc,
		.handler = DP_VM_NO_HANDLER,
		.called = (u32)target,
	};
	vm->pc = (u32)target;
}

static void ret(struct dp_vm *vm)
{
	if (!vm->depth) {
		dp_vm_raise(vm, DP_EX_CALL_STACK_OVERFLOW, 0, 0);
		return;
	}
	vm->pc = vm->frames[vm->depth].back;
	vm->sbp = vm->frames[vm->depth].sbp;
	vm->depth--;
}

static void exit_by(struct dp_vm *vm, u64 facility)
{
	if (!facility ||
	    (facility > FACILITY_MAX && facility < FACILITY_REGISTERED)) {
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_FACILITY,
			    facility);
		return;
	}
	vm->facility = (u8)facility;
	vm->end = DP_VM_EXIT;
}

static void end(struct dp_vm *vm, u8 op)
{
	switch (op) {
	case DP_OPCODE_ABORT:
		vm->end = DP_VM_ABORT;
		break;
	case DP_OPCODE_REMOVE:
		vm->end = DP_VM_REMOVE;
		break;
	case DP_OPCODE_SUSPEND:
		vm->end = DP_VM_SUSPEND;
		break;
	case DP_OPCODE_LEAVE:
		vm->end = DP_VM_LEAVE;
		break;
	default:
		vm->end = DP_VM_EXIT;
		break;
	}
}

static bool condition(u8 op, s64 top)
{
	switch (op) {
	case DP_OPCODE_JLT:
		return top < 0;
	case DP_OPCODE_JLE:
		return top <= 0;
	case DP_OPCODE_JGT:
		return top > 0;
	case DP_OPCODE_JGE:
		return top >= 0;
	case DP_OPCODE_JZ:
		return top == 0;
	case DP_OPCODE_JNZ:
		return top != 0;
	default:
		return true;
	}
}

void dp_vm_flow(struct dp_vm *vm, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_NOP:
		break;
	case DP_OPCODE_LOOP:
		loop(vm, arg);
		break;
	case DP_OPCODE_CALL:
		call(vm, arg);
		break;
	case DP_OPCODE_RET:
		ret(vm);
		break;
	case DP_OPCODE_EXIT_N:
		exit_by(vm, arg);
		break;
	case DP_OPCODE_RESUME:
		arg = dp_vm_pop(vm);
		if (vm->resume)
			vm->resume(vm, (u16)arg);
		break;
	case DP_OPCODE_ABORT:
	case DP_OPCODE_REMOVE:
	case DP_OPCODE_SUSPEND:
	case DP_OPCODE_LEAVE:
	case DP_OPCODE_EXIT:
		end(vm, op);
		break;
	default:
		jump(vm, condition(op, (s64)dp_vm_peek(vm, vm->tos)), arg);
		break;
	}
}
