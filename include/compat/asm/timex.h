/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/timex.h>. */
#ifndef DP_ASM_TIMEX_H
#define DP_ASM_TIMEX_H

#include <linux/timex.h>

#endif
