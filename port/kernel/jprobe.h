/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jprobe: call a function as a probed one is about to be. */
#ifndef DP_KERNEL_JPROBE_H
#define DP_KERNEL_JPROBE_H

#include "arch/arch.h"
#include "port_types.h"

/**
 * dp_kernel_call_as() - call a function with the arguments that the registers at another's entry have
 * @words: of arguments on the stack, 8 of them
 * @back: set to the stack pointer for dp_kernel_call_end()
 *
 * Returns when the function does, or calls dp_kernel_call_end().
 */
void dp_kernel_call_as(const struct dp_regs *regs, u64 function,
		       const u64 words[8], u64 *back);
/** dp_kernel_call_end() - return from dp_kernel_call_as(), and never to its caller. Context: on the same stack, farther down. */
void dp_kernel_call_end(u64 back);

#endif
