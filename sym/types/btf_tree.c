// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * btf_tree: a function of the kernel's as a prototype in numbers (tree.h).
 *
 * Each type gets a number when it is met first, and is filled in when its turn comes. Everything in
 * a kernel is connected by pointers. So a pointer to a struct is followed only from a parameter, from
 * what is returned, from a type that is asked for, and from a field whose name stands in the spec.
 */
#include <string.h>
#include "sym/prototypes.h"
#include "sym/types.h"
#include "sym/types/btf.h"
#include "sym/types/tree.h"

#define DEPTH_MAX 16 /* structs without a name, in one another */

struct writer {
	const struct dp_btf *b;
	const struct dp_kernel_wanted *wanted;
	struct dp_tree *t;
	u32 id[DP_TREE_TYPES];
	/* A pointer that is not followed, and one to a function; 0: not met yet */
	u32 nowhere, function;
};

/* Return: DP_TREE_TEXT if there is no room */
static u32 put_text(struct dp_tree *t, const char *text)
{
	size_t len = strlen(text) + 1;
	u32 at = t->text;

	if (!*text)
		return 0;
	if (len > DP_TREE_TEXT - at)
		return DP_TREE_TEXT;
	memcpy(t->bytes + at, text, len);
	t->text += (u32)len;
	return at;
}

static u32 put_name(struct writer *w, u32 offset)
{
	return put_text(w->t, dp_btf_name(w->b, offset));
}

/* A struct of which nothing is known, until it is filled in */
static u32 add(struct writer *w, u32 id)
{
	u32 i = w->t->types;

	if (i == DP_TREE_TYPES)
		return DP_TREE_NONE;
	w->id[i] = id;
	w->t->type[i].kind = DP_PROTOTYPE_STRUCT;
	w->t->types++;
	return i;
}

/* Pointers that lead to no type are alike. */
static u32 add_pointer(struct writer *w, u32 *known, u8 lens)
{
	u32 i = *known ?: add(w, 0);

	if (*known || i == DP_TREE_NONE)
		return i;
	w->t->type[i].kind = DP_PROTOTYPE_POINTER;
	w->t->type[i].lens = lens;
	*known = i;
	return i;
}

static bool is_function(const struct dp_btf *b, u32 id)
{
	const struct btf_type *t = dp_btf_type(b, id);

	return dp_btf_kind(t) == BTF_KIND_PTR &&
	       dp_btf_kind(dp_btf_type(b, dp_btf_peel(b, t->type))) ==
		       BTF_KIND_FUNC_PROTO;
}

/* Return: the number of a type, 0 of void; DP_TREE_NONE if there are too many */
static u32 enter(struct writer *w, u32 id)
{
	u32 i;

	id = dp_btf_peel(w->b, id);
	if (!id)
		return 0;
	if (is_function(w->b, id))
		return add_pointer(w, &w->function, DP_PROTOTYPE_FUNCTION);
	for (i = 1; i < w->t->types; i++)
		if (w->id[i] == id)
			return i;
	return add(w, id);
}

static bool is_struct(u8 kind)
{
	return kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION;
}

static bool leads_to_struct(const struct writer *w, u32 id)
{
	const struct btf_type *t = dp_btf_type(w->b, dp_btf_peel(w->b, id));
	u32 i;

	if (dp_btf_kind(t) != BTF_KIND_PTR)
		return false;
	for (i = 0; i < DEPTH_MAX && dp_btf_kind(t) == BTF_KIND_PTR; i++)
		t = dp_btf_type(w->b, dp_btf_peel(w->b, t->type));
	return is_struct(dp_btf_kind(t));
}

static bool is_wanted(const struct writer *w, const char *name)
{
	size_t i;

	if (w->wanted->all)
		return true;
	for (i = 0; i < w->wanted->nr_fields; i++)
		if (!strcmp(w->wanted->fields[i], name))
			return true;
	return false;
}

/* Numbers, by their kinds */

static void fill_int(struct writer *w, const struct btf_type *from,
		     struct dp_tree_type *to)
{
	u32 info = *(const u32 *)(from + 1), encoding = BTF_INT_ENCODING(info);

	to->size = from->size;
	if (from->size != 1 && from->size != 2 && from->size != 4 &&
	    from->size != 8) {
		to->lens = DP_PROTOTYPE_HEX;
		return;
	}
	to->kind = DP_PROTOTYPE_INT;
	to->bits = (u8)(8 * from->size);
	to->is_signed = (encoding & BTF_INT_SIGNED) != 0;
	if (encoding & BTF_INT_BOOL)
		to->lens = DP_PROTOTYPE_BOOL;
	else if (!strcmp(dp_btf_name(w->b, from->name_off), "char"))
		to->lens = DP_PROTOTYPE_CHAR;
}

