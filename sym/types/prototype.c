// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * prototype: parameters of functions, according to debug information.
 *
 * In the child each type gets a number when it is met first, and is filled in when its turn
 * comes. Pointers lead on to further types, so that types are read breadth first, each once,
 * until there is no more room. A struct or an enumeration of which not all finds room has
 * neither fields nor names.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "sym/names/mod.h"
#include "sym/types/frame.h"
#include "sym/types/reader.h"
#include "sym/types/split.h"
#include "sym/types/tree.h"
#include "sym/types/writer.h"

#define POINTERS_MAX 4 /* followed from a parameter on */
#define BASES_MAX 16 /* structs that are part of one another and have no name */
#define ORIGINS_MAX 8
#define NAME_MOST 400 /* bytes of a struct's name */
#define SEARCHES_MAX 8 /* through all units */

/* Return: DP_TREE_TEXT if there is no room */
static u32 put_text(struct dp_tree *t, const char *text)
{
	size_t len = strlen(text) + 1;
	u32 at = t->text;

	if (len > DP_TREE_TEXT - at)
		return DP_TREE_TEXT;
	memcpy(t->bytes + at, text, len);
	t->text += (u32)len;
	return at;
}

/* NULL: it has none */
static const char *name_of(const struct writer *w, Dwarf_Die *die,
			   unsigned int attribute)
{
	Dwarf_Attribute attr;

	if (!w->r->dw.dwarf_attr_integrate(die, attribute, &attr))
		return NULL;
	return w->r->dw.dwarf_formstring(&attr);
}

/* Return: 0, which is "", if it has none; DP_TREE_TEXT, there is no room */
static u32 put_name(const struct writer *w, Dwarf_Die *die)
{
	const char *name = name_of(w, die, DW_AT_name);

	return name && *name ? put_text(w->t, name) : 0;
}

static bool has_constant(const struct writer *w, Dwarf_Die *die,
			 unsigned int name, u64 *value)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (!w->r->dw.dwarf_attr_integrate(die, name, &attr) ||
	    w->r->dw.dwarf_formudata(&attr, &word))
		return false;
	*value = word;
	return true;
}

static u32 find(const struct writer *w, const Dwarf_Die *die, u32 dimension)
{
	u32 i;

	for (i = 1; i < w->t->types; i++)
		if (w->die[i].addr == die->addr && w->dimension[i] == dimension)
			return i;
	return DP_TREE_NONE;
}

/* A struct of which nothing is known, until it is filled in. Return: as enter() */
static u32 add(struct writer *w)
{
	u32 i = w->t->types;

	if (i == DP_TREE_TYPES)
		return DP_TREE_NONE;
	w->t->types++;
	w->t->type[i].kind = DP_PROTOTYPE_STRUCT;
	return i;
}

/* Return: the number of a type; DP_TREE_NONE if there are too many */
static u32 enter(struct writer *w, const Dwarf_Die *die, u32 dimension,
		 u8 pointers)
{
	u32 i = find(w, die, dimension);

	if (i != DP_TREE_NONE)
		return i;
	i = add(w);
	if (i != DP_TREE_NONE) {
		w->die[i] = *die;
		w->dimension[i] = dimension;
		w->pointers[i] = pointers;
	}
	return i;
}

/* The type that @die, which is no pointer, has. */
static u32 type_of(struct writer *w, Dwarf_Die *die, u8 pointers)
{
	Dwarf_Die type;

	if (!dp_reader_type(w->r, die, &type))
		return DP_TREE_NONE;
	if (!dp_reader_peel(w->r, &type))
		return 0;
	return enter(w, &type, 0, pointers);
}

static bool leads_on(int tag)
{
	return tag != DW_TAG_base_type && tag != DW_TAG_enumeration_type;
}

