// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * lines: where a source line has code, according to debug information.
 *
 *   unit ─► its files of that name ─► rows of the line ─► the function or copy of each ─► one
 *   row of each
 */
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/types/places.h"

#define NAMES_MOST 32 /* of files in one unit; DWARF 5 has the main one twice */

/* struct row - @stmt: a statement begins
 * @empty: the code there is of another row; @strange: its line can be in no function that is there
 * @owner: number of the function it is in, 0: none; @declared: the line of that, if it is not in
 * another file; @hot: in the piece with its entry; @sure: no copy within @owner can have it
 */
struct row {
	u64 addr;
	u32 source, owner, declared;
	bool stmt, empty, strange, hot, sure;
};

struct rows {
	struct row *v;
	size_t n, room;
};

/* The functions that rows are in; owner 1 is the first. */
struct owners {
	struct dp_found_place *v;
	size_t n, room;
};

struct wanted {
	char file[DP_SOURCE_PATH];
	u64 line;
	Dwarf_Die unit; /* which is read */
	struct rows rows; /* of the unit */
	struct owners owners;
	/* The unit's files, by libdw's copies of their names, and their numbers in the answer */
	const char *name[NAMES_MOST];
	u32 source[NAMES_MOST], n;
};

/* Return: does @path, normalized, end in @file? */
static bool ends_in(const char *path, const char *file)
{
	size_t n = strlen(path), m = strlen(file);

	return m <= n && !strcmp(path + n - m, file) &&
	       (m == n || path[n - m - 1] == '/');
}

static bool number_of_file(struct dp_found *f, const char *path, bool exact,
			   u32 *source)
{
	for (*source = 0; *source < f->files; ++*source)
		if (!strcmp(f->bytes + f->file[*source].path, path))
			return true;
	if (f->files == DP_LINE_FILES) {
		f->full = 1;
		return false;
	}
	f->file[f->files++] =
		(struct dp_found_file){ .path = dp_found_text(f, path),
					.exact = exact };
	return f->file[*source].path;
}

/* The unit's files that the name means. They become known when they have code. */
static void find_files(struct dp_reader *r, Dwarf_Die *unit)
{
	struct wanted *w = r->own;
	char path[DP_SOURCE_PATH];
	Dwarf_Files *files;
	const char *name;
	size_t n, i;

	w->n = 0;
	if (r->dw.dwarf_getsrcfiles(unit, &files, &n))
		return;
	for (i = 0; i < n; i++) {
		name = r->dw.dwarf_filesrc(files, i, NULL, NULL);
		if (!name || !dp_unit_path(r, unit, name, path) ||
		    !ends_in(path, w->file))
			continue;
		if (w->n == NAMES_MOST) {
			((struct dp_found *)r->out)->full = 1;
			return;
		}
		w->source[w->n] = ~0u;
		w->name[w->n++] = name;
	}
}

/* Return: number of the file @name of this unit; ~0: it is not wanted */
static u32 source_of(struct dp_reader *r, const char *name)
{
	struct wanted *w = r->own;
	char path[DP_SOURCE_PATH];
	u32 i = 0;

	while (i < w->n && w->name[i] != name)
		i++;
	if (i == w->n)
		return ~0u;
	if (w->source[i] == ~0u &&
	    (!dp_unit_path(r, &w->unit, name, path) ||
	     !number_of_file(r->out, path, !strcmp(path, w->file),
			     &w->source[i])))
		w->source[i] = ~0u;
	return w->source[i];
}

static void note_other(struct dp_found_file *file, u64 line, u64 wanted)
{
	if (line > wanted && (!file->next || line < file->next))
		file->next = (u32)line;
	if (line > file->last)
		file->last = (u32)line;
}

static bool is_at(struct dp_reader *r, Dwarf_Line *line, u64 addr)
{
	Dwarf_Addr at;

	return !r->dw.dwarf_lineaddr(line, &at) && at == addr;
}

