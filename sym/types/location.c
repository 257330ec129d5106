// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * location: DWARF's expressions of where a variable is, as steps.
 *
 * A piece is in memory, if its expression says nothing else. What steps do not have makes a
 * piece that is nowhere, with the reason; the pieces beside it are not concerned.
 * Source: DWARF 5, 2.5 and 2.6.
 */
#include <string.h>
#include "sym/types/writer.h"

#define XMM0 \
	17 /* DWARF's number; general registers and the return address are below */

/** struct expression - @attr: that it is of; @op, @n: operations */
struct expression {
	Dwarf_Attribute *attr;
	const Dwarf_Op *op;
	size_t n;
};

static bool bad(struct dp_locating *l, u8 why)
{
	if (!l->why)
		l->why = why;
	return false;
}

static bool put(struct dp_locating *l, u8 op, u64 n)
{
	struct dp_tree_scope *s = &l->w->t->scope;

	if (s->steps == DP_TREE_STEPS)
		return bad(l, DP_PLACE_TOO_LARGE);
	s->step[s->steps++] = (struct dp_step){ op, n };
	return true;
}

static bool put_sum(struct dp_locating *l, u64 n)
{
	return !n || (put(l, DP_STEP_NUMBER, n) && put(l, DP_STEP_ADD, 0));
}

static bool put_register(struct dp_locating *l, u64 reg)
{
	if (reg >= XMM0 && reg < XMM0 + DP_PLACE_REGISTERS)
		return put(l, DP_STEP_VECTOR, reg - XMM0);
	if (reg >= DP_PLACE_REGISTERS)
		return bad(l, DP_PLACE_X87);
	return put(l, DP_STEP_REGISTER, reg);
}

static bool put_based(struct dp_locating *l, u64 reg, u64 offset)
{
	return put_register(l, reg) && put_sum(l, offset);
}

/* Shifts are by a number, which the step before has pushed. @first: of the piece */
static bool put_shift(struct dp_locating *l, u8 op, u32 first)
{
	struct dp_tree_scope *s = &l->w->t->scope;
	struct dp_step *last = &s->step[s->steps - 1];

	if (s->steps <= first || last->op != DP_STEP_NUMBER || last->n > 63)
		return bad(l, DP_PLACE_COMPUTED);
	last->op = op;
	return true;
}

static bool is_register(const Dwarf_Op *op, u64 *reg)
{
	*reg = op->atom == DW_OP_regx ? op->number : (u64)op->atom - DW_OP_reg0;
	return (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) ||
	       op->atom == DW_OP_regx;
}

static bool is_based(const Dwarf_Op *op, u64 *reg, u64 *offset)
{
	bool x = op->atom == DW_OP_bregx;

	*reg = x ? op->number : (u64)op->atom - DW_OP_breg0;
	*offset = x ? op->number2 : op->number;
	return (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) || x;
}

static bool is_list(const Dwarf_Attribute *attr)
{
	switch (attr->form) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		return false;
	default:
		return true;
	}
}

/* The frame base is a register, or near it: what that has in the body of the function, but not
 * before and behind it. */
static bool put_frame_register(struct dp_locating *l, u64 reg, u64 offset,
			       bool listed)
{
	if (reg >= DP_PLACE_REGISTERS)
		return bad(l, DP_PLACE_COMPUTED);
	return put(l, listed ? DP_STEP_REGISTER : DP_STEP_FRAME, reg) &&
	       put_sum(l, offset);
}

/* What an unoptimised function keeps in its frame is there once the frame is built. */
static bool is_early(const struct dp_locating *l, s64 offset)
{
	return !l->listed && offset < 0 && l->pc >= l->entry &&
	       l->pc < l->built;
}

static bool put_frame(struct dp_locating *l, s64 offset)
{
	const struct dp_libdw *dw = &l->w->r->dw;
	Dwarf_Attribute attr;
	u64 reg, base;
	Dwarf_Op *op;
	size_t n;

	if (!dw->dwarf_attr_integrate(l->function, DW_AT_frame_base, &attr) ||
	    dw->dwarf_getlocation_addr(&attr, l->pc, &op, &n, 1) != 1 || n != 1)
		return bad(l, DP_PLACE_NO_FRAME);
	if (is_early(l, offset))
		return bad(l, DP_PLACE_NO_FRAME);
	if (op->atom == DW_OP_call_frame_cfa)
		return put(l, DP_STEP_CFA, 0) && put_sum(l, (u64)offset);
	if (is_register(op, &reg))
		base = 0;
	else if (!is_based(op, &reg, &base))
		return bad(l, DP_PLACE_COMPUTED);
	/* Clang's functions without a frame have locals nowhere else. */
	if (!is_list(&attr) && l->pc < l->built)
		return bad(l, DP_PLACE_NO_FRAME);
	return put_frame_register(l, reg, base + (u64)offset, is_list(&attr));
}

