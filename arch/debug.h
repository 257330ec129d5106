/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * debug: the debug registers of a thread, as PTRACE_PEEKUSER and PTRACE_POKEUSER know them.
 *
 *   dp_debug_at()       offset of the @n-th register for an address
 *   DP_DEBUG_CONTROL    offset of the register that switches them on, DP_DEBUG_STATUS of the one that
 *                       says which have hit: bit @n is the @n-th
 *   dp_debug_mask()     all bits of the @n-th register in the control register
 *   dp_debug_bits()     those of them that watch @len bytes, for writes alone or also for reads
 *   dp_debug_execute()  those that watch the execution of an instruction
 *
 * Context: any. Pure.
 */
#ifndef DP_ARCH_DEBUG_H
#define DP_ARCH_DEBUG_H

#include "arch/x86/debug.h"

#endif
