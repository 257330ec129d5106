/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/atomic.h>. */
#ifndef DP_ASM_BARRIER_H
#define DP_ASM_BARRIER_H

#include <linux/atomic.h>

#endif
