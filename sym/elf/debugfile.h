/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* debugfile: the separate file that holds a stripped module's symbols. Context: may sleep, allocate. */
#ifndef DP_SYM_ELF_DEBUGFILE_H
#define DP_SYM_ELF_DEBUGFILE_H

struct dp_elf;

/* Open the separate debug file of @elf under root directory @root. */
int dp_debugfile_open(const struct dp_elf *elf, const char *root,
		      const char *path, struct dp_elf *debug);

#endif
