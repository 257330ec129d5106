// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cfi: the program of a frame description. */
#include "sym/unwind/cfi.h"
#include <dwarf.h>

/* Of an operation in the upper two bits. */
#define OP_OPERAND 0x3f

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
	case DW_CFA_def_cfa:
		reg = dp_cursor_uleb(c);
		set_cfa(m, reg, (int64_t)dp_cursor_uleb(c));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = dp_cursor_uleb(c);
		set_cfa(m, reg, take_factored(m, true));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(m, dp_cursor_uleb(c), m->row.cfa);
		return true;
	case DW_CFA_def_cfa_offset:
		m->row.cfa = (int64_t)dp_cursor_uleb(c);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		m->row.cfa = take_factored(m, true);
		return true;
	case DW_CFA_def_cfa_expression:
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

	if ((op < DW_CFA_offset_extended || op > DW_CFA_register) &&
	    op != DW_CFA_expression && op != DW_CFA_offset_extended_sf &&
	    op != DW_CFA_GNU_negative_offset_extended &&
	    (op < DW_CFA_val_offset || op > DW_CFA_val_expression))
		return false;
	reg = dp_cursor_uleb(c);
	if (op == DW_CFA_offset_extended || op == DW_CFA_offset_extended_sf)
		set(m, reg, DP_CFI_AT_CFA,
		    take_factored(m, op == DW_CFA_offset_extended_sf));
	else if (op == DW_CFA_GNU_negative_offset_extended)
		set(m, reg, DP_CFI_AT_CFA,
		    (int64_t) - (uint64_t)take_factored(m, false));
	else if (op == DW_CFA_val_offset || op == DW_CFA_val_offset_sf)
		set(m, reg, DP_CFI_IS_CFA,
		    take_factored(m, op == DW_CFA_val_offset_sf));
	else if (op == DW_CFA_expression || op == DW_CFA_val_expression)
		set(m, reg,
		    op == DW_CFA_expression ? DP_CFI_AT_EXPR : DP_CFI_IS_EXPR,
		    (int64_t)take_block(m));
	else if (op == DW_CFA_register)
		set(m, reg, DP_CFI_IN_REG, (int64_t)dp_cursor_uleb(c));
	else if (op == DW_CFA_restore_extended)
		set_back(m, reg);
	else
		set(m, reg,
		    op == DW_CFA_same_value ? DP_CFI_SAME : DP_CFI_UNDEFINED,
		    0);
	return true;
}

static void run_other(struct dp_cfi *m, uint8_t op)
{
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_remember_state:
		if (m->depth == DP_CFI_DEPTH)
			m->bad = true;
		else
			m->saved[m->depth++] = m->row;
		break;
	case DW_CFA_restore_state:
		if (!m->depth)
			m->bad = true;
		else
			m->row = m->saved[--m->depth];
		break;
	case DW_CFA_GNU_args_size:
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

	if ((op & ~OP_OPERAND) == DW_CFA_advance_loc) {
		by = op & OP_OPERAND;
	} else if (op == DW_CFA_set_loc) {
		m->end = dp_cursor_address(
			c, m->eh->enc,
			m->eh->vaddr + (uint64_t)(c->p - m->eh->data));
		return true;
	} else if (op >= DW_CFA_advance_loc1 && op <= DW_CFA_advance_loc4) {
		by = dp_cursor_take(c, 1u << (op - DW_CFA_advance_loc1));
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
		if ((op & ~OP_OPERAND) == DW_CFA_offset)
			set(m, op & OP_OPERAND, DP_CFI_AT_CFA,
			    take_factored(m, false));
		else if ((op & ~OP_OPERAND) == DW_CFA_restore)
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
