/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/sched.h>. */
#ifndef DP_ASM_THREAD_INFO_H
#define DP_ASM_THREAD_INFO_H

#include <linux/sched.h>

#endif
