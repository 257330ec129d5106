// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symbol: the name, the function and the file offset of an address; and back. */
#include <string.h>
#include "sym/names/mod.h"

int dp_symbol_at(struct dp_modules *mods, u64 addr, struct dp_symbol *out)
{
	const struct dp_module *m = dp_module_at(mods, addr);
	const struct dp_sym *sym;
	int err;

	if (!m)
		return -ENOENT;
	err = dp_mod_sort(mods, dp_mod_of(m));
	if (err)
		return err;
	sym = dp_symtab_at(&dp_mod_of(m)->read.symtab, addr - m->bias);
	if (!sym)
		return -ENOENT;
	out->module = m;
	out->name = sym->name;
	out->addr = sym->value + m->bias;
	out->size = sym->size;
	out->global = sym->rank >= DP_RANK_OLD;
	out->ifunc = sym->chosen;
	return 0;
}

/* Would a spec take the name for a linkage name, a version of one, or a glob of such? */
static bool is_taken(const struct dp_mod *mod, const char *text)
{
	return strchr(text, '@') || dp_symtab_first(&mod->read.symtab, text) ||
	       (strpbrk(text, "*?[") && !strpbrk(text, ":("));
}

static bool means_only(struct dp_modules *mods, struct dp_mod *mod,
		       const char *text, u64 value)
{
	struct dp_named_list list;
	size_t i = 0;
	bool only;

	if (dp_mod_find_named(mods, mod, text, false, &list))
		return false;
	while (i < list.n && list.v[i].sym->value == value)
		i++;
	only = list.n && i == list.n;
	dp_named_free(&list);
	return only;
}

bool dp_demangle_symbol(struct dp_modules *mods, const struct dp_module *m,
			const char *name, u64 addr, char *text)
{
	struct dp_mod *mod = dp_mod_of(m);
	enum dp_demangle_form form;

	for (form = 0; form < DP_DEMANGLE_WHOLE; form++) {
		if (!dp_demangle(name, form, text))
			return false;
		if (!is_taken(mod, text) &&
		    means_only(mods, mod, text, addr - m->bias))
			return true;
	}
	return false;
}

int dp_module_dynsym(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, u64 *addr)
{
	struct dp_mod *mod = dp_mod_of(m);
	int err = dp_mod_load(mods, mod, DP_MOD_DYNSYM);

	if (!err)
		err = dp_dynsym_find(&mod->read.dynsym, name, addr);
	if (!err)
		*addr += m->bias;
	return err;
}

int dp_function_bounds(struct dp_modules *mods, u64 addr, u64 *start, u64 *end)
{
	const struct dp_module *m = dp_module_at(mods, addr);
	struct dp_mod *mod = m ? dp_mod_of(m) : NULL;
	const struct dp_sym *sym;
	const struct dp_fde *fde;
	u64 value;

	if (!mod || dp_mod_sort(mods, mod))
		return -ENOENT;
	value = addr - m->bias;
	sym = dp_symtab_at(&mod->read.symtab, value);
	if (sym && value - sym->value < sym->size &&
	    sym->size <= m->text_end - (sym->value + m->bias)) {
		*start = sym->value + m->bias;
		*end = *start + sym->size;
		return 0;
	}
	if (dp_mod_load(mods, mod, DP_MOD_FDES))
		return -ENOENT;
	fde = dp_fdes_find(&mod->read.fdes, value);
	if (!fde || fde->end - value > m->text_end - addr)
		return -ENOENT;
	*start = fde->start + m->bias;
	*end = fde->end + m->bias;
	return 0;
}

int dp_module_file_addr(struct dp_modules *mods, const struct dp_module *m,
			u64 offset, u64 *addr, struct dp_diag *diag)
{
	const struct dp_map *map;
	size_t i;

	for (i = 0; i < mods->maps.n; i++) {
		map = &mods->maps.v[i];
		if (mods->of_map[i] != dp_mod_of(m) || offset < map->offset ||
		    offset - map->offset >= map->end - map->start)
			continue;
		*addr = map->start + (offset - map->offset);
		return 0;
	}
	return dp_diag_set(diag, -ENOENT,
			   "offset 0x%lx of %s is not mapped as code", offset,
			   dp_mod_name(dp_mod_of(m)));
}

int dp_module_addr_file(struct dp_modules *mods, u64 addr, u64 *offset)
{
	const struct dp_map *map = dp_maps_find(&mods->maps, addr);

	if (!map || !mods->of_map[map - mods->maps.v])
		return -ENOENT;
	*offset = map->offset + (addr - map->start);
	return 0;
}