/* Is row @i the last one of its address, or the last one of the same line? */
static bool has_code(struct dp_reader *r, Dwarf_Lines *lines, size_t n,
		     size_t i, u64 addr)
{
	Dwarf_Line *line = r->dw.dwarf_onesrcline(lines, i), *next, *last;
	int number = 0, other = 0;

	for (last = line; i + 1 < n; last = next) {
		next = r->dw.dwarf_onesrcline(lines, ++i);
		if (!is_at(r, next, addr))
			break;
	}
	r->dw.dwarf_lineno(line, &number);
	r->dw.dwarf_lineno(last, &other);
	return number == other && r->dw.dwarf_linesrc(line, NULL, NULL) ==
					  r->dw.dwarf_linesrc(last, NULL, NULL);
}

static void take_row(struct dp_reader *r, Dwarf_Lines *lines, size_t n,
		     size_t i)
{
	Dwarf_Line *line = r->dw.dwarf_onesrcline(lines, i);
	struct wanted *w = r->own;
	struct dp_found *f = r->out;
	struct row row = { 0 };
	bool ends;
	int number;

	if (r->dw.dwarf_linebeginstatement(line, &row.stmt) ||
	    r->dw.dwarf_lineendsequence(line, &ends) || ends ||
	    r->dw.dwarf_lineno(line, &number) || number < 1 ||
	    r->dw.dwarf_lineaddr(line, &row.addr))
		return;
	row.source = source_of(r, r->dw.dwarf_linesrc(line, NULL, NULL));
	if (row.source == ~0u)
		return;
	note_other(&f->file[row.source], (u64)number, w->line);
	if ((u64)number != w->line)
		return;
	row.empty = !has_code(r, lines, n, i, row.addr);
	if (dp_list_push(&w->rows, &row))
		f->full = 1;
}

/* Return: the line where a function is declared, if that is in the file of @row; else 0 */
static u32 declared_before(struct dp_reader *r, const struct dp_scope *s,
			   const struct row *row, bool *is_known)
{
	const struct wanted *w = r->own;
	const struct dp_found *f = r->out;
	char path[DP_SOURCE_PATH];
	u32 line = dp_scope_declared(r, s->die, path);

	*is_known = line;
	return line <= w->line &&
			       !strcmp(path,
				       f->bytes + f->file[row->source].path) ?
		       line :
		       0;
}

static void own(struct dp_reader *r, struct dp_scope *s, struct row *row,
		bool hot)
{
	struct wanted *w = r->own;
	struct dp_found_place place = { 0 };
	bool known = false;
	u32 line = 0;

	if (row->sure)
		return;
	/* Compilers leave rows behind, where a copy ends, and the code there may be reached
	 * without it. */
	if (row->empty || !row->stmt)
		line = declared_before(r, s, row, &known);
	if (row->empty && known && !line) {
		row->strange = true;
		return;
	}
	/* Of what has no line of its own, the function around it is a better owner. */
	if (row->empty && !known && row->owner)
		return;
	if (!s->seen) {
		dp_scope_fill(r, s, &place);
		if (dp_list_push(&w->owners, &place))
			return;
		s->seen = (u32)w->owners.n;
	}
	row->owner = s->seen;
	row->declared = line;
	row->hot = hot;
}

/* Is @row where the copy @s begins, and of the line of its call? Then it is the caller's. */
static bool is_called_at(struct dp_reader *r, const struct dp_scope *s,
			 const struct row *row)
{
	const struct wanted *w = r->own;
	const struct dp_found *f = r->out;
	char path[DP_SOURCE_PATH];

	if (s->tag != DW_TAG_inlined_subroutine || row->addr != s->entry)
		return false;
	return dp_scope_call(r, s->die, path) == w->line &&
	       !strcmp(path, f->bytes + f->file[row->source].path);
}

static void own_range(struct dp_reader *r, struct dp_scope *s, u64 start,
		      u64 end)
{
	struct wanted *w = r->own;
	bool hot = s->entry >= start && s->entry < end;
	size_t i = start ? dp_list_upto(w->rows.v, w->rows.n,
					sizeof(*w->rows.v), 0, start - 1) :
			   0;

	for (; i < w->rows.n && w->rows.v[i].addr < end; i++) {
		if (is_called_at(r, s, &w->rows.v[i]))
			w->rows.v[i].sure = true;
		else
			own(r, s, &w->rows.v[i], hot);
	}
}

