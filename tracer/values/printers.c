// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * printers: the table of structs that stand for what they lead to.
 *
 * A member is found by a path, where "*" is the only pointer within what is before it. Members
 * of base classes are those of the struct around them (sym/types.h).
 */
#include "tracer/values/printers.h"
#include "tracer/values/code.h"
#include "tracer/expr.h"
#include "sym/prototypes.h"
#include <string.h>

#define DEPTH_MAX 8

/* @name: of the struct; its beginning, if it ends with one of "<,[".
 * @length: see struct dp_printer; NULL: none. With '-' before its path, it has a sign */
static const struct printer {
	const char *name;
	u8 kind;
	bool ends;
	const char *pointer, *length;
} printers[] = {
	/* libstdc++, with C++11's strings */
	{ "basic_string<char,", DP_PRINTER_TEXT, false, "_M_dataplus._M_p",
	  "_M_string_length" },
	{ "basic_string_view<char,", DP_PRINTER_TEXT, false, "_M_str",
	  "_M_len" },
	{ "vector<", DP_PRINTER_ELEMENTS, true, "_M_impl._M_start",
	  "_M_impl._M_finish" },
	{ "span<", DP_PRINTER_ELEMENTS, false, "_M_ptr",
	  "_M_extent._M_extent_value" },
	{ "unique_ptr<", DP_PRINTER_POINTER, false, "_M_t._M_t._M_head_impl",
	  NULL },
	{ "shared_ptr<", DP_PRINTER_POINTER, false, "_M_ptr", NULL },
	{ "optional<", DP_PRINTER_MAYBE, false,
	  "_M_payload._M_payload._M_value", "_M_payload._M_engaged" },
	/* libc++ 14; its strings have a form of their own for short ones */
	{ "basic_string_view<char,", DP_PRINTER_TEXT, false, "__data",
	  "__size" },
	{ "vector<", DP_PRINTER_ELEMENTS, true, "__begin_", "__end_" },
	{ "unique_ptr<", DP_PRINTER_POINTER, false, "__ptr_.__value_", NULL },
	{ "shared_ptr<", DP_PRINTER_POINTER, false, "__ptr_", NULL },
	{ "optional<", DP_PRINTER_MAYBE, false, "__val_", "__engaged_" },
	/* Rust */
	{ "&str", DP_PRINTER_TEXT, false, "data_ptr", "length" },
	{ "&mut str", DP_PRINTER_TEXT, false, "data_ptr", "length" },
	{ "String", DP_PRINTER_TEXT, false, "vec.buf.*", "vec.len" },
	{ "&[", DP_PRINTER_ELEMENTS, false, "data_ptr", "length" },
	{ "&mut [", DP_PRINTER_ELEMENTS, false, "data_ptr", "length" },
	{ "Vec<", DP_PRINTER_ELEMENTS, false, "buf.*", "len" },
	/* Go */
	{ "string", DP_PRINTER_TEXT, false, "str", "-len" },
	{ "[", DP_PRINTER_ELEMENTS, false, "array", "-len" },
};

/** struct member - a member of a member of …: @type: of it; @at: in the whole */
struct member {
	const struct dp_prototype_type *type;
	u32 at;
};

static bool is_named(const char *name, const char *want)
{
	size_t len = strlen(want);

	return strchr("<,[", want[len - 1]) ? !strncmp(name, want, len) :
					      !strcmp(name, want);
}

static bool has_variants(const struct dp_prototype_type *t)
{
	return t->lens == DP_PROTOTYPE_VARIANTS;
}

/* The only pointer within a member. Return: how many there are */
static int find_pointer(struct member *m, int depth)
{
	const struct dp_prototype_type *t = m->type;
	struct member inner, found = { 0 };
	int n = 0;
	u32 i;

	if (t->kind == DP_PROTOTYPE_POINTER)
		return 1;
	if (t->kind != DP_PROTOTYPE_STRUCT || has_variants(t) || !depth)
		return 0;
	for (i = 0; i < t->n && n < 2; i++) {
		inner = (struct member){ t->fields[i].type,
					 m->at + t->fields[i].offset };
		if (!find_pointer(&inner, depth - 1))
			continue;
		found = inner;
		n++;
	}
	if (n == 1)
		*m = found;
	return n;
}

