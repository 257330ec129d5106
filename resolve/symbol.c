// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * symbol: names and addresses of one's own process.
 *
 * dl_iterate_phdr() counts libraries loaded (adds) and unloaded (subs). If neither count
 * has moved, the snapshot holds. If only adds moved, all modules of the snapshot are
 * still there. If subs moved by more than the number of missing libraries, a library may
 * have been closed and opened again at the same place. The dynamic linker appends, so it
 * is among the last modules of the snapshot, and never before the linker itself, which
 * no program can close. Such modules are in doubt from that generation on, and their
 * files are read again.
 *
 * Lock: the dynamic linker's, under the library's (DESIGN.md, Locks).
 */
#include "resolve/symbol.h"
#include "resolve/points.h"
#include <link.h>
#include <stdlib.h>
#include <string.h>

/**
 * struct load - a module, from its load to its unload
 * @linked: it is in the link map
 * @first: generation in which it was first seen
 * @doubt: generation in which it was last in doubt, or 0
 */
struct load {
	const struct dp_module *module;
	bool linked;
	u64 first, doubt;
};

/**
 * struct dp_symbol_map - the process as it was last read
 * @v: its modules in load order
 * @match: the modules that match @pattern, which was looked up last
 * @exits: reader of the module asked about last
 */
struct dp_symbol_map {
	struct dp_modules *mods;
	struct load *v;
	size_t n;
	u64 generation;
	unsigned long long adds, subs;
	char *pattern;
	const struct dp_module **match;
	size_t n_match;
	struct dp_exit_reader exits;
};

/* The link map: a code address of each object, in order. */
struct links {
	unsigned long long adds, subs;
	u64 *text;
	size_t n, room;
};

static int note_counts(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct links *l = arg;

	l->adds = info->dlpi_adds;
	l->subs = info->dlpi_subs;
	return 1;
}

/* The linker's lock is held: no allocation here. */
static int note_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct links *l = arg;
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &info->dlpi_phdr[i];

		if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X))
			continue;
		if (l->n < l->room)
			l->text[l->n++] = info->dlpi_addr + ph->p_vaddr;
		break;
	}
	return 0;
}

static const struct load *load_of(const struct dp_symbol_map *map,
				  const struct dp_module *m)
{
	size_t i;

	for (i = 0; m && i < map->n; i++)
		if (map->v[i].module == m)
			return &map->v[i];
	return NULL;
}

static void append(struct dp_symbol_map *map, const struct dp_module *m,
		   bool linked)
{
	if (m && !load_of(map, m))
		map->v[map->n++] = (struct load){ .module = m,
						  .linked = linked,
						  .first = map->generation };
}

/* Order @map->mods by load; modules that the link map lacks come last. */
static int order_modules(struct dp_symbol_map *map)
{
	size_t n = dp_modules_count(map->mods), i;
	struct links l = { .room = n + 8 };

	map->v = calloc(n + 1, sizeof(*map->v));
	l.text = calloc(l.room, sizeof(*l.text));
	if (!map->v || !l.text) {
		free(l.text);
		return -ENOMEM;
	}
	dl_iterate_phdr(note_object, &l);
	for (i = 0; i < l.n; i++)
		append(map, dp_module_at(map->mods, l.text[i]), true);
	for (i = 0; i < n; i++)
		append(map, dp_modules_get(map->mods, i), false);
	free(l.text);
	return 0;
}

/* Read the counts first: the next refresh finds libraries that come meanwhile. */
static int look(struct dp_symbol_map *map, struct dp_diag *diag)
{
	struct links l = { 0 };
	int err;

	dl_iterate_phdr(note_counts, &l);
	map->adds = l.adds;
	map->subs = l.subs;
	err = dp_modules_open(0, -1, &map->mods, diag);
	if (err)
		return err;
	err = order_modules(map);
	return err ? dp_diag_set(diag, err, "out of memory") : 0;
}

static void drop(struct dp_symbol_map *map)
{
	dp_exit_reader_close(&map->exits);
	dp_modules_close(map->mods);
	free(map->v);
	free(map->pattern);
	free(map->match);
}

int dp_symbol_map_open(struct dp_symbol_map **out, struct dp_diag *diag)
{
	struct dp_symbol_map *map = calloc(1, sizeof(*map));
	int err;

	if (!map)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	map->generation = 1;
	err = look(map, diag);
	if (err) {
		dp_symbol_map_close(map);
		return err;
	}
	*out = map;
	return 0;
}

void dp_symbol_map_close(struct dp_symbol_map *map)
{
	if (!map)
		return;
	drop(map);
	free(map);
}

static bool same_place(const struct dp_module *a, const struct dp_module *b)
{
	return a->bias == b->bias && a->text_start == b->text_start &&
	       !strcmp(a->path, b->path);
}

static struct load *find_place(struct dp_symbol_map *map,
			       const struct dp_module *m)
{
	size_t i;

	for (i = 0; i < map->n; i++) {
		if (same_place(map->v[i].module, m))
			return &map->v[i];
	}
	return NULL;
}

