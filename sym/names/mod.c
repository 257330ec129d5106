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

	if (mod->read.have[DP_MOD_DYNSYM])
		return 0;
	err = dp_dynsym_load(&mod->read.dynsym, elf);
	if (err == -EFBIG)
		mod->missing = err;
	err = soften(err);
	mod->read.have[DP_MOD_DYNSYM] = !err;
	return err;
}

static int add_other(struct dp_mod *mod, struct dp_elf *other,
		     const struct dp_elf *text)
{
	int err = dp_symtab_add_symtab(&mod->read.symtab, other, text);

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
		err = dp_symtab_add_dynsym(&mod->read.symtab, &mod->read.dynsym,
					   elf);
	if (err)
		return err;
	err = dp_symtab_add_symtab(&mod->read.symtab, elf, elf);
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
	mod->read.symtab.full = !err;
	return err == -EFBIG ? err : soften(err);
}

static int fill_symtab(struct dp_modules *mods, struct dp_mod *mod,
		       const struct dp_elf *elf)
{
	int err = read_symtab(mods, mod, elf) ?:
			  dp_symtab_index(&mod->read.symtab);

	if (err)
		dp_symtab_free(&mod->read.symtab);
	/* A part of its names would be worse than none. */
	if (err == -EFBIG) {
		mod->missing = err;
		err = 0;
	}
	return err;
}

static int fill_fdes(struct dp_modules *mods, struct dp_mod *mod,
		     const struct dp_elf *elf)
{
	return soften(dp_fdes_load(&mod->read.fdes, elf));
}

static int fill_relocs(struct dp_modules *mods, struct dp_mod *mod,
		       const struct dp_elf *elf)
{
	return ensure_dynsym(mods, mod, elf) ?:
		       dp_relocs_load(&mod->read.relocs, elf,
				      &mod->read.dynsym);
}

static int fill_objects(struct dp_modules *mods, struct dp_mod *mod,
			const struct dp_elf *elf)
{
	char root[32];

	dp_file_root(mods, root, sizeof(root));
	return soften(
		dp_objects_load(&mod->read.objects, elf, root, mod->pub.path));
}

static int fill_tracepoints(struct dp_modules *mods, struct dp_mod *mod,
			    const struct dp_elf *elf)
{
	return soften(dp_tracepoints_read(&mod->read.tracepoints, elf));
}

int dp_mod_load(struct dp_modules *mods, struct dp_mod *mod,
		enum dp_mod_table table)
{
	static int (*const fill[])(struct dp_modules * mods,
				   struct dp_mod * mod,
				   const struct dp_elf *elf) = {
		[DP_MOD_DYNSYM] = ensure_dynsym,
		[DP_MOD_SYMTAB] = fill_symtab,
		[DP_MOD_FDES] = fill_fdes,
		[DP_MOD_RELOCS] = fill_relocs,
		[DP_MOD_OBJECTS] = fill_objects,
		[DP_MOD_TRACEPOINTS] = fill_tracepoints,
	};
	struct dp_elf elf;
	int err;

	if (mod->read.have[table])
		return 0;
	err = open_file(mods, mod, &elf);
	if (err)
		return soften(err);
	err = fill[table](mods, mod, &elf);
	dp_elf_close(&elf);
	mod->read.have[table] = !err;
	return err;
}

/* Chosen implementations get their IFUNC's name, for want of a better. */
static int add_chosen(struct dp_modules *mods, struct dp_mod *mod)
{
	struct dp_symtab *tab = &mod->read.symtab;
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
	int err = dp_mod_load(mods, mod, DP_MOD_SYMTAB);

	if (err || mod->read.symtab.order)
		return err;
	return add_chosen(mods, mod) ?: dp_symtab_sort(&mod->read.symtab);
}

int dp_mod_find_named(struct dp_modules *mods, struct dp_mod *mod,
		      const char *text, bool sure, struct dp_named_list *list)
{
	*list = (struct dp_named_list){ 0 };
	return dp_mod_load(mods, mod, DP_MOD_SYMTAB) ?:
		       dp_demangled_find(&mod->read.demangled,
					 &mod->read.symtab, text, sure, list);
}

void dp_module_adopt(const struct dp_module *to, const struct dp_module *from)
{
	struct dp_mod *mod = dp_mod_of(to);

	/* The file may have been deleted since, and its soname is known no other way. */
	if (!mod->soname) {
		mod->pub.soname = mod->soname = dp_mod_of(from)->soname;
		dp_mod_of(from)->soname = NULL;
	}
	if (memchr(mod->read.have, true, DP_MOD_TABLES))
		return;
	/* The tables are empty because of that. */
	if (dp_mod_of(from)->missing == -EFBIG)
		mod->missing = -EFBIG;
	mod->read = dp_mod_of(from)->read;
	memset(&dp_mod_of(from)->read, 0, sizeof(mod->read));
}
