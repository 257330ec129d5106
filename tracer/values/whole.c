// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * whole: print structs and arrays, and what they lead to.
 *
 * Each value is in @size bytes at @at of all that was logged.
 */
#include "tracer/values/whole.h"
#include "tracer/values/code.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "engine/vm/vm.h"
#include "sym/prototypes.h"
#include <stdlib.h>
#include <string.h>

static void show_at(struct dp_whole *w, struct dp_value_type type, u32 at,
		    u32 size, int level);

static void put(struct dp_whole *w, const char *text, const char *in_json)
{
	dp_output_print(w->out, "%s", w->json ? in_json : text);
}

/* Numbers */

static u64 load(const struct dp_whole *w, u32 at, u32 size)
{
	u64 value = 0;

	memcpy(&value, w->bytes + at, size);
	return value;
}

static u64 extend(u64 value, u32 bits, bool sign)
{
	u32 unused = 64 - bits;

	return sign ? (u64)((s64)(value << unused) >> unused) :
		      value << unused >> unused;
}

static void show_scalar(struct dp_whole *w, struct dp_value_type type,
			u64 value)
{
	dp_show_scalar(w->out, w->mods, type, value, w->json);
}

static void show_bits(struct dp_whole *w, const struct dp_prototype_field *f,
		      u32 at)
{
	u64 value = load(w, at, f->unit) >> f->shift;

	show_scalar(w, dp_code_known(f->type),
		    extend(value, f->bits, f->type->is_signed));
}

/* A number of 10 bytes, which x87 has */
static void show_long_double(struct dp_whole *w, u32 at)
{
	long double value = 0, again;
	int digits = 18;
	char text[60];

	memcpy(&value, w->bytes + at, 10);
	do {
		snprintf(text, sizeof(text), "%.*Lg", digits, value);
		again = strtold(text, NULL);
	} while (again != value && digits++ < 21);
	if (!strpbrk(text, ".en"))
		strcat(text, ".0");
	/* No reader of JSON has so many digits. */
	dp_output_print(w->out, w->json ? "\"%s\"" : "%s", text);
}

/* 0x and all digits of a number for which there is no other form */
static void show_bytes(struct dp_whole *w, u32 at, u32 size)
{
	put(w, "0x", "\"0x");
	while (size--)
		dp_output_print(w->out, "%02x", w->bytes[at + size]);
	put(w, "", "\"");
}

static void show_real(struct dp_whole *w, u32 bits, u32 at)
{
	if (bits == 80)
		show_long_double(w, at);
	else if (bits == 128)
		show_bytes(w, at, 16);
	else
		dp_show_real(w->out, bits, load(w, at, bits / 8), w->json);
}

/* {real,imaginary} */
static void show_complex(struct dp_whole *w, const struct dp_prototype_type *t,
			 u32 at)
{
	put(w, "{", "[");
	show_real(w, t->bits, at);
	putc(',', w->out);
	show_real(w, t->bits, at + t->size / 2);
	put(w, "}", "]");
}

/* What debug information has no members of. */
static void show_unknown(struct dp_whole *w)
{
	put(w, "?", "null");
}

static void show_other(struct dp_whole *w, const struct dp_prototype_type *t,
		       u32 at, u32 size)
{
	if (t->size > size)
		show_unknown(w);
	else if (t->kind == DP_PROTOTYPE_FLOAT)
		show_real(w, t->bits, at);
	else if (t->kind == DP_PROTOTYPE_COMPLEX)
		show_complex(w, t, at);
	else
		show_unknown(w);
}

/* Arrays */

/* {1,2,3}; [1,2,3] in JSON; of a long one the beginning */
static void show_array(struct dp_whole *w, struct dp_value_type type, u32 at,
		       u32 size, int level)
{
	u32 each = dp_code_size(type), n = type.count, i;

	type.count = 0;
	type = dp_code_inner(type);
	put(w, "{", "[");
	for (i = 0; i < n && each && (i + 1) * each <= size; i++) {
		if (i)
			putc(',', w->out);
		show_at(w, type, at + i * each, each, level);
	}
	if (i < n) {
		put(w, i ? ",..." : "...", "");
		w->cut = true;
	}
	put(w, "}", "]");
}

