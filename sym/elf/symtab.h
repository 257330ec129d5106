/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * symtab: all function names of one module, by name and by address.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every
 * function: tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_SYMTAB_H
#define DP_SYM_ELF_SYMTAB_H

#include <elf.h>
#include "port_types.h"

struct dp_dynamic;
struct dp_elf;

/** struct dp_versions - symbol versions that a file defines and needs: index to name.
 *  The names point into a dynstr. */
struct dp_versions {
	const char **v;
	size_t n;
};
int dp_versions_load(struct dp_versions *vers, const struct dp_elf *elf,
		     const struct dp_dynamic *dyn, const char *str,
		     size_t str_len);
const char *dp_versions_name(const struct dp_versions *vers, u16 index);

/** struct dp_dynsym - .dynsym of one file, with versions */
struct dp_dynsym {
	Elf64_Sym *v;
	size_t n;
	char *str;
	u64 str_len;
	u16 *ver; /* n entries, or NULL */
	struct dp_versions versions;
};

/* Set in a version that is not the symbol's default. */
#define DP_VERSION_HIDDEN 0x8000

/* Does the symbol have an address? */
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

/* The higher rank wins when a name stands for several addresses. */
enum dp_rank {
	DP_RANK_LABEL, /* local, no type: may be inside a function */
	DP_RANK_STATIC,
	DP_RANK_OLD, /* exported, but not the default version */
	DP_RANK_GLOBAL,
	DP_RANK_EXPORT,
};

/** struct dp_sym - one name of one function, addresses as in the file */
struct dp_sym {
	const char *name;
	const char *version; /* or NULL */
	const char *file; /* source file, or NULL */
	u64 value, size;
	u32 hash;
	u8 type; /* STT_* */
	u8 rank; /* enum dp_rank */
	bool chosen; /* added here for the implementation of an IFUNC */
};

/**
 * struct dp_symtab - all function names of one module
 * @keep: blocks that the names live in
 * @bucket, @next: hash chains, indices plus one
 * @order: indices ascending by address, the best name of each address only
 * @full: a .symtab was found, here or in a debug file
 */
struct dp_symtab {
	struct dp_sym *v;
	size_t n, room;
	void **keep;
	size_t n_keep, room_keep;
	u32 *bucket, *next;
	size_t n_bucket;
	u32 *order;
	size_t n_order;
	bool full;
};

u32 dp_name_hash(const char *name);
/* @text: the module's own file, whose segments say what is executable. */
int dp_symtab_add_dynsym(struct dp_symtab *tab, const struct dp_dynsym *ds,
			 const struct dp_elf *text);
/* -ENOENT: @elf has no .symtab. */
int dp_symtab_add_symtab(struct dp_symtab *tab, const struct dp_elf *elf,
			 const struct dp_elf *text);
int dp_symtab_add(struct dp_symtab *tab, const struct dp_sym *sym);
int dp_symtab_index(struct dp_symtab *tab);
int dp_symtab_sort(struct dp_symtab *tab);
const struct dp_sym *dp_symtab_first(const struct dp_symtab *tab,
				     const char *name);
const struct dp_sym *dp_symtab_next(const struct dp_symtab *tab,
				    const struct dp_sym *sym);
const struct dp_sym *dp_symtab_at(const struct dp_symtab *tab, u64 value);
int dp_symtab_compare(const struct dp_sym *a, const struct dp_sym *b);
void dp_symtab_free(struct dp_symtab *tab);

#endif
