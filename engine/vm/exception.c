// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exception: a program's faults, and the handlers that it has for them. */
#include "engine/vm/machine.h"

/* An entry of a handler is a jump. What has used up the jumps is handled once more. */
static bool may_enter(struct dp_vm *vm)
{
	if (vm->jumps < vm->jmpmax) {
		vm->jumps++;
		return true;
	}
	if (vm->exception == DP_EX_MAX_JMPS && vm->jumps == vm->jmpmax) {
		vm->jumps++;
		return true;
	}
	vm->exception = DP_EX_MAX_JMPS;
	vm->parm[0] = vm->jmpmax;
	vm->parm[1] = 0;
	return false;
}

void dp_vm_unwind(struct dp_vm *vm)
{
	for (;;) {
		struct dp_vm_frame *f = &vm->frames[vm->depth];

		if (f->handler != DP_VM_NO_HANDLER && may_enter(vm)) {
			vm->pc = f->handler;
			f->handler = DP_VM_NO_HANDLER;
			vm->pending = false;
			return;
		}
		if (!vm->depth || f->handler != DP_VM_NO_HANDLER) {
			vm->end = DP_VM_EXCEPTION;
			return;
		}
		vm->sbp = f->sbp;
		vm->depth--;
	}
}

static void note(struct dp_vm *vm, u16 code, u64 p1, u64 p2)
{
	vm->raised = true;
	vm->exception = code;
	vm->parm[0] = p1;
	vm->parm[1] = p2;
	if (vm->auto_trace && !dp_vm_stack_trace(vm))
		vm->truncated = true;
}

void dp_vm_raise(struct dp_vm *vm, u16 code, u64 p1, u64 p2)
{
	bool wanted = code & vm->ex_mask;

	if (!wanted && !(code & DP_EX_MASK))
		return;
	note(vm, code, p1, p2);
	if (!wanted) {
		vm->end = DP_VM_EXCEPTION;
		return;
	}
	dp_vm_push(vm, p2);
	dp_vm_push(vm, p1);
	dp_vm_push(vm, code);
	dp_vm_unwind(vm);
}

void dp_vm_handler(struct dp_vm *vm, u8 op, u64 arg)
{
	struct dp_vm_frame *f = &vm->frames[vm->depth];

	switch (op) {
	case DP_OPCODE_SX:
		f->handler = (u32)arg;
		break;
	case DP_OPCODE_UX:
		f->handler = DP_VM_NO_HANDLER;
		break;
	case DP_OPCODE_RX:
		note(vm, (u16)dp_vm_peek(vm, vm->tos),
		     dp_vm_peek(vm, vm->tos + 1), dp_vm_peek(vm, vm->tos + 2));
		dp_vm_unwind(vm);
		break;
	case DP_OPCODE_PUSH_X:
		dp_vm_push(vm, vm->parm[1]);
		dp_vm_push(vm, vm->parm[0]);
		dp_vm_push(vm, vm->exception);
		break;
	}
}