static u32 pointed(struct writer *w, u32 i)
{
	u8 pointers = (u8)(w->pointers[i] + 1);
	Dwarf_Die type;
	int tag;
	u32 to;

	if (!dp_reader_type(w->r, &w->die[i], &type) ||
	    !dp_reader_peel(w->r, &type))
		return 0;
	tag = w->r->dw.dwarf_tag(&type);
	if (tag == DW_TAG_subroutine_type || tag == DW_TAG_unspecified_type)
		return 0;
	to = pointers > POINTERS_MAX && leads_on(tag) ?
		     find(w, &type, 0) :
		     enter(w, &type, 0, pointers);
	return to == DP_TREE_NONE ? 0 : to;
}

static bool leads_to_function(const struct writer *w, Dwarf_Die *die)
{
	Dwarf_Die type;

	return dp_reader_type(w->r, die, &type) &&
	       dp_reader_peel(w->r, &type) &&
	       w->r->dw.dwarf_tag(&type) == DW_TAG_subroutine_type;
}

/* Rust has pointers named "&T" and "&mut T". */
static bool is_reference(const struct writer *w, Dwarf_Die *die)
{
	int tag = w->r->dw.dwarf_tag(die);
	const char *name = name_of(w, die, DW_AT_name);

	return tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type || (name && *name == '&');
}

static void fill_pointer(struct writer *w, u32 i)
{
	struct dp_tree_type *t = &w->t->type[i];

	t->of = pointed(w, i);
	t->kind = DP_PROTOTYPE_POINTER;
	if (leads_to_function(w, &w->die[i]))
		t->lens = DP_PROTOTYPE_FUNCTION;
	else if (is_reference(w, &w->die[i]))
		t->lens = DP_PROTOTYPE_REFERENCE;
}

static void fill_int(struct dp_tree_type *t, struct dp_type base)
{
	t->kind = DP_PROTOTYPE_INT;
	t->bits = base.bits;
	t->is_signed = base.kind == DP_TYPE_SIGNED;
	if (base.kind == DP_TYPE_BOOL)
		t->lens = DP_PROTOTYPE_BOOL;
}

/* Return: bits; 0 if it is no such number */
static u8 bits_of_float(const struct writer *w, Dwarf_Die *die, u64 bytes)
{
	const char *name;

	if (bytes != 16)
		return bytes == 4 || bytes == 8 ? (u8)(8 * bytes) : 0;
	name = name_of(w, die, DW_AT_name);
	return name && strstr(name, "128") ? 128 : 80;
}

static void fill_float(struct writer *w, u32 i, u8 kind, u64 bytes)
{
	u8 bits = bits_of_float(w, &w->die[i], bytes);

	if (!bits)
		return;
	w->t->type[i].kind = kind;
	w->t->type[i].bits = bits;
}

static void fill_base(struct writer *w, u32 i)
{
	Dwarf_Die *die = &w->die[i];
	u64 encoding = dp_reader_number(w->r, die, DW_AT_encoding);
	u64 bytes = dp_reader_number(w->r, die, DW_AT_byte_size);
	struct dp_type base = dp_reader_base(w->r, die);
	const char *name = name_of(w, die, DW_AT_name);

	w->t->type[i].size = bytes;
	if (encoding == DW_ATE_float)
		fill_float(w, i, DP_PROTOTYPE_FLOAT, bytes);
	else if (encoding == DW_ATE_complex_float)
		fill_float(w, i, DP_PROTOTYPE_COMPLEX, bytes / 2);
	else if (base.kind)
		fill_int(&w->t->type[i], base);
	else
		w->t->type[i].lens = DP_PROTOTYPE_HEX;
	if (base.bits == 8 && name && !strcmp(name, "char"))
		w->t->type[i].lens = DP_PROTOTYPE_CHAR;
}

static bool put_enumerator(struct writer *w, Dwarf_Die *die)
{
	struct dp_tree *t = w->t;
	u32 name = put_name(w, die);
	u64 value;

	if (!name || !has_constant(w, die, DW_AT_const_value, &value))
		return true;
	if (name == DP_TREE_TEXT || t->names == DP_TREE_NAMES)
		return false;
	t->enumerator[t->names++] = (struct dp_tree_name){ name, value };
	return true;
}

