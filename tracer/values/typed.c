// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* typed: what is known of values before they are computed: types, members, sizes. */
#include "tracer/values/place.h"
#include "sym/prototypes.h"
#include <string.h>

#define STARS_MAX 8
#define COUNT_MAX (DP_CODE_OPEN - 1)

static u8 kind_of_int(const struct dp_prototype_type *t)
{
	switch (t->lens) {
	case DP_PROTOTYPE_OCT:
		return DP_VALUE_OCTAL;
	case DP_PROTOTYPE_HEX:
		return DP_VALUE_HEX;
	case DP_PROTOTYPE_BOOL:
		return DP_VALUE_BOOL;
	case DP_PROTOTYPE_CHAR:
		return t->bits == 8 ? DP_VALUE_CHAR : DP_VALUE_UNSIGNED;
	default:
		return t->is_signed ? DP_VALUE_SIGNED : DP_VALUE_UNSIGNED;
	}
}

/* The type of one that is no pointer and no array. */
static struct dp_value_type base_of(const struct dp_prototype_type *t)
{
	struct dp_value_type type = { .kind = DP_VALUE_VOID, .known = t };

	if (t->kind == DP_PROTOTYPE_INT) {
		type.kind = kind_of_int(t);
		type.bits = t->bits;
	} else if (t->kind == DP_PROTOTYPE_FLOAT && t->bits <= 64) {
		type.kind = DP_VALUE_FLOAT;
		type.bits = t->bits;
	} else if (t->kind == DP_PROTOTYPE_STRUCT) {
		type.kind = DP_VALUE_STRUCT;
	}
	return type;
}

/* An array of the source's that has no length is the last member of a struct. */
static u16 count_of(const struct dp_prototype_type *t)
{
	if (!t->length.n)
		return t->exact ? DP_CODE_OPEN : 0;
	return t->length.n < COUNT_MAX ? (u16)t->length.n : COUNT_MAX;
}

struct dp_value_type dp_code_known(const struct dp_prototype_type *t)
{
	struct dp_value_type type;
	u16 count = 0;
	u8 stars = 0;

	if (t->kind == DP_PROTOTYPE_ARRAY && t->of &&
	    t->length.count == DP_PROTOTYPE_NUMBER) {
		count = count_of(t);
		t = t->of;
	}
	while (t->kind == DP_PROTOTYPE_POINTER && t->of && stars < STARS_MAX) {
		stars++;
		t = t->of;
		/* A pointer to an array may be one to its first element. */
		if (t->kind == DP_PROTOTYPE_ARRAY && t->of && !t->exact)
			t = t->of;
	}
	type = base_of(t);
	type.stars = stars;
	type.count = count;
	return type;
}

struct dp_value_type dp_code_inner(struct dp_value_type type)
{
	bool array = !type.stars && !type.count && type.kind == DP_VALUE_VOID &&
		     type.known && type.known->kind == DP_PROTOTYPE_ARRAY;

	return array ? dp_code_known(type.known) : type;
}

bool dp_code_is_wide(struct dp_value_type type)
{
	return !type.stars && type.known && type.known->size &&
	       (type.kind == DP_VALUE_STRUCT || type.kind == DP_VALUE_VOID);
}

u32 dp_code_size(struct dp_value_type type)
{
	return dp_code_is_wide(type) ? type.known->size : dp_value_size(type);
}

/* Members are those of @type or, behind an arrow, of what it points to. */
static const struct dp_prototype_field *
find_field(const struct dp_values *values, const struct dp_value *v,
	   struct dp_value_type type)
{
	const char *name = values->text + v->name_at;
	u32 i;

	/* Which variant is there is not known before there is a value. */
	if (type.kind != DP_VALUE_STRUCT || type.stars != v->arrow ||
	    type.count || type.known->lens == DP_PROTOTYPE_VARIANTS)
		return NULL;
	for (i = 0; i < type.known->n; i++) {
		const struct dp_prototype_field *f = &type.known->fields[i];

		if (f->name && !strncmp(f->name, name, (size_t)v->name_span) &&
		    !f->name[v->name_span])
			return f;
	}
	return NULL;
}

