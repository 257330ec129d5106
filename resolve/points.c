// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* points: the addresses that a spec stands for, checked as far as reading tells. */
#include "resolve/allowed.h"
#include "resolve/code.h"
#include "resolve/exits.h"
#include "resolve/lines.h"
#include "resolve/tracepoints.h"
#include "proc/proc.h"
#include "sym/demangle.h"
#include "sym/hooks.h"
#include "sym/list.h"
#include "sym/never.h"
#include <ctype.h>
#include <dprobes/diag.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "resolve/points.h"

/* The state of one resolution that is the same for every address. */
struct resolver {
	struct dp_process *proc;
	struct dp_modules *mods;
	const struct dp_spec *spec;
	struct dp_points *points;
	struct dp_diag *diag;
	struct dp_code code;
	struct dp_reach_reader reach_reader;
	bool unchecked;
	bool several; /* the spec is a glob, or its name that of several functions */
};

/* Set a caret from @column to the end of the spec. */
static void point_at(struct resolver *r, int column)
{
	dp_diag_caret(r->diag, column, (int)strlen(r->spec->text) - column);
}

int dp_point_refuse(struct dp_point *p, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->reason, sizeof(p->reason), fmt, ap);
	va_end(ap);
	return p->refused = err;
}

/* Check the instruction of an exit like that of a point. */
static int check_exit(struct resolver *r, struct dp_point *p, u64 addr)
{
	struct dp_place at = { .addr = addr };
	char why[DP_WHY_MAX];
	int err;

	if (!dp_module_at(r->mods, addr))
		return dp_point_refuse(p, -EINVAL,
				       "it is left outside its module");
	err = dp_allowed_check(&r->reach_reader, &at, DP_ASKER_EXIT, why);
	return err ? dp_point_refuse(p, err, "its exit at 0x%lx: %.100s", addr,
				     why) :
		     0;
}

static int find_exits(struct resolver *r, struct dp_point *p,
		      const struct dp_module *m)
{
	struct dp_tail_targets *tail_targets = dp_tail_targets_of(r->points);
	size_t i;
	int err;

	if (!tail_targets)
		return dp_point_refuse(p, -ENOMEM, "out of memory");
	err = dp_exit_reader_find(dp_tail_targets_reader(tail_targets, m),
				  r->mods, m, p);
	for (i = 0; i < p->nr_exits && !err; i++) {
		struct dp_early_start *early = &p->early_starts[i];
		struct dp_point start = { .addr = early->addr };

		err = check_exit(r, p, p->exits[i].addr);
		if (early->addr && check_exit(r, &start, start.addr))
			*early = (struct dp_early_start){ 0 };
	}
	return err;
}

/* Find the exits of a tail target. */
static void find_tail_target(void *arg, struct dp_point *p)
{
	struct resolver *r = arg;
	const struct dp_module *m = dp_module_at(r->mods, p->addr);

	if (!m)
		dp_point_refuse(p, -EINVAL,
				"it is not in the text of any module");
	else
		find_exits(r, p, m);
}

static int check_exits(struct resolver *r, struct dp_point *p,
		       const struct dp_module *m)
{
	const char *why = dp_never_tracked(p->symbol, DP_RETURN_SITE);

	if (why)
		return dp_point_refuse(p, -EINVAL, "%s", why);
	if (*p->symbol && p->offset)
		return dp_point_refuse(
			p, -EINVAL,
			"a return probe belongs to the beginning of a function");
	return find_exits(r, p, m);
}

static int check(struct resolver *r, struct dp_point *p)
{
	const struct dp_spec *spec = r->spec;
	struct dp_place at = {
		.addr = p->addr,
		.start = *p->symbol ? p->addr - p->offset : 0,
		.plus = p->canonical		       ? NULL :
			spec->form == DP_POINT_ADDRESS ? "" :
							 "+",
		.given = spec->form == DP_POINT_SYMBOL ? spec->offset :
							 spec->value,
	};

	p->refused = dp_allowed_check(&r->reach_reader, &at, DP_ASKER_SPEC,
				      p->reason);
	if (!p->refused && spec->kind == DP_SPEC_RETURN)
		check_exits(r, p, dp_module_at(r->mods, p->addr));
	return p->refused;
}

