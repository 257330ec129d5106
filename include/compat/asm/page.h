/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/mm.h>. */
#ifndef DP_ASM_PAGE_H
#define DP_ASM_PAGE_H

#include <linux/mm.h>

#endif
