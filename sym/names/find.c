// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* find: functions by module pattern and name. */
#include <dprobes/diag.h>
#include <elf.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "sym/list.h"
#include "sym/names/mod.h"

#define CANDIDATES_SHOWN 8
#define TOO_LARGE \
	"its symbol tables are larger than dprobes reads (4194304 functions, 512 MB a table, 64 MB unpacked)"

/**
 * struct want - the name asked for
 * @plain: without version; lives in @copy
 * @version: or NULL
 * @strict: "@@": the version must be the default one
 */
struct want {
	const char *text;
	char *copy;
	const char *plain, *version;
	bool strict;
};

/* The symbols of one exact name in one module: distinct values, best rank. */
struct choice {
	const struct dp_sym **v;
	size_t n, room;
};

static int want_parse(struct want *w, const char *text)
{
	char *at;

	memset(w, 0, sizeof(*w));
	w->text = text;
	w->copy = strdup(text);
	if (!w->copy)
		return -ENOMEM;
	w->plain = w->copy;
	at = *w->copy ? strchr(w->copy + 1, '@') : NULL;
	if (!at)
		return 0;
	*at++ = '\0';
	w->strict = *at == '@';
	w->version = at + w->strict;
	return 0;
}

static bool is_glob(const char *name)
{
	return strpbrk(name, "*?[");
}

static bool fits(const struct want *w, const struct dp_sym *sym)
{
	if (!w->version)
		return true;
	return sym->version && !strcmp(sym->version, w->version) &&
	       !(w->strict && sym->rank == DP_RANK_OLD);
}

void dp_symbols_free(struct dp_symbols *list)
{
	free(list->v);
	*list = (struct dp_symbols){ 0 };
}

static int choice_add(struct choice *c, const struct dp_sym *sym)
{
	size_t i;

	if (c->n && c->v[0]->rank > sym->rank)
		return 0;
	if (c->n && c->v[0]->rank < sym->rank)
		c->n = 0;
	for (i = 0; i < c->n; i++) {
		if (c->v[i]->value != sym->value)
			continue;
		/* Aliases are one function; the entry with a size is kept. */
		if (!c->v[i]->size)
			c->v[i] = sym;
		return 0;
	}
	return dp_list_push(c, &sym);
}

static int choose(struct dp_modules *mods, struct dp_mod *mod,
		  const struct want *w, struct choice *c)
{
	const struct dp_sym *sym;
	int err = dp_mod_load(mods, mod, DP_MOD_SYMTAB);

	if (err)
		return err;
	for (sym = dp_symtab_first(&mod->read.symtab, w->plain); sym;
	     sym = dp_symtab_next(&mod->read.symtab, sym)) {
		if (!fits(w, sym))
			continue;
		err = choice_add(c, sym);
		if (err)
			return err;
	}
	return 0;
}

/* @addresses: list addresses, as the library needs, instead of specs. */
static int say_ambiguous(const struct dp_mod *mod, const struct want *w,
			 const struct choice *c, bool addresses,
			 struct dp_diag *diag)
{
	const char *name = dp_mod_name(mod);
	const struct dp_sym *sym;
	u64 off, avail;
	size_t i;

	dp_diag_set(diag, -EINVAL,
		    "\"%s\" in %s is the name of %zu functions; %s:", w->text,
		    name, c->n,
		    addresses ? "use the address of one of them" :
				"write one of these instead");
	for (i = 0; i < c->n && i < CANDIDATES_SHOWN; i++) {
		sym = c->v[i];
		if (addresses)
			dp_diag_add(diag, "\n  0x%lx",
				    (sym->value + mod->pub.bias));
		else if (!sym->version &&
			 !dp_elf_offset(&mod->shape, sym->value, &off, &avail))
			dp_diag_add(diag, "\n  %s:+0x%lx", name, off);
		if (sym->version)
			dp_diag_add(diag, "%s%s%s%s@%s",
				    addresses ? "  " : "\n  ",
				    addresses ? "" : name, addresses ? "" : ":",
				    w->plain, sym->version);
		if (sym->file)
			dp_diag_add(diag, "  (%s)", sym->file);
	}
	if (i < c->n)
		dp_diag_add(diag, "\n  ... and %zu more", c->n - i);
	return -EINVAL;
}

