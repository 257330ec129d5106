/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/sched.h>. */
#ifndef DP_ASM_CURRENT_H
#define DP_ASM_CURRENT_H

#include <linux/sched.h>

#endif