static bool put_enumerators(struct writer *w, Dwarf_Die *of)
{
	Dwarf_Die die;
	int more;

	for (more = w->r->dw.dwarf_child(of, &die); !more;
	     more = w->r->dw.dwarf_siblingof(&die, &die))
		if (w->r->dw.dwarf_tag(&die) == DW_TAG_enumerator &&
		    !put_enumerator(w, &die))
			return false;
	return true;
}

/* Whether there is a sign may stand with the enumeration, or with the type that it has. */
static struct dp_type base_of_enum(const struct writer *w, Dwarf_Die *die)
{
	Dwarf_Die type;

	if (dp_reader_type(w->r, die, &type) && dp_reader_peel(w->r, &type) &&
	    w->r->dw.dwarf_tag(&type) == DW_TAG_base_type)
		return dp_reader_base(w->r, &type);
	return dp_reader_base(w->r, die);
}

static void fill_enum(struct writer *w, u32 i)
{
	struct dp_tree_type *t = &w->t->type[i];
	struct dp_type base = base_of_enum(w, &w->die[i]);
	u32 names = w->t->names;

	t->size = dp_reader_number(w->r, &w->die[i], DW_AT_byte_size);
	if (!base.kind || base.kind == DP_TYPE_FLOAT)
		return;
	fill_int(t, base);
	if (!put_enumerators(w, &w->die[i])) {
		w->t->names = names;
		return;
	}
	t->lens = DP_PROTOTYPE_ENUM;
	t->first = names;
	t->n = w->t->names - names;
}

/* Return: true if an array has dimension @n, from 0, in @die then */
static bool dimension(const struct writer *w, Dwarf_Die *array, u32 n,
		      Dwarf_Die *die)
{
	int more;

	for (more = w->r->dw.dwarf_child(array, die); !more;
	     more = w->r->dw.dwarf_siblingof(die, die))
		if (w->r->dw.dwarf_tag(die) == DW_TAG_subrange_type && !n--)
			return true;
	return false;
}

/* 0: it is not known, or none. The bound of an array without elements is -1. */
static u64 length_of(const struct writer *w, Dwarf_Die *range)
{
	u64 n;

	if (has_constant(w, range, DW_AT_count, &n))
		return n;
	if (!has_constant(w, range, DW_AT_upper_bound, &n))
		return 0;
	return n + 1 - dp_reader_number(w->r, range, DW_AT_lower_bound);
}

static void fill_array(struct writer *w, u32 i)
{
	u32 next = w->dimension[i] + 1, of;
	Dwarf_Die die = w->die[i], range;
	u64 length;

	if (!dimension(w, &die, w->dimension[i], &range))
		return;
	length = length_of(w, &range);
	of = dimension(w, &die, next, &range) ?
		     enter(w, &die, next, w->pointers[i]) :
		     type_of(w, &die, w->pointers[i]);
	if (of == DP_TREE_NONE)
		return;
	w->t->type[i].kind = DP_PROTOTYPE_ARRAY;
	w->t->type[i].of = of;
	w->t->type[i].length = length;
}

bool dp_writer_is_struct(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_class_type;
}

/* DWARF 2 has the place of a member as something to be added to that of its struct. */
static bool has_addend(const struct writer *w, Dwarf_Die *die, u64 *offset)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n;

	if (!w->r->dw.dwarf_attr(die, DW_AT_data_member_location, &attr) ||
	    w->r->dw.dwarf_getlocation_addr(&attr, 0, &op, &n, 1) != 1 ||
	    n != 1 || op->atom != DW_OP_plus_uconst)
		return false;
	*offset = op->number;
	return true;
}

/* Where in its struct @die is, if that is a constant. A union does not say it. */
static bool place_of(const struct writer *w, Dwarf_Die *die, u64 *offset)
{
	*offset = 0;
	return !w->r->dw.dwarf_hasattr(die, DW_AT_data_member_location) ||
	       has_constant(w, die, DW_AT_data_member_location, offset) ||
	       has_addend(w, die, offset);
}

bool dp_writer_is_part(const struct writer *w, Dwarf_Die *die)
{
	const struct dp_libdw *dw = &w->r->dw;
	int tag = dw->dwarf_tag(die);

	if (tag == DW_TAG_inheritance)
		return true;
	return tag == DW_TAG_member &&
	       !dw->dwarf_hasattr(die, DW_AT_external) &&
	       !dw->dwarf_hasattr(die, DW_AT_declaration);
}