static void fill_float(const struct btf_type *from, struct dp_tree_type *to)
{
	to->size = from->size;
	if (from->size != 4 && from->size != 8)
		return;
	to->kind = DP_PROTOTYPE_FLOAT;
	to->bits = (u8)(8 * from->size);
}

static u64 enumerator_value(const struct btf_type *from, u32 i)
{
	const struct btf_enum *e = (const void *)(from + 1);
	const struct btf_enum64 *wide = (const void *)(from + 1);

	if (dp_btf_kind(from) == BTF_KIND_ENUM64)
		return (u64)wide[i].val_hi32 << 32 | wide[i].val_lo32;
	return BTF_INFO_KFLAG(from->info) ? (u64)(s64)e[i].val : (u32)e[i].val;
}

static u32 enumerator_name(const struct btf_type *from, u32 i)
{
	const struct btf_enum *e = (const void *)(from + 1);
	const struct btf_enum64 *wide = (const void *)(from + 1);

	return dp_btf_kind(from) == BTF_KIND_ENUM64 ? wide[i].name_off :
						      e[i].name_off;
}

static void fill_enum(struct writer *w, const struct btf_type *from,
		      struct dp_tree_type *to)
{
	u32 i, n = BTF_INFO_VLEN(from->info), name;

	to->kind = DP_PROTOTYPE_INT;
	to->bits = (u8)(8 * from->size);
	to->is_signed = BTF_INFO_KFLAG(from->info) != 0;
	if (n > DP_TREE_NAMES - w->t->names)
		return;
	to->lens = DP_PROTOTYPE_ENUM;
	to->first = w->t->names;
	for (i = 0; i < n; i++) {
		name = put_name(w, enumerator_name(from, i));
		if (name && name != DP_TREE_TEXT)
			w->t->enumerator[w->t->names++] = (struct dp_tree_name){
				name, enumerator_value(from, i)
			};
	}
	to->n = w->t->names - to->first;
}

/* What consists of others */

static void fill_pointer(struct writer *w, const struct btf_type *from,
			 struct dp_tree_type *to)
{
	u32 i = enter(w, from->type);

	to->kind = DP_PROTOTYPE_POINTER;
	to->of = i == DP_TREE_NONE ? 0 : i;
}

static void fill_array(struct writer *w, const struct btf_type *from,
		       struct dp_tree_type *to)
{
	const struct btf_array *array = (const void *)(from + 1);
	u32 i = enter(w, array->type);

	if (!i || i == DP_TREE_NONE)
		return;
	to->kind = DP_PROTOTYPE_ARRAY;
	to->of = i;
	to->length = array->nelems;
}

/* Where a field is in the struct around it, in bits. @n: of a bit field, else 0 */
static u64 place_of(const struct btf_type *of, const struct btf_member *m,
		    u32 *n)
{
	if (!BTF_INFO_KFLAG(of->info)) {
		*n = 0;
		return m->offset;
	}
	*n = BTF_MEMBER_BITFIELD_SIZE(m->offset);
	return BTF_MEMBER_BIT_OFFSET(m->offset);
}

static bool put_fields(struct writer *w, u32 i, const struct btf_type *of,
		       u64 base, int depth);

/* Return: false if there is no room */
static bool put_named(struct writer *w, u32 i, const struct btf_member *m,
		      u64 at, u32 bits)
{
	const char *text = dp_btf_name(w->b, m->name_off);
	struct dp_tree *t = w->t;
	struct dp_tree_field f = { .offset = at / 8 };
	u32 id = dp_btf_peel(w->b, m->type);

	if (bits &&
	    !dp_tree_place_bits(&f, at, bits, dp_btf_type(w->b, id)->size,
				t->type[i].size)) {
		t->type[i].partial = true;
		return true;
	}
	f.type = leads_to_struct(w, id) && !is_wanted(w, text) ?
			 add_pointer(w, &w->nowhere, DP_PROTOTYPE_PLAIN) :
			 enter(w, id);
	f.name = put_text(t, text);
	if (!f.type || f.type == DP_TREE_NONE || f.name == DP_TREE_TEXT ||
	    t->fields == DP_TREE_FIELDS)
		return false;
	t->field[t->fields++] = f;
	return true;
}

static bool put_field(struct writer *w, u32 i, const struct btf_type *of,
		      const struct btf_member *m, u64 base, int depth)
{
	const struct btf_type *type;
	u32 bits;
	u64 at = base + place_of(of, m, &bits);

	if (bits)
		w->t->type[i].passed = DP_PROTOTYPE_PASSED_PARTLY;
	if (m->name_off)
		return put_named(w, i, m, at, bits);
	type = dp_btf_type(w->b, dp_btf_peel(w->b, m->type));
	return !is_struct(dp_btf_kind(type)) ||
	       put_fields(w, i, type, at, depth + 1);
}

