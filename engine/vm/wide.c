// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* wide: registers of the floating-point units, and what the processor says of itself. */
#include "engine/vm/machine.h"
#include "arch/arch.h"

static void push_two(struct dp_vm *vm, u64 high, u64 low)
{
	dp_vm_push(vm, high);
	dp_vm_push(vm, low);
}

static void push_cpuid(struct dp_vm *vm)
{
	u32 is[4];

	dp_cpuid((u32)dp_vm_pop(vm), is);
	dp_vm_push(vm, is[3]);
	dp_vm_push(vm, is[2]);
	dp_vm_push(vm, is[1]);
	dp_vm_push(vm, is[0]);
}

static bool push_x87(struct dp_vm *vm, u64 reg)
{
	u32 now[(DP_FNSAVE_SIZE + 3) / 4];
	const u8 *from = (const u8 *)now;
	bool saved = vm->fpstate;
	u64 low, high;

	if (reg < DP_REG_FR0 || reg > DP_REG_FDS)
		return false;
	if (saved)
		from = (const u8 *)vm->fpstate;
	else
		dp_x87_live((u8 *)now);
	if (reg >= DP_REG_FCW) {
		dp_vm_push(vm, dp_x87_part(from, saved, reg));
		return true;
	}
	low = dp_x87_register(from, saved, reg - DP_REG_FR0, &high);
	push_two(vm, high, low);
	return true;
}

static bool push_vector(struct dp_vm *vm, u64 reg)
{
	u64 n = reg - DP_REG_WHOLE_XMM0;

	if (n >= DP_NR_XMM / 2)
		n = reg - DP_REG_WHOLE_XMM8 + DP_NR_XMM / 2;
	if (n >= DP_NR_XMM)
		return false;
	push_two(vm, dp_xmm_high(vm->fpstate, (u32)n),
		 dp_xmm(vm->fpstate, (u32)n));
	return true;
}

bool dp_vm_wide(struct dp_vm *vm, u64 reg)
{
	switch (reg) {
	case DP_REG_CPUID:
		push_cpuid(vm);
		return true;
	case DP_REG_MXCSR:
		dp_vm_push(vm, dp_mxcsr(vm->fpstate));
		return true;
	default:
		return push_x87(vm, reg) || push_vector(vm, reg);
	}
}
