// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arguments: the arguments of a tracepoint, as a scope.
 *
 *   struct dp_prototype | struct dp_scope | variables | pieces | steps | text
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sym/names/mod.h"
#include "sym/names/operand.h"
#include "sym/places.h"
#include "sym/prototypes.h"
#include "sym/tracepoints.h"
#include "sym/variable.h"

#define STEPS 10 /* of an argument, at most */
#define NAME 8 /* bytes of "arg63" */

#define INT(n, sign, how)                                                \
	{                                                                \
		.kind = DP_PROTOTYPE_INT, .lens = DP_PROTOTYPE_##how,    \
		.is_signed = sign, .bits = n * 8, .size = n, .align = n, \
		.parts = 1,                                              \
	}
#define FLOAT(n)                                                      \
	{                                                             \
		.kind = DP_PROTOTYPE_FLOAT, .bits = n * 8, .size = n, \
		.align = n, .parts = 1,                               \
	}

/* By their sizes. What is unsigned and as wide as a pointer mostly is one. */
static const struct dp_prototype_type without_sign[] = {
	[1] = INT(1, false, PLAIN),
	[2] = INT(2, false, PLAIN),
	[4] = INT(4, false, PLAIN),
	[8] = INT(8, false, HEX),
};
static const struct dp_prototype_type with_sign[] = {
	[1] = INT(1, true, PLAIN),
	[2] = INT(2, true, PLAIN),
	[4] = INT(4, true, PLAIN),
	[8] = INT(8, true, PLAIN),
};
static const struct dp_prototype_type real[] = {
	[4] = FLOAT(4),
	[8] = FLOAT(8),
};

/* struct block - what there is for @n arguments */
struct block {
	struct dp_prototype prototype;
	struct dp_scope scope;
	struct dp_variable variable[DP_PROTOTYPE_PARAMETERS];
	struct dp_piece piece[DP_PROTOTYPE_PARAMETERS];
	struct dp_step step[DP_PROTOTYPE_PARAMETERS][STEPS];
	char name[DP_PROTOTYPE_PARAMETERS][NAME];
	char text[]; /* title, and arguments with zeros between them */
};

/* struct place - steps are appended; @symbol: address of what the operand names */
struct place {
	struct dp_step *step;
	u32 n;
	u64 symbol;
};

static void put(struct place *p, u8 op, u64 n)
{
	p->step[p->n++] = (struct dp_step){ op, n };
}

/* Push one more number, and add it to what there is. */
static void put_term(struct place *p, u8 op, u64 n)
{
	put(p, op, n);
	if (p->n > 1)
		put(p, DP_STEP_ADD, 0);
}

static void put_index(struct place *p, const struct dp_operand *o)
{
	bool first = !p->n;

	put(p, DP_STEP_REGISTER, o->index);
	put(p, DP_STEP_SHL,
	    o->scale == 8 ? 3 :
	    o->scale == 4 ? 2 :
	    o->scale == 2 ? 1 :
			    0);
	if (!first)
		put(p, DP_STEP_ADD, 0);
}

static void put_address(struct place *p, const struct dp_operand *o)
{
	if (o->of_thread)
		put(p, DP_STEP_THREAD, 0);
	if (o->base != DP_OPERAND_NONE)
		put_term(p, DP_STEP_REGISTER, o->base);
	if (o->index != DP_OPERAND_NONE)
		put_index(p, o);
	if (!p->n || o->number + p->symbol)
		put_term(p, DP_STEP_NUMBER, o->number + p->symbol);
}

/* What is above the part of the register that is named does not count. */
static void put_general(struct place *p, const struct dp_operand *o)
{
	put(p, DP_STEP_REGISTER, o->base);
	if (o->shift)
		put(p, DP_STEP_SHR, o->shift);
	if (o->width < o->size) {
		put(p, DP_STEP_NUMBER, (1ull << (8 * o->width)) - 1);
		put(p, DP_STEP_AND, 0);
	}
}

static void put_value(struct place *p, const struct dp_operand *o)
{
	switch (o->kind) {
	case DP_OPERAND_NUMBER:
		put(p, DP_STEP_NUMBER, o->number + p->symbol);
		break;
	case DP_OPERAND_GENERAL:
		put_general(p, o);
		break;
	case DP_OPERAND_VECTOR:
		put(p, DP_STEP_VECTOR, o->base);
		break;
	default:
		put_address(p, o);
	}
}

