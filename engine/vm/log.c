// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * log: the data that a program logs.
 *
 * An item is a token, a u16 that counts bytes or elements, and the payload. Data that
 * does not fit is cut, and the record says so.
 */
#include "engine/vm/machine.h"
#include "arch/arch.h"

static void overflow(struct dp_vm *vm)
{
	vm->truncated = true;
	dp_vm_raise(vm, DP_EX_LOG_OVERFLOW, vm->logmax, 0);
}

static u32 room(const struct dp_vm *vm)
{
	return vm->logmax - vm->lp;
}

static void prefix(struct dp_vm *vm, u8 token, u32 count)
{
	vm->log[vm->lp] = token;
	vm->log[vm->lp + 1] = (u8)count;
	vm->log[vm->lp + 2] = (u8)(count >> 8);
}

void dp_vm_log_fault(struct dp_vm *vm, u8 token, u64 what)
{
	if (room(vm) < DP_ITEM_PREFIX + sizeof(what)) {
		vm->truncated = true;
		return;
	}
	prefix(vm, token, sizeof(what));
	dp_bytes_copy(vm->log + vm->lp + DP_ITEM_PREFIX, &what, sizeof(what));
	vm->plp = vm->lp;
	vm->lp += DP_ITEM_PREFIX + sizeof(what);
}

static void bad_address(struct dp_vm *vm, u64 addr)
{
	dp_vm_log_fault(vm, DP_ITEM_FAULT, addr);
	vm->pending = true;
	dp_vm_raise(vm, DP_EX_INVALID_ADDR, addr, 0);
}

static u32 until_nul(const u8 *text, u64 len)
{
	u32 n = 0;

	while (n < len && text[n])
		n++;
	return n;
}

static void log_memory(struct dp_vm *vm, u8 token, u64 addr, u64 len)
{
	u8 *to = vm->log + vm->lp + DP_ITEM_PREFIX;
	bool cut;
	u64 got;

	if (room(vm) < DP_ITEM_PREFIX) {
		overflow(vm);
		return;
	}
	cut = len > room(vm) - DP_ITEM_PREFIX;
	if (cut)
		len = room(vm) - DP_ITEM_PREFIX;
	got = dp_vm_fetch(vm, to, addr, len);
	if (token == DP_ITEM_STRING) {
		u32 n = until_nul(to, got);

		/* Bad memory behind the end of the string does not matter. */
		if (n < got) {
			cut = false;
			len = got = n;
		}
	}
	if (got < len) {
		bad_address(vm, addr + got);
		return;
	}
	vm->truncated |= cut;
	prefix(vm, token, (u32)len);
	vm->plp = vm->lp;
	vm->lp += DP_ITEM_PREFIX + (u32)len;
}

/* Begin an item of as many whole elements as fit. Return: false: it has no room at all. */
static bool begin_elements(struct dp_vm *vm, u8 token, u64 n, u64 *fits)
{
	u64 fit;

	*fits = 0;
	if (room(vm) < DP_ITEM_PREFIX)
		return false;
	fit = (room(vm) - DP_ITEM_PREFIX) / sizeof(u64);
	if (fit > n)
		fit = n;
	prefix(vm, token, (u32)fit);
	vm->plp = vm->lp;
	vm->lp += DP_ITEM_PREFIX;
	*fits = fit;
	return true;
}

static void element(struct dp_vm *vm, u64 value)
{
	dp_bytes_copy(vm->log + vm->lp, &value, sizeof(value));
	vm->lp += sizeof(value);
}

static void log_elements(struct dp_vm *vm, u64 n)
{
	u64 fit, i;
	bool begun = begin_elements(vm, DP_ITEM_ELEMENTS, n, &fit);

	for (i = 0; i < fit; i++)
		element(vm, dp_vm_peek(vm, vm->tos + i));
	vm->tos = (u32)(vm->tos + n) & vm->stack_mask;
	dp_vm_fill(vm,
		   n <= vm->stack_mask ? -(s64)n : -(s64)vm->stack_mask - 1);
	if (!begun || fit < n)
		overflow(vm);
}

static void log_variables(struct dp_vm *vm, bool global)
{
	const u64 *v = global ? vm->gv : vm->lv;
	u64 have = global ? vm->nr_gv : vm->nr_lv;
	u64 n = dp_vm_pop(vm), first = dp_vm_pop(vm), fit, i;
	bool begun;

	if (first >= have || n > have - first) {
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND,
			    global ? DP_VM_OPERAND_GV : DP_VM_OPERAND_LV,
			    first >= have ? first : have);
		return;
	}
	begun = begin_elements(vm, global ? DP_ITEM_GV : DP_ITEM_LV, n, &fit);
	for (i = 0; i < fit; i++)
		element(vm, __atomic_load_n(&v[first + i], __ATOMIC_RELAXED));
	if (!begun || fit < n)
		overflow(vm);
}

/* A program can rewind the log, but not advance it. */
static void set_lp(struct dp_vm *vm, u64 n)
{
	if (n > vm->lp) {
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LP, n);
		return;
	}
	vm->lp = (u32)n;
	if (vm->plp > vm->lp)
		vm->plp = vm->lp;
}

static void set_code(struct dp_vm *vm, u8 op, u64 arg)
{
	if (op == DP_OPCODE_SETMIN || op == DP_OPCODE_SETMAJ)
		arg = dp_vm_pop(vm);
	if (op == DP_OPCODE_SETMIN || op == DP_OPCODE_SETMIN_I)
		vm->minor = (u16)arg;
	else
		vm->major = (u16)arg;
}

void dp_vm_log(struct dp_vm *vm, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_LOG_STR:
	case DP_OPCODE_LOG_MRF: {
		u64 addr = dp_vm_pop(vm), len = dp_vm_pop(vm);

		log_memory(vm,
			   op == DP_OPCODE_LOG_STR ? DP_ITEM_STRING :
						     DP_ITEM_RANGE,
			   addr, len);
		break;
	}
	case DP_OPCODE_LOG:
		arg = dp_vm_pop(vm);
		log_elements(vm, arg);
		break;
	case DP_OPCODE_LOG_I:
		log_elements(vm, arg);
		break;
	case DP_OPCODE_LOG_LV:
	case DP_OPCODE_LOG_GV:
		log_variables(vm, op == DP_OPCODE_LOG_GV);
		break;
	case DP_OPCODE_PUSH_LP:
		dp_vm_push(vm, vm->lp);
		break;
	case DP_OPCODE_PUSH_PLP:
		dp_vm_push(vm, vm->plp);
		break;
	case DP_OPCODE_POP_LP:
		arg = dp_vm_pop(vm);
		set_lp(vm, arg);
		break;
	default:
		set_code(vm, op, arg);
		break;
	}
}
