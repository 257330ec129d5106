// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * abi: where parameters are at the entry of a function.
 *
 * Each has the class of its eight bytes: general registers, vector registers, or memory, and
 * these are given to parameters in order. Behind one whose class is not known, none can be told.
 * Source: System V AMD64 ABI 3.2.3.
 */
#include "sym/prototypes.h"
#include "tracer/values/place.h"
#include <string.h>

#define WORD 8u
#define WORDS 2 /* that registers hold of one parameter */
#define GENERAL DP_TRACE_ARGS
#define VECTORS 8
#define RSP 7

/* rdi, rsi, rdx, rcx, r8, r9 */
const u8 dp_abi_general[GENERAL] = { 5, 4, 1, 2, 8, 9 };

/* Classes, the stronger of which a word has that is part of both */
enum { NONE, SSE, INTEGER, MEMORY, UNKNOWN };

/* struct classes - @word: of each word, of a parameter of @n words */
struct classes {
	u8 word[WORDS];
	u32 n;
};

static void merge(struct classes *c, u32 at, u32 size, u8 class)
{
	u32 i;

	for (i = at / WORD; i < c->n && i * WORD < at + size; i++)
		if (c->word[i] < class)
			c->word[i] = class;
}

static void merge_all(struct classes *c, u8 class)
{
	merge(c, 0, WORDS * WORD, class);
}

static void classify_into(struct classes *c, const struct dp_prototype_type *t,
			  u32 at);

static void classify_fields(struct classes *c,
			    const struct dp_prototype_type *t, u32 at)
{
	u32 i;

	if (t->passed != DP_PROTOTYPE_PASSED_VALUE || !t->n)
		merge_all(c, UNKNOWN);
	for (i = 0; i < t->n; i++)
		classify_into(c, t->fields[i].type, at + t->fields[i].offset);
}

static void classify_array(struct classes *c, const struct dp_prototype_type *t,
			   u32 at)
{
	u32 each = t->of ? t->of->size : 0, i;

	if (!each || t->length.count != DP_PROTOTYPE_NUMBER)
		merge_all(c, UNKNOWN);
	for (i = 0; each && i < t->length.n; i++)
		classify_into(c, t->of, at + i * each);
}

/* Of a part of a struct of two words at most */
static void classify_into(struct classes *c, const struct dp_prototype_type *t,
			  u32 at)
{
	if (t->align && at % t->align)
		merge_all(c, MEMORY);
	switch (t->kind) {
	case DP_PROTOTYPE_INT:
	case DP_PROTOTYPE_POINTER:
		merge(c, at, t->size, INTEGER);
		break;
	case DP_PROTOTYPE_FLOAT:
	case DP_PROTOTYPE_COMPLEX:
		if (t->bits > 64)
			merge_all(c, MEMORY);
		else
			merge(c, at, t->size, SSE);
		break;
	case DP_PROTOTYPE_ARRAY:
		classify_array(c, t, at);
		break;
	case DP_PROTOTYPE_STRUCT:
		classify_fields(c, t, at);
		break;
	default:
		merge_all(c, UNKNOWN);
	}
}

static struct classes classify_struct(const struct dp_prototype_type *t)
{
	struct classes c = { .n = (t->size + WORD - 1) / WORD };

	if (t->passed == DP_PROTOTYPE_PASSED_REFERENCE)
		return (struct classes){ { INTEGER }, 1 };
	if (t->size > WORDS * WORD && (t->passed == DP_PROTOTYPE_PASSED_VALUE ||
				       t->passed == DP_PROTOTYPE_PASSED_PARTLY))
		return (struct classes){ { MEMORY }, 1 };
	if (!t->size || t->passed != DP_PROTOTYPE_PASSED_VALUE || !t->n)
		return (struct classes){ { UNKNOWN }, 1 };
	classify_fields(&c, t, 0);
	return c;
}

static struct classes classify(const struct dp_prototype_type *t)
{
	bool real = t->kind == DP_PROTOTYPE_FLOAT;

	if (t->kind == DP_PROTOTYPE_INT || t->kind == DP_PROTOTYPE_POINTER)
		return (struct classes){ { INTEGER }, 1 };
	if ((real || t->kind == DP_PROTOTYPE_COMPLEX) && t->bits == 80)
		return (struct classes){ { MEMORY }, 1 };
	if (real && t->bits <= 64)
		return (struct classes){ { SSE }, 1 };
	if (t->kind == DP_PROTOTYPE_COMPLEX && t->bits == 32)
		return (struct classes){ { SSE }, 1 };
	if (t->kind == DP_PROTOTYPE_COMPLEX && t->bits == 64)
		return (struct classes){ { SSE, SSE }, 2 };
	if (t->kind == DP_PROTOTYPE_STRUCT)
		return classify_struct(t);
	return (struct classes){ { UNKNOWN }, 1 };
}

