// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rules: where the return address is, by .eh_frame.
 *
 * A frame description is a small program that makes a table: for each range of
 * code, how to find the CFA, the stack pointer before the call. Only the rules
 * for the CFA and for the return address are followed.
 *
 * Source: DWARF 4, 6.4.2; LSB, "Exception Frames".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/grow.h"
#include "sym/unwind/cursor.h"
#include "sym/unwind/fdes.h"
#include "sym/unwind/rows.h"

#define DEPTH_MAX 16
#define RA_OFFSET (-8)

/* Operations in the upper two bits, whose operand is in the others. */
#define OP_ADVANCE 0x40
#define OP_OFFSET 0x80
#define OP_RESTORE 0xc0
#define OP_OPERAND 0x3f

enum op {
	OP_NOP = 0x00,
	OP_SET_LOC = 0x01,
	OP_ADVANCE1 = 0x02,
	OP_ADVANCE2 = 0x03,
	OP_ADVANCE4 = 0x04,
	OP_OFFSET_EXTENDED = 0x05,
	OP_RESTORE_EXTENDED = 0x06,
	OP_UNDEFINED = 0x07,
	OP_SAME_VALUE = 0x08,
	OP_REGISTER = 0x09,
	OP_REMEMBER = 0x0a,
	OP_RESTORE_STATE = 0x0b,
	OP_DEF_CFA = 0x0c,
	OP_DEF_CFA_REGISTER = 0x0d,
	OP_DEF_CFA_OFFSET = 0x0e,
	OP_DEF_CFA_EXPRESSION = 0x0f,
	OP_EXPRESSION = 0x10,
	OP_OFFSET_EXTENDED_SF = 0x11,
	OP_DEF_CFA_SF = 0x12,
	OP_DEF_CFA_OFFSET_SF = 0x13,
	OP_VAL_OFFSET = 0x14,
	OP_VAL_OFFSET_SF = 0x15,
	OP_VAL_EXPRESSION = 0x16,
	OP_ARGS_SIZE = 0x2e,
	OP_NEGATIVE_OFFSET = 0x2f,
};

struct machine {
	const struct dp_eh *frames;
	struct dp_rows *rows;
	struct dp_row now, first; /* first: after the CIE's rules */
	struct dp_row stack[DEPTH_MAX];
	unsigned int depth;
	int err;
};

static void put_row(struct machine *m)
{
	struct dp_rows *r = m->rows;

	if (r->n && r->v[r->n - 1].start == m->now.start)
		r->n--;
	m->err = dp_grow(&r->v, r->n, &r->room, sizeof(*r->v));
	if (!m->err)
		r->v[r->n++] = m->now;
}

static void advance(struct machine *m, u64 delta)
{
	put_row(m);
	m->now.start += delta * m->frames->code_align;
}

static void set_ra(struct machine *m, u64 reg, bool is_home)
{
	if (reg == m->frames->ra)
		m->now.ra = is_home;
}

static void set_offset(struct machine *m, u64 reg, s64 factored)
{
	set_ra(m, reg, factored * m->frames->data_align == RA_OFFSET);
}

static void skip_block(struct dp_cursor *c)
{
	u64 n = dp_cursor_uleb(c);

	if (n > (u64)(c->end - c->p))
		c->bad = true;
	else
		c->p += n;
}

static void def_cfa(struct machine *m, u64 reg, s64 offset)
{
	m->now.reg = reg < DP_ROW_LOST ? (u8)reg : DP_ROW_NO_REG;
	m->now.cfa = offset;
}

static void remember(struct machine *m, struct dp_cursor *c)
{
	if (m->depth == DEPTH_MAX)
		c->bad = true;
	else
		m->stack[m->depth++] = m->now;
}

static void restore_state(struct machine *m, struct dp_cursor *c)
{
	u64 start = m->now.start;

	if (!m->depth) {
		c->bad = true;
		return;
	}
	m->now = m->stack[--m->depth];
	m->now.start = start;
}

/* Rules for the CFA. Return: false if @op is none of them. */
static bool run_cfa(struct machine *m, struct dp_cursor *c, u8 op)
{
	u64 reg;

	switch (op) {
	case OP_DEF_CFA:
		reg = dp_cursor_uleb(c);
		def_cfa(m, reg, (s64)dp_cursor_uleb(c));
		return true;
	case OP_DEF_CFA_SF:
		reg = dp_cursor_uleb(c);
		def_cfa(m, reg, dp_cursor_sleb(c) * m->frames->data_align);
		return true;
	case OP_DEF_CFA_REGISTER:
		def_cfa(m, dp_cursor_uleb(c), m->now.cfa);
		return true;
	case OP_DEF_CFA_OFFSET:
		m->now.cfa = (s64)dp_cursor_uleb(c);
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		m->now.cfa = dp_cursor_sleb(c) * m->frames->data_align;
		return true;
	case OP_DEF_CFA_EXPRESSION:
		skip_block(c);
		m->now.reg = DP_ROW_NO_REG;
		return true;
	}
	return false;
}

