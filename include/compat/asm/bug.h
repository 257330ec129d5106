/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/bug.h>. */
#ifndef DP_ASM_BUG_H
#define DP_ASM_BUG_H

#include <linux/bug.h>

#endif