static void show_characters(struct dp_whole *w, u32 at, u32 size)
{
	u32 len = (u32)strnlen((const char *)w->bytes + at, size);

	w->cut |= dp_show_text(w->out, w->bytes + at, len, false, w->json);
}

/* Structs */

static void show_name(struct dp_whole *w, const char *name)
{
	name = name ?: "_";
	if (w->json)
		dp_json_string(w->out, name);
	else
		dp_output_print(w->out, "%s", name);
}

/* Rust's "__0", "__1", … */
static bool is_tuple(const struct dp_prototype_type *t)
{
	u32 i;

	for (i = 0; i < t->n; i++) {
		const char *name = t->fields[i].name;

		if (!name || strncmp(name, "__", 2) || name[2] < '0' ||
		    name[2] > '9')
			return false;
	}
	return t->n;
}

/* What has no size is not there, or not in the struct. */
static bool is_there(const struct dp_prototype_field *f, u32 size)
{
	u32 needs = f->bits ? f->unit : f->type->size;

	return f->offset <= size && needs <= size - f->offset &&
	       (needs || f->type->kind == DP_PROTOTYPE_STRUCT) &&
	       (needs || (!f->type->name && f->type->lens != DP_PROTOTYPE_HEX));
}

static void show_field(struct dp_whole *w, const struct dp_prototype_field *f,
		       u32 at, u32 size, int level)
{
	if (f->bits)
		show_bits(w, f, at + f->offset);
	else
		show_at(w, dp_code_known(f->type), at + f->offset,
			size - f->offset, level);
}

static void show_fields(struct dp_whole *w, const struct dp_prototype_type *t,
			u32 at, u32 size, int level)
{
	bool tuple = is_tuple(t);
	u32 i, n = 0;

	put(w, tuple ? "(" : "{", tuple ? "[" : "{");
	for (i = 0; i < t->n; i++) {
		if (!is_there(&t->fields[i], size))
			continue;
		if (n++)
			putc(',', w->out);
		if (!tuple) {
			show_name(w, t->fields[i].name);
			put(w, "=", ":");
		}
		show_field(w, &t->fields[i], at, size, level + 1);
	}
	if (t->partial)
		put(w, n ? ",..." : "...", "");
	put(w, tuple ? ")" : "}", tuple ? "]" : "}");
}

/* {x=3,y=1}; of a struct in a struct in a struct there are no members */
static void show_struct(struct dp_whole *w, const struct dp_prototype_type *t,
			u32 at, u32 size, int level)
{
	if (level < DP_SHOWN_LEVELS)
		show_fields(w, t, at, size, level);
	else
		put(w, "{...}", "{}");
}

static const struct dp_prototype_field *
variant_of(const struct dp_whole *w, const struct dp_prototype_type *t, u32 at)
{
	const struct dp_prototype_field *f = t->fields, *other = NULL;
	u64 tag = 0, is;
	u32 bits = 0, i;

	if (f->role == DP_PROTOTYPE_TAG) {
		bits = f->type->bits;
		tag = load(w, at + f->offset, f->type->size);
	}
	for (i = 0; i < t->n; i++) {
		f = &t->fields[i];
		is = bits ? extend(f->value, bits, false) : 0;
		if (f->role == DP_PROTOTYPE_VARIANT && is == tag)
			return f;
		if (f->role == DP_PROTOTYPE_OTHERWISE)
			other = f;
	}
	return other;
}

static bool is_variant_opaque(const struct dp_prototype_field *f, u32 size)
{
	return f->type->kind != DP_PROTOTYPE_STRUCT ||
	       f->type->lens == DP_PROTOTYPE_VARIANTS || f->offset > size ||
	       f->type->size > size - f->offset;
}

