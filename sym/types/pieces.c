// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * pieces: places of variables, of numbers from a child that may be hostile.
 *
 *   struct dp_scope | variables | type names | pieces | known | steps
 *
 * A step that speaks of the frame becomes one of a register here, by .eh_frame. What the frame
 * does not have at this address, not yet or no more, is nowhere.
 */
#include <errno.h>
#include "sym/types/pieces.h"

#define RSP 7
#define RED_ZONE 128

struct builder {
	const struct dp_pieces_of *of;
	const struct dp_tree_scope *from;
	struct dp_scope *scope;
	struct dp_variable *variable;
	struct dp_type_name *type;
	struct dp_piece *piece;
	struct dp_known *known;
	struct dp_step *step;
	u32 steps, pieces; /* that have been taken */
};

bool dp_pieces_are_sane(const struct dp_tree_scope *s)
{
	return s->variables <= DP_TREE_VARIABLES &&
	       s->pieces <= DP_TREE_PIECES && s->steps <= DP_TREE_STEPS &&
	       s->known <= DP_TREE_KNOWN && s->named <= DP_TREE_NAMED;
}

/* A step that speaks of the frame becomes three. */
static u32 most_steps(const struct dp_tree_scope *s)
{
	return 3 * s->steps;
}

size_t dp_pieces_room(const struct dp_tree *t)
{
	const struct dp_tree_scope *s = &t->scope;

	return sizeof(struct dp_scope) +
	       s->variables * sizeof(struct dp_variable) +
	       s->named * sizeof(struct dp_type_name) +
	       s->pieces * sizeof(struct dp_piece) +
	       s->known * sizeof(struct dp_known) +
	       most_steps(s) * sizeof(struct dp_step);
}

static void part(struct builder *b, void *room)
{
	const struct dp_tree_scope *s = b->from;
	char *at = room;

	b->scope = (void *)at;
	b->variable = (void *)(at += sizeof(*b->scope));
	b->type = (void *)(at += s->variables * sizeof(*b->variable));
	b->piece = (void *)(at += s->named * sizeof(*b->type));
	b->known = (void *)(at += s->pieces * sizeof(*b->piece));
	b->step = (void *)(at += s->known * sizeof(*b->known));
}

static bool is_within(u32 first, u32 n, u32 of)
{
	return first <= of && n <= of - first;
}

/* Elements of the stack that a step takes; it leaves one. */
static int taken_by(u8 op)
{
	if (op <= DP_STEP_FRAME)
		return 0;
	return op >= DP_STEP_ADD && op <= DP_STEP_XOR ? 2 : 1;
}

static bool operand_is_sane(const struct dp_step *s)
{
	switch (s->op) {
	case DP_STEP_REGISTER:
	case DP_STEP_VECTOR:
	case DP_STEP_FRAME:
		return s->n < DP_PLACE_REGISTERS;
	case DP_STEP_LOAD:
		return s->n == 1 || s->n == 2 || s->n == 4 || s->n == 8;
	case DP_STEP_SHL:
	case DP_STEP_SHR:
	case DP_STEP_SAR:
		return s->n < 64;
	default:
		return s->op < DP_STEP_OPS;
	}
}

static bool steps_are_sane(const struct dp_step *s, u32 n)
{
	int depth = 0, least;
	u32 i;

	for (i = 0; i < n; i++) {
		least = taken_by(s[i].op);
		if (!operand_is_sane(&s[i]) || depth < least)
			return false;
		depth += 1 - least;
		if (depth > DP_PLACE_DEEPEST)
			return false;
	}
	return depth == 1;
}

static void put(struct builder *b, u8 op, u64 n)
{
	b->step[b->steps++] = (struct dp_step){ op, n };
}

/* Numbers that are added one after the other are one. */
static void put_sum(struct builder *b, const struct dp_piece *p, u64 n)
{
	struct dp_step *last = b->step + b->steps - 1;

	if (last - p->steps >= 2 && last->op == DP_STEP_ADD &&
	    last[-1].op == DP_STEP_NUMBER) {
		last[-1].n += n;
		return;
	}
	put(b, DP_STEP_NUMBER, n);
	put(b, DP_STEP_ADD, 0);
}

/* Return: false: the frame is not there */
static bool put_frame(struct builder *b, const struct dp_piece *p,
		      const struct dp_step *s)
{
	const struct dp_frame *f = b->of->frame;
	u8 reg;
	s64 cfa;

	if (!f)
		return false;
	if (s->op == DP_STEP_FRAME) {
		put(b, DP_STEP_REGISTER, s->n);
		return dp_frame_is_built(f, (u8)s->n, b->from->prologue_end);
	}
	if (!dp_frame_cfa(f, &reg, &cfa) || reg >= DP_PLACE_REGISTERS)
		return false;
	put(b, DP_STEP_REGISTER, reg);
	if (cfa)
		put_sum(b, p, (u64)cfa);
	return true;
}

static bool put_step(struct builder *b, const struct dp_piece *p,
		     const struct dp_step *s, u32 *i, u32 n)
{
	bool sum = *i + 1 < n && s->op == DP_STEP_NUMBER &&
		   s[1].op == DP_STEP_ADD && b->step + b->steps > p->steps;

	if (s->op == DP_STEP_CFA || s->op == DP_STEP_FRAME)
		return put_frame(b, p, s);
	if (!sum) {
		put(b, s->op, s->n);
		return true;
	}
	put_sum(b, p, s->n);
	++*i;
	return true;
}

