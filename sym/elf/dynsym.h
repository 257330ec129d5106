/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dynsym: the dynamic symbol table of a file, with versions.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every function:
 * tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_DYNSYM_H
#define DP_SYM_ELF_DYNSYM_H

#include <elf.h>
#include "port_types.h"
#include "sym/elf/versions.h"

struct dp_elf;

/** struct dp_dynsym - .dynsym of one file */
struct dp_dynsym {
	Elf64_Sym *v;
	size_t n;
	char *str;
	size_t str_len;
	u16 *ver; /* n entries, or NULL */
	struct dp_versions versions;
};

/* Of a version: it is not the default. */
#define DP_VERSION_HIDDEN 0x8000

/* Is something there that has an address? */
static inline bool dp_dynsym_defines(const Elf64_Sym *sym)
{
	return sym->st_shndx != SHN_UNDEF && sym->st_value &&
	       ELF64_ST_TYPE(sym->st_info) != STT_TLS;
}

int dp_dynsym_load(struct dp_dynsym *ds, const struct dp_elf *elf);
void dp_dynsym_free(struct dp_dynsym *ds);
const char *dp_dynsym_name(const struct dp_dynsym *ds, size_t i);
const char *dp_dynsym_version(const struct dp_dynsym *ds, size_t i,
			      bool *hidden);
int dp_dynsym_find(const struct dp_dynsym *ds, const char *name, u64 *value);
/* The same without the tables. Return: 0; -ENOENT there is none; anything else: they have
 * to be asked. */
int dp_gnuhash_find(const struct dp_elf *elf, const char *name, u64 *value);

#endif