static bool put_fields(struct writer *w, u32 i, Dwarf_Die *of, u64 base,
		       int depth);

/* Bytes of the type that @die has */
static u64 size_of_type(const struct writer *w, Dwarf_Die *die)
{
	Dwarf_Die type;

	if (!dp_reader_type(w->r, die, &type) || !dp_reader_peel(w->r, &type))
		return 0;
	return dp_reader_number(w->r, &type, DW_AT_byte_size);
}

/* Before DWARF 4, bits are counted from the upper end of a unit that the field is in.
 * Return: false if it is in no unit that can be loaded */
static bool place_bits(const struct writer *w, u32 i, Dwarf_Die *die, u64 base,
		       u64 offset, struct dp_tree_field *f)
{
	u64 n, at, size = size_of_type(w, die), unit;

	if (!has_constant(w, die, DW_AT_bit_size, &n))
		return false;
	if (!has_constant(w, die, DW_AT_data_bit_offset, &at)) {
		unit = dp_reader_number(w->r, die, DW_AT_byte_size) ?: size;
		at = 8 * (offset + unit) - n -
		     dp_reader_number(w->r, die, DW_AT_bit_offset);
		if (!w->r->dw.dwarf_hasattr(die, DW_AT_bit_offset))
			at = 8 * offset;
	}
	return dp_tree_place_bits(f, 8 * base + at, n, size,
				  w->t->type[i].size);
}

static bool put_variants(struct writer *w, u32 i, Dwarf_Die *part, u64 base);

/* A base class that is not always at one place, or a bit field in nine bytes */
static bool leave_out(struct dp_tree *t, u32 i)
{
	t->type[i].partial = true;
	return true;
}

/* Return: false if there is no room */
static bool put_field(struct writer *w, u32 i, Dwarf_Die *die, u64 base,
		      int depth)
{
	struct dp_tree *t = w->t;
	struct dp_tree_field field = { 0 };
	u32 type, name;
	Dwarf_Die inner;
	u64 offset;

	if (w->r->dw.dwarf_tag(die) == DW_TAG_variant_part)
		return put_variants(w, i, die, base);
	if (!dp_writer_is_part(w, die))
		return true;
	if (dp_reader_number(w->r, die, DW_AT_virtuality) ||
	    !place_of(w, die, &offset))
		return leave_out(t, i);
	field.offset = base + offset;
	name = put_name(w, die);
	if (name && w->r->dw.dwarf_hasattr(die, DW_AT_bit_size) &&
	    !place_bits(w, i, die, base, offset, &field))
		return leave_out(t, i);
	if (!name)
		return !dp_reader_type(w->r, die, &inner) ||
		       !dp_reader_peel(w->r, &inner) ||
		       !dp_writer_is_struct(w->r->dw.dwarf_tag(&inner)) ||
		       put_fields(w, i, &inner, base + offset, depth + 1);
	type = type_of(w, die, w->pointers[i]);
	if (!type)
		return leave_out(t, i);
	if (type == DP_TREE_NONE || name == DP_TREE_TEXT ||
	    t->fields == DP_TREE_FIELDS)
		return false;
	field.name = name;
	field.type = type;
	t->field[t->fields++] = field;
	return true;
}

/* The parts of base classes, and of structs without a name, are those of the struct
 * around them. */
static bool put_fields(struct writer *w, u32 i, Dwarf_Die *of, u64 base,
		       int depth)
{
	Dwarf_Die die;
	int more;

	if (depth > BASES_MAX)
		return false;
	for (more = w->r->dw.dwarf_child(of, &die); !more;
	     more = w->r->dw.dwarf_siblingof(&die, &die))
		if (!put_field(w, i, &die, base, depth))
			return false;
	return true;
}

/* One of the fields of a struct with variants. Return: false if it cannot be told */
static bool put_role(struct writer *w, u32 i, Dwarf_Die *die,
		     struct dp_tree_field field)
{
	struct dp_tree *t = w->t;
	u64 offset;

