// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tree: a prototype in one block of memory, of numbers from a child that may be hostile.
 *
 *   struct dp_prototype | parameters | types | fields | names | text, with a zero byte behind |
 *   places (pieces.c)
 *
 * Numbers that lead nowhere are an error. What is merely too large, or does not fit into what
 * it is in, becomes a STRUCT without fields: debug information has such things, too.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sym/types/pieces.h"
#include "sym/types/tree.h"

#define SIZE_MOST (1u << 20)

/* How far dp_prototype_type.levels, size, align and parts of a type are known */
enum { FRESH, BEGUN, MEASURED };

struct block {
	struct dp_prototype prototype;
	struct dp_prototype_parameter parameter[];
};

struct builder {
	const struct dp_tree *t;
	struct block *block;
	struct dp_prototype_type *type;
	struct dp_prototype_field *field;
	struct dp_prototype_name *name;
	char *text;
	void *places;
	u8 state[DP_TREE_TYPES];
};

static const struct dp_prototype_type character = {
	.kind = DP_PROTOTYPE_INT,
	.lens = DP_PROTOTYPE_CHAR,
	.bits = 8,
	.is_signed = true,
	.size = 1,
	.align = 1,
	.parts = 1,
};
/* What "char *" points to */
static const struct dp_prototype_type string = {
	.kind = DP_PROTOTYPE_ARRAY,
	.lens = DP_PROTOTYPE_STRING,
	.levels = 1,
	.align = 1,
	.parts = 1,
	.of = &character,
	.length = { .zero = true },
};

/* What a pointer to a function points to */
static const struct dp_prototype_type function = {
	.lens = DP_PROTOTYPE_FUNCTION,
	.align = 1,
};