/* The parts of structs without a name are those of the struct around them. */
static bool put_fields(struct writer *w, u32 i, const struct btf_type *of,
		       u64 base, int depth)
{
	const struct btf_member *m = (const void *)(of + 1);
	u32 k, n = BTF_INFO_VLEN(of->info);

	if (depth > DEPTH_MAX)
		return false;
	for (k = 0; k < n; k++)
		if (!put_field(w, i, of, &m[k], base, depth))
			return false;
	return true;
}

static void fill_struct(struct writer *w, const struct btf_type *from, u32 i)
{
	struct dp_tree_type *to = &w->t->type[i];
	u32 fields = w->t->fields, name = put_name(w, from->name_off);

	to->name = name == DP_TREE_TEXT ? 0 : name;
	to->size = from->size;
	to->passed = DP_PROTOTYPE_PASSED_VALUE;
	if (!put_fields(w, i, from, 0, 0)) {
		w->t->fields = fields;
		to->passed = DP_PROTOTYPE_PASSED_UNKNOWN;
		to->partial = true;
		return;
	}
	to->first = fields;
	to->n = w->t->fields - fields;
}

static void fill(struct writer *w, u32 i)
{
	const struct btf_type *from = dp_btf_type(w->b, w->id[i]);
	struct dp_tree_type *to = &w->t->type[i];
	u32 name;

	switch (dp_btf_kind(from)) {
	case BTF_KIND_INT:
		return fill_int(w, from, to);
	case BTF_KIND_FLOAT:
		return fill_float(from, to);
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return fill_enum(w, from, to);
	case BTF_KIND_PTR:
		return fill_pointer(w, from, to);
	case BTF_KIND_ARRAY:
		return fill_array(w, from, to);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return fill_struct(w, from, i);
	default:
		/* It is only declared. */
		name = put_name(w, from->name_off);
		to->name = name == DP_TREE_TEXT ? 0 : name;
		to->partial = true;
	}
}

static bool put_parameters(struct writer *w, const struct btf_type *proto)
{
	const struct btf_param *p = (const void *)(proto + 1);
	struct dp_tree *t = w->t;
	u32 i, n = BTF_INFO_VLEN(proto->info);

	if (n && !p[n - 1].type && !p[n - 1].name_off) {
		t->variadic = 1;
		n--;
	}
	if (n > DP_PROTOTYPE_PARAMETERS)
		return false;
	for (i = 0; i < n; i++) {
		struct dp_tree_parameter *to = &t->parameter[t->parameters++];

		to->name = put_name(w, p[i].name_off);
		to->type = enter(w, p[i].type);
		if (!to->type || to->type == DP_TREE_NONE ||
		    to->name == DP_TREE_TEXT)
			return false;
	}
	return true;
}

/* "struct file", "pid_t" */
static bool is_called(const struct writer *w, u32 id, const char *word)
{
	const struct btf_type *t = dp_btf_type(w->b, id);
	const char *name = dp_btf_name(w->b, t->name_off);
	static const char *const tags[] = {
		[BTF_KIND_STRUCT] = "struct ", [BTF_KIND_UNION] = "union ",
		[BTF_KIND_ENUM] = "enum ",     [BTF_KIND_ENUM64] = "enum ",
		[BTF_KIND_TYPEDEF] = "",
	};
	u8 kind = dp_btf_kind(t);
	const char *tag = kind < sizeof(tags) / sizeof(*tags) ? tags[kind] :
								NULL;

	return tag && *name && !strncmp(word, tag, strlen(tag)) &&
	       !strcmp(word + strlen(tag), name);
}

static bool put_type(struct writer *w, const char *word)
{
	struct dp_tree_scope *s = &w->t->scope;
	u32 id, n = w->b->lib->btf__type_cnt(w->b->btf), type, text;

	for (id = 1; id < n && !is_called(w, id, word); id++)
		continue;
	if (id == n || s->named == DP_TREE_NAMED)
		return true;
	text = put_text(w->t, word);
	type = enter(w, id);
	if (type == DP_TREE_NONE || text == DP_TREE_TEXT)
		return false;
	s->type[s->named++] = (struct dp_tree_named){ text, type };
	return true;
}

bool dp_btf_put(const struct dp_btf *b, const struct btf_type *proto,
		const char *name, const struct dp_kernel_wanted *wanted,
		struct dp_tree *t)
{
	struct writer w = { .b = b, .wanted = wanted, .t = t };
	size_t k;
	u32 i;

	t->types = t->text = 1; /* void, and "" */
	t->scope.wanted = t->scope.by_abi = t->scope.is_entry = 1;
	t->name = put_text(t, name);
	t->returns = enter(&w, proto->type);
	if (!put_parameters(&w, proto))
		return false;
	for (k = 0; k < wanted->nr_types; k++)
		if (!put_type(&w, wanted->types[k]))
			return false;
	for (i = 1; i < t->types; i++)
		if (w.id[i])
			fill(&w, i);
	t->found = 1;
	return true;
}