	if (!place_of(w, die, &offset) ||
	    w->r->dw.dwarf_hasattr(die, DW_AT_bit_size) ||
	    t->fields == DP_TREE_FIELDS)
		return false;
	field.name = field.role == DP_PROTOTYPE_TAG ? 0 : put_name(w, die);
	field.type = type_of(w, die, w->pointers[i]);
	field.offset += offset;
	if (!field.type || field.type == DP_TREE_NONE ||
	    field.name == DP_TREE_TEXT)
		return false;
	t->field[t->fields++] = field;
	return true;
}

static bool put_variant(struct writer *w, u32 i, Dwarf_Die *variant, u64 base)
{
	const struct dp_libdw *dw = &w->r->dw;
	struct dp_tree_field field = { .offset = base,
				       .role = DP_PROTOTYPE_OTHERWISE };
	Dwarf_Die die;
	int more;

	if (dw->dwarf_hasattr(variant, DW_AT_discr_list))
		return false;
	if (dw->dwarf_hasattr(variant, DW_AT_discr_value)) {
		field.role = DP_PROTOTYPE_VARIANT;
		if (!has_constant(w, variant, DW_AT_discr_value, &field.value))
			return false;
	}
	for (more = dw->dwarf_child(variant, &die); !more;
	     more = dw->dwarf_siblingof(&die, &die))
		if (dw->dwarf_tag(&die) == DW_TAG_member &&
		    !put_role(w, i, &die, field))
			return false;
	return true;
}

/* An enumeration of Rust's whose values have parts. Return: false if it cannot be told */
static bool put_variants(struct writer *w, u32 i, Dwarf_Die *part, u64 base)
{
	const struct dp_libdw *dw = &w->r->dw;
	struct dp_tree_field tag = { .offset = base, .role = DP_PROTOTYPE_TAG };
	Dwarf_Attribute attr;
	Dwarf_Die die;
	int more;

	w->t->type[i].lens = DP_PROTOTYPE_VARIANTS;
	if (dw->dwarf_attr(part, DW_AT_discr, &attr) &&
	    (!dw->dwarf_formref_die(&attr, &die) || !put_role(w, i, &die, tag)))
		return false;
	for (more = dw->dwarf_child(part, &die); !more;
	     more = dw->dwarf_siblingof(&die, &die))
		if (dw->dwarf_tag(&die) == DW_TAG_variant &&
		    !put_variant(w, i, &die, base))
			return false;
	return true;
}

/* A struct's own name is not needed to read it. */
static void put_struct_name(struct writer *w, u32 i)
{
	const char *name = name_of(w, &w->die[i], DW_AT_name);
	u32 at = name && strlen(name) < NAME_MOST ? put_text(w->t, name) : 0;

	w->t->type[i].name = at == DP_TREE_TEXT ? 0 : at;
}

/* What a template is of first, as if a pointer led there; 0: it is none, or that is not known */
static u32 type_of_template(struct writer *w, u32 i)
{
	const struct dp_libdw *dw = &w->r->dw;
	u8 pointers = (u8)(w->pointers[i] + 1);
	Dwarf_Die of = w->die[i], die;
	u32 type;
	int more;

	for (more = dw->dwarf_child(&of, &die);
	     !more && dw->dwarf_tag(&die) != DW_TAG_template_type_parameter;
	     more = dw->dwarf_siblingof(&die, &die))
		continue;
	if (more || pointers > POINTERS_MAX)
		return 0;
	type = type_of(w, &die, pointers);
	return type == DP_TREE_NONE ? 0 : type;
}

static void fill_struct(struct writer *w, u32 i)
{
	struct dp_tree_type *t = &w->t->type[i];
	Dwarf_Die die = w->die[i];
	u32 fields = w->t->fields;

	t->size = dp_reader_number(w->r, &die, DW_AT_byte_size);
	put_struct_name(w, i);
	t->partial = w->r->dw.dwarf_hasattr(&die, DW_AT_declaration);
	if (t->partial)
		return;
	if (!put_fields(w, i, &die, 0, 0)) {
		w->t->fields = fields;
		t->lens = DP_PROTOTYPE_PLAIN;
		t->partial = true;
		return;
	}
	t->passed = dp_writer_passed(w, &die);
	t->first = fields;
	t->n = w->t->fields - fields;
	t->of = type_of_template(w, i);
}

