// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* typed: what is known of values before they are computed: types, members, sizes. */
#include "tracer/values/code.h"
#include "sym/prototypes.h"
#include <string.h>

#define STARS_MAX 8
#define COUNT_MAX 0xffff

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

struct dp_value_type dp_code_known(const struct dp_prototype_type *t)
{
	struct dp_value_type type;
	u64 count = 0;
	u8 stars = 0;

	if (t->kind == DP_PROTOTYPE_ARRAY && t->of &&
	    t->length.count == DP_PROTOTYPE_NUMBER) {
		count = t->length.n < COUNT_MAX ? t->length.n : COUNT_MAX;
		t = t->of;
	}
	while (t->kind == DP_PROTOTYPE_POINTER && t->of && stars < STARS_MAX) {
		stars++;
		t = t->of;
		/* A pointer to an array is one to its first element. */
		if (t->kind == DP_PROTOTYPE_ARRAY && t->of)
			t = t->of;
	}
	type = base_of(t);
	type.stars = stars;
	type.count = (u16)count;
	return type;
}

u32 dp_code_size(struct dp_value_type type)
{
	if (!type.stars && type.kind == DP_VALUE_STRUCT)
		return type.known->size;
	return dp_value_size(type);
}

/* Members are those of @type or, behind an arrow, of what it points to. */
static const struct dp_prototype_field *
find_field(const struct dp_values *values, const struct dp_value *v,
	   struct dp_value_type type)
{
	const char *name = values->text + v->name_at;
	u32 i;

	if (type.kind != DP_VALUE_STRUCT || type.stars != v->arrow ||
	    type.count)
		return NULL;
	for (i = 0; i < type.known->n; i++) {
		const struct dp_prototype_field *f = &type.known->fields[i];

		if (f->name && !strncmp(f->name, name, (size_t)v->name_span) &&
		    !f->name[v->name_span])
			return f;
	}
	return NULL;
}

const struct dp_prototype_field *dp_code_field(const struct dp_values *values,
					       const struct dp_value *v)
{
	return find_field(values, v, dp_code_type(values, v->left));
}

static struct dp_value_type element_of(struct dp_value_type type)
{
	if (type.count)
		type.count = 0;
	else if (type.stars)
		type.stars--;
	else
		type = (struct dp_value_type){ 0 };
	return type;
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
		return element_of(dp_code_type(values, v->left));
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

bool dp_code_is_text(const struct dp_values *values, u16 n)
{
	const struct dp_value *v = &values->v[n];
	struct dp_value_type type = dp_code_type(values, n);

	if (v->op == DP_VALUE_SHOWN)
		return v->type.kind == DP_VALUE_STRING;
	return type.kind == DP_VALUE_CHAR &&
	       (type.count ? !type.stars : type.stars == 1);
}
