/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/string.h>. */
#ifndef DP_ASM_STRING_H
#define DP_ASM_STRING_H

#include <linux/string.h>

#endif