static const struct dp_prototype_type *type_of(const struct dp_operand *o)
{
	return o->is_float  ? &real[o->size] :
	       o->is_signed ? &with_sign[o->size] :
			      &without_sign[o->size];
}

/* struct finder - whose symbols arguments name */
struct finder {
	struct dp_modules *mods;
	const struct dp_module *m;
};

/* Return: enum dp_place_why */
static u8 find_symbol(const struct finder *f, const struct dp_operand *o,
		      u64 *addr)
{
	*addr = 0;
	if (!*o->symbol)
		return DP_PLACE_KNOWN;
	if (!f->m)
		return DP_PLACE_SYMBOL;
	if (o->kind == DP_OPERAND_THREAD_LOCAL)
		return dp_variable_of_thread(f->mods, f->m, o->symbol, addr) ?
			       DP_PLACE_SYMBOL :
			       DP_PLACE_KNOWN;
	return dp_variable_own(f->mods, f->m, o->symbol, addr) ?
		       DP_PLACE_SYMBOL :
		       DP_PLACE_KNOWN;
}

static u8 put_argument(const struct finder *f, const char *text, size_t len,
		       struct dp_step *steps, struct dp_piece *piece,
		       struct dp_variable *v)
{
	struct place p = { .step = steps };
	struct dp_operand o;
	u8 why;

	if (!dp_operand_parse(text, len, &o))
		return DP_PLACE_FORM;
	v->type = type_of(&o);
	piece->size = o.size;
	why = find_symbol(f, &o, &p.symbol);
	if (why)
		return why;
	put_value(&p, &o);
	piece->kind = o.kind == DP_OPERAND_MEMORY ||
				      o.kind == DP_OPERAND_THREAD_LOCAL ?
			      DP_PIECE_MEMORY :
			      DP_PIECE_VALUE;
	piece->steps = steps;
	piece->n = p.n;
	return DP_PLACE_KNOWN;
}

static void add_argument(struct block *b, const struct finder *f, char *text,
			 size_t len)
{
	u32 i = b->scope.n++;
	struct dp_variable *v = &b->variable[i];

	text[len] = '\0';
	snprintf(b->name[i], NAME, "arg%u", i);
	*v = (struct dp_variable){ .name = b->name[i],
				   .type = &without_sign[8],
				   .pieces = &b->piece[i],
				   .n = 1,
				   .is_parameter = true,
				   .written = text };
	b->piece[i] = (struct dp_piece){ .size = 8 };
	b->piece[i].why =
		put_argument(f, text, len, b->step[i], &b->piece[i], v);
}

int dp_tracepoint_arguments(struct dp_modules *mods, const struct dp_module *m,
			    const char *title, const char *arguments,
			    struct dp_prototype **out)
{
	static const struct dp_prototype_type nothing = { .align = 1 };
	size_t head = strlen(title) + 1, len;
	size_t bytes = head + strlen(arguments) + 1;
	struct block *b = calloc(1, sizeof(*b) + bytes);
	const struct finder f = { mods, m };
	const char *next, *from;

	if (!b)
		return -ENOMEM;
	memcpy(b->text, title, head);
	memcpy(b->text + head, arguments, bytes - head);
	next = b->text + head;
	while (b->scope.n < DP_PROTOTYPE_PARAMETERS &&
	       (from = dp_operand_next(&next, &len)))
		add_argument(b, &f, b->text + (from - b->text), len);
	b->scope.variables = b->variable;
	b->scope.of_tracepoint = true;
	b->prototype = (struct dp_prototype){ .name = b->text,
					      .returns = &nothing,
					      .scope = &b->scope };
	*out = &b->prototype;
	return 0;
}

const struct dp_tracepoints *dp_module_tracepoints(struct dp_modules *mods,
						   const struct dp_module *m)
{
	struct dp_mod *mod = dp_mod_of(m);

	if (dp_mod_load(mods, mod, DP_MOD_TRACEPOINTS) ||
	    !mod->read.tracepoints.n)
		return NULL;
	return &mod->read.tracepoints;
}
