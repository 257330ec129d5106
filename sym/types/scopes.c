// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* scopes: the functions of a unit, and the copies that are inlined in them; in the child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sym/types/places.h"

#define DEPTH_MAX 200
#define ORIGINS_MAX \
	4 /* a copy of a function that has been declared elsewhere */

static bool is_up(const char *at, size_t len)
{
	return len == 2 && at[0] == '.' && at[1] == '.';
}

/* Drop the last component, if it is one that ".." can take back. Return: false: not. */
static bool go_up(char *to, size_t *n)
{
	size_t i = *n;

	while (i && to[i - 1] != '/')
		i--;
	if (i == *n || is_up(to + i, *n - i))
		return i == 1 && *n == 1;
	*n = i > 1 ? i - 1 : i;
	return true;
}

bool dp_source_path(const char *path, char *to)
{
	size_t n = 0, len;

	if (strlen(path) >= DP_SOURCE_PATH)
		return false;
	if (*path == '/')
		to[n++] = '/';
	for (; *path; path += len) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (!len || (len == 1 && *path == '.'))
			continue;
		if (is_up(path, len) && go_up(to, &n))
			continue;
		if (n && to[n - 1] != '/')
			to[n++] = '/';
		memcpy(to + n, path, len);
		n += len;
	}
	to[n] = '\0';
	return n;
}

struct walk {
	struct dp_reader *r;
	void (*visit)(struct dp_reader *r, struct dp_scope *scope);
};

static const char *name_by(const struct dp_reader *r, Dwarf_Die *die,
			   unsigned int name)
{
	Dwarf_Attribute attr;

	return r->dw.dwarf_attr_integrate(die, name, &attr) ?
		       r->dw.dwarf_formstring(&attr) :
		       NULL;
}

/* In C a function has another linkage name only if its source says so. */
static bool is_plain_c(const struct dp_reader *r, Dwarf_Die *die)
{
	Dwarf_Die unit;

	return r->dw.dwarf_diecu(die, &unit, NULL, NULL) &&
	       dp_lang_is_c(r->dw.dwarf_srclang(&unit));
}

static const char *linkage_name(const struct dp_reader *r, Dwarf_Die *die)
{
	return name_by(r, die, DW_AT_linkage_name) ?:
		       name_by(r, die, DW_AT_MIPS_linkage_name);
}

const char *dp_scope_name(const struct dp_reader *r, Dwarf_Die *die)
{
	const char *name = is_plain_c(r, die) ? NULL : linkage_name(r, die);

	return name ?: name_by(r, die, DW_AT_name);
}

/* Its own number: what it is a copy of may have been called, too. */
static bool number_of(const struct dp_reader *r, Dwarf_Die *die,
		      unsigned int name, Dwarf_Word *value)
{
	Dwarf_Attribute attr;

	return r->dw.dwarf_attr(die, name, &attr) &&
	       !r->dw.dwarf_formudata(&attr, value);
}

bool dp_unit_path(const struct dp_reader *r, Dwarf_Die *unit, const char *name,
		  char *to)
{
	const char *where = *name == '/' ? NULL :
					   name_by(r, unit, DW_AT_comp_dir);
	char whole[DP_SOURCE_PATH];
	int n;

	if (!where)
		return dp_source_path(name, to);
	n = snprintf(whole, sizeof(whole), "%s/%s", where, name);
	return n > 0 && (size_t)n < sizeof(whole) && dp_source_path(whole, to);
}

/* Return: a line; @path: of a file that the unit of @die has a number for, or "" */
static u32 source_of(const struct dp_reader *r, Dwarf_Die *die,
		     unsigned int file, unsigned int line, char *path)
{
	Dwarf_Word at = 0, number;
	Dwarf_Files *files;
	const char *name;
	Dwarf_Die unit;
	size_t n;

	*path = '\0';
	if (number_of(r, die, file, &number) &&
	    r->dw.dwarf_diecu(die, &unit, NULL, NULL) &&
	    !r->dw.dwarf_getsrcfiles(&unit, &files, &n) && number < n) {
		name = r->dw.dwarf_filesrc(files, number, NULL, NULL);
		if (!name || !dp_unit_path(r, &unit, name, path))
			*path = '\0';
	}
	number_of(r, die, line, &at);
	return at <= ~0u ? (u32)at : 0;
}

u32 dp_scope_call(const struct dp_reader *r, Dwarf_Die *die, char *path)
{
	return source_of(r, die, DW_AT_call_file, DW_AT_call_line, path);
}

/* What a copy, or a body, is of */
static Dwarf_Die origin_of(const struct dp_reader *r, Dwarf_Die *die)
{
	Dwarf_Die at = *die, next;
	Dwarf_Attribute attr;
	int i;

	for (i = 0; i < ORIGINS_MAX; i++) {
		if ((!r->dw.dwarf_attr(&at, DW_AT_abstract_origin, &attr) &&
		     !r->dw.dwarf_attr(&at, DW_AT_specification, &attr)) ||
		    !r->dw.dwarf_formref_die(&attr, &next))
			break;
		at = next;
	}
	return at;
}

u32 dp_scope_declared(const struct dp_reader *r, Dwarf_Die *die, char *path)
{
	Dwarf_Die at = origin_of(r, die);

	/* Its definition, rather than what that says again of its declaration */
	if (r->dw.dwarf_hasattr(die, DW_AT_decl_line))
		at = *die;
	return source_of(r, &at, DW_AT_decl_file, DW_AT_decl_line, path);
}

