// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * heap: blocks of bytes that live as long as the hit.
 *
 *   heap ──► │ head │ bytes │ head │ bytes │ … │ not used yet
 *                   ▲ a handle counts from the heap's begin: it is never 0
 *
 * A program cannot forge a handle: blocks are found by a walk from the first one.
 */
#include "engine/vm/machine.h"
#include "arch/arch.h"

#define ROUND 8u
/* Blocks that are looked at, and words that are cleared, in the time of an instruction */
#define WALK 16
#define CLEAR 64

/** struct block - @size: bytes that were asked for; @room: that there are behind it */
struct block {
	u32 size;
	u16 room;
	u16 taken;
};

static struct block *at(const struct dp_vm *vm, u32 offset)
{
	return (void *)(vm->heap + offset);
}

static u32 next(const struct dp_vm *vm, u32 offset)
{
	return offset + (u32)sizeof(struct block) + at(vm, offset)->room;
}

/* Free blocks behind this one become its room. */
static void merge(struct dp_vm *vm, u32 offset)
{
	u32 behind = next(vm, offset);

	while (behind < vm->heap_used && !at(vm, behind)->taken) {
		behind = next(vm, behind);
		at(vm, offset)->room =
			(u16)(behind - offset - sizeof(struct block));
	}
	if (behind == vm->heap_used)
		vm->heap_used = offset;
}

/* What a block has too much becomes another one. */
static void split(struct dp_vm *vm, u32 offset, u32 room)
{
	struct block *b = at(vm, offset), *rest;

	if (b->room < room + sizeof(*b) + ROUND)
		return;
	rest = at(vm, offset + (u32)sizeof(*b) + room);
	rest->room = (u16)(b->room - room - sizeof(*b));
	rest->taken = 0;
	b->room = (u16)room;
}

/* What an earlier hit has left there is not for this one. */
static void take(struct dp_vm *vm, struct block *b, u32 size)
{
	u32 words = b->room / (u32)sizeof(u64);

	b->size = size;
	b->taken = 1;
	dp_words_zero((u64 *)(b + 1), words);
	dp_vm_charge(vm, words / CLEAR);
}

static void allocate(struct dp_vm *vm, u64 size)
{
	u32 room = size ? ((u32)size + ROUND - 1) & ~(ROUND - 1) : ROUND;
	u32 offset = 0, steps = 0;

	if (size > vm->heapmax) {
		dp_vm_raise(vm, DP_EX_HEAP_NOMEM, size, 0);
		return;
	}
	for (; offset < vm->heap_used; offset = next(vm, offset), steps++) {
		if (!at(vm, offset)->taken)
			merge(vm, offset);
		if (offset == vm->heap_used ||
		    (!at(vm, offset)->taken && at(vm, offset)->room >= room))
			break;
	}
	dp_vm_charge(vm, steps / WALK);
	if (offset < vm->heap_used) {
		split(vm, offset, room);
	} else if (room + sizeof(struct block) <= vm->heapmax - offset) {
		at(vm, offset)->room = (u16)room;
		vm->heap_used = next(vm, offset);
	} else {
		dp_vm_raise(vm, DP_EX_HEAP_NOMEM, size, 0);
		return;
	}
	take(vm, at(vm, offset), (u32)size);
	dp_vm_push(vm, offset + sizeof(struct block));
}

static struct block *find(struct dp_vm *vm, u64 handle, u64 within)
{
	u32 offset = 0, steps = 0;

	while (offset < vm->heap_used &&
	       offset + sizeof(struct block) < handle) {
		offset = next(vm, offset);
		steps++;
	}
	dp_vm_charge(vm, steps / WALK);
	if (offset < vm->heap_used && offset + sizeof(struct block) == handle &&
	    at(vm, offset)->taken)
		return at(vm, offset);
	dp_vm_raise(vm, DP_EX_HEAP_INVALID_HANDLE, handle, within);
	return NULL;
}

static void release(struct dp_vm *vm, u64 handle)
{
	struct block *b = find(vm, handle, 0);

	if (!b)
		return;
	b->taken = 0;
	merge(vm, (u32)((u8 *)b - vm->heap));
}

/* The bytes of @n items, or NULL */
static u8 *items(struct dp_vm *vm, u64 handle, u64 offset, u64 n, u32 size)
{
	struct block *b = find(vm, handle, offset);

	if (!b)
		return NULL;
	if (offset <= b->size && n * size <= b->size - offset)
		return (u8 *)(b + 1) + offset;
	dp_vm_raise(vm, DP_EX_HEAP_INVALID_OFFSET, handle, offset);
	return NULL;
}

static void push_items(struct dp_vm *vm, u64 n, u32 size)
{
	u64 offset = dp_vm_pop(vm), handle = dp_vm_pop(vm), value;
	const u8 *from = items(vm, handle, offset, n, size);

	for (; from && n--; from += size) {
		value = 0;
		dp_bytes_copy(&value, from, size);
		dp_vm_push(vm, value);
	}
}

static void pop_items(struct dp_vm *vm, u64 n, u32 size)
{
	u64 offset = dp_vm_pop(vm), handle = dp_vm_pop(vm), value;
	u8 *to = items(vm, handle, offset, n, size);

	for (; to && n--; to += size) {
		value = dp_vm_pop(vm);
		dp_bytes_copy(to, &value, size);
	}
}

void dp_vm_heap(struct dp_vm *vm, u8 op, u64 n)
{
	switch (op) {
	case DP_OPCODE_MALLOC:
		allocate(vm, dp_vm_pop(vm));
		break;
	case DP_OPCODE_FREE:
		release(vm, dp_vm_pop(vm));
		break;
	case DP_OPCODE_PUSHH_U8:
	case DP_OPCODE_PUSHH_U16:
	case DP_OPCODE_PUSHH_U32:
	case DP_OPCODE_PUSHH_U64:
		dp_vm_charge(vm, (u32)n / WALK);
		push_items(vm, n, 1u << (op - DP_OPCODE_PUSHH_U8));
		break;
	default:
		dp_vm_charge(vm, (u32)n / WALK);
		pop_items(vm, n, 1u << (op - DP_OPCODE_POPH_U8));
		break;
	}
}
