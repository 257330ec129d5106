// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* mod: the tables of one module, read from its file at the first question. */
#include <elf.h>
#include <string.h>
#include "sym/names/mod.h"

/* The name that a user would write: the program's file name, a library's soname. */
const char *dp_mod_name(const struct dp_mod *mod)
{
	if (mod->pub.soname && !mod->pub.is_main)
		return mod->pub.soname;
	return mod->pub.base;
}

/* A fault of the file only means that it has nothing to tell; shortages stay errors. */
static int soften(int err)
{
	return dp_is_shortage(err) ? err : 0;
}

static int open_file(struct dp_modules *mods, struct dp_mod *mod,
		     struct dp_elf *elf)
{
	int err;

	if (mod->missing)
		return mod->missing;
	err = dp_file_open_elf(mods, mod, elf);
	if (err && !dp_is_shortage(err))
		mod->missing = err;
	return err;
}

static int ensure_dynsym(struct dp_modules *mods, struct dp_mod *mod,
			 const struct dp_elf *elf)
{
	int err;

	if (mod->have_dynsym)
		return 0;
	err = dp_dynsym_load(&mod->dynsym, elf);
	if (err == -EFBIG)
		mod->missing = err;
	err = soften(err);
	mod->have_dynsym = !err;
	return err;
}

/* Have @fill read a table of a module, unless *have says that it is there. */
static int load(struct dp_modules *mods, struct dp_mod *mod, bool *have,
		int (*fill)(struct dp_modules *mods, struct dp_mod *mod,
			    const struct dp_elf *elf))
{
	struct dp_elf elf;
	int err;

	if (*have)
		return 0;
	err = open_file(mods, mod, &elf);
	if (err)
		return soften(err);
	err = fill(mods, mod, &elf);
	dp_elf_close(&elf);
	*have = !err;
	return err;
}

int dp_mod_load_dynsym(struct dp_modules *mods, struct dp_mod *mod)
{
	return load(mods, mod, &mod->have_dynsym, ensure_dynsym);
}

static int add_other(struct dp_mod *mod, struct dp_elf *other,
		     const struct dp_elf *text)
{
	int err = dp_symtab_add_symtab(&mod->symtab, other, text);

	dp_elf_close(other);
	return err;
}

static int read_symtab(struct dp_modules *mods, struct dp_mod *mod,
		       const struct dp_elf *elf)
{
	struct dp_elf other;
	char root[32];
	int err;

	err = ensure_dynsym(mods, mod, elf) ?: mod->missing;
	if (!err)
		err = dp_symtab_add_dynsym(&mod->symtab, &mod->dynsym, elf);
	if (err)
		return err;
	err = dp_symtab_add_symtab(&mod->symtab, elf, elf);
	if (err && err != -ENOMEM && err != -EFBIG) {
		dp_file_root(mods, root, sizeof(root));
		err = dp_debugfile_open(elf, root, mod->pub.path, &other);
		if (!err)
			err = add_other(mod, &other, elf);
	}
	if (err && err != -ENOMEM && err != -EFBIG) {
		err = dp_minidebug_open(elf, &other);
		if (!err)
			err = add_other(mod, &other, elf);
	}
	mod->symtab.full = !err;
	return err == -EFBIG ? err : soften(err);
}

static int fill_symtab(struct dp_modules *mods, struct dp_mod *mod,
		       const struct dp_elf *elf)
{
	int err = read_symtab(mods, mod, elf) ?: dp_symtab_index(&mod->symtab);

	if (err)
		dp_symtab_free(&mod->symtab);
	/* A part of its names would be worse than none. */
	if (err == -EFBIG) {
		mod->missing = err;
		err = 0;
	}
	return err;
}

int dp_mod_load_symtab(struct dp_modules *mods, struct dp_mod *mod)
{
	return load(mods, mod, &mod->have_symtab, fill_symtab);
}

static int fill_fdes(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_elf *elf)
{
	return soften(dp_fdes_load(&mod->fdes, elf));
}

int dp_mod_load_fdes(struct dp_modules *mods, struct dp_mod *mod)
{
	return load(mods, mod, &mod->have_fdes, fill_fdes);
}

static int fill_relocs(struct dp_modules *mods, struct dp_mod *mod,
		       const struct dp_elf *elf)
{
	return ensure_dynsym(mods, mod, elf) ?:
		       dp_relocs_load(&mod->relocs, elf, &mod->dynsym);
}

int dp_mod_load_relocs(struct dp_modules *mods, struct dp_mod *mod)
{
	return load(mods, mod, &mod->have_relocs, fill_relocs);
}

/* Chosen implementations get their IFUNC's name, for want of a better. */
static int add_chosen(struct dp_modules *mods, struct dp_mod *mod)
{
	struct dp_symtab *tab = &mod->symtab;
	size_t i, n = tab->n;
	enum dp_ifunc_place place;
	struct dp_sym sym;
	u64 addr;
	int err = 0;

	for (i = 0; i < n && !err; i++) {
		if (tab->v[i].type != STT_GNU_IFUNC)
			continue;
		err = dp_ifunc_resolve(mods, mod, &tab->v[i], &addr, &place);
		if (err || place != DP_IFUNC_HERE)
			continue;
		sym = tab->v[i];
		sym.value = addr - mod->pub.bias;
		sym.size = 0;
		sym.type = STT_FUNC;
		sym.chosen = true;
		err = dp_symtab_add(tab, &sym);
	}
	return err;
}

/*
 * The names added are not in the index by name, so they are found by address only.
 */
int dp_mod_sort(struct dp_modules *mods, struct dp_mod *mod)
{
	int err = dp_mod_load_symtab(mods, mod);

	if (err || mod->symtab.order)
		return err;
	return add_chosen(mods, mod) ?: dp_symtab_sort(&mod->symtab);
}

static void move_tables(struct dp_mod *to, struct dp_mod *from)
{
	/* The tables are empty because of that. */
	if (from->missing == -EFBIG)
		to->missing = from->missing;
	to->have_dynsym = from->have_dynsym;
	to->have_symtab = from->have_symtab;
	to->have_fdes = from->have_fdes;
	to->have_relocs = from->have_relocs;
	to->dynsym = from->dynsym;
	to->symtab = from->symtab;
	to->fdes = from->fdes;
	to->relocs = from->relocs;
	from->have_dynsym = from->have_symtab = false;
	from->have_fdes = from->have_relocs = false;
	memset(&from->dynsym, 0, sizeof(from->dynsym));
	memset(&from->symtab, 0, sizeof(from->symtab));
	memset(&from->fdes, 0, sizeof(from->fdes));
	memset(&from->relocs, 0, sizeof(from->relocs));
}

void dp_module_adopt(const struct dp_module *to, const struct dp_module *from)
{
	struct dp_mod *mod = dp_mod_of(to);

	/* The file may have been deleted since, and its soname is known no other way. */
	if (!mod->soname) {
		mod->pub.soname = mod->soname = dp_mod_of(from)->soname;
		dp_mod_of(from)->soname = NULL;
	}
	if (!mod->have_dynsym && !mod->have_symtab && !mod->have_fdes &&
	    !mod->have_relocs)
		move_tables(mod, dp_mod_of(from));
}
