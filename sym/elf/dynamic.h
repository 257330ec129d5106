/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dynamic: what PT_DYNAMIC of a file says about itself.
 *
 * Knows nothing of processes, so that a fuzzer can feed it bytes. Context of every function:
 * tool process; may sleep and allocate.
 */
#ifndef DP_SYM_ELF_DYNAMIC_H
#define DP_SYM_ELF_DYNAMIC_H

#include "port_types.h"

struct dp_elf;

/** struct dp_dynamic - the entries of PT_DYNAMIC that are of use here */
struct dp_dynamic {
	u64 symtab, strtab, strsz, hash, gnu_hash, soname;
	u64 rela, relasz, jmprel, pltrelsz;
	u64 relr, relrsz;
	u64 versym, verdef, verneed;
	u64 flags_1;
};

/* -ENOENT: not dynamically linked. */
int dp_dynamic_read(const struct dp_elf *elf, struct dp_dynamic *dyn);
/* *soname: malloc()ed, or NULL on error. -ENOENT: it has none. */
int dp_dynamic_soname(const struct dp_elf *elf, char **soname);
/* All DT_NEEDED, each malloc()ed, and so is the list. */
int dp_dynamic_needed(const struct dp_elf *elf, char ***names, size_t *n);

#endif