static struct dp_point *new_point(struct dp_points *points)
{
	struct dp_point none = { 0 };

	return dp_list_add(&points->v, &points->n, &points->cap, &none,
			   sizeof(none)) ?
		       NULL :
		       &points->v[points->n - 1];
}

/* Quotes, if a spec needs them around @text. */
static const char *quote_for(const char *text, const char *special)
{
	return dp_spec_colon(text) || strpbrk(text, special) ||
			       isdigit((unsigned char)*text) ?
		       "\"" :
		       "";
}

static bool is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f ||
		    *text == '"' || *text == '\\')
			return false;
	return true;
}

#define MANY_MODULES 1024

/* The shortest name that only this module has. */
static const char *module_name(struct resolver *r, const struct dp_module *m)
{
	if (dp_spec_reserved(m->base) || !dp_module_is_alone(r->mods, m))
		return m->path;
	return m->base;
}

/* Where a point is; @symbol is "" if no function's name leads there. @of, @line: what debug
 * information has said, @tracepoint: what a note has, or NULL. @hook: it is a place of this one, or
 * NULL. */
struct place {
	const struct dp_module *m;
	const char *symbol, *named;
	u64 addr, offset;
	const struct dp_line_places *of;
	const struct dp_line_place *line;
	const struct dp_found_tracepoint *tracepoint;
	bool alone; /* the only place of that tracepoint */
	const char *hook;
};

/* The name to write: demangled where that leads back. @text: room for it */
static const char *shown_name(struct resolver *r, const struct place *at,
			      char *text)
{
	if (dp_demangle_symbol(r->mods, at->m, at->named, at->addr - at->offset,
			       text) &&
	    is_plain(text))
		return text;
	return at->named;
}

/* What the user has written names the point, and where it is, which of the points. */
static int name_line(struct resolver *r, struct dp_point *p,
		     const struct place *at)
{
	const struct dp_spec *spec = r->spec;
	const char *m = module_name(r, at->m), *mq = quote_for(m, "() ");
	const char *q = quote_for(spec->name, "() +%{}");
	int module = (int)(strlen(m) + 2 * strlen(mq) + strlen(":"));
	const char *where = r->several ? p->name + module : "";
	char line[24] = "";
	int n;

	p->bare = spec->form == DP_POINT_SYMBOL;
	if (p->bare && !at->line->inlined)
		return 0;
	if (!p->bare)
		snprintf(line, sizeof(line), ":%lu", spec->value);
	p->canonical = p->name;
	n = asprintf(&p->name, "%.*s%s%s%s%s%s%s%s", module, p->canonical, q,
		     spec->name, q, line, *where ? "[" : "", where,
		     *where ? "]" : "");
	if (n < 0)
		p->name = NULL;
	p->place = dp_spec_place(at->of, at->line, spec->value);
	return n < 0 || !p->place ? -ENOMEM : 0;
}

/* The tracepoint names the point, and where it is, which of its places. */
static int name_tracepoint(struct resolver *r, struct dp_point *p,
			   const struct place *at)
{
	const struct dp_found_tracepoint *f = at->tracepoint;
	const char *where = strchr(p->name, ':') + 1;
	char *name = NULL;

	p->canonical = dp_tracepoint_spec(r->mods, module_name(r, at->m), f);
	p->arguments = strdup(f->t->arguments);
	p->note = f->note;
	p->semaphore = f->t->semaphore ? f->t->semaphore + f->m->bias : 0;
	if (!p->canonical || !p->arguments ||
	    (!at->alone && asprintf(&name, "%s[%s]", p->canonical, where) < 0))
		return -ENOMEM;
	if (at->alone)
		name = strdup(p->canonical);
	free(p->name);
	p->name = name;
	return name ? 0 : -ENOMEM;
}

