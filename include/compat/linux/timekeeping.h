/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/ktime.h>. */
#ifndef DP_LINUX_TIMEKEEPING_H
#define DP_LINUX_TIMEKEEPING_H

#include <linux/ktime.h>

#endif
