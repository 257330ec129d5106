// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dynsym: the dynamic symbol table of a file, with versions. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"

/*
 * PT_DYNAMIC does not say how long the table is. Without sections DT_HASH does. Without
 * DT_HASH the strings end it: every linker places them right behind the symbols.
 */
static u64 count(const struct dp_elf *elf, const struct dp_dynamic *dyn,
		 u64 off)
{
	const Elf64_Shdr *sh = dp_elf_section_type(elf, SHT_DYNSYM);
	u64 at, avail;
	u32 hash[2];

	if (sh && sh->sh_offset == off)
		return sh->sh_size / sizeof(Elf64_Sym);
	if (dyn->hash && !dp_elf_offset(elf, dyn->hash, &at, &avail) &&
	    !dp_elf_read(elf, at, hash, sizeof(hash)))
		return hash[1];
	if (dyn->strtab > dyn->symtab)
		return (dyn->strtab - dyn->symtab) / sizeof(Elf64_Sym);
	return 0;
}

static int load_symbols(struct dp_dynsym *ds, const struct dp_elf *elf,
			const struct dp_dynamic *dyn)
{
	u64 off, avail, len;
	int err = dp_elf_offset(elf, dyn->symtab, &off, &avail);

	if (err)
		return err;
	ds->n = count(elf, dyn, off);
	if (ds->n > avail / sizeof(Elf64_Sym))
		ds->n = avail / sizeof(Elf64_Sym);
	ds->str_len = dyn->strsz;
	len = ds->n * sizeof(Elf64_Sym);
	return dp_elf_load(elf, off, len, (void **)&ds->v) ?:
		       dp_elf_load_at(elf, dyn->strtab, &ds->str_len,
				      (void **)&ds->str);
}

static int load_versions(struct dp_dynsym *ds, const struct dp_elf *elf,
			 const struct dp_dynamic *dyn)
{
	u64 off, avail;
	int err;

	if (!dyn->versym || dp_elf_offset(elf, dyn->versym, &off, &avail) ||
	    avail < ds->n * sizeof(u16))
		return 0;
	err = dp_elf_load(elf, off, ds->n * sizeof(u16), (void **)&ds->ver);
	if (err)
		return err == -ENOMEM ? err : 0;
	return dp_versions_load(&ds->versions, elf, dyn, ds->str, ds->str_len);
}

int dp_dynsym_load(struct dp_dynsym *ds, const struct dp_elf *elf)
{
	struct dp_dynamic dyn;
	int err;

	memset(ds, 0, sizeof(*ds));
	err = dp_dynamic_read(elf, &dyn) ?: load_symbols(ds, elf, &dyn);
	if (!err)
		err = load_versions(ds, elf, &dyn);
	if (err)
		dp_dynsym_free(ds);
	return err;
}

void dp_dynsym_free(struct dp_dynsym *ds)
{
	free(ds->v);
	free(ds->str);
	free(ds->ver);
	free(ds->versions.v);
	memset(ds, 0, sizeof(*ds));
}

const char *dp_dynsym_name(const struct dp_dynsym *ds, size_t i)
{
	if (i >= ds->n || ds->v[i].st_name >= ds->str_len)
		return "";
	return ds->str + ds->v[i].st_name;
}

const char *dp_dynsym_version(const struct dp_dynsym *ds, size_t i,
			      bool *hidden)
{
	*hidden = false;
	if (!ds->ver || i >= ds->n)
		return NULL;
	*hidden = ds->ver[i] & DP_VERSION_HIDDEN;
	return dp_versions_name(&ds->versions, ds->ver[i]);
}

int dp_dynsym_find(const struct dp_dynsym *ds, const char *name, u64 *value)
{
	const Elf64_Sym *sym;
	bool hidden;
	size_t i;
	int err = -ENOENT;

	for (i = 1; i < ds->n; i++) {
		sym = &ds->v[i];
		if (!dp_dynsym_defines(sym) ||
		    strcmp(dp_dynsym_name(ds, i), name))
			continue;
		*value = sym->st_value;
		dp_dynsym_version(ds, i, &hidden);
		if (!hidden)
			return 0;
		err = 0;
	}
	return err;
}
