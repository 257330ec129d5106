/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* scan: how many addresses have a name, in a table of symbols. */
#ifndef DP_NAMES_SCAN_H
#define DP_NAMES_SCAN_H

#include "sym/elf/symtab.h"
#include <string.h>

/** struct dp_scan - @n: addresses that have the name; @value: the last of them
 *  @of_thread: those of variables of each thread's own, from the beginning of their segment on */
struct dp_scan {
	const char *name;
	bool of_thread;
	u64 value;
	size_t n;
};

static inline bool dp_scan_wants(const struct dp_scan *s, const Elf64_Sym *sym)
{
	u8 type = ELF64_ST_TYPE(sym->st_info);

	if (s->of_thread)
		return type == STT_TLS && sym->st_shndx != SHN_UNDEF;
	return dp_dynsym_defines(sym) && sym->st_shndx != SHN_ABS &&
	       type != STT_SECTION && type != STT_FILE;
}

/** dp_scan_look_at() - look at one more symbol, which is called @name */
static inline void dp_scan_look_at(struct dp_scan *s, const Elf64_Sym *sym,
				   const char *name)
{
	if (!dp_scan_wants(s, sym) || strcmp(name, s->name))
		return;
	s->n += !s->n || s->value != sym->st_value;
	s->value = sym->st_value;
}

#endif
