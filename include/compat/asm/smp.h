/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/smp.h>. */
#ifndef DP_ASM_SMP_H
#define DP_ASM_SMP_H

#include <linux/smp.h>

#endif
