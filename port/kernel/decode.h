/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* decode: facts about instructions, from the kernel's own decoder. */
#ifndef DP_KERNEL_DECODE_H
#define DP_KERNEL_DECODE_H

#include "port_types.h"

/**
 * dp_kernel_is_function() - is @name the kernel's name of the function at @addr?
 *
 * What is handed in from outside is called only if it is. Nothing is executed.
 * Context: any.
 */
bool dp_kernel_is_function(u64 addr, const char *name);

/**
 * dp_kernel_set_decoder() - where insn_decode() is, which the kernel does not export
 *
 * Before the first dp_insn_facts(). Return: 0; -ENOENT: that is not where it is.
 */
int dp_kernel_set_decoder(u64 addr);

#endif
