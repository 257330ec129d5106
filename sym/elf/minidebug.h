/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* minidebug: the compressed symbol table in section .gnu_debugdata. Context: may sleep, allocate. */
#ifndef DP_SYM_ELF_MINIDEBUG_H
#define DP_SYM_ELF_MINIDEBUG_H

struct dp_elf;

/* Open the ELF file inside section .gnu_debugdata. -ENOENT: there is none. */
int dp_minidebug_open(const struct dp_elf *elf, struct dp_elf *mini);

#endif