static int say_ifunc(struct dp_modules *mods, const struct want *w, u64 addr,
		     enum dp_ifunc_place place, struct dp_diag *diag)
{
	const struct dp_map *map = dp_maps_find(&mods->maps, addr);

	if (place == DP_IFUNC_ELSEWHERE)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s is an IFUNC and this process runs the implementation in %s; probe that by address",
			w->plain, map && *map->path ? map->path : "[anon]");
	if (place == DP_IFUNC_SEVERAL)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"%s is an IFUNC and this process uses several implementations; probe one by name or address",
			w->plain);
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"%s is an IFUNC whose implementation this process has not chosen yet; probe an implementation by name or address",
		w->plain);
}

/* -EOPNOTSUPP with *place: the IFUNC has no implementation to probe. */
static int describe(struct dp_modules *mods, struct dp_mod *mod,
		    const struct dp_sym *sym, struct dp_symbol *s,
		    enum dp_ifunc_place *place)
{
	int err;

	*s = (struct dp_symbol){ .module = &mod->pub,
				 .name = sym->name,
				 .addr = sym->value + mod->pub.bias,
				 .size = sym->size,
				 .global = sym->rank >= DP_RANK_OLD };
	if (sym->type != STT_GNU_IFUNC)
		return 0;
	err = dp_ifunc_resolve(mods, mod, sym, &s->addr, place);
	if (err)
		return err;
	s->ifunc = true;
	s->size = 0;
	return *place == DP_IFUNC_HERE ? 0 : -EOPNOTSUPP;
}

/* Set the implementations' sizes; the resolver's size is not theirs. */
static void size_ifuncs(struct dp_modules *mods, struct dp_symbols *out)
{
	u64 start, end;
	size_t i;

	for (i = 0; i < out->n; i++) {
		if (!out->v[i].ifunc)
			continue;
		if (!dp_function_bounds(mods, out->v[i].addr, &start, &end) &&
		    start == out->v[i].addr)
			out->v[i].size = end - start;
	}
}

/* -ENOENT without words: this module has no such function. @addresses: see say_ambiguous() */
static int find_one(struct dp_modules *mods, struct dp_mod *mod,
		    const struct want *w, bool exported, bool addresses,
		    struct dp_symbol *s, struct dp_diag *diag)
{
	enum dp_ifunc_place place;
	struct choice c = { 0 };
	int err = choose(mods, mod, w, &c);

	if (!err && (!c.n || (exported && c.v[0]->rank != DP_RANK_EXPORT)))
		err = -ENOENT;
	else if (!err && c.n > 1)
		err = say_ambiguous(mod, w, &c, addresses, diag);
	else if (!err)
		err = describe(mods, mod, c.v[0], s, &place);
	if (err == -EOPNOTSUPP)
		say_ifunc(mods, w, s->addr, place, diag);
	free(c.v);
	return err;
}

/* Sorts the best name of an address before its other names, which are dropped. */
static int compare(const void *pa, const void *pb)
{
	const struct dp_symbol *a = pa, *b = pb;
	struct dp_sym sa = { .name = a->name, .size = a->size };
	struct dp_sym sb = { .name = b->name, .size = b->size };

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->ifunc != b->ifunc)
		return a->ifunc ? 1 : -1;
	sa.rank = a->global;
	sb.rank = b->global;
	return dp_symtab_compare(&sa, &sb);
}

static void sort_unique(struct dp_symbols *out)
{
	size_t i, n = 0;

	if (!out->n)
		return;
	qsort(out->v, out->n, sizeof(*out->v), compare);
	for (i = 0; i < out->n; i++) {
		if (n && out->v[n - 1].addr == out->v[i].addr)
			continue;
		out->v[n++] = out->v[i];
	}
	out->n = n;
}

static bool is_in_glob(const struct want *w, const struct dp_sym *sym)
{
	return dp_sym_is_called(sym) && fits(w, sym) &&
	       !fnmatch(w->plain, sym->name, 0);
}

/* Add one of several symbols, or count it if it has no address. */
static int add_match(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_sym *sym, struct dp_symbols *out,
		     size_t *skipped)
{
	enum dp_ifunc_place place;
	struct dp_symbol s;
	int err = describe(mods, mod, sym, &s, &place);

	if (err == -EOPNOTSUPP) {
		(*skipped)++;
		return 0;
	}
	return err ? err : dp_list_push(out, &s);
}

