// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lines: the places of a spec's line, and of its function's inlined copies.
 *
 * Addresses of debug information are no more than proposals: here those go that are outside of the
 * module's text; the rest are checked as all points are.
 */
#include "resolve/lines.h"
#include "resolve/points.h"
#include "sym/demangle.h"
#include "sym/sym.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_SHOWN 8
#define MODULES_READ 8

struct reader {
	struct dp_modules *mods;
	const struct dp_module *m;
	const struct dp_spec *spec;
	struct dp_line_places *places;
	struct dp_diag *diag;
};

int dp_spec_no_debug(const struct dp_module *m, int err, const char *what,
		     struct dp_diag *diag)
{
	return dp_diag_set(
		diag, err,
		"%s: debug information of %s is not installed (package NAME-dbgsym or NAME-dbg; a compiler makes it with -g)",
		what, m->base);
}

static int unread(const struct reader *r, int err)
{
	if (err == -EOPNOTSUPP)
		return dp_diag_set(
			r->diag, err,
			"debug information is read by libdw, which is not installed (package libdw1)");
	if (err == -ETIMEDOUT)
		return dp_diag_set(
			r->diag, err,
			"debug information of %s takes longer to read than %d seconds",
			r->m->base, DP_TYPES_SECONDS);
	if (err == -EXDEV)
		return dp_diag_set(
			r->diag, err,
			"debug information of %s is in files of its own (.dwo, by -gsplit-dwarf), which are not read",
			r->m->base);
	if (err == -E2BIG)
		return dp_diag_set(
			r->diag, err,
			"%s has more than %d places, or is of more than %d files, in %s",
			r->spec->name, DP_LINE_PLACES, DP_LINE_FILES,
			r->m->base);
	return dp_diag_set(r->diag, err,
			   "debug information of %s cannot be read: %s",
			   r->m->base, strerror(-err));
}

/* Keep the places that @keep wants. */
static void filter(struct reader *r,
		   bool (*keep)(const struct reader *r,
				const struct dp_line_place *p))
{
	struct dp_line_places *l = r->places;
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		if (keep(r, &l->v[i]))
			l->v[n++] = l->v[i];
	l->n = n;
}

static bool is_text(const struct reader *r, const struct dp_line_place *p)
{
	return !p->nowhere && dp_module_at(r->mods, p->addr) == r->m;
}

/* A place in a copy goes before one at the same address outside of it, which @keep has seen. */
static int by_address(const void *pa, const void *pb)
{
	const struct dp_line_place *a = pa, *b = pb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return b->inlined - a->inlined;
}

/* Where no function is told, symbols tell which lines are in one. */
static bool is_in_one(const struct reader *r, const struct dp_line_place *a,
		      const struct dp_line_place *b)
{
	struct dp_symbol x, y;

	return !a->function && !b->function &&
	       !dp_symbol_at(r->mods, a->addr, &x) &&
	       !dp_symbol_at(r->mods, b->addr, &y) && x.addr == y.addr;
}

static void sort(struct reader *r)
{
	struct dp_line_places *l = r->places;
	size_t i, n = 0;

	if (l->n)
		qsort(l->v, l->n, sizeof(*l->v), by_address);
	for (i = 0; i < l->n; i++)
		if (!n || (l->v[n - 1].addr != l->v[i].addr &&
			   !is_in_one(r, &l->v[n - 1], &l->v[i])))
			l->v[n++] = l->v[i];
	l->n = n;
}

/* Another module that has the file; those with debug information of their own are read alone,
 * for this is only to say so. */
static const struct dp_module *elsewhere(const struct reader *r)
{
	const struct dp_module *m, *found = NULL;
	struct dp_line_places list;
	size_t i, read = 0;

	for (i = 0; i < dp_modules_count(r->mods) && !found; i++) {
		m = dp_modules_get(r->mods, i);
		if (m == r->m || !dp_file_has_section(m->path, ".debug_info"))
			continue;
		if (read++ == MODULES_READ)
			break;
		if (dp_lines_find(r->mods, m, r->spec->name, r->spec->value,
				  &list))
			continue;
		found = list.nr_files ? m : NULL;
		dp_lines_free(&list);
	}
	return found;
}

