// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stack_depth: how much a function has on its stack, derived from its code.
 *
 * For code without descriptions: Go's, and assembly. The stack pointer's distance from
 * the entry is tracked through the instructions in order, and along direct jumps. Where
 * ways meet with different distances, nothing is known. Code that only an indirect jump
 * reaches, as the cases of a switch, has the distance of that jump.
 */
#include <stdlib.h>
#include "engine/insn/insn.h"
#include "sym/flow/opcode.h"
#include "sym/flow/map.h"
#include "sym/list.h"
#include "sym/unwind/fdes.h"

#define WORD 8
#define PASSES_MAX 8
#define DWARF_RSP 7

enum sort { UNSEEN, KNOWN, LOST };

/** struct depth - distance from each register to the CFA */
struct depth {
	u8 sort; /* enum sort of the whole, and of @rsp */
	bool has_rbp;
	s32 rsp, rbp;
};

struct walk {
	const u8 *code;
	u32 len;
	struct depth *at; /* by offset: on arrival by a jump */
	struct depth cases; /* on arrival by an indirect jump */
	struct depth now;
	s32 first; /* at the beginning */
	bool after_call; /* only nops since a call */
	bool changed;
};

static void lose(struct depth *d)
{
	d->sort = LOST;
	d->has_rbp = false;
}

static void push(struct depth *d, s32 bytes)
{
	d->rsp += bytes;
}

/* mov, lea: set @to to @from plus @disp. */
static void set(struct depth *d, u8 to, u8 from, s32 disp)
{
	bool known = from == DP_RSP ? d->sort == KNOWN :
				      from == DP_RBP && d->has_rbp;
	s32 depth = (from == DP_RSP ? d->rsp : d->rbp) - disp;

	if (to == DP_RSP && known) {
		d->sort = KNOWN;
		d->rsp = depth;
	} else if (to == DP_RSP) {
		lose(d);
	} else if (to == DP_RBP) {
		d->has_rbp = known;
		d->rbp = depth;
	}
}

static void spoil(struct depth *d, u8 reg)
{
	if (reg == DP_RSP)
		lose(d);
	else if (reg == DP_RBP)
		d->has_rbp = false;
}

static void leave(struct depth *d)
{
	set(d, DP_RSP, DP_RBP, 0);
	push(d, -WORD);
	d->has_rbp = false;
}

/* Pushes and pops are taken for words: two-byte operands do not occur on stacks. */
static void apply(struct depth *d, const struct dp_opcode *o)
{
	u8 to = dp_opcode_reg(o, 0), i;
	s64 value = 0;

	switch (o->in.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
		push(d, WORD);
		return;
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		push(d, -WORD);
		break;
	case ZYDIS_MNEMONIC_ENTER:
		lose(d);
		return;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(d);
		return;
	case ZYDIS_MNEMONIC_MOV:
		set(d, to, dp_opcode_reg(o, 1), 0);
		return;
	case ZYDIS_MNEMONIC_LEA:
		i = dp_opcode_base(o, &value);
		set(d, to, i, (s32)value);
		return;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (to != DP_RSP || !dp_opcode_constant(o, &value))
			break;
		push(d, (s32)(o->in.mnemonic == ZYDIS_MNEMONIC_ADD ? -value :
								     value));
		return;
	default:
		break;
	}
	for (i = 0; i < o->in.operand_count_visible; i++)
		if (o->op[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			spoil(d, dp_opcode_reg(o, i));
}

static bool merge(struct depth *to, const struct depth *from)
{
	struct depth old = *to;

	if (from->sort == UNSEEN)
		return false;
	if (to->sort == UNSEEN)
		*to = *from;
	if (to->sort != from->sort || to->rsp != from->rsp)
		to->sort = LOST;
	if (!from->has_rbp || to->rbp != from->rbp)
		to->has_rbp = false;
	return old.sort != to->sort || old.has_rbp != to->has_rbp;
}

/* Code behind a call that jumps reach with another depth: the call does not return. */
static bool is_behind_end(const struct walk *w, const struct depth *d)
{
	return w->after_call && d->sort == KNOWN && w->now.sort == KNOWN &&
	       d->rsp != w->now.rsp;
}

static void arrive(struct walk *w, u32 at)
{
	if (!is_behind_end(w, &w->at[at]))
		merge(&w->at[at], &w->now);
	if (w->at[at].sort != UNSEEN)
		w->now = w->at[at];
	else if (w->now.sort == UNSEEN)
		w->now = w->cases;
}

static void depart(struct walk *w, u32 at, const struct insn_facts *f)
{
	s64 to = (s64)at + f->len + f->target;
	bool direct = f->class == DP_INSN_JMP || f->class == DP_INSN_JCC ||
		      f->class == DP_INSN_LOOP;

	if (direct && to >= 0 && to < w->len && to > 0)
		w->changed |= merge(&w->at[to], &w->now);
	if (f->class == DP_INSN_JMP_IND && w->now.rsp != WORD)
		w->changed |= merge(&w->cases, &w->now);
	if (f->class == DP_INSN_JMP || f->class == DP_INSN_JMP_IND ||
	    f->class == DP_INSN_RET || f->class == DP_INSN_REFUSED)
		w->now = (struct depth){ .sort = UNSEEN };
}

static int note(struct dp_rows *rows, u64 addr, const struct depth *d)
{
	struct dp_row row = { .start = addr,
			      .cfa = d->rsp,
			      .reg = d->sort == KNOWN ? DWARF_RSP : DP_ROW_LOST,
			      .ra = true };
	struct dp_row *last = rows->n ? &rows->v[rows->n - 1] : NULL;

	if (last && last->reg == row.reg && last->cfa == row.cfa)
		return 0;
	return dp_list_push(rows, &row);
}

/* Return: 0, -EILSEQ, or what @rows came to. */
static int pass(struct walk *w, struct dp_rows *rows, u64 start)
{
	struct dp_opcode o;
	struct insn_facts f;
	u32 at;
	int err = 0;

	w->now = (struct depth){ .sort = KNOWN, .rsp = w->first };
	w->after_call = false;
	for (at = 0; at < w->len && !err; at += f.len) {
		if (dp_insn_facts(w->code + at, w->len - at, &f))
			return -EILSEQ;
		arrive(w, at);
		if (rows)
			err = note(rows, start + at, &w->now);
		dp_opcode_read(&o, w->code + at, f.len);
		apply(&w->now, &o);
		depart(w, at, &f);
		if (!dp_padding_is_nop(w->code + at, &f))
			w->after_call = f.class == DP_INSN_CALL ||
					f.class == DP_INSN_CALL_IND;
	}
	return err;
}

int dp_rows_derive(struct dp_rows *rows, const u8 *code, u32 len, u64 start,
		   s32 first)
{
	struct walk w = { .code = code, .len = len, .first = first };
	int err = 0, i;

	rows->n = 0;
	w.at = calloc(len, sizeof(*w.at));
	if (!w.at)
		return -ENOMEM;
	for (i = 0; i < PASSES_MAX && !err; i++) {
		w.changed = false;
		err = pass(&w, NULL, start);
		if (!w.changed)
			break;
	}
	if (!err && w.changed)
		err = -EILSEQ;
	if (!err)
		err = pass(&w, rows, start);
	free(w.at);
	return err;
}