static bool put_indexed(struct dp_locating *l, const struct expression *e,
			const Dwarf_Op *op)
{
	const struct dp_libdw *dw = &l->w->r->dw;
	bool constant = op->atom == DW_OP_constx ||
			op->atom == DW_OP_GNU_const_index;
	Dwarf_Attribute attr;
	Dwarf_Addr value;
	Dwarf_Word word;

	if (dw->dwarf_getlocation_attr(e->attr, op, &attr))
		return bad(l, DP_PLACE_COMPUTED);
	if (constant)
		return dw->dwarf_formudata(&attr, &word) ?
			       bad(l, DP_PLACE_COMPUTED) :
			       put(l, DP_STEP_NUMBER, word);
	if (dw->dwarf_formaddr(&attr, &value))
		return bad(l, DP_PLACE_COMPUTED);
	return put(l, DP_STEP_NUMBER, value + l->w->r->bias);
}

/* What a register was at the entry of the function is in it at the entry only. */
static bool put_entry_value(struct dp_locating *l, const struct expression *e,
			    const Dwarf_Op *op)
{
	const struct dp_libdw *dw = &l->w->r->dw;
	Dwarf_Attribute attr;
	Dwarf_Op *inner;
	size_t n;
	u64 reg;

	if (l->pc != l->entry)
		return bad(l, DP_PLACE_ENTRY_VALUE);
	if (dw->dwarf_getlocation_attr(e->attr, op, &attr) ||
	    dw->dwarf_getlocation(&attr, &inner, &n) || n != 1 ||
	    !is_register(inner, &reg))
		return bad(l, DP_PLACE_COMPUTED);
	return put_register(l, reg);
}

static bool put_implicit(struct dp_locating *l, const struct expression *e,
			 const Dwarf_Op *op)
{
	Dwarf_Block block;
	u64 value = 0;

	if (l->w->r->dw.dwarf_getlocation_implicit_value(e->attr, op, &block) ||
	    block.length > sizeof(value))
		return bad(l, DP_PLACE_COMPUTED);
	memcpy(&value, block.data, block.length);
	return put(l, DP_STEP_NUMBER, value);
}

static bool put_constant(struct dp_locating *l, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return put(l, DP_STEP_NUMBER, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_const1u:
	case DW_OP_const2u:
	case DW_OP_const4u:
	case DW_OP_const8u:
	case DW_OP_constu:
	case DW_OP_const1s:
	case DW_OP_const2s:
	case DW_OP_const4s:
	case DW_OP_const8s:
	case DW_OP_consts:
		return put(l, DP_STEP_NUMBER, op->number);
	default:
		return bad(l, DP_PLACE_COMPUTED);
	}
}

static bool put_special(struct dp_locating *l, const struct expression *e,
			const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_addrx:
	case DW_OP_constx:
	case DW_OP_GNU_addr_index:
	case DW_OP_GNU_const_index:
		return put_indexed(l, e, op);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return put_entry_value(l, e, op);
	case DW_OP_implicit_pointer:
	case DW_OP_GNU_implicit_pointer:
		return bad(l, DP_PLACE_POINTER_TO_PARTS);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return bad(l, DP_PLACE_THREAD_LOCAL);
	case DW_OP_implicit_value:
		return put_implicit(l, e, op);
	default:
		return put_constant(l, op);
	}
}