static int no_file(const struct reader *r)
{
	const struct dp_module *other = elsewhere(r);

	dp_diag_set(
		r->diag, -ENOENT,
		"no source file \"%s\" has code in %s, by its debug information",
		r->spec->name, r->m->base);
	if (other)
		dp_diag_add(r->diag, "; %s has one: write %s:%s:%lu",
			    other->base, other->base, r->spec->name,
			    r->spec->value);
	dp_diag_caret(r->diag, r->spec->point_col, (int)strlen(r->spec->name));
	return -ENOENT;
}

static int several_files(const struct reader *r)
{
	const struct dp_line_places *l = r->places;
	const struct dp_spec *spec = r->spec;
	const char *q;
	size_t i;

	dp_diag_set(
		r->diag, -EINVAL,
		"%zu source files of %s are called \"%s\"; write one of these instead:",
		l->nr_files, r->m->base, spec->name);
	for (i = 0; i < l->nr_files && i < FILES_SHOWN; i++) {
		q = strpbrk(l->files[i].path, ":() \"") ? "\"" : "";
		dp_diag_add(r->diag, "\n  %.*s%s%s%s:%lu", spec->point_col,
			    spec->text, q, l->files[i].path, q, spec->value);
	}
	if (i < l->nr_files)
		dp_diag_add(r->diag, "\n  ... and %zu more", l->nr_files - i);
	dp_diag_caret(r->diag, spec->point_col, (int)strlen(spec->name));
	return -EINVAL;
}

static int no_code(const struct reader *r, const struct dp_line_file *file)
{
	dp_diag_set(r->diag, -ENOENT, "line %lu of %s has no code",
		    r->spec->value, file->path);
	if (file->next)
		dp_diag_add(r->diag, "; the next line that has is %u",
			    file->next);
	else if (file->last && file->last < r->spec->value)
		dp_diag_add(r->diag, "; the last line that has is %u",
			    file->last);
	dp_diag_caret(r->diag, r->spec->offset_col,
		      (int)strspn(r->spec->text + r->spec->offset_col,
				  "0123456789"));
	return -ENOENT;
}

/* Make the file that the spec names the first one, and the only one. */
static int choose(struct reader *r)
{
	struct dp_line_places *l = r->places;
	size_t i = 0;
	u32 at;

	while (i < l->nr_files && !l->files[i].exact)
		i++;
	if (i == l->nr_files && l->nr_files != 1)
		return l->nr_files ? several_files(r) : no_file(r);
	at = i == l->nr_files ? 0 : (u32)i;
	l->files[0] = l->files[at];
	l->nr_files = 1;
	for (i = 0; i < l->n; i++)
		l->v[i].nowhere |= l->v[i].source != at;
	return 0;
}

int dp_spec_line(struct dp_modules *mods, const struct dp_module *m,
		 const struct dp_spec *spec, struct dp_line_places *places,
		 struct dp_diag *diag)
{
	struct reader r = { mods, m, spec, places, diag };
	int err = dp_lines_find(mods, m, spec->name, spec->value, places);

	if (err == -ENOENT)
		dp_spec_no_debug(m, err, "source lines are not known", diag);
	else if (err)
		unread(&r, err);
	if (err) {
		dp_diag_caret(diag, spec->point_col, (int)strlen(spec->name));
		return err;
	}
	err = choose(&r);
	filter(&r, is_text);
	sort(&r);
	if (!err && !places->n)
		err = no_code(&r, &places->files[0]);
	if (err)
		dp_lines_free(places);
	return err;
}

/* A function of debug information, by the name that its source has. @text: room for it */
static const char *shown(const char *name, char *text)
{
	return name && dp_demangle(name, DP_DEMANGLE_BRIEF, text) ? text : name;
}

