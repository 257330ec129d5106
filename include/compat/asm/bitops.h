/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/bitops.h>. */
#ifndef DP_ASM_BITOPS_H
#define DP_ASM_BITOPS_H

#include <linux/bitops.h>

#endif