static void visit(struct dp_reader *r, struct dp_scope *s)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	if (!s->entry)
		return;
	while ((at = r->dw.dwarf_ranges(s->die, at, &base, &start, &end)) > 0)
		own_range(r, s, start, end);
	/* Of a copy whose code is in several pieces, the first piece may be empty. */
	if (s->tag == DW_TAG_inlined_subroutine)
		own_range(r, s, s->entry, s->entry + 1);
}

static int by_owner(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	if (a->hot != b->hot)
		return a->hot ? -1 : 1;
	return (a->addr > b->addr) - (a->addr < b->addr);
}

/* Rows where a statement begins go before others, and strange ones behind all. */
static int rank(const struct row *row)
{
	return !row->owner && row->strange ? 2 : !row->stmt;
}

/* Without statements, rows of the function that is declared last before the line */
static void keep_best(struct rows *rows)
{
	int best = 2;
	u32 line = 0;
	size_t i, n = 0;

	for (i = 0; i < rows->n; i++)
		if (rank(&rows->v[i]) < best)
			best = rank(&rows->v[i]);
	for (i = 0; i < rows->n && best == 1; i++)
		if (rows->v[i].declared > line)
			line = rows->v[i].declared;
	for (i = 0; i < rows->n; i++)
		if (rank(&rows->v[i]) == best && rows->v[i].declared >= line)
			rows->v[n++] = rows->v[i];
	rows->n = n;
}

static void write_rows(struct dp_reader *r)
{
	struct wanted *w = r->own;
	size_t i;

	keep_best(&w->rows);
	qsort(w->rows.v, w->rows.n, sizeof(*w->rows.v), by_owner);
	for (i = 0; i < w->rows.n; i++) {
		const struct row *row = &w->rows.v[i];
		struct dp_found_place place = { 0 };

		if (i && row->owner && row[-1].owner == row->owner &&
		    row[-1].source == row->source)
			continue;
		if (row->owner)
			place = w->owners.v[row->owner - 1];
		place.addr = row->addr;
		place.source = row->source;
		dp_found_add(r->out, &place);
	}
}

static void read_unit(struct dp_reader *r, Dwarf_Die *unit)
{
	struct dp_found *found = r->out;
	struct wanted *w = r->own;
	Dwarf_Lines *lines;
	size_t n, i;

	w->unit = *unit;
	w->rows.n = w->owners.n = 0;
	find_files(r, unit);
	if (w->n && dp_unit_is_split(r, unit))
		found->split = 1;
	if (!w->n || found->split || r->dw.dwarf_getsrclines(unit, &lines, &n))
		return;
	for (i = 0; i < n; i++)
		take_row(r, lines, n, i);
	if (!w->rows.n)
		return;
	qsort(w->rows.v, w->rows.n, sizeof(*w->rows.v), dp_list_order);
	dp_scopes_walk(r, unit, visit);
	write_rows(r);
}

static void read_units(struct dp_reader *r)
{
	Dwarf_Off at = 0;
	Dwarf_Die unit;

	while (dp_reader_next_unit(r, &at, &unit))
		if (r->dw.dwarf_tag(&unit) == DW_TAG_compile_unit ||
		    r->dw.dwarf_tag(&unit) == DW_TAG_skeleton_unit)
			read_unit(r, &unit);
}

int dp_lines_find(struct dp_modules *mods, const struct dp_module *m,
		  const char *file, u64 line, struct dp_line_places *places)
{
	struct wanted w = { .line = line };
	struct dp_reader r = { .own = &w, .work = read_units };

	while (!strncmp(file, "../", 3))
		file += 3;
	if (!dp_source_path(file, w.file))
		w.file[0] = '\0';
	return dp_places_read(&r, mods, m, places);
}