/* struct cursor - what the parameters so far have taken; @stack: bytes above the return address */
struct cursor {
	u32 general, vectors, stack;
};

static u32 count(const struct classes *c, u8 class)
{
	u32 i, n = 0;

	for (i = 0; i < c->n; i++)
		n += c->word[i] == class;
	return n;
}

static void put_memory(struct dp_place *p, u32 offset, u32 size)
{
	p->step[0] = (struct dp_step){ DP_STEP_REGISTER, RSP };
	p->step[1] = (struct dp_step){ DP_STEP_NUMBER, WORD + offset };
	p->step[2] = (struct dp_step){ DP_STEP_ADD, 0 };
	p->piece[0] = (struct dp_piece){
		.kind = DP_PIECE_MEMORY, .size = size, .steps = p->step, .n = 3
	};
	p->n = 1;
}

static void put_register(struct dp_place *p, u32 i, u8 op, u32 n, u32 size)
{
	p->step[i] = (struct dp_step){ op, n };
	p->piece[i] = (struct dp_piece){ .kind = DP_PIECE_VALUE,
					 .offset = i * WORD,
					 .size = size,
					 .steps = &p->step[i],
					 .n = 1 };
	p->n = i + 1;
}

/* Registers for all of its words, or none */
static bool fits(const struct cursor *at, const struct classes *c)
{
	return !count(c, MEMORY) && !count(c, NONE) &&
	       at->general + count(c, INTEGER) <= GENERAL &&
	       at->vectors + count(c, SSE) <= VECTORS;
}

static void take_registers(struct cursor *at, const struct classes *c, u32 size,
			   struct dp_place *p)
{
	u32 i, left;

	for (i = 0; i < c->n; i++) {
		left = size - i * WORD < WORD ? size - i * WORD : WORD;
		if (c->word[i] == INTEGER)
			put_register(p, i, DP_STEP_REGISTER,
				     dp_abi_general[at->general++], left);
		else
			put_register(p, i, DP_STEP_VECTOR, at->vectors++, left);
	}
}

static void take_memory(struct cursor *at, const struct dp_prototype_type *t,
			struct dp_place *p)
{
	u32 align = t->align > WORD ? t->align : WORD;
	u32 size = (t->size + WORD - 1) & ~(WORD - 1);

	at->stack = (at->stack + align - 1) & ~(align - 1);
	put_memory(p, at->stack, t->size);
	at->stack += size;
}

static bool take(struct cursor *at, const struct dp_prototype_type *t,
		 struct dp_place *p)
{
	struct classes c = classify(t);
	bool referred = t->kind == DP_PROTOTYPE_STRUCT &&
			t->passed == DP_PROTOTYPE_PASSED_REFERENCE;

	/* A word without a class is of a struct that has no fields there. */
	if (count(&c, UNKNOWN) || count(&c, NONE))
		return false;
	if (referred && at->general < GENERAL) {
		take_registers(at, &c, WORD, p);
		p->piece[0].kind = DP_PIECE_MEMORY;
		p->piece[0].size = t->size;
	} else if (referred) {
		put_memory(p, at->stack, t->size);
		at->stack += WORD;
		p->step[3] = (struct dp_step){ DP_STEP_LOAD, WORD };
		p->piece[0].n++;
	} else if (fits(at, &c)) {
		take_registers(at, &c, t->size, p);
	} else {
		take_memory(at, t, p);
	}
	return true;
}

/* What does not fit in registers is returned where an argument before the others says. */
static bool begin(struct cursor *at, const struct dp_prototype_type *returns)
{
	struct classes c;

	memset(at, 0, sizeof(*at));
	if (!returns || returns->kind != DP_PROTOTYPE_STRUCT)
		return true;
	c = classify(returns);
	if (count(&c, UNKNOWN) || count(&c, NONE))
		return false;
	at->general = count(&c, MEMORY) ||
		      returns->passed == DP_PROTOTYPE_PASSED_REFERENCE;
	return true;
}

bool dp_abi_place(const struct dp_prototype *f, u32 parameter,
		  struct dp_place *p)
{
	struct cursor at;
	u32 i;

	memset(p, 0, sizeof(*p));
	if (!begin(&at, f->returns))
		return false;
	for (i = 0; i <= parameter; i++)
		if (!take(&at, f->parameters[i].type, p))
			return false;
	p->pieces = p->piece;
	return true;
}
