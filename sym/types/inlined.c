// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inlined: where functions of a name have been inlined, according to debug information.
 *
 * Names are compared here as far as that is possible without demangling.
 */
#include <string.h>
#include "sym/types/places.h"

/* struct wanted - @base: the function's own name in @name, which may be demangled */
struct wanted {
	const char *name, *base;
	size_t len;
	Dwarf_Off last; /* the function that was compared last, and whether it is like @name */
	bool like;
};

/* "f" of "ns::f<int>(int)": before parameters and template arguments, behind scopes */
static void find_base(struct wanted *w)
{
	const char *s = w->name, *end = s;
	int depth = 0;

	w->base = s;
	for (; *end && (*end != '(' || end == s); end++) {
		depth += (*end == '<') - (*end == '>');
		if (!depth && !strncmp(end, "::", 2))
			w->base = end + 2;
	}
	w->len = strcspn(w->base, "<(");
}

static bool is_like(const struct dp_reader *r, const struct wanted *w,
		    Dwarf_Die *die)
{
	const char *linkage = dp_scope_name(r, die);
	Dwarf_Attribute attr;
	const char *name;

	if (linkage && !strcmp(linkage, w->name))
		return true;
	if (!r->dw.dwarf_attr_integrate(die, DW_AT_name, &attr))
		return false;
	name = r->dw.dwarf_formstring(&attr);
	/* Operators and the like: the tool demangles what remains. */
	if (name && !strncmp(name, "operator", 8))
		return strstr(w->name, "operator");
	return name && !strncmp(name, w->base, w->len) &&
	       (!name[w->len] || name[w->len] == '<');
}

static bool is_wanted(const struct dp_reader *r, struct wanted *w,
		      Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die origin = *die;

	if (r->dw.dwarf_attr(die, DW_AT_abstract_origin, &attr) &&
	    r->dw.dwarf_formref_die(&attr, &origin) &&
	    r->dw.dwarf_dieoffset(&origin) == w->last)
		return w->like;
	w->last = r->dw.dwarf_dieoffset(&origin);
	w->like = is_like(r, w, &origin);
	return w->like;
}

static void visit(struct dp_reader *r, struct dp_scope *s)
{
	struct dp_found_place place = { .addr = s->entry };

	if (!is_wanted(r, r->own, s->die))
		return;
	if (!s->entry && s->tag == DW_TAG_subprogram &&
	    !r->dw.dwarf_hasattr(s->die, DW_AT_inline))
		return;
	place.nowhere = !s->entry;
	dp_scope_fill(r, s, &place);
	dp_found_add(r->out, &place);
}

static void read_unit(struct dp_reader *r, Dwarf_Die *unit)
{
	struct dp_found *found = r->out;

	if (dp_unit_is_split(r, unit))
		found->split = 1;
	else
		dp_scopes_walk(r, unit, visit);
}

static void read_units(struct dp_reader *r)
{
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	while (dp_reader_next_unit(r, &at, &unit))
		read_unit(r, &unit);
}

int dp_lines_inlined(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, struct dp_line_places *places)
{
	struct wanted w = { .name = name, .last = (Dwarf_Off)-1 };
	struct dp_reader r = { .own = &w, .work = read_units };

	find_base(&w);
	return dp_places_read(&r, mods, m, places);
}