static size_t count_missing(struct dp_symbol_map *old,
			    struct dp_symbol_map *new)
{
	size_t i, n = 0;

	for (i = 0; i < old->n; i++)
		n += old->v[i].linked && !find_place(new, old->v[i].module);
	return n;
}

/* @n unloads are not accounted for: mark the modules that they may have hit. */
static void doubt(struct dp_symbol_map *map, unsigned long long n)
{
	struct load *l;
	size_t i;

	for (i = map->n; n && i-- > 0;) {
		l = &map->v[i];
		if (l->module->is_main || l->module->is_linker)
			break;
		if (l->first == map->generation)
			continue;
		l->doubt = map->generation;
		n -= l->linked;
	}
}

/* Hand the old modules' state over to the new ones. */
static void inherit(struct dp_symbol_map *new, struct dp_symbol_map *old)
{
	unsigned long long gone = new->subs - old->subs;
	size_t missing = count_missing(old, new), i;
	const struct load *from;

	for (i = 0; i < new->n; i++) {
		from = find_place(old, new->v[i].module);
		if (!from)
			continue;
		new->v[i].first = from->first;
		new->v[i].doubt = from->doubt;
	}
	doubt(new, gone > missing ? gone - missing : 0);
	for (i = 0; i < new->n; i++) {
		from = find_place(old, new->v[i].module);
		if (from && new->v[i].doubt != new->generation)
			dp_module_adopt(new->v[i].module, from->module);
	}
}

static bool is_true(const struct dp_symbol_map *map)
{
	struct links l = { 0 };

	dl_iterate_phdr(note_counts, &l);
	return l.adds == map->adds && l.subs == map->subs;
}

int dp_symbol_map_refresh(struct dp_symbol_map *map, struct dp_diag *diag)
{
	struct dp_symbol_map new = { .generation = map->generation + 1 };
	int err;

	if (is_true(map))
		return 0;
	err = look(&new, diag);
	if (err) {
		drop(&new);
		return err;
	}
	inherit(&new, map);
	drop(map);
	*map = new;
	return 1;
}

/* Return: 1 @name has a module, and is split; 0 it has none; -ENOMEM. */
static int split(const char *name, char **module, const char **rest)
{
	const char *colon = dp_spec_colon(name);

	*rest = colon ? colon + 1 : name;
	if (!colon)
		return 0;
	*module = strndup(name, colon - name);
	return *module ? 1 : -ENOMEM;
}

/* Owns @module from then on. */
static int match(struct dp_symbol_map *map, char *module, struct dp_diag *diag)
{
	int err;

	if (map->pattern && !strcmp(map->pattern, module)) {
		free(module);
		return 0;
	}
	free(map->pattern);
	free(map->match);
	map->pattern = module;
	err = dp_modules_match(map->mods, module, &map->match, &map->n_match,
			       diag);
	if (err) {
		free(module);
		map->pattern = NULL;
		map->match = NULL;
	}
	return err;
}

static int say_two(const struct dp_symbol_map *map, const struct dp_symbol *a,
		   const struct dp_symbol *b, const char *name,
		   struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -EINVAL,
		"\"%s\" means several modules that have a function \"%s\"; use an address:\n  0x%lx  (%s)\n  0x%lx  (%s)",
		map->pattern, name, a->addr, a->module->path, b->addr,
		b->module->path);
}

static int resolve_there(struct dp_symbol_map *map, const char *name,
			 struct dp_symbol *sym, struct dp_diag *diag)
{
	struct dp_symbol other;
	bool found = false;
	size_t i;
	int err;

	for (i = 0; i < map->n_match; i++) {
		err = dp_module_function(map->mods, map->match[i], name, false,
					 &other, diag);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		if (found)
			return say_two(map, sym, &other, name, diag);
		found = true;
		*sym = other;
	}
	return found ? 0 : -ENOENT;
}

/* Look in the libraries only. */
static int resolve_pass(struct dp_symbol_map *map, const char *name,
			bool exported, struct dp_symbol *sym,
			struct dp_diag *diag)
{
	size_t i;
	int err = -ENOENT;

	for (i = 0; i < map->n && err == -ENOENT; i++) {
		if (!map->v[i].module->is_main)
			err = dp_module_function(map->mods, map->v[i].module,
						 name, exported, sym, diag);
	}
	return err;
}

static const struct dp_module *find_main(const struct dp_symbol_map *map)
{
	size_t i;

	for (i = 0; i < map->n; i++) {
		if (map->v[i].module->is_main)
			return map->v[i].module;
	}
	return NULL;
}

static int resolve_anywhere(struct dp_symbol_map *map, const char *name,
			    struct dp_symbol *sym, struct dp_diag *diag)
{
	const struct dp_module *program = find_main(map);
	int err = -ENOENT;

	if (program)
		err = dp_module_function(map->mods, program, name, false, sym,
					 diag);
	if (err == -ENOENT)
		err = resolve_pass(map, name, true, sym, diag);
	if (err == -ENOENT)
		err = resolve_pass(map, name, false, sym, diag);
	return err;
}