static bool is_unit(u64 bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* Return: whether @n bits from bit @at on lie in @unit bytes at @first, of @of */
static bool put_bits(struct dp_tree_field *f, u64 at, u64 n, u64 first,
		     u64 unit, u64 of)
{
	if (at < 8 * first || at - 8 * first + n > 8 * unit ||
	    first + unit > of)
		return false;
	f->offset = first;
	f->unit = (u8)unit;
	f->bits = (u8)n;
	f->shift = (u8)(at - 8 * first);
	return true;
}

bool dp_tree_place_bits(struct dp_tree_field *f, u64 at, u64 n, u64 size,
			u64 of)
{
	u64 unit, first;

	if (!n || n > 64 || of > SIZE_MOST || at > 8 * of)
		return false;
	/* As the compiler does, in one of its type */
	for (unit = is_unit(size) ? size : 1; unit <= 8; unit *= 2)
		if (put_bits(f, at, n, at / (8 * unit) * unit, unit, of))
			return true;
	/* Of a packed struct: wherever it is, the last bytes at most */
	for (unit = 1; unit <= 8 && unit <= of; unit *= 2) {
		first = at / 8 < of - unit ? at / 8 : of - unit;
		if (put_bits(f, at, n, first, unit, of))
			return true;
	}
	unit = (at % 8 + n + 7) / 8;
	return unit <= 8 && put_bits(f, at, n, at / 8, unit, of);
}

static bool counts_are_sane(const struct dp_tree *t)
{
	return t->parameters <= DP_PROTOTYPE_PARAMETERS && t->types &&
	       t->types <= DP_TREE_TYPES && t->fields <= DP_TREE_FIELDS &&
	       t->names <= DP_TREE_NAMES && t->text <= DP_TREE_TEXT &&
	       dp_pieces_are_sane(&t->scope);
}

static bool is_within(u32 first, u32 n, u32 of)
{
	return first <= of && n <= of - first;
}

static int allocate(struct builder *b)
{
	const struct dp_tree *t = b->t;
	size_t params = t->parameters * sizeof(*b->block->parameter);
	size_t types = t->types * sizeof(*b->type);
	size_t fields = t->fields * sizeof(*b->field);
	size_t names = t->names * sizeof(*b->name);
	size_t text = (t->text + 8) & ~(size_t)7;
	char *at = calloc(1, sizeof(*b->block) + params + types + fields +
				     names + text + dp_pieces_room(t));

	if (!at)
		return -ENOMEM;
	b->block = (void *)at;
	b->type = (void *)(at += sizeof(*b->block) + params);
	b->field = (void *)(at += types);
	b->name = (void *)(at += fields);
	b->text = at + names;
	b->places = b->text + text;
	return 0;
}

/* What a terminal would obey is no name. */
static void take_text(struct builder *b)
{
	u32 i;

	memcpy(b->text, b->t->bytes, b->t->text);
	for (i = 0; i < b->t->text; i++)
		if (b->text[i] && ((u8)b->text[i] < ' ' || b->text[i] == 0x7f))
			b->text[i] = '?';
}

/* NULL: it has none */
static const char *text_at(const struct builder *b, u32 at)
{
	return b->text[at] ? b->text + at : NULL;
}

static int take_names(struct builder *b)
{
	u32 i;

	for (i = 0; i < b->t->names; i++) {
		const struct dp_tree_name *from = &b->t->enumerator[i];

		if (from->text >= b->t->text || !b->text[from->text])
			return -EBADMSG;
		b->name[i] = (struct dp_prototype_name){ b->text + from->text,
							 from->value, ~0ull };
	}
	return 0;
}

static bool take_bits(struct dp_prototype_field *f,
		      const struct dp_tree_field *from)
{
	f->bits = from->bits;
	f->shift = from->shift;
	f->unit = from->unit;
	return !f->bits || (f->unit <= 8 && f->shift + f->bits <= 8 * f->unit);
}

static int take_fields(struct builder *b)
{
	u32 i;

	for (i = 0; i < b->t->fields; i++) {
		const struct dp_tree_field *from = &b->t->field[i];

		if (from->name >= b->t->text || from->type >= b->t->types)
			return -EBADMSG;
		/* One that is farther does not fit into its struct either. */
		b->field[i] = (struct dp_prototype_field){
			.name = text_at(b, from->name),
			.type = &b->type[from->type],
			.offset = from->offset > SIZE_MOST ? SIZE_MOST + 1 :
							     (u32)from->offset,
			.role = from->role,
			.value = from->value,
		};
		if (!take_bits(&b->field[i], from))
			return -EBADMSG;
	}
	return 0;
}

static bool lens_is_sane(const struct dp_tree_type *from)
{
	return from->lens == DP_PROTOTYPE_PLAIN ||
	       (from->lens == DP_PROTOTYPE_CHAR && from->bits == 8) ||
	       from->lens == DP_PROTOTYPE_BOOL ||
	       from->lens == DP_PROTOTYPE_ENUM;
}

static int take_int(struct builder *b, const struct dp_tree_type *from,
		    struct dp_prototype_type *to)
{
	if ((from->bits != 8 && from->bits != 16 && from->bits != 32 &&
	     from->bits != 64) ||
	    !lens_is_sane(from) ||
	    !is_within(from->first, from->n, b->t->names))
		return -EBADMSG;
	to->lens = from->lens;
	to->is_signed = from->is_signed;
	to->size = to->align = from->bits / 8;
	if (from->lens == DP_PROTOTYPE_ENUM) {
		to->names = b->name + from->first;
		to->n = from->n;
	}
	return 0;
}

static int take_float(const struct dp_tree_type *from,
		      struct dp_prototype_type *to)
{
	if (from->bits != 32 && from->bits != 64 && from->bits != 80 &&
	    from->bits != 128)
		return -EBADMSG;
	to->size = to->align = from->bits > 64 ? 16 : from->bits / 8;
	if (to->kind == DP_PROTOTYPE_COMPLEX)
		to->size *= 2;
	return 0;
}

static bool is_char(const struct dp_prototype_type *t)
{
	return t->kind == DP_PROTOTYPE_INT && t->lens == DP_PROTOTYPE_CHAR;
}

static int take_pointer(const struct dp_tree_type *from,
			struct dp_prototype_type *to)
{
	switch (from->lens) {
	case DP_PROTOTYPE_FUNCTION:
		to->of = &function;
		return 0;
	case DP_PROTOTYPE_PLAIN:
	case DP_PROTOTYPE_REFERENCE:
		to->lens = from->lens;
		return 0;
	default:
		return -EBADMSG;
	}
}

static int take_of(struct builder *b, const struct dp_tree_type *from,
		   struct dp_prototype_type *to)
{
	if (from->of >= b->t->types)
		return -EBADMSG;
	to->of = &b->type[from->of];
	if (to->kind == DP_PROTOTYPE_POINTER) {
		to->size = to->align = 8;
		return take_pointer(from, to);
	}
	to->exact = true;
	to->length.count = DP_PROTOTYPE_NUMBER;
	to->length.n = from->length;
	return 0;
}

static int take_struct(struct builder *b, const struct dp_tree_type *from,
		       struct dp_prototype_type *to)
{
	if (!is_within(from->first, from->n, b->t->fields) ||
	    from->name >= b->t->text || from->of >= b->t->types ||
	    (from->lens != DP_PROTOTYPE_PLAIN &&
	     from->lens != DP_PROTOTYPE_HEX &&
	     from->lens != DP_PROTOTYPE_VARIANTS))
		return -EBADMSG;
	to->lens = from->lens;
	to->partial = from->partial;
	to->of = from->of ? &b->type[from->of] : NULL;
	to->name = text_at(b, from->name);
	to->size = from->size <= SIZE_MOST ? (u32)from->size : 0;
	to->passed = from->passed <= DP_PROTOTYPE_PASSED_REFERENCE ?
			     from->passed :
			     DP_PROTOTYPE_PASSED_UNKNOWN;
	to->fields = b->field + from->first;
	to->n = from->n;
	return 0;
}

static int take_type(struct builder *b, u32 i)
{
	const struct dp_tree_type *from = &b->t->type[i];
	struct dp_prototype_type *to = &b->type[i];

	to->kind = from->kind;
	to->align = 1;
	if (from->kind == DP_PROTOTYPE_VOID)
		return 0;
	to->parts = 1;
	switch (from->kind) {
	case DP_PROTOTYPE_INT:
		to->bits = from->bits;
		return take_int(b, from, to);
	case DP_PROTOTYPE_FLOAT:
	case DP_PROTOTYPE_COMPLEX:
		to->bits = from->bits;
		return take_float(from, to);
	case DP_PROTOTYPE_POINTER:
	case DP_PROTOTYPE_ARRAY:
		return take_of(b, from, to);
	case DP_PROTOTYPE_STRUCT:
		return take_struct(b, from, to);
	default:
		return -EBADMSG;
	}
}

/* Nothing but its name and size are known. */
static void make_opaque(struct dp_prototype_type *t, u32 size)
{
	*t = (struct dp_prototype_type){ .kind = DP_PROTOTYPE_STRUCT,
					 .levels = 1,
					 .size = size,
					 .align = 1,
					 .partial = true,
					 .name = t->name };
}

static int measure(struct builder *b, struct dp_prototype_type *t);

static int measure_array(struct builder *b, struct dp_prototype_type *t)
{
	const struct dp_prototype_type *of = t->of;
	int err = measure(b, &b->type[of - b->type]);
	u64 n = t->length.n, parts;

	if (err)
		return err;
	if (n > SIZE_MOST || n * of->size > SIZE_MOST) {
		make_opaque(t, 0);
		return 0;
	}
	parts = n && !(of->kind == DP_PROTOTYPE_INT && of->size == 1) ?
			n * of->parts :
			of->parts;
	/* An array of arrays without elements has a size of 0, too. */
	if ((!of->size && of->kind != DP_PROTOTYPE_ARRAY) ||
	    parts > DP_PROTOTYPE_PARTS || of->levels >= DP_PROTOTYPE_LEVELS) {
		make_opaque(t, (u32)(n * of->size));
		return 0;
	}
	t->levels = (u8)(of->levels + 1);
	t->size = (u32)(n * of->size);
	t->align = of->align;
	t->parts = (u32)parts;
	if (is_char(of)) {
		t->lens = DP_PROTOTYPE_STRING;
		t->length.zero = true;
	}
	return 0;
}

/* @f's type is measured. Return: it may be in @t, which is larger and deeper by it. */
static bool put_field(struct dp_prototype_type *t,
		      const struct dp_prototype_field *f)
{
	const struct dp_prototype_type *of = f->type;

	if (of->kind == DP_PROTOTYPE_VOID || of->levels >= DP_PROTOTYPE_LEVELS)
		return false;
	if ((f->bits || f->role == DP_PROTOTYPE_TAG) &&
	    of->kind != DP_PROTOTYPE_INT)
		return false;
	if ((u64)f->offset + (f->bits ? f->unit : of->size) > t->size)
		return false;
	if (of->levels >= t->levels)
		t->levels = (u8)(of->levels + 1);
	if (of->align > t->align)
		t->align = of->align;
	t->parts += of->parts;
	return t->parts <= DP_PROTOTYPE_PARTS;
}

/* Are there a tag at most, which is the first, and variants of which one is there? */
static bool roles_are_sane(const struct dp_prototype_type *t)
{
	bool variants = t->lens == DP_PROTOTYPE_VARIANTS;
	u32 i, other = 0, tag = 0;

	for (i = 0; i < t->n; i++) {
		u8 role = t->fields[i].role;

		if (role > DP_PROTOTYPE_OTHERWISE ||
		    (role && (!variants || t->fields[i].bits)) ||
		    (role == DP_PROTOTYPE_TAG && i))
			return false;
		tag += role == DP_PROTOTYPE_TAG;
		other += role == DP_PROTOTYPE_OTHERWISE;
		if (role == DP_PROTOTYPE_VARIANT && !tag)
			return false;
	}
	return other <= 1;
}

static int measure_struct(struct builder *b, struct dp_prototype_type *t)
{
	u32 i;
	int err;

	t->levels = 1;
	t->parts = 0;
	for (i = 0; i < t->n; i++) {
		err = measure(b, &b->type[t->fields[i].type - b->type]);
		if (err)
			return err;
		if (!put_field(t, &t->fields[i])) {
			make_opaque(t, t->size);
			return 0;
		}
	}
	if (!roles_are_sane(t))
		make_opaque(t, t->size);
	return 0;
}

/* It calls itself once for each type at most. */
static int measure(struct builder *b, struct dp_prototype_type *t)
{
	u8 *state = &b->state[t - b->type];
	int err = 0;

	if (*state != FRESH)
		return *state == BEGUN ? -EBADMSG : 0;
	*state = BEGUN;
	if (t->kind == DP_PROTOTYPE_ARRAY)
		err = measure_array(b, t);
	else if (t->kind == DP_PROTOTYPE_STRUCT)
		err = measure_struct(b, t);
	*state = MEASURED;
	return err;
}

static void find_string(struct dp_prototype_type *t)
{
	if (t->lens == DP_PROTOTYPE_REFERENCE)
		return;
	if (is_char(t->of))
		t->of = &string;
	if (t->of->kind == DP_PROTOTYPE_ARRAY &&
	    t->of->lens == DP_PROTOTYPE_STRING)
		t->lens = DP_PROTOTYPE_STRING;
}

static int take_types(struct builder *b)
{
	int err = 0;
	u32 i;

	for (i = 0; i < b->t->types && !err; i++)
		err = take_type(b, i);
	for (i = 0; i < b->t->types && !err; i++)
		err = measure(b, &b->type[i]);
	for (i = 0; i < b->t->types && !err; i++)
		if (b->type[i].kind == DP_PROTOTYPE_POINTER)
			find_string(&b->type[i]);
	return err;
}

static int take_function(struct builder *b)
{
	const struct dp_tree *t = b->t;
	struct dp_prototype *p = &b->block->prototype;
	u32 i;

	if (t->name >= t->text || t->returns >= t->types)
		return -EBADMSG;
	for (i = 0; i < t->parameters; i++) {
		const struct dp_tree_parameter *from = &t->parameter[i];

		if (from->name >= t->text || from->type >= t->types ||
		    b->type[from->type].kind == DP_PROTOTYPE_VOID)
			return -EBADMSG;
		b->block->parameter[i].name = text_at(b, from->name);
		b->block->parameter[i].type = &b->type[from->type];
	}
	p->name = b->text + t->name;
	p->returns = &b->type[t->returns];
	p->parameters = b->block->parameter;
	p->n = t->parameters;
	p->variadic = t->variadic;
	return 0;
}

static int take_places(struct builder *b, const struct dp_frame *frame)
{
	const struct dp_pieces_of of = { b->t, frame, b->type, b->text };

	return dp_pieces_build(&of, b->places, &b->block->prototype.scope);
}

int dp_tree_build(const struct dp_tree *t, const struct dp_frame *frame,
		  struct dp_prototype **p)
{
	struct builder b = { .t = t };
	int err;

	if (!counts_are_sane(t))
		return -EBADMSG;
	err = allocate(&b);
	if (err)
		return err;
	take_text(&b);
	err = take_names(&b);
	err = err ?: take_fields(&b);
	err = err ?: take_types(&b);
	err = err ?: take_function(&b);
	err = err ?: take_places(&b, frame);
	if (err)
		free(b.block);
	else
		*p = &b.block->prototype;
	return err;
}