/* A hook's name, and which of its places it is. */
static int name_hook(struct resolver *r, struct dp_point *p,
		     const struct place *at)
{
	const char *m = module_name(r, at->m), *mq = quote_for(m, "() ");
	const char *q = quote_for(at->hook, "() +%{}");
	int module = (int)(strlen(m) + 2 * strlen(mq) + strlen(":"));
	const char *where = r->several ? p->name + module : "";
	int n;

	p->canonical = p->name;
	n = asprintf(&p->name, "hook:%.*s%s%s%s%s%s%s", module, p->canonical, q,
		     at->hook, q, *where ? "[" : "", where, *where ? "]" : "");
	if (n < 0)
		p->name = NULL;
	return n < 0 ? -ENOMEM : 0;
}

static int name_point(struct resolver *r, struct dp_point *p,
		      const struct place *at)
{
	char text[DP_DEMANGLED_MAX + 1];
	const char *module = module_name(r, at->m),
		   *q = quote_for(module, "() ");
	const char *name = shown_name(r, at, text);
	bool named = *name && is_plain(name);
	const char *sq = named ? quote_for(name, "() +%{}") : "";
	const char *kind = r->spec->kind == DP_SPEC_RETURN ? "r:" : "";
	u64 offset = at->offset;
	char behind[24] = "";
	int n;

	p->addr = at->addr;
	p->spec = r->spec;
	p->offset = at->offset;
	p->symbol = strdup(at->symbol);
	p->module = strdup(at->m->base);
	if (!named && dp_module_addr_file(r->mods, at->addr, &offset))
		offset = 0;
	if (!named || offset)
		snprintf(behind, sizeof(behind), "+0x%lx", offset);
	n = asprintf(&p->name, "%s%s%s%s:%s%s%s%s", kind, q, module, q, sq,
		     named ? name : "", sq, behind);
	if (n < 0)
		p->name = NULL;
	if (n < 0 || !p->symbol || !p->module)
		return -ENOMEM;
	if (at->tracepoint)
		return name_tracepoint(r, p, at);
	if (at->hook)
		return name_hook(r, p, at);
	return at->line ? name_line(r, p, at) : 0;
}

static int add_point(struct resolver *r, const struct place *at)
{
	struct dp_point *p = new_point(r->points);
	int err = 0;

	if (!p || name_point(r, p, at))
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	if (r->spec->offset >= at->m->text_end - at->m->text_start)
		err = dp_point_refuse(p, -EINVAL,
				      "this offset leaves its module");
	else if (!r->unchecked)
		err = check(r, p);
	p->several = r->several;
	if (!err || p->several)
		return 0;
	if (!strncmp(p->reason, "not at", 6))
		dp_diag_set(r->diag, err, "%s is %s", p->name, p->reason);
	else
		dp_diag_set(r->diag, err, "%s cannot be probed: %s", p->name,
			    p->reason);
	point_at(r, r->spec->has_offset ? r->spec->offset_col :
					  r->spec->point_col);
	return err;
}

/* Does a spec with this name lead back to this very function? */
static bool leads_back(struct resolver *r, const struct dp_symbol *s)
{
	const char *module = module_name(r, s->module);
	struct dp_symbols list;
	bool same;
	int err;

	/* A path or glob is compared with every module. With very many of them this takes too
	 * long, and a file offset serves as well. */
	if (module == s->module->base && !strpbrk(module, "*?[\\"))
		err = dp_symbols_find_in(r->mods, s->module, s->name, &list);
	else if (dp_modules_count(r->mods) > MANY_MODULES)
		return false;
	else
		err = dp_symbols_find(r->mods, module, s->name, &list, NULL,
				      NULL);
	if (err)
		return false;
	same = list.n == 1 && list.v[0].addr == s->addr;
	dp_symbols_free(&list);
	return same;
}

