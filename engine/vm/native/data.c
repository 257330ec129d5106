// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * data: literals, registers and memory of a program that is walked, and what it logs: elements
 * alone, so many that a record has room.
 */
#include "arch/arch.h"
#include "engine/vm/native/value.h"
#include "engine/vm/native/walk.h"
#include "engine/vm/ops.h"

#define WORD_WIDTH 64
#define ELEMENT 8

static bool push_memory(struct dp_walk *w, u8 size)
{
	if (w->limits->loads)
		dp_walk_push(w, dp_value_load(w->n, dp_walk_pop(w), size));
	else
		w->end = DP_NATIVE_LEAVE;
	return true;
}

/* Whole words, as many as there is room for */
static bool push_text(struct dp_walk *w, u64 words)
{
	u8 most = dp_walk_pop(w), address = dp_walk_pop(w), i;
	u64 bytes;

	if (!w->limits->loads || !words || words > DP_VM_TEXT_WORDS ||
	    !dp_value_is_const(w->n, most, &bytes) ||
	    bytes != words * ELEMENT) {
		w->end = DP_NATIVE_LEAVE;
		return true;
	}
	dp_walk_push(w, dp_value_text(w->n, address, (u8)words));
	for (i = 1; i < words; i++)
		dp_walk_push(w, dp_value_rest(w->n, i));
	return true;
}

bool dp_walk_data(struct dp_walk *w, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_PUSH:
		dp_walk_push(w, dp_value_const(w->n, arg));
		return true;
	case DP_OPCODE_PUSH_WID:
		dp_walk_push(w, dp_value_const(w->n, (u64)-WORD_WIDTH));
		return true;
	case DP_OPCODE_PUSH_R:
	case DP_OPCODE_PUSH_U:
		if (!dp_native_reads((u16)arg))
			return false;
		dp_walk_push(w, dp_value_reg(w->n, (u16)arg));
		return true;
	case DP_OPCODE_PUSH_STR:
		return push_text(w, arg);
	case DP_OPCODE_PUSH_MEM_U8:
		return push_memory(w, 1);
	case DP_OPCODE_PUSH_MEM_U16:
		return push_memory(w, 2);
	case DP_OPCODE_PUSH_MEM_U32:
		return push_memory(w, 4);
	case DP_OPCODE_PUSH_MEM_U64:
		return push_memory(w, 8);
	default:
		return false;
	}
}

static void log_elements(struct dp_walk *w, u64 n)
{
	struct dp_walk_state *s = w->s;
	struct dp_native_record *r = &s->record;
	u32 room = w->limits->logmax - s->lp;
	u64 i;

	if (!w->limits->records || r->nr_items == DP_NATIVE_ITEMS ||
	    n > (u64)(DP_NATIVE_ELEMENTS - r->nr_values) ||
	    DP_ITEM_PREFIX + n * ELEMENT > room) {
		w->end = DP_NATIVE_LEAVE;
		return;
	}
	for (i = 0; i < n; i++)
		r->values[r->nr_values++] = dp_walk_peek(w, s->tos + i);
	r->items[r->nr_items++] = (u8)n;
	s->tos = (u32)(s->tos + n) & w->limits->stack_mask;
	s->plp = s->lp;
	s->lp += DP_ITEM_PREFIX + (u32)n * ELEMENT;
}

/* Only a record has them. */
static void set_code(struct dp_walk *w, u8 op, u64 arg)
{
	struct dp_native_record *r = &w->s->record;

	if ((op == DP_OPCODE_SETMIN || op == DP_OPCODE_SETMAJ) &&
	    !dp_value_is_const(w->n, dp_walk_pop(w), &arg))
		w->s->unknown = true;
	else if (op == DP_OPCODE_SETMIN || op == DP_OPCODE_SETMIN_I)
		r->minor = (u16)arg;
	else
		r->major = (u16)arg;
}

bool dp_walk_log(struct dp_walk *w, u8 op, u64 arg)
{
	switch (op) {
	case DP_OPCODE_LOG:
		if (dp_walk_known(w, dp_walk_pop(w), &arg))
			log_elements(w, arg);
		return true;
	case DP_OPCODE_LOG_I:
		log_elements(w, arg);
		return true;
	case DP_OPCODE_PUSH_LP:
		dp_walk_push(w, dp_value_const(w->n, w->s->lp));
		return true;
	case DP_OPCODE_PUSH_PLP:
		dp_walk_push(w, dp_value_const(w->n, w->s->plp));
		return true;
	case DP_OPCODE_SETMIN:
	case DP_OPCODE_SETMIN_I:
	case DP_OPCODE_SETMAJ:
	case DP_OPCODE_SETMAJ_I:
		set_code(w, op, arg);
		return true;
	default:
		return false;
	}
}

/* A hit that is met is counted, and so is one that makes a record: neither does both. */
void dp_walk_end(struct dp_walk *w, bool keeps)
{
	const struct dp_native_record *r = &w->s->record;
	struct dp_native *n = w->n;

	w->end = w->s->met ? DP_NATIVE_MET : DP_NATIVE_UNMET;
	if (!keeps || !r->nr_items)
		return;
	w->end = DP_NATIVE_LEAVE;
	if (w->s->met || w->s->unknown || n->nr_records == DP_NATIVE_RECORDS)
		return;
	n->blocks[w->s->block].record = n->nr_records;
	n->records[n->nr_records++] = *r;
	w->end = DP_NATIVE_RECORD;
}
