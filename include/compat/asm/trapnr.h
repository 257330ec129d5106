/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <asm/traps.h>. */
#ifndef DP_ASM_TRAPNR_H
#define DP_ASM_TRAPNR_H

#include <asm/traps.h>

#endif
