// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* tracepoints: see tracepoints.h. */
#include "resolve/tracepoints.h"
#include "resolve/points.h"
#include "sym/list.h"
#include "sym/sym.h"
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* struct wanted - names or globs; @exact: they are no globs, whatever they contain */
struct wanted {
	const char *provider, *name;
	bool exact;
};

static bool matches(const struct wanted *w, const char *pattern,
		    const char *text)
{
	return !strcmp(pattern, text) ||
	       (!w->exact && !fnmatch(pattern, text, 0));
}

static int add_of(struct dp_modules *mods, const struct dp_module *m,
		  const struct wanted *w, struct dp_found_tracepoints *found)
{
	const struct dp_tracepoints *list = dp_module_tracepoints(mods, m);
	struct dp_found_tracepoint one = { .m = m };
	int err = 0;

	for (; list && one.note < list->n && !err; one.note++) {
		one.t = &list->v[one.note];
		if (matches(w, w->provider, one.t->provider) &&
		    matches(w, w->name, one.t->name))
			err = dp_list_push(found, &one);
	}
	return err;
}

static int add_of_all(struct dp_modules *mods, const struct wanted *w,
		      struct dp_found_tracepoints *found)
{
	size_t i;
	int err = 0;

	for (i = 0; i < dp_modules_count(mods) && !err; i++)
		err = add_of(mods, dp_modules_get(mods, i), w, found);
	return err;
}

/* In the modules that @pattern names. Return: 0; -ENOENT there is no such module; -ENOMEM. */
static int add_of_named(struct dp_modules *mods, const char *pattern,
			const struct wanted *w,
			struct dp_found_tracepoints *found,
			struct dp_diag *diag)
{
	const struct dp_module **list;
	size_t i, n;
	int err = dp_modules_match(mods, pattern, &list, &n, diag);

	if (err)
		return err;
	for (i = 0; i < n && !err; i++)
		err = add_of(mods, list[i], w, found);
	free(list);
	return err;
}

/* usdt:A:NAME */
static int add_of_either(struct dp_modules *mods, const char *a,
			 const struct wanted *w,
			 struct dp_found_tracepoints *found)
{
	const struct wanted any = { "*", w->name, false };
	int err = add_of_named(mods, a, &any, found, NULL);

	if ((!err || err == -ENOENT) && !found->n)
		err = add_of_all(mods, w, found);
	return err == -ENOENT ? 0 : err;
}

static int refuse(struct dp_modules *mods, const struct dp_spec *spec,
		  struct dp_diag *diag)
{
	const struct wanted any = { "*", "*", false };
	struct dp_found_tracepoints all = { 0 };
	int err = add_of_all(mods, &any, &all);
	size_t n = all.n;

	free(all.v);
	if (err)
		return err;
	if (n)
		dp_diag_set(
			diag, -ENOENT,
			"there is no static tracepoint %s:%s%s%s; dprobes list 'usdt:*' shows those that there are",
			spec->provider, spec->name, *spec->module ? " in " : "",
			spec->module);
	else
		dp_diag_set(
			diag, -ENOENT,
			"neither the program nor a library of it has static tracepoints (section .note.stapsdt)");
	dp_diag_caret(diag, spec->point_col,
		      (int)strcspn(spec->text + spec->point_col, " ("));
	return -ENOENT;
}

int dp_spec_tracepoints(struct dp_modules *mods, const struct dp_spec *spec,
			struct dp_found_tracepoints *found,
			struct dp_diag *diag)
{
	const struct wanted w = { spec->provider, spec->name, false };
	int err;

	*found = (struct dp_found_tracepoints){ 0 };
	if (!*spec->module)
		err = add_of_either(mods, spec->provider, &w, found);
	else
		err = add_of_named(mods, spec->module, &w, found, diag);
	if (err == -ENOENT)
		dp_diag_caret(diag, spec->module_col,
			      (int)strlen(spec->module));
	if (!err && !found->n)
		err = refuse(mods, spec, diag);
	if (err)
		free(found->v);
	return err == -ENOMEM ? dp_diag_set(diag, err, "out of memory") : err;
}

/* Does usdt:PROVIDER:NAME mean @f's tracepoint, and no module's with that name? */
static bool leads_back(struct dp_modules *mods,
		       const struct dp_found_tracepoint *f)
{
	const struct wanted w = { f->t->provider, f->t->name, true };
	const struct wanted any = { "*", f->t->name, false };
	struct dp_found_tracepoints found = { 0 };
	int err = add_of_named(mods, f->t->provider, &any, &found, NULL);
	bool leads;
	size_t i;

	if (err == -ENOENT || (!err && !found.n))
		err = add_of_all(mods, &w, &found);
	leads = !err && found.n;
	for (i = 0; i < found.n && leads; i++)
		leads = found.v[i].m == f->m &&
			!strcmp(found.v[i].t->provider, f->t->provider) &&
			!strcmp(found.v[i].t->name, f->t->name);
	free(found.v);
	return leads;
}

static const char *quote_for(const char *text)
{
	return dp_spec_colon(text) || strpbrk(text, "() ") ? "\"" : "";
}

char *dp_tracepoint_spec(struct dp_modules *mods, const char *module,
			 const struct dp_found_tracepoint *f)
{
	const char *mq = quote_for(module), *pq = quote_for(f->t->provider),
		   *nq = quote_for(f->t->name), *colon = ":";
	char *text;

	if (leads_back(mods, f))
		module = mq = colon = "";
	return asprintf(&text, "usdt:%s%s%s%s%s%s%s:%s%s%s", mq, module, mq,
			colon, pq, f->t->provider, pq, nq, f->t->name, nq) < 0 ?
		       NULL :
		       text;
}

bool dp_spec_has_tracepoints(struct dp_modules *mods,
			     const struct dp_spec *spec)
{
	struct dp_found_tracepoints found;

	if (dp_spec_tracepoints(mods, spec, &found, NULL))
		return false;
	free(found.v);
	return true;
}