/* Return: bytes that were added, or would be */
static size_t append(char *to, size_t n, const char *text)
{
	size_t len = text ? strlen(text) : 0;

	if (n + len < DP_SOURCE_PATH)
		memcpy(to + n, text ?: "", len + 1);
	return len;
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* A function that only its file knows may have no linkage name, nor any other that is whole.
 * @at: its declaration. Return: false: it is in nothing, or too deep */
static bool qualify(const struct dp_reader *r, Dwarf_Die *at, char *to)
{
	Dwarf_Die *scopes = NULL;
	size_t n = 0;
	int i;

	for (i = r->dw.dwarf_getscopes_die(at, &scopes) - 1; i > 0; i--) {
		const char *name = name_by(r, &scopes[i], DW_AT_name);
		int tag = r->dw.dwarf_tag(&scopes[i]);

		if (!is_qualifier(tag))
			continue;
		if (!name)
			name = tag == DW_TAG_namespace ?
				       "(anonymous namespace)" :
				       "(anonymous class)";
		n += append(to, n, name);
		n += append(to, n, "::");
	}
	free(scopes);
	if (n)
		n += append(to, n, name_by(r, at, DW_AT_name));
	return n && n < DP_SOURCE_PATH;
}

static u32 name_function(struct dp_reader *r, Dwarf_Die *die)
{
	struct dp_found *found = r->out;
	Dwarf_Die origin = origin_of(r, die);
	u64 at = r->dw.dwarf_dieoffset(&origin);
	char whole[DP_SOURCE_PATH];

	if (found->name && found->origin == at)
		return found->name;
	found->origin = at;
	found->name = !is_plain_c(r, die) && !linkage_name(r, die) &&
				      qualify(r, &origin, whole) ?
			      dp_found_text(found, whole) :
			      dp_found_text(found, dp_scope_name(r, die));
	return found->name;
}

void dp_scope_fill(struct dp_reader *r, const struct dp_scope *scope,
		   struct dp_found_place *place)
{
	struct dp_found *found = r->out;
	char path[DP_SOURCE_PATH];

	place->function = name_function(r, scope->die);
	place->inlined = scope->tag == DW_TAG_inlined_subroutine;
	if (!place->inlined)
		return;
	place->line = dp_scope_call(r, scope->die, path);
	place->file = dp_found_text(found, path);
	if (scope->out)
		place->caller =
			dp_found_text(found, dp_scope_name(r, scope->out->die));
}

/* The entry is where the first piece begins, which need not be the lowest one, or as far from
 * there as is told. */
static u64 entry_of(const struct dp_reader *r, Dwarf_Die *die)
{
	Dwarf_Addr base, start, end;
	Dwarf_Word far = 0;
	ptrdiff_t at = 0;

	if (!r->dw.dwarf_entrypc(die, &start))
		return start;
	while ((at = r->dw.dwarf_ranges(die, at, &base, &start, &end)) > 0)
		if (start < end)
			break;
	if (at <= 0)
		return 0;
	number_of(r, die, DW_AT_entry_pc, &far);
	return start + far;
}

static bool is_scope(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* GCC may inline the beginning of a function alone, and then what it has cut off in that: this is
 * called where the function is declared. */
static bool is_piece(const struct dp_reader *r, const struct dp_scope *s)
{
	static const unsigned int pairs[][2] = {
		{ DW_AT_call_file, DW_AT_decl_file },
		{ DW_AT_call_line, DW_AT_decl_line },
		{ DW_AT_call_column, DW_AT_decl_column },
	};
	Dwarf_Die of, out;
	size_t i;

	if (s->tag != DW_TAG_inlined_subroutine || !s->out)
		return false;
	of = origin_of(r, s->die);
	out = origin_of(r, s->out->die);
	if (r->dw.dwarf_dieoffset(&of) != r->dw.dwarf_dieoffset(&out))
		return false;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		Dwarf_Word call = 0, declared = 0;

		number_of(r, s->die, pairs[i][0], &call);
		number_of(r, &of, pairs[i][1], &declared);
		if (call != declared)
			return false;
	}
	return true;
}

static bool has_scopes(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	default:
		return false;
	}
}

static void walk(const struct walk *w, Dwarf_Die *of,
		 const struct dp_scope *out, int depth)
{
	const struct dp_libdw *dw = &w->r->dw;
	Dwarf_Die die;
	int more;

	for (more = dw->dwarf_child(of, &die); !more;
	     more = dw->dwarf_siblingof(&die, &die)) {
		struct dp_scope s = { .die = &die, .out = out };
		bool own;

		s.tag = dw->dwarf_tag(&die);
		if (!has_scopes(s.tag))
			continue;
		own = is_scope(s.tag) && !is_piece(w->r, &s);
		if (own) {
			s.entry = entry_of(w->r, &die);
			w->visit(w->r, &s);
		}
		if (depth < DEPTH_MAX)
			walk(w, &die, own ? &s : out, depth + 1);
	}
}

bool dp_unit_is_split(const struct dp_reader *r, Dwarf_Die *unit)
{
	return r->dw.dwarf_tag(unit) == DW_TAG_skeleton_unit ||
	       r->dw.dwarf_hasattr(unit, DW_AT_dwo_name) ||
	       r->dw.dwarf_hasattr(unit, DW_AT_GNU_dwo_name);
}

void dp_scopes_walk(struct dp_reader *r, Dwarf_Die *unit,
		    void (*visit)(struct dp_reader *r, struct dp_scope *scope))
{
	const struct walk w = { r, visit };

	walk(&w, unit, NULL, 0);
}