/* Name an address by a symbol that holds it, if there is such. */
static void find_symbol(struct resolver *r, struct place *at)
{
	struct dp_symbol sym;

	at->symbol = at->named = "";
	if (dp_symbol_at(r->mods, at->addr, &sym) ||
	    at->addr - sym.addr >= (sym.size ? sym.size : 1))
		return;
	at->symbol = sym.name;
	at->offset = at->addr - sym.addr;
	if (leads_back(r, &sym))
		at->named = sym.name;
}

/* Add an address in its canonical form: by a symbol that holds it, if there is such.
 * @of, @line: what debug information has said, or NULL */
static int add_address(struct resolver *r, const struct dp_module *m, u64 addr,
		       const struct dp_line_places *of,
		       const struct dp_line_place *line)
{
	struct place at = { .m = m, .addr = addr, .of = of, .line = line };

	find_symbol(r, &at);
	return add_point(r, &at);
}

static int add_hook(struct resolver *r, const struct dp_module *m,
		    const struct dp_hook_note *note)
{
	struct place at = { .m = m,
			    .addr = note->addr,
			    .hook = is_plain(note->name) ? note->name : "?" };

	find_symbol(r, &at);
	return add_point(r, &at);
}

static int by_name(const void *a, const void *b)
{
	const struct dp_symbol *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	if (order)
		return order;
	return ((*x)->addr > (*y)->addr) - ((*x)->addr < (*y)->addr);
}

/* Mark the names that occur more than once in a list, and so are ambiguous. */
static bool *find_twins(const struct dp_symbols *list)
{
	const struct dp_symbol **sorted = calloc(list->n + 1, sizeof(*sorted));
	bool *twin = calloc(list->n + 1, sizeof(*twin));
	size_t i;

	if (!sorted || !twin) {
		free(sorted);
		free(twin);
		return NULL;
	}
	for (i = 0; i < list->n; i++)
		sorted[i] = &list->v[i];
	qsort(sorted, list->n, sizeof(*sorted), by_name);
	for (i = 1; i < list->n; i++)
		if (!strcmp(sorted[i]->name, sorted[i - 1]->name))
			twin[sorted[i] - list->v] =
				twin[sorted[i - 1] - list->v] = true;
	free(sorted);
	return twin;
}

static int add_symbol(struct resolver *r, const struct dp_symbol *s, bool twin)
{
	const struct dp_spec *spec = r->spec;
	struct place at = { .m = s->module,
			    .symbol = s->name,
			    .named = s->name,
			    .addr = s->addr + spec->offset,
			    .offset = spec->offset };
	struct dp_point *p;

	if (!r->several && strchr(spec->name, '@'))
		at.named = spec->name;
	else if (twin && !leads_back(r, s))
		at.named = "";
	if (!spec->offset || !s->size || spec->offset < s->size)
		return add_point(r, &at);
	if (!r->several) {
		dp_diag_set(
			r->diag, -EINVAL,
			"%s has only 0x%lx bytes: this offset is beyond its end",
			s->name, s->size);
		point_at(r, spec->offset_col);
		return -EINVAL;
	}
	p = new_point(r->points);
	if (!p || name_point(r, p, &at))
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	p->several = true;
	dp_point_refuse(p, -EINVAL, "this offset is beyond its end");
	return 0;
}

/* Match the modules that the spec names. @m: stays if it is among them, else becomes the
 * first. Return: their number; a negative errno. */
static int match_modules(struct resolver *r, const struct dp_module **m)
{
	const struct dp_spec *spec = r->spec;
	const struct dp_module **list;
	size_t i = 0, n;
	int err = dp_modules_match(r->mods, spec->module, &list, &n, r->diag);

	if (err) {
		dp_diag_caret(r->diag, spec->module_col,
			      (int)strlen(spec->module));
		return err;
	}
	while (i < n && list[i] != *m)
		i++;
	if (i == n)
		*m = list[0];
	free(list);
	return (int)n;
}

