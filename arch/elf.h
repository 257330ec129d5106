/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * elf: what ELF leaves to each processor.
 *
 *   DP_ELF_MACHINE     e_machine of programs that can be probed
 *   DP_RELOC_ADDRESS   a word that gets a symbol's address
 *   DP_RELOC_DATA      a symbol's address in the table that code reads (GLOB_DAT)
 *   DP_RELOC_SLOT      a symbol's address that a PLT stub jumps through (JUMP_SLOT)
 *   DP_RELOC_RESOLVER  a word that gets what a function returns (IRELATIVE)
 *
 * Context: any. Constants alone.
 */
#ifndef DP_ARCH_ELF_H
#define DP_ARCH_ELF_H

#include "arch/x86/elf.h"

#endif
