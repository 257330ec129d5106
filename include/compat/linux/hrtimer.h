/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Clocks only: nothing here runs by itself, so there are no timers. */
#ifndef DP_LINUX_HRTIMER_H
#define DP_LINUX_HRTIMER_H

#include <linux/ktime.h>

#endif
