// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cfi: the program of a frame description. */
#include "sym/unwind/cfi.h"

/* Operations in the upper two bits; the lower six are the operand. */
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

static void set(struct dp_cfi *m, uint64_t reg, enum dp_cfi_how how,
		int64_t value)
{
	if (reg >= DP_CFI_REGS)
		return;
	m->row.how[reg] = how;
	m->row.value[reg] = (int32_t)value;
	if (value != (int32_t)value)
		m->bad = true;
}

static void set_back(struct dp_cfi *m, uint64_t reg)
{
	if (reg < DP_CFI_REGS)
		set(m, reg, m->first.how[reg], m->first.value[reg]);
}

static int64_t take_factored(struct dp_cfi *m, bool is_signed)
{
	uint64_t v = is_signed ? (uint64_t)dp_cursor_sleb(&m->code) :
				 dp_cursor_uleb(&m->code);

	return (int64_t)(v * (uint64_t)m->eh->data_align);
}

static uint64_t take_block(struct dp_cfi *m)
{
	uint64_t at = (uint64_t)(m->code.p - m->eh->data);

	dp_cursor_block(&m->code);
	return at;
}

static void set_cfa(struct dp_cfi *m, uint64_t reg, int64_t offset)
{
	m->row.cfa_reg = reg < DP_CFI_NO_REG ? (uint8_t)reg : DP_CFI_NO_REG;
	m->row.cfa = offset;
	m->row.cfa_expr = 0;
}

/* Run a rule for the CFA. Return: false if @op is no such rule. */
static bool run_cfa(struct dp_cfi *m, uint8_t op)
{
	struct dp_cursor *c = &m->code;
	uint64_t reg;

	switch (op) {
	case OP_DEF_CFA:
		reg = dp_cursor_uleb(c);
		set_cfa(m, reg, (int64_t)dp_cursor_uleb(c));
		return true;
	case OP_DEF_CFA_SF:
		reg = dp_cursor_uleb(c);
		set_cfa(m, reg, take_factored(m, true));
		return true;
	case OP_DEF_CFA_REGISTER:
		set_cfa(m, dp_cursor_uleb(c), m->row.cfa);
		return true;
	case OP_DEF_CFA_OFFSET:
		m->row.cfa = (int64_t)dp_cursor_uleb(c);
		return true;
	case OP_DEF_CFA_OFFSET_SF:
		m->row.cfa = take_factored(m, true);
		return true;
	case OP_DEF_CFA_EXPRESSION:
		m->row.cfa_reg = DP_CFI_NO_REG;
		m->row.cfa_expr = take_block(m);
		return true;
	}
	return false;
}

/* Run a rule for one register, whose number comes first. */
static bool run_register(struct dp_cfi *m, uint8_t op)
{
	struct dp_cursor *c = &m->code;
	uint64_t reg;

	if ((op < OP_OFFSET_EXTENDED || op > OP_REGISTER) &&
	    op != OP_EXPRESSION && op != OP_OFFSET_EXTENDED_SF &&
	    op != OP_NEGATIVE_OFFSET &&
	    (op < OP_VAL_OFFSET || op > OP_VAL_EXPRESSION))
		return false;
	reg = dp_cursor_uleb(c);
	if (op == OP_OFFSET_EXTENDED || op == OP_OFFSET_EXTENDED_SF)
		set(m, reg, DP_CFI_AT_CFA,
		    take_factored(m, op == OP_OFFSET_EXTENDED_SF));
	else if (op == OP_NEGATIVE_OFFSET)
		set(m, reg, DP_CFI_AT_CFA,
		    (int64_t) - (uint64_t)take_factored(m, false));
	else if (op == OP_VAL_OFFSET || op == OP_VAL_OFFSET_SF)
		set(m, reg, DP_CFI_IS_CFA,
		    take_factored(m, op == OP_VAL_OFFSET_SF));
	else if (op == OP_EXPRESSION || op == OP_VAL_EXPRESSION)
		set(m, reg,
		    op == OP_EXPRESSION ? DP_CFI_AT_EXPR : DP_CFI_IS_EXPR,
		    (int64_t)take_block(m));
	else if (op == OP_REGISTER)
		set(m, reg, DP_CFI_IN_REG, (int64_t)dp_cursor_uleb(c));
	else if (op == OP_RESTORE_EXTENDED)
		set_back(m, reg);
	else
		set(m, reg,
		    op == OP_SAME_VALUE ? DP_CFI_SAME : DP_CFI_UNDEFINED, 0);
	return true;
}

static void run_other(struct dp_cfi *m, uint8_t op)
{
	switch (op) {
	case OP_NOP:
		break;
	case OP_REMEMBER:
		if (m->depth == DP_CFI_DEPTH)
			m->bad = true;
		else
			m->saved[m->depth++] = m->row;
		break;
	case OP_RESTORE_STATE:
		if (!m->depth)
			m->bad = true;
		else
			m->row = m->saved[--m->depth];
		break;
	case OP_ARGS_SIZE:
		dp_cursor_uleb(&m->code);
		break;
	default:
		m->bad = true;
		break;
	}
}

/* End a row. Return: false if @op does not end rows. */
static bool run_advance(struct dp_cfi *m, uint8_t op)
{
	struct dp_cursor *c = &m->code;
	uint64_t by;

	if ((op & ~OP_OPERAND) == OP_ADVANCE) {
		by = op & OP_OPERAND;
	} else if (op == OP_SET_LOC) {
		m->end = dp_cursor_address(
			c, m->eh->enc,
			m->eh->vaddr + (uint64_t)(c->p - m->eh->data));
		return true;
	} else if (op >= OP_ADVANCE1 && op <= OP_ADVANCE4) {
		by = dp_cursor_take(c, 1u << (op - OP_ADVANCE1));
	} else {
		return false;
	}
	m->end = m->start + by * m->eh->code_align;
	return true;
}

/* Run up to the end of the row. Return: whether an advance ended it. */
static bool run(struct dp_cfi *m)
{
	uint8_t op;

	while (m->code.p < m->code.end && !m->code.bad && !m->bad) {
		op = (uint8_t)dp_cursor_take(&m->code, 1);
		if (run_advance(m, op))
			return true;
		if ((op & ~OP_OPERAND) == OP_OFFSET)
			set(m, op & OP_OPERAND, DP_CFI_AT_CFA,
			    take_factored(m, false));
		else if ((op & ~OP_OPERAND) == OP_RESTORE)
			set_back(m, op & OP_OPERAND);
		else if (!run_cfa(m, op) && !run_register(m, op))
			run_other(m, op);
	}
	return false;
}

void dp_cfi_begin(struct dp_cfi *m, const struct dp_eh *eh,
		  const struct dp_fde *fde, struct dp_cursor rules)
{
	__builtin_memset(m, 0, offsetof(struct dp_cfi, saved));
	m->eh = eh;
	m->code = eh->initial;
	m->row.cfa_reg = DP_CFI_NO_REG;
	/* A CIE's rules have no addresses: an advance there is an error. */
	if (run(m) || m->code.bad)
		m->bad = true;
	m->first = m->row;
	m->code = rules;
	m->end = fde->start;
}

bool dp_cfi_next(struct dp_cfi *m)
{
	if (m->bad || m->done)
		return false;
	m->start = m->end;
	if (!run(m)) {
		m->end = UINT64_MAX;
		m->done = true;
	}
	m->bad |= m->code.bad;
	return !m->bad;
}
