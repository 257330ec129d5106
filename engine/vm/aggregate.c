// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aggregate: the keys and values of a hit, from the stack into a table. */
#include "engine/vm/machine.h"
#include "port_hit.h"

#define WORD 8
#define COMM_WORDS 2

/* The words are taken from where they are on the stack, where no hit wraps it. */
void dp_vm_aggregate(struct dp_vm *vm, u64 arg)
{
	u32 words = arg >> DP_AGGREGATE_SHIFT & DP_AGGREGATE_COUNT_MASK;
	u32 table = arg & DP_AGGREGATE_TABLE;
	bool loses = arg & DP_AGGREGATE_LOSES;

	if (!vm->aggregate)
		return;
	if (loses || vm->tos + words > vm->stack_mask + 1) {
		vm->aggregate(table, NULL);
		return;
	}
	vm->aggregate(table, &vm->stack[vm->tos + words] - 1);
	vm->tos = (vm->tos + words) & vm->stack_mask;
	dp_vm_fill(vm, -(s64)words);
}

/* Zeros from the first one on. Return: false: there is none */
static bool cut(u8 *text, u64 len, u64 room)
{
	bool ended;
	u64 i = 0;

	while (i < len && text[i])
		i++;
	ended = i < len;
	while (i < room)
		text[i++] = 0;
	return ended;
}

static void push_words(struct dp_vm *vm, const u64 *words, u64 n)
{
	u64 i;

	for (i = 0; i < n; i++)
		dp_vm_push(vm, words[i]);
}

/* ( address most -- words… ): the first word first. What cannot be read may be behind the end. */
void dp_vm_push_text(struct dp_vm *vm, u64 n)
{
	u64 text[DP_VM_TEXT_WORDS] = { 0 }, most = dp_vm_pop(vm), got;
	u64 address = dp_vm_pop(vm);

	if (n > DP_VM_TEXT_WORDS)
		n = DP_VM_TEXT_WORDS;
	if (most > n * WORD)
		most = n * WORD;
	got = dp_vm_fetch(vm, text, address, most);
	if (!cut((u8 *)text, got, n * WORD) && got < most)
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, address + got, 0);
	else
		push_words(vm, text, n);
}

void dp_vm_push_comm(struct dp_vm *vm)
{
	u64 name[COMM_WORDS] = { 0 };

	if (!dp_port_comm(name)) {
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, 0, 0);
		return;
	}
	cut((u8 *)name, sizeof(name), sizeof(name));
	push_words(vm, name, COMM_WORDS);
}

void dp_vm_push_entered(struct dp_vm *vm, u64 offset)
{
	if (offset + WORD > vm->entered_len)
		dp_vm_raise(vm, DP_EX_INVALID_ADDR, offset, 0);
	else
		dp_vm_push(vm, dp_bytes_load(vm->entered + offset, WORD));
}