static int add_symbols(struct resolver *r, const struct dp_symbols *list)
{
	const char *version = strchr(r->spec->name, '@');
	bool *twin = find_twins(list);
	size_t i, ahead = 0;
	int err = 0;

	if (!twin)
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	dp_demangle_begin();
	for (i = 0; i < list->n && !err; i++) {
		if (i == ahead)
			ahead += dp_demangle_ahead(&list->v[i].name,
						   sizeof(*list->v),
						   list->n - i);
		err = add_symbol(r, &list->v[i], twin[i] || version);
	}
	dp_demangle_end();
	free(twin);
	return err;
}

static bool is_there(const struct resolver *r, size_t first, u64 addr)
{
	size_t i;

	for (i = first; i < r->points->n; i++)
		if (r->points->v[i].addr == addr)
			return true;
	return false;
}

/* Add what debug information has found, but for addresses that are points from @first on. */
static int add_lines(struct resolver *r, const struct dp_module *m,
		     const struct dp_line_places *list, size_t first)
{
	size_t i, n = r->points->n;
	int err = 0;

	while (first < n && r->points->v[first].spec != r->spec)
		first++;
	dp_demangle_begin();
	for (i = 0; i < list->n && !err; i++)
		if (first == n || !is_there(r, first, list->v[i].addr))
			err = add_address(r, m, list->v[i].addr, list,
					  &list->v[i]);
	dp_demangle_end();
	return err;
}

static int mark_name(struct resolver *r, int err)
{
	dp_diag_caret(r->diag, r->spec->point_col, (int)strlen(r->spec->name));
	return err;
}

/* Inlined copies have no return, and no offsets that a user could know. */
static int check_copies(struct resolver *r, const struct dp_module *m,
			const struct dp_line_places *list)
{
	const struct dp_spec *spec = r->spec;
	size_t i, copies = 0;

	for (i = 0; i < list->n; i++)
		copies += list->v[i].inlined;
	if (copies && spec->kind == DP_SPEC_RETURN)
		return mark_name(
			r,
			dp_diag_set(
				r->diag, -EINVAL,
				"%s was inlined everywhere in %s, and an inlined copy does not return: probe its beginning, without r: or %%return",
				spec->name, m->base));
	if (!spec->offset)
		return 0;
	return mark_name(
		r,
		dp_diag_set(
			r->diag, -EINVAL,
			"%s has no body of its own in %s, so this offset is in none; dprobes list shows where its copies are",
			spec->name, m->base));
}

/* No symbol has the name, which @r->diag says. */
static int resolve_missing(struct resolver *r, const struct dp_module *m)
{
	const struct dp_spec *spec = r->spec;
	struct dp_line_places list;
	struct dp_diag why;
	int err;

	dp_diag_clear(&why);
	err = dp_spec_inlined(r->mods, m, spec, &list, &why);
	if (err == -ENODATA && spec->inlines == DP_INLINES_TOO)
		dp_spec_no_debug(m, -ENOENT, "inlined copies are not known",
				 &why);
	if ((err == -EINVAL || err == -ENOENT) && *why.text) {
		dp_diag_set(r->diag, err, "%s", why.text);
		return mark_name(r, err);
	}
	if (err) {
		if (*why.text)
			dp_diag_add(r->diag, "; %s", why.text);
		return mark_name(r, -ENOENT);
	}
	dp_diag_clear(r->diag);
	r->several |= list.n > 1;
	err = check_copies(r, m, &list);
	if (!err)
		err = add_lines(r, m, &list, r->points->n);
	dp_lines_free(&list);
	return err;
}

/* Find the copies of a function that has a body, too. */
static int find_copies(struct resolver *r, const struct dp_module *m,
		       struct dp_line_places *list)
{
	int err = dp_spec_inlined(r->mods, m, r->spec, list, r->diag);