static void tell_copy(FILE *f, const struct dp_line_place *p)
{
	char text[DP_DEMANGLED_MAX + 1];

	fputs(", inlined", f);
	if (p->caller)
		fprintf(f, " in %s", shown(p->caller, text));
	if (p->file)
		fprintf(f, " at %s:%u", p->file, p->line);
}

char *dp_spec_place(const struct dp_line_places *of,
		    const struct dp_line_place *p, u64 line)
{
	char text[DP_DEMANGLED_MAX + 1], *place = NULL;
	size_t size;
	FILE *f = open_memstream(&place, &size);

	if (!f)
		return NULL;
	if (of->nr_files)
		fprintf(f, "%s:%lu%s", of->files[0].path, line,
			!p->function ? "" :
			p->inlined   ? " of " :
				       " in ");
	if (p->function)
		fputs(shown(p->function, text), f);
	if (p->inlined)
		tell_copy(f, p);
	if (fclose(f)) {
		free(place);
		return NULL;
	}
	return place;
}

/* Return: is @name that, but for template arguments? Not all compilers write these alike. */
static bool is_template(const char *name, const char *want)
{
	size_t n = strlen(want);

	return !strncmp(name, want, n) && name[n] == '<' &&
	       name[strlen(name) - 1] == '>';
}

static bool is_named(const struct reader *r, const struct dp_line_place *p)
{
	const char *want = r->spec->name;
	char text[DP_DEMANGLED_MAX + 1];

	if (!p->function)
		return false;
	if (!strcmp(p->function, want) ||
	    dp_demangle_match(p->function, want, false))
		return true;
	return is_template(shown(p->function, text), want);
}

static bool is_piece(const struct reader *r, const struct dp_line_place *p)
{
	struct dp_symbol sym;

	return !p->inlined && !dp_symbol_at(r->mods, p->addr, &sym) &&
	       (dp_symbol_is_fragment(sym.name) || strstr(sym.name, ".part."));
}

static bool is_whole(const struct reader *r, const struct dp_line_place *p)
{
	return is_text(r, p) && !is_piece(r, p);
}

static int no_copy(const struct reader *r)
{
	return dp_diag_set(
		r->diag, -ENOENT,
		"%s was inlined everywhere in %s, and no copy of it has code of its own; a line of its callers can be probed instead (FILE:LINE)",
		r->spec->name, r->m->base);
}

/* Functions that only their file knows may be without parameters in debug information, and so
 * are not told from others of their name. Return: 0: there is none; -EINVAL, with words */
static int no_parameters(const struct reader *r)
{
	const struct dp_line_places *l = r->places;
	const char *want = r->spec->name;
	size_t n = strcspn(want, "<("), i;

	for (i = 0; i < l->n && strchr(want, '('); i++) {
		const char *f = l->v[i].function;

		if (f && !strncmp(f, want, n) && (!f[n] || f[n] == '<'))
			return dp_diag_set(
				r->diag, -EINVAL,
				"debug information of %s does not tell parameters of this function; it is all of \"%s\", by that name",
				r->m->base, f);
	}
	return 0;
}

int dp_spec_inlined(struct dp_modules *mods, const struct dp_module *m,
		    const struct dp_spec *spec, struct dp_line_places *places,
		    struct dp_diag *diag)
{
	struct reader r = { mods, m, spec, places, diag };
	int err = dp_lines_inlined(mods, m, spec->name, places);
	size_t n;

	if (err)
		return err == -ENOENT ? -ENODATA : unread(&r, err);
	err = no_parameters(&r);
	dp_demangle_begin();
	filter(&r, is_named);
	dp_demangle_end();
	n = places->n;
	filter(&r, is_whole);
	sort(&r);
	if (places->n)
		err = 0;
	else if (!err)
		err = n ? no_copy(&r) : -ENOENT;
	if (err)
		dp_lines_free(places);
	return err;
}