static const struct dp_module *find_data(struct dp_symbol_map *map,
					 const struct dp_module *const *list,
					 size_t n, const char *name)
{
	size_t i;
	u64 addr;

	for (i = 0; i < n; i++) {
		if (!dp_module_dynsym(map->mods, list[i], name, &addr))
			return list[i];
	}
	return NULL;
}

static int say_missing(struct dp_symbol_map *map,
		       const struct dp_module *const *list, size_t n,
		       const char *module, const char *name,
		       struct dp_diag *diag)
{
	const struct dp_module *data = find_data(map, list, n, name);

	if (data)
		return dp_diag_set(diag, -EINVAL,
				   "\"%s\" in %s is data, not a function", name,
				   data->base);
	dp_diag_set(diag, -ENOENT, "no function \"%s\" in %s", name, module);
	dp_modules_say_near(map->mods, list, n, name, diag);
	return -ENOENT;
}

static int say_nowhere(struct dp_symbol_map *map, const char *name,
		       struct dp_diag *diag)
{
	const struct dp_module **list = calloc(map->n + 1, sizeof(*list));
	size_t i;
	int err;

	if (!list)
		return -ENOMEM;
	for (i = 0; i < map->n; i++)
		list[i] = map->v[i].module;
	err = say_missing(map, list, map->n, "the program or its libraries",
			  name, diag);
	free(list);
	return err;
}

int dp_symbol_map_resolve(struct dp_symbol_map *map, const char *name,
			  struct dp_symbol *sym, struct dp_diag *diag)
{
	const char *rest;
	char *module;
	int err = split(name, &module, &rest);

	if (!err) {
		err = resolve_anywhere(map, rest, sym, diag);
		if (err == -ENOENT)
			err = say_nowhere(map, rest, diag);
	} else if (err > 0) {
		err = match(map, module, diag);
		if (err)
			goto out;
		err = resolve_there(map, rest, sym, diag);
		if (err == -ENOENT)
			err = say_missing(map, map->match, map->n_match,
					  map->match[0]->base, rest, diag);
	}
out:
	if (err == -ENOMEM)
		dp_diag_set(diag, err, "out of memory");
	else if (err == -EMFILE || err == -ENFILE)
		dp_diag_set(diag, err, "cannot look up \"%s\": %s", name,
			    strerror(-err));
	return err;
}

/* The nearest symbol is not enough: a function without a name may lie between. */
static bool holds(struct dp_symbol_map *map, const struct dp_symbol *sym,
		  u64 addr)
{
	u64 start, end;

	if (addr == sym->addr)
		return true;
	if (sym->size)
		return addr - sym->addr < sym->size;
	return !dp_function_bounds(map->mods, addr, &start, &end) &&
	       start == sym->addr;
}

int dp_symbol_map_name(struct dp_symbol_map *map, u64 addr, const char **name,
		       u64 *offset, const char **module)
{
	const struct dp_module *m = dp_module_at(map->mods, addr);
	struct dp_symbol sym;
	int err = dp_symbol_at(map->mods, addr, &sym);

	*name = NULL;
	*offset = 0;
	*module = m && !m->is_main ? m->base : NULL;
	if (!err && !holds(map, &sym, addr))
		err = -ENOENT;
	if (err) {
		dp_module_addr_file(map->mods, addr, offset);
		return err;
	}
	*name = sym.name;
	*offset = addr - sym.addr;
	return 0;
}

struct dp_modules *dp_symbol_map_modules(struct dp_symbol_map *map)
{
	return map->mods;
}

struct dp_exit_reader *dp_symbol_map_exits(struct dp_symbol_map *map)
{
	return &map->exits;
}

bool dp_symbol_map_linked(const struct dp_symbol_map *map, u64 addr)
{
	const struct load *l = load_of(map, dp_module_at(map->mods, addr));

	return l && l->linked;
}

/** struct held - work to be done under the linker's lock */
struct held {
	const struct dp_symbol_map *map;
	int (*work)(void *what);
	void *what;
	bool done;
	int ret;
};

static int do_held(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct held *h = arg;

	h->done = info->dlpi_adds == h->map->adds &&
		  info->dlpi_subs == h->map->subs;
	if (h->done)
		h->ret = h->work(h->what);
	return 1;
}

bool dp_symbol_map_hold(const struct dp_symbol_map *map,
			int (*work)(void *what), void *what, int *ret)
{
	struct held h = { .map = map, .work = work, .what = what };

	dl_iterate_phdr(do_held, &h);
	*ret = h.ret;
	return h.done;
}

u64 dp_symbol_map_generation(const struct dp_symbol_map *map)
{
	return map->generation;
}

enum dp_loaded dp_symbol_map_loaded(const struct dp_symbol_map *map, u64 addr,
				    u64 since)
{
	const struct load *l = load_of(map, dp_module_at(map->mods, addr));

	if (!l || l->first > since)
		return DP_LOADED_GONE;
	return l->doubt > since ? DP_LOADED_MAYBE : DP_LOADED_SAME;
}