static int find_glob(struct dp_modules *mods, struct dp_mod *mod,
		     const struct want *w, struct dp_symbols *out,
		     size_t *skipped)
{
	const struct dp_sym *sym;
	size_t i, n;
	int err = dp_mod_load(mods, mod, DP_MOD_SYMTAB);

	n = mod->read.symtab.n;
	for (i = 0; i < n && !err; i++) {
		sym = &mod->read.symtab.v[i];
		if (is_in_glob(w, sym))
			err = add_match(mods, mod, sym, out, skipped);
	}
	return err;
}

/* struct matches - the functions of a module that match are added to @out */
struct matches {
	struct dp_modules *mods;
	struct dp_mod *mod;
	const struct want *w;
	struct dp_symbols *out;
	size_t *skipped;
};

static int take_match(const struct matches *m, const struct dp_sym *sym)
{
	return fits(m->w, sym) ?
		       add_match(m->mods, m->mod, sym, m->out, m->skipped) :
		       0;
}

static int find_demangled_exact(const struct matches *m)
{
	struct dp_named_list list;
	size_t i;
	int err = dp_mod_find_named(m->mods, m->mod, m->w->plain, true, &list);

	for (i = 0; i < list.n && !err; i++)
		err = take_match(m, list.v[i].sym);
	dp_named_free(&list);
	return err;
}

static int find_demangled_glob(const struct matches *m)
{
	const struct dp_symtab *tab = &m->mod->read.symtab;
	const struct dp_sym *sym;
	u32 i, ahead = 0;
	int err = 0;

	dp_demangle_begin();
	for (i = 0; i < tab->n && !err; i++) {
		dp_sym_demangle_ahead(tab, i, &ahead);
		sym = &tab->v[i];
		if (dp_sym_is_called(sym) &&
		    dp_demangle_match(sym->name, m->w->plain, true))
			err = take_match(m, sym);
	}
	dp_demangle_end();
	return err;
}

/* As with linkage names, the name literally goes before the glob. */
static int find_demangled(struct dp_modules *mods,
			  const struct dp_module **list, size_t n,
			  const struct want *w, struct dp_symbols *out,
			  size_t *skipped)
{
	struct matches m = { mods, NULL, w, out, skipped };
	size_t i;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		m.mod = dp_mod_of(list[i]);
		err = find_demangled_exact(&m);
	}
	for (i = 0; !err && !out->n && is_glob(w->plain) && i < n; i++) {
		m.mod = dp_mod_of(list[i]);
		err = find_demangled_glob(&m);
	}
	out->demangled = out->n;
	return err;
}

/* Which other module has the function? The dynamic linker's private copies do not count. */
static const struct dp_mod *find_elsewhere(struct dp_modules *mods,
					   const struct want *w)
{
	struct choice c = { 0 };
	struct dp_mod *found = NULL;
	size_t i;

	for (i = 0; i < mods->n && !found; i++) {
		if (mods->v[i]->pub.is_linker)
			continue;
		c.n = 0;
		if (!choose(mods, mods->v[i], w, &c) && c.n &&
		    c.v[0]->rank >= DP_RANK_OLD)
			found = mods->v[i];
	}
	free(c.v);
	return found;
}

/* The same for a demangled name. */
static const struct dp_mod *find_named_elsewhere(struct dp_modules *mods,
						 const struct want *w)
{
	struct dp_named_list list = { 0 };
	struct dp_mod *found = NULL;
	size_t i;

	for (i = 0; i < mods->n && !found && dp_demangle_ready(); i++) {
		if (!dp_mod_find_named(mods, mods->v[i], w->plain, true,
				       &list) &&
		    list.n)
			found = mods->v[i];
		dp_named_free(&list);
	}
	return found;
}

static bool seen_before(const struct dp_symtab *tab, const struct dp_sym *sym)
{
	const struct dp_sym *s = dp_symtab_first(tab, sym->name);

	for (; s != sym; s = dp_symtab_next(tab, s)) {
		if (s->version && !strcmp(s->version, sym->version))
			return true;
	}
	return false;
}