bool dp_code_view(struct dp_value_type type, struct dp_printer *view)
{
	return !type.stars && !type.count && type.kind == DP_VALUE_STRUCT &&
	       type.known && dp_printer_of(type.known, view);
}

struct dp_value_type dp_code_pointer(struct dp_value_type type)
{
	struct dp_printer view;

	if (!dp_code_view(type, &view) || view.kind != DP_PRINTER_POINTER)
		return type;
	type = dp_code_known(view.of);
	type.stars += !type.count;
	type.count = 0;
	return type;
}

const struct dp_prototype_field *dp_code_field(const struct dp_values *values,
					       const struct dp_value *v)
{
	struct dp_value_type type = dp_code_type(values, v->left);

	return find_field(values, v, v->arrow ? dp_code_pointer(type) : type);
}

const struct dp_prototype_field *dp_code_bits(const struct dp_values *values,
					      u16 n)
{
	const struct dp_value *v = &values->v[n];
	const struct dp_prototype_field *f =
		v->op == DP_VALUE_MEMBER ? dp_code_field(values, v) : NULL;

	return f && f->bits ? f : NULL;
}

static struct dp_value_type element_of(struct dp_value_type type)
{
	if (type.count)
		type.count = 0;
	else if (type.stars)
		type.stars--;
	else
		type = (struct dp_value_type){ 0 };
	return dp_code_inner(type);
}

static struct dp_value_type type_of_sum(const struct dp_values *values,
					const struct dp_value *v)
{
	struct dp_value_type type = dp_code_type(values, v->left);

	if (!type.stars || type.count)
		type = dp_code_type(values, v->right);
	return type.stars && !type.count ? type : (struct dp_value_type){ 0 };
}

struct dp_value_type dp_code_type(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];
	const struct dp_prototype_field *f;

	switch (v->op) {
	case DP_VALUE_CAST:
	case DP_VALUE_RETVAL:
	case DP_VALUE_PARAMETER:
	case DP_VALUE_VARIABLE:
		return v->type;
	case DP_VALUE_DEREF:
	case DP_VALUE_INDEX:
		return element_of(
			dp_code_pointer(dp_code_type(values, v->left)));
	case DP_VALUE_MEMBER:
		f = dp_code_field(values, v);
		return f ? dp_code_known(f->type) : (struct dp_value_type){ 0 };
	case DP_VALUE_ADD:
	case DP_VALUE_SUB:
		return type_of_sum(values, v);
	default:
		return (struct dp_value_type){ 0 };
	}
}

u16 dp_code_text_view(const struct dp_values *values, u16 n,
		      struct dp_printer *view)
{
	const struct dp_value *v = &values->v[n];
	bool shown = v->op == DP_VALUE_SHOWN && v->type.kind == DP_VALUE_STRING;
	u16 inner = shown ? v->left : n;

	if ((dp_code_is_place(values, inner) ||
	     dp_place_is_split(values, inner)) &&
	    dp_code_view(dp_code_type(values, inner), view) &&
	    view->kind == DP_PRINTER_TEXT)
		return inner;
	*view = (struct dp_printer){ 0 };
	return n;
}

bool dp_code_is_place(const struct dp_values *values, u16 n)
{
	u8 op = values->v[n].op;

	if (op == DP_VALUE_VARIABLE)
		return values->v[n].in_memory;
	if (op == DP_VALUE_MEMBER)
		return !dp_place_is_split(values, n);
	return op == DP_VALUE_DEREF || op == DP_VALUE_FETCH ||
	       op == DP_VALUE_GLOBAL || op == DP_VALUE_INDEX;
}

bool dp_code_is_text(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];
	struct dp_value_type type = dp_code_type(values, n);

	if (v->op == DP_VALUE_SHOWN)
		return v->type.kind == DP_VALUE_STRING;
	return type.kind == DP_VALUE_CHAR &&
	       (type.count ? !type.stars : type.stars == 1);
}