/* Below the red zone of the stack, signal handlers write, and probes. */
static bool is_dead(const struct dp_piece *p)
{
	const struct dp_step *s = p->steps;

	return p->kind == DP_PIECE_MEMORY && p->n == 3 &&
	       s[0].op == DP_STEP_REGISTER && s[0].n == RSP &&
	       s[1].op == DP_STEP_NUMBER && s[2].op == DP_STEP_ADD &&
	       (s64)s[1].n < -RED_ZONE;
}

static void make_nowhere(struct dp_piece *p, u8 why)
{
	p->kind = DP_PIECE_NOWHERE;
	p->why = why;
	p->n = 0;
}

static void take_steps(struct builder *b, struct dp_piece *p,
		       const struct dp_step *s, u32 n)
{
	bool there = true;
	u32 i;

	p->steps = b->step + b->steps;
	for (i = 0; i < n && there; i++)
		there = put_step(b, p, &s[i], &i, n);
	p->n = (u32)(b->step + b->steps - p->steps);
	if (!there || is_dead(p))
		make_nowhere(p, DP_PLACE_NO_FRAME);
}

static int take_piece(struct builder *b, u32 i)
{
	const struct dp_tree_piece *from = &b->from->piece[i];
	struct dp_piece *to = &b->piece[i];
	const struct dp_step *steps = b->from->step + from->first;

	if (from->kind >= DP_PIECE_KINDS || from->why >= DP_PLACE_WHYS ||
	    (from->kind == DP_PIECE_NOWHERE) != (from->why != DP_PLACE_KNOWN))
		return -EBADMSG;
	*to = (struct dp_piece){ .kind = from->kind,
				 .why = from->why,
				 .offset = from->offset,
				 .size = from->size };
	if (from->kind == DP_PIECE_NOWHERE)
		return 0;
	if (!is_within(from->first, from->n, b->from->steps) ||
	    !steps_are_sane(steps, from->n))
		return -EBADMSG;
	/* Pieces may share steps only if there is room for the copies. */
	if (b->steps + 3 * from->n > most_steps(b->from))
		return -EBADMSG;
	take_steps(b, to, steps, from->n);
	return 0;
}

/* Pieces follow one another, in a value of @size bytes; 0: of any. */
static bool pieces_are_sane(const struct dp_piece *p, u32 n, u32 size)
{
	u64 at = 0;
	u32 i;

	for (i = 0; i < n; i++) {
		if (p[i].offset != at || !p[i].size)
			return false;
		at += p[i].size;
	}
	return !size || at <= size;
}

/* A value in one piece is as large as its type, and a register holds eight bytes. */
static void take_whole(struct dp_piece *p, u32 size)
{
	p->offset = 0;
	p->size = size;
	if (p->kind == DP_PIECE_VALUE && size > sizeof(u64))
		make_nowhere(p, DP_PLACE_COMPUTED);
}

static void take_parts(struct dp_piece *p, u32 n, u32 size)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (p[i].kind == DP_PIECE_VALUE && p[i].size > sizeof(u64))
			make_nowhere(&p[i], DP_PLACE_COMPUTED);
	if (!pieces_are_sane(p, n, size))
		for (i = 0; i < n; i++)
			make_nowhere(&p[i], DP_PLACE_COMPUTED);
}

static int take_variable(struct builder *b, u32 i)
{
	const struct dp_tree_variable *from = &b->from->variable[i];
	const struct dp_tree *t = b->of->tree;
	struct dp_variable *to = &b->variable[i];

	if (from->name >= t->text || from->type >= t->types || !from->n ||
	    from->first != b->pieces ||
	    !is_within(from->first, from->n, b->from->pieces) ||
	    !is_within(from->first_known, from->nr_known, b->from->known))
		return -EBADMSG;
	*to = (struct dp_variable){
		.name = b->of->text + from->name,
		.type = &b->of->type[from->type],
		.pieces = b->piece + from->first,
		.n = from->n,
		.known = b->known + from->first_known,
		.nr_known = from->nr_known,
		.is_parameter = from->is_parameter,
	};
	b->pieces += from->n;
	if (to->type->kind == DP_PROTOTYPE_VOID)
		return -EBADMSG;
	if (from->n == 1 && !b->piece[from->first].size)
		take_whole(&b->piece[from->first], to->type->size);
	else
		take_parts(&b->piece[from->first], from->n, to->type->size);
	return 0;
}

static int take_type(struct builder *b, u32 i)
{
	const struct dp_tree_named *from = &b->from->type[i];

	if (from->text >= b->of->tree->text || from->type >= b->of->tree->types)
		return -EBADMSG;
	b->type[i] = (struct dp_type_name){ b->of->text + from->text,
					    &b->of->type[from->type] };
	return 0;
}

static int take_all(struct builder *b)
{
	int err = 0;
	u32 i;

	for (i = 0; i < b->from->known; i++)
		b->known[i] = b->from->where[i];
	for (i = 0; i < b->from->pieces && !err; i++)
		err = take_piece(b, i);
	for (i = 0; i < b->from->variables && !err; i++)
		err = take_variable(b, i);
	for (i = 0; i < b->from->named && !err; i++)
		err = take_type(b, i);
	return err;
}

int dp_pieces_build(const struct dp_pieces_of *of, void *room,
		    const struct dp_scope **scope)
{
	struct builder b = { .of = of, .from = &of->tree->scope };
	int err;

	*scope = NULL;
	if (!b.from->wanted)
		return 0;
	part(&b, room);
	err = take_all(&b);
	*b.scope = (struct dp_scope){ .variables = b.variable,
				      .n = b.from->variables,
				      .types = b.type,
				      .nr_types = b.from->named,
				      .entry = b.from->entry,
				      .is_entry = b.from->is_entry,
				      .by_abi = b.from->by_abi };
	*scope = b.scope;
	return err;
}
