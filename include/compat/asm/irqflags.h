/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/preempt.h>. */
#ifndef DP_ASM_IRQFLAGS_H
#define DP_ASM_IRQFLAGS_H

#include <linux/preempt.h>

#endif