/* If only the version was wrong, list the versions that exist. */
static bool say_versions(const struct dp_mod *mod, const struct want *w,
			 struct dp_diag *diag)
{
	const struct dp_sym *sym = dp_symtab_first(&mod->read.symtab, w->plain);
	const char *sep = "; versions: ";

	if (!sym)
		return false;
	for (; sym; sym = dp_symtab_next(&mod->read.symtab, sym)) {
		if (!sym->version || seen_before(&mod->read.symtab, sym))
			continue;
		dp_diag_add(diag, "%s%s@%s", sep, w->plain, sym->version);
		sep = ", ";
	}
	return true;
}

static const char *why_nameless(const struct dp_mod *mod)
{
	return mod->missing == -EACCES ?
		       "permission denied" :
	       mod->missing == -EFBIG ?
		       TOO_LARGE :
		       "its file was deleted or replaced after it was mapped";
}

static int say_missing(struct dp_modules *mods, const struct dp_mod *mod,
		       const struct want *w, struct dp_diag *diag)
{
	const struct dp_module *m = &mod->pub;
	const char *name = dp_mod_name(mod);
	const char *q = strpbrk(w->text, "() ") ? "\"" : "";
	const struct dp_mod *other;

	if (mod->missing)
		return dp_diag_set(diag, -ENOENT,
				   "%s has no names to look up: %s",
				   mod->pub.path, why_nameless(mod));
	other = find_elsewhere(mods, w) ?: find_named_elsewhere(mods, w);
	if (other && other != mod)
		return dp_diag_set(
			diag, -ENOENT,
			"%s has no function \"%s\"; %s has one: write %s:%s%s%s",
			name, w->text, dp_mod_name(other), dp_mod_name(other),
			q, w->text, q);
	dp_diag_set(diag, -ENOENT, "no function \"%s\" in %s", w->text, name);
	if (!w->version || !say_versions(mod, w, diag))
		dp_modules_say_near(mods, &m, 1, w->plain, diag);
	return -ENOENT;
}

static int say_no_match(struct dp_modules *mods, const char *module,
			const struct dp_module **list, size_t n,
			const struct want *w, struct dp_diag *diag)
{
	if (n == 1 && !is_glob(w->plain))
		return say_missing(mods, dp_mod_of(list[0]), w, diag);
	if (n == 1)
		return dp_diag_set(diag, -ENOENT,
				   "no function matches \"%s\" in %s", w->text,
				   dp_mod_name(dp_mod_of(list[0])));
	return dp_diag_set(
		diag, -ENOENT,
		"no function \"%s\" in any of the %zu modules that match \"%s\"",
		w->text, n, module);
}

/* A glob of modules asks for a name in each of several modules. */
static int exact_in_all(struct dp_modules *mods, const struct dp_module **list,
			size_t n, const struct want *w, struct dp_symbols *out,
			struct dp_diag *diag)
{
	struct dp_symbol s;
	size_t i;
	int err;

	for (i = 0; i < n; i++) {
		err = find_one(mods, dp_mod_of(list[i]), w, false, false, &s,
			       diag);
		if (!err)
			err = dp_list_push(out, &s);
		if (err && err != -ENOENT)
			return err;
	}
	return 0;
}

static int say_two_modules(const char *module, const struct want *w,
			   const struct dp_symbols *out, struct dp_diag *diag)
{
	size_t i;

	dp_diag_set(
		diag, -EINVAL,
		"\"%s\" is the name of %zu mapped modules; write an address instead of %s:",
		module, out->n, w->text);
	for (i = 0; i < out->n && i < CANDIDATES_SHOWN; i++)
		dp_diag_add(diag, "\n  0x%lx  (%s)", out->v[i].addr,
			    out->v[i].module->path);
	return -EINVAL;
}

static int find(struct dp_modules *mods, const char *module,
		const struct dp_module **list, size_t n, const struct want *w,
		struct dp_symbols *out, size_t *skipped, struct dp_diag *diag)
{
	bool glob;
	size_t i;
	int err;