/* Is there in @unit what @name is the name of? It becomes *@die. */
static bool find_in_unit(const struct writer *w, Dwarf_Die *unit, int tag,
			 const char *name, Dwarf_Die *die)
{
	const char *is;
	Dwarf_Die at;
	int more;

	for (more = w->r->dw.dwarf_child(unit, &at); !more;
	     more = w->r->dw.dwarf_siblingof(&at, &at)) {
		if (w->r->dw.dwarf_tag(&at) != tag ||
		    w->r->dw.dwarf_hasattr(&at, DW_AT_declaration))
			continue;
		is = name_of(w, &at, DW_AT_name);
		if (!is || strcmp(is, name))
			continue;
		*die = at;
		return true;
	}
	return false;
}

/* A struct that is only declared in the function's unit: another may have it. */
static void find_definition(struct writer *w, Dwarf_Die *die)
{
	const struct dp_reader *r = w->r;
	const char *name = name_of(w, die, DW_AT_name);
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	if (!name || !r->wanted || w->searches++ >= SEARCHES_MAX)
		return;
	while (dp_reader_next_unit(r, &at, &unit))
		if (dp_split_join(r, &unit, r->line) &&
		    find_in_unit(w, &unit, r->dw.dwarf_tag(die), name, die))
			return;
}

static void fill(struct writer *w, u32 i)
{
	if (dp_writer_is_struct(w->r->dw.dwarf_tag(&w->die[i])) &&
	    w->r->dw.dwarf_hasattr(&w->die[i], DW_AT_declaration))
		find_definition(w, &w->die[i]);
	switch (w->r->dw.dwarf_tag(&w->die[i])) {
	case DW_TAG_base_type:
		return fill_base(w, i);
	case DW_TAG_enumeration_type:
		return fill_enum(w, i);
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
	case DW_TAG_unspecified_type: /* of nullptr */
		return fill_pointer(w, i);
	case DW_TAG_array_type:
		return fill_array(w, i);
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_class_type:
		return fill_struct(w, i);
	}
}

/* A parameter is never void: what its type is cannot be told then. */
static u32 type_of_value(struct writer *w, Dwarf_Die *die)
{
	u32 type = type_of(w, die, 0);

	return type && type != DP_TREE_NONE ? type : add(w);
}

/* A constructor of a class with virtual bases: which of its copies is passed them is not told. */
static bool is_of_compiler(const char *name)
{
	return name &&
	       (!strcmp(name, "__in_chrg") || !strcmp(name, "__vtt_parm"));
}

static bool put_parameter(struct writer *w, Dwarf_Die *die)
{
	struct dp_tree *t = w->t;
	u32 name = put_name(w, die);

	if (t->parameters == DP_PROTOTYPE_PARAMETERS ||
	    is_of_compiler(name_of(w, die, DW_AT_name)))
		return false;
	t->parameter[t->parameters++] =
		(struct dp_tree_parameter){ name == DP_TREE_TEXT ? 0 : name,
					    type_of_value(w, die) };
	return true;
}

/* Return: false if they cannot be told */
static bool put_parameters(struct writer *w, Dwarf_Die *function)
{
	const struct dp_libdw *dw = &w->r->dw;
	Dwarf_Die die;
	int more;

	for (more = dw->dwarf_child(function, &die); !more;
	     more = dw->dwarf_siblingof(&die, &die)) {
		if (dw->dwarf_tag(&die) == DW_TAG_unspecified_parameters)
			w->t->variadic = true;
		if (dw->dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    !put_parameter(w, &die))
			return false;
	}
	return true;
}

/* A function that is inlined elsewhere may lack what its code does not use; what it is a copy
 * of has all parameters. */