	if (err == -ENODATA)
		err = dp_spec_no_debug(m, -EOPNOTSUPP,
				       "inlined copies are not known", r->diag);
	else if (err == -ENOENT)
		err = 0;
	if (err)
		return mark_name(r, err);
	dp_diag_clear(r->diag);
	r->several |= list->n > 1;
	return 0;
}

static int resolve_found(struct resolver *r, const struct dp_module *m,
			 const struct dp_symbols *symbols)
{
	struct dp_line_places list = { 0 };
	size_t first = r->points->n;
	int err = 0;

	r->several |= symbols->demangled && symbols->n > 1;
	if (r->spec->inlines == DP_INLINES_TOO)
		err = find_copies(r, m, &list);
	if (!err)
		err = add_symbols(r, symbols);
	if (!err)
		err = add_lines(r, m, &list, first);
	dp_lines_free(&list);
	return err;
}

/* May debug information know of functions that have no symbol? */
static bool may_ask(const struct dp_spec *spec, int modules)
{
	return spec->inlines != DP_INLINES_NEVER && !dp_spec_is_glob(spec) &&
	       !strchr(spec->name, '@') && modules == 1;
}

static int resolve_symbols(struct resolver *r)
{
	const struct dp_spec *spec = r->spec;
	const struct dp_module *m = NULL;
	struct dp_symbols list;
	size_t skipped = 0;
	int err, n = match_modules(r, &m);

	if (n < 0)
		return n;
	err = dp_symbols_find(r->mods, spec->module, spec->name, &list,
			      &skipped, r->diag);
	if (err == -ENOENT && may_ask(spec, n))
		return resolve_missing(r, m);
	if (err)
		return mark_name(r, err);
	r->points->skipped += skipped;
	err = resolve_found(r, m, &list);
	dp_symbols_free(&list);
	return err;
}

/* The hooks of some modules. Return: how many there are, or a negative errno. */
static int add_hooks(struct resolver *r, const struct dp_module **list,
		     size_t n)
{
	struct dp_hook_notes *notes = calloc(n + 1, sizeof(*notes));
	size_t i, k, found = 0;
	int err = 0;

	if (!notes)
		return dp_diag_set(r->diag, -ENOMEM, "out of memory");
	for (i = 0; i < n && !err; i++) {
		err = dp_hook_notes_read(r->mods, list[i], r->spec->name,
					 &notes[i]);
		found += notes[i].n;
	}
	if (err)
		dp_diag_set(r->diag, err, "the hooks of %s cannot be read: %s",
			    list[i - 1]->base, strerror(-err));
	r->several |= found > 1;
	for (i = 0; i < n; i++) {
		for (k = 0; k < notes[i].n && !err; k++)
			err = add_hook(r, list[i], &notes[i].v[k]);
		dp_hook_notes_free(&notes[i]);
	}
	free(notes);
	return err ? err : (int)found;
}

static int resolve_hooks(struct resolver *r)
{
	const struct dp_spec *spec = r->spec;
	const struct dp_module **list;
	size_t n;
	int found, err = dp_modules_match(r->mods, spec->module, &list, &n,
					  r->diag);

	if (err) {
		dp_diag_caret(r->diag, spec->module_col,
			      (int)strlen(spec->module));
		return err;
	}
	found = add_hooks(r, list, n);
	if (!found)
		found = mark_name(
			r,
			dp_diag_set(
				r->diag, -ENOENT,
				"%s has no hook \"%s\"; \"hook:%s:*\" has them all",
				list[0]->base, spec->name, list[0]->base));
	free(list);
	return found < 0 ? found : 0;
}