	/* Try the name literally first: Go has names such as "main.(*T).Run". */
	err = exact_in_all(mods, list, n, w, out, diag);
	glob = !out->n && is_glob(w->plain);
	for (i = 0; !err && glob && i < n; i++)
		err = find_glob(mods, dp_mod_of(list[i]), w, out, skipped);
	if (!err && !out->n && !*skipped && dp_demangle_ready())
		err = find_demangled(mods, list, n, w, out, skipped);
	if (err)
		return err;
	sort_unique(out);
	if (!out->n && *skipped)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"all %zu functions that match \"%s\" are IFUNCs whose implementation is not known",
			*skipped, w->text);
	if (!out->n)
		return say_no_match(mods, module, list, n, w, diag);
	if (out->n > 1 && module && !is_glob(module) && !is_glob(w->plain) &&
	    !out->demangled)
		return say_two_modules(module, w, out, diag);
	size_ifuncs(mods, out);
	return 0;
}

int dp_symbols_find(struct dp_modules *mods, const char *module,
		    const char *name, struct dp_symbols *out, size_t *skipped,
		    struct dp_diag *diag)
{
	const struct dp_module **list;
	size_t n, ignored, *count = skipped ? skipped : &ignored;
	struct want w;
	int err;

	memset(out, 0, sizeof(*out));
	*count = 0;
	err = want_parse(&w, name) ?:
		      dp_modules_match(mods, module, &list, &n, diag);
	if (!err) {
		err = find(mods, module, list, n, &w, out, count, diag);
		free(list);
	}
	if (err == -ENOMEM)
		dp_diag_set(diag, err, "out of memory");
	if (err)
		dp_symbols_free(out);
	free(w.copy);
	return err;
}

int dp_symbols_find_in(struct dp_modules *mods, const struct dp_module *m,
		       const char *name, struct dp_symbols *out)
{
	size_t skipped = 0;
	struct want w;
	int err;

	memset(out, 0, sizeof(*out));
	err = want_parse(&w, name);
	if (!err)
		err = find(mods, m->path, &m, 1, &w, out, &skipped, NULL);
	if (err)
		dp_symbols_free(out);
	free(w.copy);
	return err;
}

int dp_module_function(struct dp_modules *mods, const struct dp_module *m,
		       const char *name, bool exported, struct dp_symbol *sym,
		       struct dp_diag *diag)
{
	struct want w;
	int err = want_parse(&w, name);

	if (!err)
		err = find_one(mods, dp_mod_of(m), &w, exported, true, sym,
			       diag);
	free(w.copy);
	return err;
}

/* With the parameters, if those of @near->want are given. */
static void offer_name(const struct dp_sym *sym, struct dp_near *near)
{
	char text[DP_DEMANGLED_MAX + 1];

	if (dp_demangle(sym->name,
			strchr(near->want, '(') ? DP_DEMANGLE_PARAMETERS :
						  DP_DEMANGLE_BRIEF,
			text))
		dp_near_offer(near, text);
	else
		dp_near_offer(near, sym->name);
}

static void offer_names(const struct dp_mod *mod, bool all,
			struct dp_near *near)
{
	const struct dp_symtab *tab = &mod->read.symtab;
	u32 i, ahead = 0;

	dp_demangle_begin();
	for (i = 0; i < tab->n; i++) {
		dp_sym_demangle_ahead(tab, i, &ahead);
		if (all || tab->v[i].rank == DP_RANK_EXPORT)
			offer_name(&tab->v[i], near);
	}
	dp_demangle_end();
}

static void say_nameless(const struct dp_mod *mod, bool all,
			 struct dp_diag *diag)
{
	if (mod->missing && !mod->read.symtab.n)
		dp_diag_add(diag, "; %s has no names to look up: %s",
			    mod->pub.path, why_nameless(mod));
	else if (all && !mod->read.symtab.full)
		dp_diag_add(
			diag,
			"; %s is stripped: only its exported functions have names",
			dp_mod_name(mod));
}

void dp_modules_say_near(struct dp_modules *mods,
			 const struct dp_module *const *list, size_t n,
			 const char *name, struct dp_diag *diag)
{
	struct dp_near near = { .want = name };
	size_t i;

	if (!diag)
		return;
	for (i = 0; i < n; i++) {
		if (!dp_mod_load(mods, dp_mod_of(list[i]), DP_MOD_SYMTAB))
			offer_names(dp_mod_of(list[i]), !i, &near);
	}
	dp_near_say(&near, diag);
	for (i = 0; i < n; i++)
		say_nameless(dp_mod_of(list[i]), !i, diag);
}
