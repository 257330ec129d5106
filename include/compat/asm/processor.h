/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/spinlock.h>. */
#ifndef DP_ASM_PROCESSOR_H
#define DP_ASM_PROCESSOR_H

#include <linux/spinlock.h>

#endif
