// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* relocs: slots of one file that the dynamic linker fills with functions. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "arch/elf.h"
#include "sym/elf/elf.h"
#include "sym/elf/symtab.h"
#include "sym/elf/relocs.h"
#include "sym/list.h"

/* May the symbol be an IFUNC, here or in another module? */
static bool may_be_function(const Elf64_Sym *sym)
{
	switch (ELF64_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return sym->st_shndx == SHN_UNDEF;
	}
	return false;
}

static int add_rela(struct dp_relocs *rel, const Elf64_Rela *rela,
		    const struct dp_dynsym *ds)
{
	size_t i = ELF64_R_SYM(rela->r_info);
	struct dp_reloc r = { .slot = rela->r_offset };
	bool hidden;

	switch (ELF64_R_TYPE(rela->r_info)) {
	case DP_RELOC_RESOLVER:
		r.resolver = rela->r_addend;
		return dp_list_push(rel, &r);
	case DP_RELOC_SLOT:
	case DP_RELOC_DATA:
	case DP_RELOC_ADDRESS:
		if (rela->r_addend || !i || i >= ds->n ||
		    !may_be_function(&ds->v[i]))
			return 0;
		r.name = dp_dynsym_name(ds, i);
		r.version = dp_dynsym_version(ds, i, &hidden);
		r.hash = dp_name_hash(r.name);
		return dp_list_push(rel, &r);
	}
	return 0;
}

static int add_table(struct dp_relocs *rel, const struct dp_elf *elf, u64 off,
		     u64 len, const struct dp_dynsym *ds)
{
	void *data;
	u64 i;
	int err = dp_elf_load(elf, off, len, &data);

	if (err)
		return err == -ENOMEM ? err : 0;
	for (i = 0; i < len / sizeof(Elf64_Rela) && !err; i++)
		err = add_rela(rel, (Elf64_Rela *)data + i, ds);
	free(data);
	return err;
}

static int add_dynamic(struct dp_relocs *rel, const struct dp_elf *elf,
		       u64 vaddr, u64 len, const struct dp_dynsym *ds)
{
	u64 off, avail;

	if (!vaddr || dp_elf_offset(elf, vaddr, &off, &avail))
		return 0;
	return add_table(rel, elf, off, len < avail ? len : avail, ds);
}

/* A static program has IRELATIVE relocations, but no PT_DYNAMIC. */
static int add_sections(struct dp_relocs *rel, const struct dp_elf *elf,
			const struct dp_dynsym *ds)
{
	const Elf64_Shdr *sh;
	size_t i, tables = 0;
	int err = 0;

	for (i = 1; i < elf->n_sh && !err; i++) {
		sh = &elf->sh[i];
		/* Tables of a hostile file may overlap: bound their number. */
		if (sh->sh_type != SHT_RELA || !(sh->sh_flags & SHF_ALLOC) ||
		    tables++ >= 4)
			continue;
		err = add_table(rel, elf, sh->sh_offset, sh->sh_size, ds);
	}
	return err;
}

void dp_relocs_find_plts(struct dp_relocs *rel, const struct dp_elf *elf)
{
	const Elf64_Shdr *sh;
	const char *name;
	size_t i;

	for (i = 1; i < elf->n_sh && rel->n_plt < DP_PLT_MAX; i++) {
		sh = &elf->sh[i];
		name = dp_elf_section_name(elf, sh);
		if (strncmp(name, ".plt", 4) && strncmp(name, ".iplt", 5))
			continue;
		rel->plt[rel->n_plt].start = sh->sh_addr;
		rel->plt[rel->n_plt++].end = sh->sh_addr + sh->sh_size;
	}
}

int dp_relocs_load(struct dp_relocs *rel, const struct dp_elf *elf,
		   const struct dp_dynsym *ds)
{
	struct dp_dynamic dyn;
	int err;

	memset(rel, 0, sizeof(*rel));
	dp_relocs_find_plts(rel, elf);
	if (dp_dynamic_read(elf, &dyn))
		err = add_sections(rel, elf, ds);
	else
		err = add_dynamic(rel, elf, dyn.rela, dyn.relasz, ds) ?:
			      add_dynamic(rel, elf, dyn.jmprel, dyn.pltrelsz,
					  ds);
	if (err)
		dp_relocs_free(rel);
	return err;
}

bool dp_relocs_in_plt(const struct dp_relocs *rel, u64 value)
{
	size_t i;

	for (i = 0; i < rel->n_plt; i++) {
		if (value >= rel->plt[i].start && value < rel->plt[i].end)
			return true;
	}
	return false;
}

void dp_relocs_free(struct dp_relocs *rel)
{
	free(rel->v);
	memset(rel, 0, sizeof(*rel));
}
