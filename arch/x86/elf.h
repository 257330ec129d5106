/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* elf: arch/elf.h for x86-64. Source: x86-64 psABI, 4.4. */
#ifndef DP_ARCH_X86_ELF_H
#define DP_ARCH_X86_ELF_H

#include <elf.h>

#define DP_ELF_MACHINE EM_X86_64
#define DP_RELOC_ADDRESS R_X86_64_64
#define DP_RELOC_DATA R_X86_64_GLOB_DAT
#define DP_RELOC_SLOT R_X86_64_JUMP_SLOT
#define DP_RELOC_RESOLVER R_X86_64_IRELATIVE

#endif