/* Some(5), Circle{radius=3}, None */
static void show_variant(struct dp_whole *w, const struct dp_prototype_type *t,
			 u32 at, u32 size, int level)
{
	const struct dp_prototype_field *f =
		t->n && t->size <= size ? variant_of(w, t, at) : NULL;

	if (!f) {
		show_unknown(w);
	} else if (is_variant_opaque(f, size) || !f->type->n) {
		show_name(w, f->name);
	} else {
		put(w, "", "{");
		show_name(w, f->name);
		put(w, "", ":");
		show_struct(w, f->type, at + f->offset, f->type->size, level);
		put(w, "", "}");
	}
}

/* Structs that stand for what they lead to */

/* Of two variants, what is at the same offset may have its address and length elsewhere. */
static const struct dp_item *followed(const struct dp_whole *w, u32 at,
				      const struct dp_printer *view)
{
	u32 i;

	for (i = 0; i < w->follows; i++) {
		const struct dp_follow *f = &w->follow[i];

		if (f->at == at && f->view.kind == view->kind &&
		    f->view.pointer == view->pointer &&
		    f->view.length == view->length && f->view.of == view->of)
			return &w->item[i];
	}
	return NULL;
}

static u32 most_of(const struct dp_whole *w, const struct dp_item *item)
{
	return w->follow[item - w->item].most;
}

/* <5 bytes at 0x…> */
static void show_summary(struct dp_whole *w, u64 n, const char *what,
			 u64 address)
{
	if (w->json)
		dp_output_print(w->out, "{\"length\":%lu,\"address\":\"", n);
	else
		dp_output_print(w->out, "<%lu %s%s at ", n, what,
				n == 1 ? "" : "s");
	dp_output_hex(w->out, address);
	put(w, ">", "\"}");
}

/* It could not be read: its address says what was asked for. */
static void show_fault(struct dp_whole *w, const struct dp_item *item)
{
	u64 address = 0;
	u32 skip = item->token == DP_ITEM_ELEMENTS ? 8 : 0;

	if (item->size >= skip + 8)
		memcpy(&address, item->payload + skip, 8);
	dp_output_print(w->out,
			w->json ? "{\"bad_address\":\"0x%lx\"}" :
				  "<bad address 0x%lx>",
			address);
}

static void show_text(struct dp_whole *w, const struct dp_printer *v, u32 at)
{
	const struct dp_item *item = followed(w, at, v);
	bool cut;

	if (!item) {
		show_summary(w, load(w, at + v->length, 8), "byte",
			     load(w, at + v->pointer, 8));
	} else if (item->token != DP_ITEM_RANGE) {
		show_fault(w, item);
	} else {
		cut = item->size > most_of(w, item);
		dp_show_text(w->out, item->payload,
			     cut ? most_of(w, item) : item->size, cut, w->json);
		w->cut |= cut;
	}
}

/* A string of C's; what should be one, and is none, is a pointer. */
static void show_string(struct dp_whole *w, const struct dp_item *item, u32 at)
{
	static const struct dp_value_type address = { .kind = DP_VALUE_HEX,
						      .bits = 64 };
	bool cut = item->size >= most_of(w, item);

	if (item->token != DP_ITEM_STRING) {
		show_scalar(w, address, load(w, at, 8));
		return;
	}
	dp_show_text(w->out, item->payload, item->size, cut, w->json);
	w->cut |= cut;
}

/* {1,2,3}; of many the first ones, and how many there are */
static void show_first(struct dp_whole *w, const struct dp_printer *v,
		       const struct dp_item *item, u64 n)
{
	struct dp_whole inner = { .out = w->out,
				  .mods = w->mods,
				  .json = w->json,
				  .bytes = item->payload,
				  .size = item->size };
	struct dp_value_type type = dp_code_inner(dp_code_known(v->of));
	u32 each = v->of->size, i;
	bool cut = n > item->size / each;

	if (cut)
		put(w, "", "{\"first\":");
	put(w, "{", "[");
	for (i = 0; i < item->size / each; i++) {
		if (i)
			putc(',', w->out);
		show_at(&inner, type, i * each, each, 1);
	}
	if (!cut) {
		put(w, "}", "]");
		return;
	}
	dp_output_print(w->out,
			w->json ? "],\"length\":%lu}" : ",... %lu in all}", n);
	w->cut = true;
}