/* Rules for one register. */
static bool run_register(struct machine *m, struct dp_cursor *c, u8 op)
{
	u64 reg;

	if (op < OP_OFFSET_EXTENDED || op > OP_NEGATIVE_OFFSET)
		return false;
	switch (op) {
	case OP_OFFSET_EXTENDED:
		reg = dp_cursor_uleb(c);
		set_offset(m, reg, (s64)dp_cursor_uleb(c));
		return true;
	case OP_OFFSET_EXTENDED_SF:
		reg = dp_cursor_uleb(c);
		set_offset(m, reg, dp_cursor_sleb(c));
		return true;
	case OP_NEGATIVE_OFFSET:
		reg = dp_cursor_uleb(c);
		set_offset(m, reg, -(s64)dp_cursor_uleb(c));
		return true;
	case OP_RESTORE_EXTENDED:
		set_ra(m, dp_cursor_uleb(c), m->first.ra);
		return true;
	case OP_UNDEFINED:
	case OP_SAME_VALUE:
		set_ra(m, dp_cursor_uleb(c), false);
		return true;
	case OP_REGISTER:
	case OP_VAL_OFFSET:
	case OP_VAL_OFFSET_SF:
		set_ra(m, dp_cursor_uleb(c), false);
		dp_cursor_uleb(c);
		return true;
	case OP_EXPRESSION:
	case OP_VAL_EXPRESSION:
		set_ra(m, dp_cursor_uleb(c), false);
		skip_block(c);
		return true;
	}
	return false;
}

static void run_other(struct machine *m, struct dp_cursor *c, u8 op)
{
	switch (op) {
	case OP_NOP:
		break;
	case OP_ADVANCE1:
		advance(m, dp_cursor_take(c, 1));
		break;
	case OP_ADVANCE2:
		advance(m, dp_cursor_take(c, 2));
		break;
	case OP_ADVANCE4:
		advance(m, dp_cursor_take(c, 4));
		break;
	case OP_REMEMBER:
		remember(m, c);
		break;
	case OP_RESTORE_STATE:
		restore_state(m, c);
		break;
	case OP_ARGS_SIZE:
		dp_cursor_uleb(c);
		break;
	default: /* OP_SET_LOC too: nobody makes it */
		c->bad = true;
		break;
	}
}

static bool run(struct machine *m, struct dp_cursor c)
{
	u8 op;

	while (c.p < c.end && !c.bad && !m->err) {
		op = dp_cursor_take(&c, 1);
		switch (op & ~OP_OPERAND) {
		case OP_ADVANCE:
			advance(m, op & OP_OPERAND);
			continue;
		case OP_OFFSET:
			set_offset(m, op & OP_OPERAND, (s64)dp_cursor_uleb(&c));
			continue;
		case OP_RESTORE:
			set_ra(m, op & OP_OPERAND, m->first.ra);
			continue;
		}
		if (!run_cfa(m, &c, op) && !run_register(m, &c, op))
			run_other(m, &c, op);
	}
	return !c.bad && !m->err;
}

int dp_rows_read(struct dp_rows *rows, struct dp_eh *frames,
		 const struct dp_fde *fde)
{
	struct machine m = { .frames = frames, .rows = rows };
	struct dp_cursor rules;

	rows->n = 0;
	if (!dp_eh_rules(frames, fde, &rules))
		return -EILSEQ;
	m.now.start = fde->start;
	m.now.reg = DP_ROW_NO_REG;
	if (run(&m, frames->initial)) {
		m.first = m.now;
		if (run(&m, rules))
			put_row(&m);
		else
			rows->n = 0;
	}
	if (m.err)
		return m.err;
	return rows->n ? 0 : -EILSEQ;
}

const struct dp_row *dp_rows_at(const struct dp_rows *rows, u64 addr)
{
	size_t lo = 0, hi = rows->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (rows->v[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &rows->v[lo - 1] : NULL;
}

void dp_rows_free(struct dp_rows *rows)
{
	free(rows->v);
	memset(rows, 0, sizeof(*rows));
}
