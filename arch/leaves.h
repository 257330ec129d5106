/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * leaves: by which bytes unwinders leave a part of the stack.
 *
 *   DP_CODE_MOVES_STACK  initializer: the stack pointer is set, as libgcc does it
 *   DP_CODE_GOES_ON      initializer: what follows there; or DP_CODE_RET does
 *   DP_CODE_RET          one byte: a return
 *   DP_CODE_OUTWARD      initializer: glibc takes the buffer before this one
 *
 * Context: any. Constants alone.
 */
#ifndef DP_ARCH_LEAVES_H
#define DP_ARCH_LEAVES_H

#include "arch/x86/leaves.h"

#endif