static bool put_operation(struct dp_locating *l, const struct expression *e,
			  const Dwarf_Op *op, u32 first)
{
	u64 reg, offset;

	if (is_register(op, &reg))
		return put_register(l, reg);
	if (is_based(op, &reg, &offset))
		return put_based(l, reg, offset);
	switch (op->atom) {
	case DW_OP_nop:
	case DW_OP_stack_value:
		return true;
	case DW_OP_addr:
		return put(l, DP_STEP_NUMBER, op->number + l->w->r->bias);
	case DW_OP_fbreg:
		return put_frame(l, (s64)op->number);
	case DW_OP_call_frame_cfa:
		return put(l, DP_STEP_CFA, 0);
	case DW_OP_deref:
		return put(l, DP_STEP_LOAD, sizeof(u64));
	case DW_OP_deref_size:
		return put(l, DP_STEP_LOAD, op->number);
	case DW_OP_plus_uconst:
		return put_sum(l, op->number);
	case DW_OP_plus:
		return put(l, DP_STEP_ADD, 0);
	case DW_OP_minus:
		return put(l, DP_STEP_SUB, 0);
	case DW_OP_mul:
		return put(l, DP_STEP_MUL, 0);
	case DW_OP_and:
		return put(l, DP_STEP_AND, 0);
	case DW_OP_or:
		return put(l, DP_STEP_OR, 0);
	case DW_OP_xor:
		return put(l, DP_STEP_XOR, 0);
	case DW_OP_neg:
		return put(l, DP_STEP_NEGATE, 0);
	case DW_OP_not:
		return put(l, DP_STEP_NOT, 0);
	case DW_OP_shl:
		return put_shift(l, DP_STEP_SHL, first);
	case DW_OP_shr:
		return put_shift(l, DP_STEP_SHR, first);
	case DW_OP_shra:
		return put_shift(l, DP_STEP_SAR, first);
	default:
		return put_special(l, e, op);
	}
}

/* Operations that say that their number is the value, not its address */
static bool is_value(const Dwarf_Op *op)
{
	u64 reg;

	return is_register(op, &reg) || op->atom == DW_OP_stack_value ||
	       op->atom == DW_OP_implicit_value;
}

static bool is_end(const Dwarf_Op *op)
{
	return op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece;
}

/* @size: 0: all of the value. Return: false: there is no room */
static bool add_piece(struct dp_locating *l, struct dp_tree_variable *v,
		      const struct dp_tree_piece *p)
{
	struct dp_tree_scope *s = &l->w->t->scope;

	if (s->pieces == DP_TREE_PIECES)
		return false;
	s->piece[s->pieces++] = *p;
	v->n++;
	return true;
}

/* Bytes of a piece; 0 if they are not whole */
static u32 piece_size(struct dp_locating *l, const Dwarf_Op *op)
{
	if (op->atom == DW_OP_piece)
		return (u32)op->number;
	if (op->number % 8 || op->number2)
		bad(l, DP_PLACE_COMPUTED);
	return (u32)(op->number / 8);
}

/* The operations before @end of @e, from @*i on. */
static struct dp_tree_piece read_piece(struct dp_locating *l,
				       const struct expression *e, size_t *i)
{
	struct dp_tree_scope *s = &l->w->t->scope;
	struct dp_tree_piece p = { .kind = DP_PIECE_MEMORY, .first = s->steps };

	l->why = DP_PLACE_KNOWN;
	if (*i == e->n || is_end(&e->op[*i]))
		l->why = DP_PLACE_OPTIMISED_OUT;
	for (; *i < e->n && !is_end(&e->op[*i]); ++*i) {
		if (is_value(&e->op[*i]))
			p.kind = DP_PIECE_VALUE;
		if (!l->why)
			put_operation(l, e, &e->op[*i], p.first);
	}
	if (*i < e->n)
		p.size = piece_size(l, &e->op[(*i)++]);
	if (l->why) {
		s->steps = p.first;
		p.kind = DP_PIECE_NOWHERE;
	}
	p.why = l->why;
	p.n = s->steps - p.first;
	return p;
}

static void put_nowhere(struct dp_locating *l, struct dp_tree_variable *v,
			u8 why)
{
	const struct dp_tree_piece p = { .kind = DP_PIECE_NOWHERE, .why = why };

	l->w->t->scope.pieces -= v->n;
	v->n = 0;
	add_piece(l, v, &p);
}

static void put_expression(struct dp_locating *l, const struct expression *e,
			   struct dp_tree_variable *v)
{
	struct dp_tree_piece p;
	u32 at = 0;
	size_t i = 0;

	do {
		p = read_piece(l, e, &i);
		p.offset = at;
		at += p.size;
		if (!add_piece(l, v, &p)) {
			put_nowhere(l, v, DP_PLACE_TOO_LARGE);
			return;
		}
	} while (i < e->n);
}

/* Where it is known, if it is not here */
static void put_known(struct dp_locating *l, Dwarf_Attribute *attr,
		      struct dp_tree_variable *v)
{
	struct dp_tree_scope *s = &l->w->t->scope;
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	Dwarf_Op *op;
	size_t n;

