// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* exception: a program's faults, and the handlers that it has for them. */
#include "engine/vm/machine.h"

void dp_vm_unwind(struct dp_vm *vm)
{
	for (;;) {
		struct dp_vm_frame *f = &vm->frames[vm->depth];

		if (f->handler != DP_VM_NO_HANDLER) {
			vm->pc = f->handler;
			f->handler = DP_VM_NO_HANDLER;
			return;
		}
		if (!vm->depth) {
			vm->end = DP_VM_EXCEPTION;
			return;
		}
		vm->sbp = f->sbp;
		vm->depth--;
	}
}

void dp_vm_raise(struct dp_vm *vm, u16 code, u64 p1, u64 p2)
{
	/* Exceptions beyond the mask are ignored: execution goes on. */
	if (!(code & DP_EX_MASK))
		return;
	vm->exception = code;
	vm->parm[0] = p1;
	vm->parm[1] = p2;
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
		vm->exception = (u16)dp_vm_peek(vm, vm->tos);
		vm->parm[0] = dp_vm_peek(vm, vm->tos + 1);
		vm->parm[1] = dp_vm_peek(vm, vm->tos + 2);
		dp_vm_unwind(vm);
		break;
	case DP_OPCODE_PUSH_X:
		dp_vm_push(vm, vm->parm[1]);
		dp_vm_push(vm, vm->parm[0]);
		dp_vm_push(vm, vm->exception);
		break;
	}
}