static Dwarf_Die origin_of(const struct writer *w, const Dwarf_Die *function)
{
	Dwarf_Die die = *function, next;
	Dwarf_Attribute attr;
	int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		if (!w->r->dw.dwarf_attr(&die, DW_AT_abstract_origin, &attr) ||
		    !w->r->dw.dwarf_formref_die(&attr, &next))
			break;
		die = next;
	}
	return die;
}

static void put_function(struct writer *w, Dwarf_Die *function)
{
	const char *name = name_of(w, function, DW_AT_linkage_name) ?:
				   name_of(w, function, DW_AT_name);

	w->t->name = name ? put_text(w->t, name) : 0;
	if (w->t->name == DP_TREE_TEXT)
		w->t->name = 0;
	if (w->r->dw.dwarf_attr_integrate(function, DW_AT_type,
					  &(Dwarf_Attribute){ 0 }))
		w->t->returns = type_of(w, function, 0);
	if (w->t->returns == DP_TREE_NONE)
		w->t->returns = add(w);
}

/* Clang says so of a function whose parameters it has changed for all callers. */
static bool is_called_otherwise(const struct writer *w, Dwarf_Die *function)
{
	u64 how = dp_reader_number(w->r, function, DW_AT_calling_convention);

	return how && how != DW_CC_normal && how != DW_CC_program;
}

/* Registers of arguments in order, as DWARF numbers them */
static const u8 general[] = { DW_OP_reg5, DW_OP_reg4, DW_OP_reg1,
			      DW_OP_reg2, DW_OP_reg8, DW_OP_reg9 };

/* Return: number of the argument in whose register @die is at @addr, from 0; -1: it is
 * somewhere else, or that is not told */
static int register_of(const struct writer *w, Dwarf_Die *die, u64 addr)
{
	Dwarf_Attribute attr;
	Dwarf_Op *op;
	size_t n, i;

	if (!w->r->dw.dwarf_attr(die, DW_AT_location, &attr) ||
	    w->r->dw.dwarf_getlocation_addr(&attr, addr, &op, &n, 1) != 1 ||
	    n != 1)
		return -1;
	for (i = 0; i < sizeof(general); i++)
		if (op->atom == general[i])
			return (int)i;
	return -1;
}

static u32 parameter_named(const struct writer *w, Dwarf_Die *die)
{
	const char *name = name_of(w, die, DW_AT_name);
	const struct dp_tree *t = w->t;
	u32 i;

	for (i = 0; name && i < t->parameters; i++)
		if (!strcmp(t->bytes + t->parameter[i].name, name))
			return i;
	return DP_TREE_NONE;
}

/* Return: the argument in general registers that a parameter is, from 0; -1: none */
static int argument_of(const struct dp_tree *t, u32 parameter)
{
	int n = 0;
	u32 i;

	for (i = 0; i <= parameter; i++) {
		u32 type = t->parameter[i].type;
		u8 kind = type < t->types ? t->type[type].kind :
					    DP_PROTOTYPE_STRUCT;

		if (kind == DP_PROTOTYPE_INT || kind == DP_PROTOTYPE_POINTER)
			n++;
		else if (kind != DP_PROTOTYPE_FLOAT || i == parameter)
			return -1;
	}
	return n - 1;
}

/* Some compilers pass fewer arguments to a function that only its file calls, and say so only
 * by the registers in which the others are at its entry. */
