// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * variable: local and global variables.
 *
 * Other threads' machines share them: inc and dec are atomic, and loads and stores are
 * not torn.
 */
#include "engine/vm/machine.h"

/* The local instructions follow the global ones in the same order. */
#define TO_GLOBAL (DP_OPCODE_PUSH_LV_I - DP_OPCODE_PUSH_GV_I)

/* One that is allocated is known by its state. */
static u64 *find_allocated(struct dp_vm *vm, u64 index)
{
	u64 i = index - DP_VM_GLOBALS;

	return vm->globals && i < DP_VM_GLOBALS &&
			       __atomic_load_n(&vm->globals->state[i],
					       __ATOMIC_RELAXED) ?
		       &vm->globals->value[i] :
		       NULL;
}

static u64 *find(struct dp_vm *vm, bool global, u64 index)
{
	u32 have = global ? vm->nr_gv : vm->nr_lv;
	u64 *allocated;

	if (index < have)
		return (global ? vm->gv : vm->lv) + index;
	allocated = global ? find_allocated(vm, index) : NULL;
	if (allocated)
		return allocated;
	dp_vm_raise(vm, DP_EX_INVALID_OPERAND,
		    global ? DP_VM_OPERAND_GV : DP_VM_OPERAND_LV, index);
	return NULL;
}

static void store(struct dp_vm *vm, bool global, u64 index, u64 value)
{
	u64 *v = find(vm, global, index);

	if (v)
		__atomic_store_n(v, value, __ATOMIC_RELAXED);
}

static void load(struct dp_vm *vm, bool global, u64 index)
{
	u64 *v = find(vm, global, index);

	if (v)
		dp_vm_push(vm, __atomic_load_n(v, __ATOMIC_RELAXED));
}

static void add(struct dp_vm *vm, bool global, u64 index, u64 n)
{
	u64 *v = find(vm, global, index);

	if (v)
		__atomic_fetch_add(v, n, __ATOMIC_RELAXED);
}

/* Other machines may take one of them at the same time. Return: how many are taken. */
static u32 take(struct dp_vm_globals *g, u32 base, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u16 is = 0;

		if (!__atomic_compare_exchange_n(
			    &g->state[base + i], &is, DP_GLOBAL_INSIDE, false,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
		__atomic_store_n(&g->value[base + i], 0, __ATOMIC_RELAXED);
	}
	return i;
}

static void give_back(struct dp_vm_globals *g, u32 base, u32 n)
{
	while (n--)
		__atomic_store_n(&g->state[base + n], 0, __ATOMIC_RELEASE);
}

static void allocate(struct dp_vm *vm, u64 n)
{
	struct dp_vm_globals *g = vm->globals;
	u32 base = 0, got;

	while (g && n && n <= DP_VM_GLOBALS && base + n <= DP_VM_GLOBALS) {
		got = take(g, base, (u32)n);
		if (got == n) {
			__atomic_store_n(&g->state[base], (u16)n,
					 __ATOMIC_RELEASE);
			dp_vm_push(vm, DP_VM_GLOBALS + base);
			return;
		}
		give_back(g, base, got);
		base += got + 1;
	}
	dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, n);
}

/* The block is this machine's once its state says so. */
static void release(struct dp_vm *vm, u64 index)
{
	struct dp_vm_globals *g = vm->globals;
	u64 base = index - DP_VM_GLOBALS;
	u16 n = 0;

	if (g && base < DP_VM_GLOBALS)
		n = __atomic_load_n(&g->state[base], __ATOMIC_RELAXED);
	if (n && n <= DP_VM_GLOBALS - base &&
	    __atomic_compare_exchange_n(&g->state[base], &n, DP_GLOBAL_INSIDE,
					false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		give_back(g, (u32)base, n);
	else
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_GV, index);
}

/* Return: false: it is another instruction. */
static bool blocks(struct dp_vm *vm, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_ALLOC_GV:
		allocate(vm, dp_vm_pop(vm));
		return true;
	case DP_OPCODE_FREE_GV:
		release(vm, dp_vm_pop(vm));
		return true;
	case DP_OPCODE_FREE_GV_I:
		release(vm, arg);
		return true;
	default:
		return false;
	}
}

#define SPREAD 0x9e3779b1u
#define TURNS 0xffffffffu

/* One more turn of @key in its slot. Return: false: the slot has another key. Others may change it
 * meanwhile. A count that cannot grow stays as it is. */
static bool take_turn(u64 *slot, u64 key, u64 *before)
{
	u64 is = __atomic_load_n(slot, __ATOMIC_RELAXED);

	do {
		if (is && is >> 32 != key)
			return false;
		*before = is & TURNS;
	} while (*before != TURNS &&
		 !__atomic_compare_exchange_n(
			 slot, &is, key << 32 | (*before + 1), false,
			 __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* ( key -- n ): the table is what is behind variable @first; a slot has a key, not 0, and its turns. */
static void turn(struct dp_vm *vm, u64 first)
{
	u64 key = (u32)dp_vm_pop(vm), n = vm->nr_lv - first, before, i;
	u32 at = (u32)key * SPREAD;

	for (i = 0; key && first < vm->nr_lv && i < DP_VM_TURNS && i < n; i++)
		if (take_turn(&vm->lv[first + (at + i) % n], key, &before)) {
			dp_vm_push(vm, before);
			return;
		}
	dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LV, first);
}

void dp_vm_variable(struct dp_vm *vm, u8 op, u64 arg)
{
	bool global = op < DP_OPCODE_PUSH_LV_I;
	u64 value;

	if (op == DP_OPCODE_TURN) {
		turn(vm, arg);
		return;
	}
	if (blocks(vm, op, arg))
		return;
	switch (global ? op : op - TO_GLOBAL) {
	case DP_OPCODE_PUSH_GV:
		arg = dp_vm_pop(vm);
		__attribute__((__fallthrough__));
	case DP_OPCODE_PUSH_GV_I:
		load(vm, global, arg);
		break;
	case DP_OPCODE_POP_GV:
		value = dp_vm_pop(vm);
		arg = dp_vm_pop(vm);
		store(vm, global, arg, value);
		break;
	case DP_OPCODE_POP_GV_I:
		store(vm, global, arg, dp_vm_pop(vm));
		break;
	case DP_OPCODE_MOVE_GV:
		arg = dp_vm_pop(vm);
		__attribute__((__fallthrough__));
	case DP_OPCODE_MOVE_GV_I:
		store(vm, global, arg, dp_vm_peek(vm, vm->tos));
		break;
	case DP_OPCODE_INC_GV:
		arg = dp_vm_pop(vm);
		__attribute__((__fallthrough__));
	case DP_OPCODE_INC_GV_I:
		add(vm, global, arg, 1);
		break;
	case DP_OPCODE_DEC_GV:
		arg = dp_vm_pop(vm);
		__attribute__((__fallthrough__));
	case DP_OPCODE_DEC_GV_I:
		add(vm, global, arg, -1ull);
		break;
	}
}