/* The field of that name, or the pointer of that name; NULL: there is none, or several */
static const struct dp_prototype_field *
only_field(const struct dp_prototype_type *t, const char *name, size_t len,
	   bool pointer)
{
	const struct dp_prototype_field *f = NULL;
	u32 i;

	for (i = 0; i < t->n; i++) {
		const char *is = t->fields[i].name;

		if (!is || strncmp(is, name, len) || is[len] ||
		    (pointer &&
		     t->fields[i].type->kind != DP_PROTOTYPE_POINTER))
			continue;
		if (f)
			return NULL;
		f = &t->fields[i];
	}
	return f;
}

/* @name: a part of a path, of @len bytes; the only member that has this name */
static bool step(struct member *m, const char *name, size_t len)
{
	const struct dp_prototype_type *t = m->type;
	const struct dp_prototype_field *f;

	if (*name == '*')
		return find_pointer(m, DEPTH_MAX) == 1;
	if (t->kind != DP_PROTOTYPE_STRUCT || has_variants(t))
		return false;
	/* A tuple has several of one name, of which one is no class. */
	f = only_field(t, name, len, false) ?: only_field(t, name, len, true);
	if (!f || f->bits)
		return false;
	m->at += f->offset;
	m->type = f->type;
	return true;
}

static bool find(const struct dp_prototype_type *t, const char *path,
		 struct member *m)
{
	size_t len;

	*m = (struct member){ .type = t };
	for (; *path; path += len + (path[len] == '.')) {
		len = strcspn(path, ".");
		if (!step(m, path, len))
			return false;
	}
	return true;
}

static bool is_byte(const struct dp_prototype_type *t)
{
	return t->kind == DP_PROTOTYPE_INT && t->size == 1;
}

/* The element that a string of C's points at is an array of these. */
static const struct dp_prototype_type *
pointed(const struct dp_prototype_type *t)
{
	t = t->of;
	return t && t->kind == DP_PROTOTYPE_ARRAY && t->of && !t->exact ?
		       t->of :
		       t;
}

/* What a template is of goes before the type of its pointer, which may be bytes only. */
static const struct dp_prototype_type *
element_of(const struct dp_prototype_type *t,
	   const struct dp_prototype_type *pointer)
{
	const struct dp_prototype_type *to = pointed(pointer);

	if (!to || !t->of || t->of == to)
		return to;
	if (is_byte(t->of) && is_byte(to))
		return to;
	return is_byte(to) && t->of->kind ? t->of : NULL;
}

static bool take_length(const struct printer *p,
			const struct dp_prototype_type *t, struct dp_printer *v)
{
	bool is_signed = p->length && *p->length == '-';
	struct member m;

	if (!p->length)
		return true;
	if (!find(t, p->length + is_signed, &m) ||
	    m.at + m.type->size > t->size)
		return false;
	v->length = m.at;
	v->ends = p->ends;
	if (p->kind == DP_PRINTER_MAYBE)
		return is_byte(m.type) && m.type->lens == DP_PROTOTYPE_BOOL;
	if (p->ends)
		return m.type->kind == DP_PROTOTYPE_POINTER;
	return m.type->kind == DP_PROTOTYPE_INT && m.type->bits == 64 &&
	       m.type->is_signed == is_signed;
}

static bool take_pointer(const struct printer *p,
			 const struct dp_prototype_type *t,
			 struct dp_printer *v)
{
	struct member m;

	if (!find(t, p->pointer, &m) || m.at + m.type->size > t->size)
		return false;
	v->pointer = m.at;
	v->of = m.type;
	if (p->kind == DP_PRINTER_MAYBE)
		return m.type->size;
	if (m.type->kind != DP_PROTOTYPE_POINTER)
		return false;
	v->of = p->kind == DP_PRINTER_ELEMENTS ? element_of(t, m.type) :
						 pointed(m.type);
	switch (p->kind) {
	case DP_PRINTER_TEXT:
		return v->of && is_byte(v->of);
	case DP_PRINTER_ELEMENTS:
		return v->of && v->of->size;
	default:
		return v->of;
	}
}