	v->first_known = s->known;
	while ((at = l->w->r->dw.dwarf_getlocations(attr, at, &base, &start,
						    &end, &op, &n)) > 0) {
		if (!n || start >= end)
			continue;
		if (v->nr_known &&
		    s->where[s->known - 1].end == start + l->w->r->bias) {
			s->where[s->known - 1].end = end + l->w->r->bias;
			continue;
		}
		if (s->known == DP_TREE_KNOWN)
			return;
		s->where[s->known++] = (struct dp_known){ start + l->w->r->bias,
							  end + l->w->r->bias };
		v->nr_known++;
	}
}

static bool put_const_value(struct dp_locating *l, Dwarf_Die *die,
			    struct dp_tree_variable *v)
{
	const struct dp_libdw *dw = &l->w->r->dw;
	struct dp_tree_piece p = { .kind = DP_PIECE_VALUE,
				   .first = l->w->t->scope.steps,
				   .n = 1 };
	Dwarf_Attribute attr;
	Dwarf_Block block;
	Dwarf_Word value;

	if (!dw->dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return false;
	if (dw->dwarf_formudata(&attr, &value)) {
		value = 0;
		if (dw->dwarf_formblock(&attr, &block) ||
		    block.length > sizeof(value))
			return false;
		memcpy(&value, block.data, block.length);
	}
	return put(l, DP_STEP_NUMBER, value) && add_piece(l, v, &p);
}

/* At the entry of a function an empty range holds, too: it is of what the variable is before
 * assignments that take no code. */
static bool is_at_entry(struct dp_locating *l, Dwarf_Attribute *attr,
			Dwarf_Op **op, size_t *n)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (l->pc != l->entry || !l->listed)
		return false;
	while ((at = l->w->r->dw.dwarf_getlocations(attr, at, &base, &start,
						    &end, op, n)) > 0)
		if (start == l->pc || (start < l->pc && l->pc < end))
			return true;
	return false;
}

static bool has_parts(const struct dp_locating *l, Dwarf_Die *die)
{
	Dwarf_Die type;

	if (!dp_reader_type(l->w->r, die, &type) ||
	    !dp_reader_peel(l->w->r, &type))
		return false;
	switch (l->w->r->dw.dwarf_tag(&type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_array_type:
		return true;
	default:
		return false;
	}
}

/*
 * GCC joins what it knows of pieces where paths of code come together, so that a piece may be
 * said to be in a register which has something else after a loop. Other locations it intersects.
 */
static bool is_uncertain(const struct dp_locating *l, Dwarf_Die *die,
			 const struct expression *e)
{
	const struct dp_libdw *dw = &l->w->r->dw;
	Dwarf_Attribute attr;
	const char *producer = NULL;
	Dwarf_Die unit;

	if (!e->n || !l->listed || l->pc == l->entry ||
	    !(is_end(&e->op[e->n - 1]) ||
	      (is_value(&e->op[e->n - 1]) && has_parts(l, die))))
		return false;
	if (dw->dwarf_diecu(l->function, &unit, NULL, NULL) &&
	    dw->dwarf_attr_integrate(&unit, DW_AT_producer, &attr))
		producer = dw->dwarf_formstring(&attr);
	return !producer || !strncmp(producer, "GNU", 3);
}

void dp_location_put(struct dp_locating *l, Dwarf_Die *die,
		     struct dp_tree_variable *v)
{
	const struct dp_libdw *dw = &l->w->r->dw;
	struct expression e = { 0 };
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	int found;

	v->first = l->w->t->scope.pieces;
	v->n = 0;
	if (put_const_value(l, die, v))
		return;
	if (!dw->dwarf_attr_integrate(die, DW_AT_location, &attr)) {
		put_nowhere(l, v, DP_PLACE_OPTIMISED_OUT);
		return;
	}
	l->listed = is_list(&attr);
	e.attr = &attr;
	found = is_at_entry(l, &attr, &op, &e.n) ?
			1 :
			dw->dwarf_getlocation_addr(&attr, l->pc, &op, &e.n, 1);
	if (found < 0) {
		/* Operations that libdw does not know: "uninitialised" is one. */
		put_nowhere(l, v, DP_PLACE_COMPUTED);
	} else if (found == 1) {
		e.op = op;
		if (is_uncertain(l, die, &e))
			put_nowhere(l, v, DP_PLACE_UNCERTAIN);
		else
			put_expression(l, &e, v);
	} else {
		put_nowhere(l, v, DP_PLACE_OPTIMISED_OUT);
		put_known(l, &attr, v);
	}
}
