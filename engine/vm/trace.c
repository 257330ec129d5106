// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * trace: stack traces of a program's own calls.
 *
 *   trace   code, handler (an offset, or -1), two parameters, item of frames
 *   frame   offset that was called, offset of the return, items of the stack, of local and of
 *           global variables
 *
 * Numbers have 8 bytes. The frames are those of calls, the innermost first. A trace is appended
 * whole, or not at all.
 */
#include "engine/vm/machine.h"
#include "arch/arch.h"

#define ELEMENT 8u
#define TRACE_HEAD (4 * ELEMENT + DP_ITEM_PREFIX)
#define FRAME_HEAD (2 * ELEMENT + DP_RANGES * DP_ITEM_PREFIX)

static const u8 tokens[DP_RANGES] = { DP_ITEM_STACK, DP_ITEM_LV, DP_ITEM_GV };

static u64 size_of(const struct dp_vm *vm)
{
	u64 size = TRACE_HEAD;
	u32 i, k;

	for (i = 1; i <= vm->depth; i++) {
		size += FRAME_HEAD;
		for (k = 0; k < DP_RANGES; k++)
			size += ELEMENT * vm->frames[i].shown[k].n;
	}
	return size;
}

static void put(struct dp_vm *vm, u64 value)
{
	dp_bytes_copy(vm->traces + vm->stp, &value, sizeof(value));
	vm->stp += sizeof(value);
}

static void put_prefix(struct dp_vm *vm, u8 token, u32 count)
{
	vm->traces[vm->stp++] = token;
	vm->traces[vm->stp++] = (u8)count;
	vm->traces[vm->stp++] = (u8)(count >> 8);
}

static u64 shown(const struct dp_vm *vm, enum dp_vm_range range, u32 i)
{
	switch (range) {
	case DP_RANGE_LV:
		return __atomic_load_n(&vm->lv[i], __ATOMIC_RELAXED);
	case DP_RANGE_GV:
		return __atomic_load_n(&vm->gv[i], __ATOMIC_RELAXED);
	default:
		return dp_vm_peek(vm, i);
	}
}

static void put_frame(struct dp_vm *vm, const struct dp_vm_frame *f)
{
	u32 k, i;

	put(vm, f->called);
	put(vm, f->back);
	for (k = 0; k < DP_RANGES; k++) {
		put_prefix(vm, tokens[k], f->shown[k].n);
		for (i = 0; i < f->shown[k].n; i++)
			put(vm, shown(vm, k, f->shown[k].first + i));
	}
}

bool dp_vm_stack_trace(struct dp_vm *vm)
{
	u32 handler = vm->frames[vm->depth].handler, i;

	if (size_of(vm) > vm->tracemax - vm->stp)
		return false;
	put(vm, vm->exception);
	put(vm, handler == DP_VM_NO_HANDLER ? ~0ull : handler);
	put(vm, vm->parm[0]);
	put(vm, vm->parm[1]);
	put_prefix(vm, DP_ITEM_FRAMES, vm->depth);
	for (i = vm->depth; i; i--)
		put_frame(vm, &vm->frames[i]);
	return true;
}

/* ( index count -- ) for this frame */
static void choose(struct dp_vm *vm, enum dp_vm_range range)
{
	u64 n = dp_vm_pop(vm), first = dp_vm_pop(vm);
	u64 have = range == DP_RANGE_LV ? vm->nr_lv :
		   range == DP_RANGE_GV ? vm->nr_gv :
					  vm->stack_mask + 1ull;

	if (range == DP_RANGE_STACK)
		first &= vm->stack_mask;
	else if (n && (first >= have || n > have - first)) {
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND,
			    range == DP_RANGE_GV ? DP_VM_OPERAND_GV :
						   DP_VM_OPERAND_LV,
			    first >= have ? first : have);
		return;
	}
	vm->frames[vm->depth].shown[range].first = n ? (u16)first : 0;
	vm->frames[vm->depth].shown[range].n = (u16)(n < have ? n : have);
}

/* Stack traces can be cut back, but not made longer. */
static void set_stp(struct dp_vm *vm, u64 n)
{
	if (n > vm->stp)
		dp_vm_raise(vm, DP_EX_INVALID_OPERAND, DP_VM_OPERAND_LP, n);
	else
		vm->stp = (u32)n;
}

void dp_vm_trace(struct dp_vm *vm, u8 op)
{
	switch (op) {
	case DP_OPCODE_LOG_ST:
		if (dp_vm_stack_trace(vm))
			break;
		vm->truncated = true;
		dp_vm_raise(vm, DP_EX_LOG_OVERFLOW, vm->tracemax, 0);
		break;
	case DP_OPCODE_PURGE_ST:
		vm->stp = 0;
		break;
	case DP_OPCODE_TRACE_LV:
		choose(vm, DP_RANGE_LV);
		break;
	case DP_OPCODE_TRACE_GV:
		choose(vm, DP_RANGE_GV);
		break;
	case DP_OPCODE_TRACE_PV:
		choose(vm, DP_RANGE_STACK);
		break;
	case DP_OPCODE_PUSH_STP:
		dp_vm_push(vm, vm->stp);
		break;
	default:
		set_stp(vm, dp_vm_pop(vm));
		break;
	}
}