/* Find the one module that the spec names. */
static int one_module(struct resolver *r, const struct dp_module **m)
{
	int n = match_modules(r, m);

	if (n < 0 || n == 1)
		return n < 0 ? n : 0;
	dp_diag_set(r->diag, -EINVAL, "%d modules match \"%s\"; name one", n,
		    r->spec->module);
	dp_diag_caret(r->diag, r->spec->module_col,
		      (int)strlen(r->spec->module));
	return -EINVAL;
}

static int resolve_offset(struct resolver *r)
{
	const struct dp_module *m = NULL;
	u64 addr;
	int err = one_module(r, &m);

	if (err)
		return err;
	err = dp_module_file_addr(r->mods, m, r->spec->value, &addr, r->diag);
	if (err) {
		point_at(r, r->spec->point_col);
		return err;
	}
	return add_address(r, m, addr, NULL, NULL);
}

static int resolve_line(struct resolver *r)
{
	const struct dp_module *m = NULL;
	struct dp_line_places list;
	int err = one_module(r, &m);

	if (!err)
		err = dp_spec_line(r->mods, m, r->spec, &list, r->diag);
	if (err)
		return err;
	r->several |= list.n > 1;
	err = add_lines(r, m, &list, r->points->n);
	dp_lines_free(&list);
	return err;
}

static bool same_tracepoint(const struct dp_found_tracepoint *a,
			    const struct dp_found_tracepoint *b)
{
	return a->m == b->m && !strcmp(a->t->provider, b->t->provider) &&
	       !strcmp(a->t->name, b->t->name);
}

/* Places of one tracepoint are not always side by side. */
static bool is_alone(const struct dp_found_tracepoints *found, size_t n)
{
	size_t i;

	for (i = 0; i < found->n; i++)
		if (i != n && same_tracepoint(&found->v[i], &found->v[n]))
			return false;
	return true;
}

static int resolve_tracepoints(struct resolver *r)
{
	struct dp_found_tracepoints found;
	int err = dp_spec_tracepoints(r->mods, r->spec, &found, r->diag);
	size_t i;

	if (err)
		return err;
	r->several |= found.n > 1;
	for (i = 0; i < found.n && !err; i++) {
		const struct dp_found_tracepoint *f = &found.v[i];
		struct place at = { .m = f->m,
				    .addr = f->m->bias + f->t->addr,
				    .tracepoint = f,
				    .alone = is_alone(&found, i) };

		find_symbol(r, &at);
		err = add_point(r, &at);
	}
	free(found.v);
	return err;
}

static int resolve_address(struct resolver *r)
{
	u64 addr = r->spec->value;
	const struct dp_module *m = dp_module_at(r->mods, addr), *named = m;
	int n = *r->spec->module ? match_modules(r, &named) : 0;

	if (n < 0)
		return n;
	if (m && named == m)
		return add_address(r, m, addr, NULL, NULL);
	if (n)
		dp_diag_set(r->diag, -EINVAL, "0x%lx is not in the text of %s",
			    addr, r->spec->module);
	else
		dp_diag_set(
			r->diag, -EINVAL,
			"0x%lx is not in the text of any module of process %d",
			addr, dp_process_pid(r->proc));
	point_at(r, r->spec->point_col);
	return -EINVAL;
}

static void begin(struct resolver *r, struct dp_process *proc,
		  struct dp_modules *mods, const struct dp_spec *spec,
		  struct dp_points *points, struct dp_diag *diag)
{
	*r = (struct resolver){ .proc = proc,
				.mods = mods,
				.spec = spec,
				.points = points,
				.diag = diag };
	r->several = spec && spec->glob;
	r->code.pid = dp_process_pid(proc);
	r->code.mods = r->reach_reader.mods = mods;
	r->reach_reader.source = &r->code;
}

static int resolve(struct resolver *r)
{
	if (r->spec->kind == DP_SPEC_HOOK)
		return resolve_hooks(r);
	switch (r->spec->form) {
	case DP_POINT_ADDRESS:
		return resolve_address(r);
	case DP_POINT_FILE_OFFSET:
		return resolve_offset(r);
	case DP_POINT_LINE:
		return resolve_line(r);
	case DP_POINT_TRACEPOINT:
		return resolve_tracepoints(r);
	default:
		return resolve_symbols(r);
	}
}

