// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* data: literals, registers, memory, and facts of the thread. */
#include "engine/vm/machine.h"
#include "arch/arch.h"
#include "port_hit.h"

#define WORD_WIDTH 64

u64 dp_vm_fetch(const struct dp_vm *vm, void *to, u64 from, u64 len)
{
	if (from >= vm->safe_low && from <= vm->safe_high &&
	    len <= vm->safe_high - from) {
		dp_bytes_copy(to, (const void *)from, len);
		return len;
	}
	return dp_port_read(to, from, len);
}

static u64 special(const struct dp_vm *vm, const struct dp_regs *regs, u64 reg)
{
	if (reg - DP_REG_XMM < DP_NR_XMM)
		return dp_xmm(vm->fpstate, (u32)(reg - DP_REG_XMM));
	switch (reg) {
	case DP_REG_CS:
		return regs->cs;
	case DP_REG_DS:
	case DP_REG_ES:
	case DP_REG_FS:
	case DP_REG_GS:
		return dp_selector((u32)reg);
	case DP_REG_SS:
		return regs->ss;
	case DP_REG_FS_BASE:
		return dp_port_thread_pointer();
	case DP_REG_GS_BASE:
		return dp_port_gs_base();
	default:
		/* As in a stopped thread that is in no system call. */
		return ~0ull;
	}
}

static u64 get_register(const struct dp_vm *vm, const struct dp_regs *regs,
			u64 reg)
{
	switch (reg) {
#define GET(number, name, field, half, writable) \
	case number:                             \
		return half ? (u32)regs->field : regs->field;
		DP_REGS(GET)
	default:
		return special(vm, regs, reg);
	}
}

static void set_register(struct dp_regs *regs, u64 reg, u64 value)
{
	switch (reg) {
#define SET(number, name, field, half, writable)                 \
	case number:                                             \
		if (writable)                                    \
			regs->field = half ? (u32)value : value; \
		break;
		DP_REGS(SET)
	}
}

/* Return: NULL, and an exception: the thread has no code of its own there. */
static struct dp_regs *user_regs(struct dp_vm *vm)
{
	struct dp_regs *regs = dp_port_user_regs(vm->regs);

	if (!regs)
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, 0, 0);
	return regs;
}

static void push_register(struct dp_vm *vm, const struct dp_regs *regs, u64 reg)
{
	if (regs && !dp_vm_wide(vm, reg))
		dp_vm_push(vm, get_register(vm, regs, reg));
}

static void pop_user(struct dp_vm *vm, u64 reg)
{
	u64 value = dp_vm_pop(vm);
	struct dp_regs *regs = user_regs(vm);

	if (regs)
		set_register(regs, reg, value);
}

static u32 size_of(u8 op, u8 first)
{
	return 1u << (op - first);
}

static void push_memory(struct dp_vm *vm, u32 size)
{
	u64 addr = dp_vm_pop(vm), value = 0;
	u64 got = dp_vm_fetch(vm, &value, addr, size);

	if (got < size)
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, addr + got, 0);
	else
		dp_vm_push(vm, value);
}

static void pop_memory(struct dp_vm *vm, u32 size)
{
	u64 value = dp_vm_pop(vm), addr = dp_vm_pop(vm);

	if (dp_port_copy_out(addr, &value, size))
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, addr, 0);
}

/* Pushes 0 if the address can be accessed. */
static void verify(struct dp_vm *vm, bool writable)
{
	u64 addr = dp_vm_pop(vm);
	u8 byte;
	bool good = writable ? dp_port_writable(addr, 1) :
			       dp_port_read(&byte, addr, 1) == 1;

	dp_vm_push(vm, !good);
}

static void push_fact(struct dp_vm *vm, u8 op)
{
	switch (op) {
	case DP_OPCODE_PUSH_TASK:
		dp_vm_push(vm, dp_port_thread_pointer());
		break;
	case DP_OPCODE_PUSH_PID:
		dp_vm_push(vm, dp_port_pid());
		break;
	case DP_OPCODE_PUSH_TID:
		dp_vm_push(vm, vm->tid);
		break;
	case DP_OPCODE_PUSH_BACKTRACE:
		dp_vm_push(vm, vm->backtrace ? vm->backtrace(vm->regs) : 0);
		break;
	case DP_OPCODE_PUSH_TOLD:
		dp_vm_push(vm, vm->told);
		break;
	case DP_OPCODE_PUSH_PROCID:
		dp_vm_push(vm, dp_port_cpu());
		break;
	default:
		/* Negative: least significant byte first. */
		dp_vm_push(vm, (u64)-WORD_WIDTH);
		break;
	}
}

void dp_vm_data(struct dp_vm *vm, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_PUSH:
		dp_vm_push(vm, arg);
		break;
	case DP_OPCODE_PUSH_R:
		push_register(vm, vm->regs, arg);
		break;
	case DP_OPCODE_PUSH_U:
		push_register(vm, user_regs(vm), arg);
		break;
	case DP_OPCODE_POP_R:
		set_register(vm->regs, arg, dp_vm_pop(vm));
		break;
	case DP_OPCODE_POP_U:
		pop_user(vm, arg);
		break;
	case DP_OPCODE_PUSH_MEM_U8:
	case DP_OPCODE_PUSH_MEM_U16:
	case DP_OPCODE_PUSH_MEM_U32:
	case DP_OPCODE_PUSH_MEM_U64:
		push_memory(vm, size_of(op, DP_OPCODE_PUSH_MEM_U8));
		break;
	case DP_OPCODE_POP_MEM_U8:
	case DP_OPCODE_POP_MEM_U16:
	case DP_OPCODE_POP_MEM_U32:
	case DP_OPCODE_POP_MEM_U64:
		pop_memory(vm, size_of(op, DP_OPCODE_POP_MEM_U8));
		break;
	case DP_OPCODE_LIKE:
		dp_vm_like(vm, arg);
		break;
	case DP_OPCODE_AGGREGATE:
		dp_vm_aggregate(vm, arg);
		break;
	case DP_OPCODE_PUSH_STR:
		dp_vm_push_text(vm, arg);
		break;
	case DP_OPCODE_PUSH_COMM:
		dp_vm_push_comm(vm);
		break;
	case DP_OPCODE_PUSH_ENTERED:
		dp_vm_push_entered(vm, arg);
		break;
	case DP_OPCODE_VFY_R:
	case DP_OPCODE_VFY_RW:
		verify(vm, op == DP_OPCODE_VFY_RW);
		break;
	default:
		push_fact(vm, op);
		break;
	}
}