static bool is_passed_otherwise(const struct writer *w, Dwarf_Die *function)
{
	u64 entry = w->r->addr[0] - w->r->bias;
	int more, is, want;
	Dwarf_Die die;
	u32 i;

	if (w->t->type[w->t->returns].kind == DP_PROTOTYPE_STRUCT)
		return false;
	for (more = w->r->dw.dwarf_child(function, &die); !more;
	     more = w->r->dw.dwarf_siblingof(&die, &die)) {
		if (w->r->dw.dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		i = parameter_named(w, &die);
		is = i == DP_TREE_NONE ? -1 : register_of(w, &die, entry);
		want = is < 0 ? -1 : argument_of(w->t, i);
		if (want >= 0 && is != want)
			return true;
	}
	return false;
}

u32 dp_writer_text(struct writer *w, const char *text)
{
	return put_text(w->t, text);
}

const char *dp_writer_name(const struct writer *w, Dwarf_Die *die)
{
	return name_of(w, die, DW_AT_name);
}

u32 dp_writer_type(struct writer *w, Dwarf_Die *die)
{
	return type_of_value(w, die);
}

u32 dp_writer_enter(struct writer *w, const Dwarf_Die *type)
{
	return enter(w, type, 0, 0);
}

Dwarf_Die dp_writer_origin(const struct writer *w, const Dwarf_Die *die)
{
	return origin_of(w, die);
}

/* Is the address asked for that of @function's first instruction? */
static bool is_at_entry(const struct dp_reader *r, Dwarf_Die *function)
{
	Dwarf_Addr pc, unit, end;

	if (r->dw.dwarf_entrypc(function, &pc) &&
	    r->dw.dwarf_ranges(function, 0, &unit, &pc, &end) <= 0)
		return false;
	return pc + r->bias == r->addr[0];
}

static bool put_prototype(struct writer *w, Dwarf_Die *function)
{
	Dwarf_Die origin = origin_of(w, function);

	return w->t->scope.is_entry &&
	       !(w->r->wanted && w->r->wanted->changed) &&
	       dp_reader_is_c(w->r, function) &&
	       !is_called_otherwise(w, function) && put_parameters(w, &origin);
}

static void see(const struct dp_reader *r, Dwarf_Die *function, size_t i)
{
	struct dp_tree *t = r->out;
	struct writer w = { .r = r, .t = t, .filled = 1 };

	memset(t, 0, sizeof(*t));
	t->types = t->text = 1;
	t->scope.is_entry = is_at_entry(r, function);
	put_function(&w, function);
	t->scope.by_abi = put_prototype(&w, function);
	if (r->wanted)
		dp_scope_put(&w, function);
	for (; w.filled < t->types; w.filled++)
		fill(&w, w.filled);
	if (t->scope.by_abi && is_passed_otherwise(&w, function))
		t->scope.by_abi = false;
	if (!t->scope.by_abi)
		t->parameters = 0;
	t->found = t->scope.by_abi || r->wanted;
}

static bool has(const struct dp_reader *r, size_t i)
{
	const struct dp_tree *t = r->out;

	return t->found;
}

static int build(const struct dp_reader *r, const struct dp_frame *frame,
		 struct dp_prototype **p)
{
	const struct dp_tree *t = r->out;

	return t->found ? dp_tree_build(t, frame, p) : -ENOENT;
}

static int load_frame(struct dp_frame *f, struct dp_modules *mods,
		      const struct dp_module *m, u64 addr)
{
	struct dp_elf elf;
	int err = dp_file_open_elf(mods, dp_mod_of(m), &elf);

	memset(f, 0, sizeof(*f));
	if (err)
		return dp_is_shortage(err) ? err : -ENOENT;
	err = dp_frame_load(f, &elf, addr - m->bias);
	dp_elf_close(&elf);
	return err;
}

int dp_types_scope(struct dp_modules *mods, const struct dp_module *m, u64 addr,
		   const struct dp_wanted *wanted, struct dp_prototype **p)
{
	struct dp_reader r = { .addr = &addr,
			       .n = 1,
			       .size = sizeof(struct dp_tree),
			       .wanted = wanted,
			       .see = see,
			       .has = has };
	struct dp_frame frame;
	int err = load_frame(&frame, mods, m, addr);

	err = err ?: dp_reader_read(&r, mods, m);
	err = err ?: build(&r, &frame, p);
	if (r.out)
		munmap(r.out, r.size);
	dp_frame_free(&frame);
	return err;
}

int dp_types_prototype(struct dp_modules *mods, const struct dp_module *m,
		       u64 addr, struct dp_prototype **p)
{
	struct dp_reader r = { .addr = &addr,
			       .n = 1,
			       .size = sizeof(struct dp_tree),
			       .see = see,
			       .has = has };
	int err = dp_reader_read(&r, mods, m);

	err = err ?: build(&r, NULL, p);
	if (r.out)
		munmap(r.out, r.size);
	return err;
}
