// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* symbol: the name of an address, and the address of a dynamic symbol. */
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
	sym = dp_symtab_at(&dp_mod_of(m)->symtab, addr - m->bias);
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

int dp_module_dynsym(struct dp_modules *mods, const struct dp_module *m,
		     const char *name, u64 *addr)
{
	u64 value;
	int err = dp_mod_dynsym(mods, dp_mod_of(m), name, &value);

	if (!err)
		*addr = value + m->bias;
	return err;
}
