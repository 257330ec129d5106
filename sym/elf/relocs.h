/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * relocs: slots of one file that the dynamic linker fills with functions.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every
 * function: tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_RELOCS_H
#define DP_SYM_ELF_RELOCS_H

#include "port_types.h"
#include "sym/sym.h"

struct dp_dynsym;
struct dp_elf;

/** struct dp_reloc - one slot that the dynamic linker fills with a function */
struct dp_reloc {
	u64 slot;
	u64 resolver; /* IRELATIVE: address of the resolver; else 0 */
	const char *name; /* other kinds: the symbol, in a dynstr */
	const char *version;
	u32 hash;
};

#define DP_PLT_MAX 6

struct dp_relocs {
	struct dp_reloc *v;
	size_t n, room;
	struct dp_range plt[DP_PLT_MAX];
	size_t n_plt;
};
int dp_relocs_load(struct dp_relocs *rel, const struct dp_elf *elf,
		   const struct dp_dynsym *ds);
/* Fill in the PLT sections only. */
void dp_relocs_find_plts(struct dp_relocs *rel, const struct dp_elf *elf);
bool dp_relocs_in_plt(const struct dp_relocs *rel, u64 value);
void dp_relocs_free(struct dp_relocs *rel);

#endif