bool dp_printer_of(const struct dp_prototype_type *t, struct dp_printer *view)
{
	size_t i;

	*view = (struct dp_printer){ 0 };
	if (t->kind != DP_PROTOTYPE_STRUCT || !t->name || !t->size)
		return false;
	for (i = 0; i < sizeof(printers) / sizeof(*printers); i++) {
		const struct printer *p = &printers[i];

		if (!is_named(t->name, p->name) || !take_pointer(p, t, view) ||
		    !take_length(p, t, view))
			continue;
		view->kind = p->kind;
		return true;
	}
	*view = (struct dp_printer){ 0 };
	return false;
}

/* What is followed */

struct list {
	struct dp_follow *out;
	u32 n;
};

static void add(struct list *l, u32 at, const struct dp_printer *view, u32 most)
{
	if (l->n < DP_FOLLOWS && most)
		l->out[l->n++] = (struct dp_follow){ at, most, *view };
}

static u32 bytes_of(const struct dp_printer *view, u32 most)
{
	u32 each = view->of->size, n = most / each;

	return each * (n < DP_FOLLOW_ELEMENTS ? n : DP_FOLLOW_ELEMENTS);
}

static void list_type(struct list *l, struct dp_value_type type, u32 at,
		      int level);

static void list_fields(struct list *l, const struct dp_prototype_type *t,
			u32 at, int level)
{
	u32 i;

	if (level >= DP_SHOWN_LEVELS)
		return;
	for (i = 0; i < t->n; i++)
		if (!t->fields[i].bits && t->fields[i].type->size)
			list_type(l, dp_code_known(t->fields[i].type),
				  at + t->fields[i].offset, level + 1);
}

/* What each of the variants leads to: which of them is there is seen when it is shown. */
static void list_variants(struct list *l, const struct dp_prototype_type *t,
			  u32 at, int level)
{
	u32 i;

	for (i = 0; i < t->n; i++)
		if (t->fields[i].role != DP_PROTOTYPE_TAG &&
		    t->fields[i].type->kind == DP_PROTOTYPE_STRUCT)
			list_fields(l, t->fields[i].type,
				    at + t->fields[i].offset, level);
}

/* What is shown at once has the room of a string to itself. */
static void list_struct(struct list *l, const struct dp_prototype_type *t,
			u32 at, int level)
{
	struct dp_printer view;

	if (has_variants(t))
		list_variants(l, t, at, level);
	else if (!dp_printer_of(t, &view))
		list_fields(l, t, at, level);
	else if (view.kind == DP_PRINTER_MAYBE)
		list_type(l, dp_code_known(view.of), at + view.pointer, level);
	else if (view.kind == DP_PRINTER_TEXT)
		add(l, at, &view, level ? DP_FOLLOW_TEXT : DP_TRACE_STRING);
	else if (view.kind == DP_PRINTER_ELEMENTS)
		add(l, at, &view,
		    bytes_of(&view, level ? DP_FOLLOW_TEXT : DP_FOLLOW_BYTES));
}

static void list_array(struct list *l, struct dp_value_type type, u32 at,
		       int level)
{
	u32 each = dp_code_size(type), n = type.count, i;

	type.count = 0;
	type = dp_code_inner(type);
	for (i = 0; i < n && each && at + i * each < DP_SHOWN_BYTES; i++)
		list_type(l, type, at + i * each, level);
}

static void list_type(struct list *l, struct dp_value_type type, u32 at,
		      int level)
{
	static const struct dp_printer string = { 0 };

	if (type.count && (type.stars || dp_code_is_wide(type)))
		list_array(l, type, at, level);
	else if (!type.count && type.kind == DP_VALUE_CHAR && type.stars == 1)
		add(l, at, &string, DP_FOLLOW_TEXT);
	else if (!type.count && !type.stars && type.kind == DP_VALUE_STRUCT)
		list_struct(l, type.known, at, level);
}

u32 dp_follow_list(struct dp_value_type type, struct dp_follow *out)
{
	struct list l = { .out = out };

	list_type(&l, type, 0, 0);
	return l.n;
}
