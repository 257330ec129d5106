// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * passed: how a struct is passed as an argument, and returned, by what debug information says of it.
 *
 * Source: System V AMD64 ABI 3.2.3; Itanium C++ ABI 3.1.2.3, on what is trivial for calls.
 */
#include <string.h>
#include "sym/types/writer.h"

#define DEPTH_MAX 16 /* of structs and arrays in one another */

/* How a member bears on how its struct is passed: enum dp_prototype_passed */
static u8 passed_with(const struct writer *w, Dwarf_Die *die)
{
	const struct dp_libdw *dw = &w->r->dw;
	int tag = dw->dwarf_tag(die), i;
	Dwarf_Die type = *die;

	if (tag == DW_TAG_variant_part ||
	    dw->dwarf_hasattr(die, DW_AT_alignment))
		return DP_PROTOTYPE_PASSED_UNKNOWN;
	if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
	    dw->dwarf_hasattr(die, DW_AT_external) ||
	    dw->dwarf_hasattr(die, DW_AT_declaration))
		return DP_PROTOTYPE_PASSED_VALUE;
	if (dw->dwarf_hasattr(die, DW_AT_bit_size))
		return DP_PROTOTYPE_PASSED_PARTLY;
	if (!dp_writer_is_part(w, die) ||
	    dp_reader_number(w->r, die, DW_AT_virtuality))
		return DP_PROTOTYPE_PASSED_UNKNOWN;
	/* Vectors are arrays, in registers of their own. */
	for (i = 0; i < DEPTH_MAX && dp_reader_type(w->r, &type, &type) &&
		    dp_reader_peel(w->r, &type);
	     i++) {
		if (dw->dwarf_hasattr(&type, DW_AT_GNU_vector))
			return DP_PROTOTYPE_PASSED_UNKNOWN;
		if (dw->dwarf_tag(&type) != DW_TAG_array_type)
			break;
	}
	return DP_PROTOTYPE_PASSED_VALUE;
}

static u8 passed_by_members(const struct writer *w, Dwarf_Die *of)
{
	u8 passed = DP_PROTOTYPE_PASSED_VALUE, with;
	Dwarf_Die die;
	int more;

	if (w->r->dw.dwarf_hasattr(of, DW_AT_alignment))
		return DP_PROTOTYPE_PASSED_UNKNOWN;
	for (more = w->r->dw.dwarf_child(of, &die); !more;
	     more = w->r->dw.dwarf_siblingof(&die, &die)) {
		with = passed_with(w, &die);
		if (with == DP_PROTOTYPE_PASSED_UNKNOWN)
			return with;
		if (with == DP_PROTOTYPE_PASSED_PARTLY)
			passed = with;
	}
	return passed;
}

static bool is_reference_to(const struct writer *w, Dwarf_Die *die,
			    const Dwarf_Die *to)
{
	Dwarf_Die type;
	int tag;

	if (!dp_reader_type(w->r, die, &type) || !dp_reader_peel(w->r, &type))
		return false;
	tag = w->r->dw.dwarf_tag(&type);
	if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
		return false;
	return dp_reader_type(w->r, &type, &type) &&
	       dp_reader_peel(w->r, &type) && type.addr == to->addr;
}

/* Does the function copy or move what it is a member of? */
static bool takes_another(const struct writer *w, Dwarf_Die *function,
			  const Dwarf_Die *of)
{
	Dwarf_Die die;
	int more;

	for (more = w->r->dw.dwarf_child(function, &die); !more;
	     more = w->r->dw.dwarf_siblingof(&die, &die))
		if (w->r->dw.dwarf_tag(&die) == DW_TAG_formal_parameter &&
		    is_reference_to(w, &die, of))
			return true;
	return false;
}

/* A destructor, a constructor that copies, or a virtual function: its class may be passed by
 * reference. */
static bool is_special(const struct writer *w, Dwarf_Die *function,
		       Dwarf_Die *of)
{
	const char *name = dp_writer_name(w, function);
	const char *class = dp_writer_name(w, of);
	size_t len = name ? strlen(name) : 0;

	if (dp_reader_number(w->r, function, DW_AT_virtuality) ||
	    (name && *name == '~'))
		return true;
	return name && class && !strncmp(name, class, len) &&
	       (!class[len] || class[len] == '<') &&
	       takes_another(w, function, of);
}

static bool is_trivial(const struct writer *w, Dwarf_Die *of, int depth);

static bool member_is_trivial(const struct writer *w, Dwarf_Die *die, int depth)
{
	Dwarf_Die type = *die;
	int i;

	for (i = 0; i < DEPTH_MAX && dp_reader_type(w->r, &type, &type) &&
		    dp_reader_peel(w->r, &type);
	     i++) {
		if (dp_writer_is_struct(w->r->dw.dwarf_tag(&type)))
			return is_trivial(w, &type, depth + 1);
		if (w->r->dw.dwarf_tag(&type) != DW_TAG_array_type)
			return true;
	}
	return i < DEPTH_MAX;
}

/* Can a class of C++ be copied as its bytes, by all that debug information says of it? */
static bool is_trivial(const struct writer *w, Dwarf_Die *of, int depth)
{
	Dwarf_Die die;
	int more, tag;

	if (depth > DEPTH_MAX ||
	    w->r->dw.dwarf_hasattr(of, DW_AT_declaration) ||
	    w->r->dw.dwarf_hasattr(of, DW_AT_containing_type))
		return false;
	for (more = w->r->dw.dwarf_child(of, &die); !more;
	     more = w->r->dw.dwarf_siblingof(&die, &die)) {
		tag = w->r->dw.dwarf_tag(&die);
		if (tag == DW_TAG_subprogram && is_special(w, &die, of))
			return false;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    !w->r->dw.dwarf_hasattr(&die, DW_AT_external) &&
		    !member_is_trivial(w, &die, depth))
			return false;
	}
	return true;
}

static bool is_by_value(const struct writer *w, Dwarf_Die *die, int lang)
{
	return dp_lang_is_c(lang) ||
	       (dp_lang_is_cxx(lang) && is_trivial(w, die, 0));
}

/* C passes all structs by value; of C++, some compilers say what they do. */
u8 dp_writer_passed(const struct writer *w, Dwarf_Die *die)
{
	u64 how = dp_reader_number(w->r, die, DW_AT_calling_convention);
	Dwarf_Die unit;

	if (how == DW_CC_pass_by_reference)
		return DP_PROTOTYPE_PASSED_REFERENCE;
	if (!w->r->dw.dwarf_diecu(die, &unit, NULL, NULL))
		return DP_PROTOTYPE_PASSED_UNKNOWN;
	return how == DW_CC_pass_by_value ||
			       is_by_value(w, die,
					   w->r->dw.dwarf_srclang(&unit)) ?
		       passed_by_members(w, die) :
		       DP_PROTOTYPE_PASSED_UNKNOWN;
}
