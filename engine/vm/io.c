// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* io: ports, and segments. */
#include "engine/vm/machine.h"
#include "arch/arch.h"
#include "port_hit.h"

#define PORTS 0x10000u

static bool is_port(u64 port, u32 size)
{
	return port < PORTS && size <= PORTS - port;
}

static void push_port(struct dp_vm *vm, u32 size)
{
	u64 port = dp_vm_pop(vm);
	u32 value = 0;

	if (is_port(port, size) && dp_port_io_read((u16)port, &value, size))
		dp_vm_push(vm, value);
	else
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_PORT,
			    port);
}

static void pop_port(struct dp_vm *vm, u32 size)
{
	u32 value = (u32)dp_vm_pop(vm);
	u64 port = dp_vm_pop(vm);

	if (!is_port(port, size) || !dp_port_io_write((u16)port, &value, size))
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_PORT,
			    port);
}

static void linear(struct dp_vm *vm)
{
	u64 offset = dp_vm_pop(vm), selector = dp_vm_pop(vm);

	if (dp_selector_is_flat(selector))
		dp_vm_push(vm, offset);
	else
		dp_vm_raise(vm, DP_EX_SEG_FAULT, selector, 0);
}

void dp_vm_io(struct dp_vm *vm, u8 op)
{
	switch (op) {
	case DP_OPCODE_SEG2LIN:
		linear(vm);
		break;
	case DP_OPCODE_PUSH_IO_U8:
	case DP_OPCODE_PUSH_IO_U16:
	case DP_OPCODE_PUSH_IO_U32:
		push_port(vm, 1u << (op - DP_OPCODE_PUSH_IO_U8));
		break;
	default:
		pop_port(vm, 1u << (op - DP_OPCODE_POP_IO_U8));
		break;
	}
}
