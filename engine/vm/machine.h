/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* machine: shared by the machine's groups of instructions. */
#ifndef DP_VM_MACHINE_H
#define DP_VM_MACHINE_H

#include "arch/arch.h"
#include "engine/vm/ops.h"
#include "engine/vm/vm.h"

#pragma GCC visibility push(hidden)

/** enum dp_unit - which function executes an instruction */
enum dp_unit {
	DP_UNIT_NONE,
	DP_UNIT_FLOW,
	DP_UNIT_LOG,
	DP_UNIT_LV,
	DP_UNIT_GV,
	DP_UNIT_MATH,
	DP_UNIT_STACK,
	DP_UNIT_REG,
	DP_UNIT_DATA,
	DP_UNIT_VFY,
	DP_UNIT_EX,
	DP_UNIT_TRACE,
	DP_UNIT_HEAP,
	DP_UNIT_IO,
	DP_UNIT_CALL,
};

/* Each executes one instruction; @arg is its operand, or a jump's target. */
void dp_vm_flow(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_log(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_variable(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_math(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_stack(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_data(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_like(struct dp_vm *vm, u64 arg);
void dp_vm_aggregate(struct dp_vm *vm, u64 arg);
void dp_vm_push_text(struct dp_vm *vm, u64 n);
void dp_vm_push_comm(struct dp_vm *vm);
void dp_vm_push_entered(struct dp_vm *vm, u64 offset);
void dp_vm_handler(struct dp_vm *vm, u8 op, u64 arg);
void dp_vm_io(struct dp_vm *vm, u8 op);
void dp_vm_external(struct dp_vm *vm);
void dp_vm_trace(struct dp_vm *vm, u8 op);
void dp_vm_heap(struct dp_vm *vm, u8 op, u64 n);
/* Registers that are several elements. Return: false: it is none. */
bool dp_vm_wide(struct dp_vm *vm, u64 reg);

/** dp_vm_stack_trace() - append a stack trace, whole. Return: false: it has no room. */
bool dp_vm_stack_trace(struct dp_vm *vm);
/** dp_vm_charge() - a long instruction counts as @n more */
void dp_vm_charge(struct dp_vm *vm, u32 n);

/** dp_vm_raise() - raise an exception: push it, and go to its handler or end */
void dp_vm_raise(struct dp_vm *vm, u16 code, u64 p1, u64 p2);
/** dp_vm_unwind() - go to the innermost handler, or end */
void dp_vm_unwind(struct dp_vm *vm);
/** dp_vm_log_fault() - put an item of a fault into the log: an address, or a selector */
void dp_vm_log_fault(struct dp_vm *vm, u8 token, u64 what);
/**
 * dp_vm_fetch() - read memory of the program
 * Return: bytes that could be read before the first bad address.
 */
u64 dp_vm_fetch(const struct dp_vm *vm, void *to, u64 from, u64 len);

#pragma GCC visibility pop

static inline void dp_vm_poke(struct dp_vm *vm, u64 index, u64 value)
{
	u32 i = (u32)index & vm->stack_mask;

	if (i < vm->low)
		vm->low = i;
	vm->stack[i] = value;
}

static inline u64 dp_vm_peek(const struct dp_vm *vm, u64 index)
{
	return vm->stack[(u32)index & vm->stack_mask];
}

/* @n elements more, or less: what the stack cannot have wraps. */
static inline void dp_vm_fill(struct dp_vm *vm, s64 n)
{
	s64 used = vm->used + n, size = vm->stack_mask + 1ll;

	vm->wrapped |= used < 0 || used > size;
	vm->used = used < 0 ? 0 : used > size ? (u32)size : (u32)used;
}

static inline void dp_vm_push(struct dp_vm *vm, u64 value)
{
	vm->tos = (vm->tos - 1) & vm->stack_mask;
	dp_vm_poke(vm, vm->tos, value);
	dp_vm_fill(vm, 1);
}

static inline u64 dp_vm_pop(struct dp_vm *vm)
{
	u64 value = vm->stack[vm->tos];

	vm->tos = (vm->tos + 1) & vm->stack_mask;
	dp_vm_fill(vm, -1);
	return value;
}

#endif
