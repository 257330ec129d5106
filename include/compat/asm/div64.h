/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/math64.h>. */
#ifndef DP_ASM_DIV64_H
#define DP_ASM_DIV64_H

#include <linux/math64.h>

#endif