static void show_elements(struct dp_whole *w, const struct dp_printer *v,
			  u32 at)
{
	const struct dp_item *item = followed(w, at, v);
	u64 begin = load(w, at + v->pointer, 8);
	u64 n = load(w, at + v->length, 8);

	if (v->ends && (n < begin || (n - begin) % v->of->size)) {
		dp_output_print(
			w->out,
			w->json ? "{\"begin\":\"0x%lx\",\"end\":\"0x%lx\"}" :
				  "<from 0x%lx to 0x%lx>",
			begin, n);
		return;
	}
	if (v->ends)
		n = (n - begin) / v->of->size;
	if (!item)
		show_summary(w, n, "element", begin);
	else if (item->token != DP_ITEM_RANGE)
		show_fault(w, item);
	else
		show_first(w, v, item, n);
}

static void show_pointer(struct dp_whole *w, const struct dp_printer *v, u32 at)
{
	struct dp_value_type type = dp_code_known(v->of);

	type.stars++;
	type.count = 0;
	show_scalar(w, type, load(w, at + v->pointer, 8));
}

static void show_view(struct dp_whole *w, const struct dp_printer *v, u32 at,
		      u32 size, int level)
{
	switch (v->kind) {
	case DP_PRINTER_TEXT:
		return show_text(w, v, at);
	case DP_PRINTER_ELEMENTS:
		return show_elements(w, v, at);
	case DP_PRINTER_POINTER:
		return show_pointer(w, v, at);
	case DP_PRINTER_MAYBE:
		if (load(w, at + v->length, 1))
			return show_at(w, dp_code_known(v->of), at + v->pointer,
				       size - v->pointer, level);
		return put(w, "nullopt", "null");
	}
}

static void show_class(struct dp_whole *w, const struct dp_prototype_type *t,
		       u32 at, u32 size, int level)
{
	struct dp_printer view;

	if (t->size <= size && dp_printer_of(t, &view))
		show_view(w, &view, at, size, level);
	else if (t->lens == DP_PROTOTYPE_VARIANTS)
		show_variant(w, t, at, size, level);
	else if (t->lens == DP_PROTOTYPE_HEX && t->size <= size)
		show_bytes(w, at, t->size);
	else if (!t->size)
		show_unknown(w);
	else
		show_struct(w, t, at, size, level);
}

/* All */

static bool is_string(struct dp_value_type type)
{
	return type.kind == DP_VALUE_CHAR && type.stars == 1;
}

static void show_one(struct dp_whole *w, struct dp_value_type type, u32 at)
{
	static const struct dp_printer string = { 0 };
	const struct dp_item *item =
		is_string(type) ? followed(w, at, &string) : NULL;
	u32 size = dp_value_size(type);

	if (item)
		show_string(w, item, at);
	else
		show_scalar(w, type,
			    extend(load(w, at, size), 8 * size,
				   dp_value_has_sign(type)));
}

static void show_at(struct dp_whole *w, struct dp_value_type type, u32 at,
		    u32 size, int level)
{
	type = dp_code_inner(type);
	if (type.count && !type.stars && type.kind == DP_VALUE_CHAR)
		show_characters(w, at, size < type.count ? size : type.count);
	else if (type.count)
		show_array(w, type, at, size, level);
	else if (!type.stars && type.kind == DP_VALUE_STRUCT)
		show_class(w, type.known, at, size, level);
	else if (!type.stars && type.kind == DP_VALUE_VOID && type.known)
		show_other(w, type.known, at, size);
	else if (!dp_value_size(type) || dp_value_size(type) > size)
		show_unknown(w);
	else
		show_one(w, type, at);
}

void dp_whole_show(struct dp_whole *w, struct dp_value_type type)
{
	show_at(w, type, 0, w->size, 0);
}