int dp_points_find(struct dp_process *proc, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	struct resolver r;

	begin(&r, proc, mods, spec, points, diag);
	r.unchecked = true;
	return resolve(&r);
}

int dp_points_resolve(struct dp_process *proc, struct dp_modules *mods,
		      const struct dp_spec *spec, struct dp_points *points,
		      struct dp_diag *diag)
{
	struct resolver r;
	int err;

	begin(&r, proc, mods, spec, points, diag);
	err = resolve(&r);
	if (!err && spec->kind == DP_SPEC_RETURN) {
		err = dp_tail_targets_resolve(points, mods, find_tail_target,
					      &r);
		if (err)
			dp_diag_set(diag, err,
				    "where functions jump to is not known: %s",
				    strerror(-err));
	}
	dp_reach_reader_close(&r.reach_reader);
	return err;
}

static bool any_returns(const struct dp_points *points)
{
	size_t i;

	for (i = 0; i < points->n; i++)
		if (points->v[i].spec->kind == DP_SPEC_RETURN)
			return true;
	return false;
}

int dp_points_renew(struct dp_process *proc, struct dp_modules *mods,
		    struct dp_points *points)
{
	struct resolver r;
	int err;

	dp_tail_targets_free(points);
	if (!any_returns(points))
		return 0;
	begin(&r, proc, mods, NULL, points, NULL);
	err = dp_tail_targets_resolve(points, mods, find_tail_target, &r);
	dp_reach_reader_close(&r.reach_reader);
	return err;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static void *copy_of(const void *from, size_t bytes)
{
	void *to = bytes ? malloc(bytes) : NULL;

	return to ? memcpy(to, from, bytes) : NULL;
}

static int copy_point(struct dp_point *to, const struct dp_point *from)
{
	size_t n = from->nr_exits;

	*to = *from;
	to->name = strdup(from->name);
	to->canonical = copy_text(from->canonical);
	to->place = copy_text(from->place);
	to->arguments = copy_text(from->arguments);
	to->symbol = strdup(from->symbol);
	to->module = strdup(from->module);
	to->exits = copy_of(from->exits, n * sizeof(*from->exits));
	to->early_starts =
		copy_of(from->early_starts, n * sizeof(*from->early_starts));
	to->branches = copy_of(from->branches,
			       from->nr_branches * sizeof(*from->branches));
	return !to->name || !to->symbol || !to->module ||
			       !to->canonical != !from->canonical ||
			       !to->place != !from->place ||
			       !to->arguments != !from->arguments ||
			       (n && (!to->exits || !to->early_starts)) ||
			       (from->nr_branches && !to->branches) ?
		       -ENOMEM :
		       0;
}

int dp_points_copy(struct dp_points *to, const struct dp_points *from)
{
	size_t i;
	int err = 0;

	to->v = calloc(from->n + 1, sizeof(*to->v));
	if (!to->v)
		return -ENOMEM;
	to->cap = from->n + 1;
	to->skipped = from->skipped;
	for (i = 0; i < from->n && !err; i++)
		err = copy_point(&to->v[to->n++], &from->v[i]);
	return err;
}

void dp_points_cut(struct dp_points *points, size_t n)
{
	while (points->n > n) {
		struct dp_point *p = &points->v[--points->n];

		free(p->name);
		free(p->canonical);
		free(p->place);
		free(p->arguments);
		free(p->symbol);
		free(p->module);
		free(p->exits);
		free(p->early_starts);
		free(p->branches);
	}
}

void dp_points_free(struct dp_points *points)
{
	dp_points_cut(points, 0);
	dp_tail_targets_free(points);
	free(points->v);
	*points = (struct dp_points){ 0 };
}
