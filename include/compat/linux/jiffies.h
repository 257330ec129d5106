/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Time in ticks of a millisecond. */
#ifndef DP_LINUX_JIFFIES_H
#define DP_LINUX_JIFFIES_H

#include <linux/types.h>

#define HZ 1000
unsigned long dp_compat_jiffies(void);
#define jiffies dp_compat_jiffies()
#define jiffies_64 ((u64)jiffies)
#define get_jiffies_64() jiffies_64
#define INITIAL_JIFFIES 0UL
#define time_after(a, b) ((long)((b) - (a)) < 0)
#define time_before(a, b) time_after(b, a)
#define time_after_eq(a, b) ((long)((a) - (b)) >= 0)
#define time_before_eq(a, b) time_after_eq(b, a)
#define time_is_before_jiffies(a) time_after(jiffies, a)
#define time_is_after_jiffies(a) time_before(jiffies, a)
#define jiffies_to_msecs(j) ((unsigned int)(j))
#define jiffies_to_usecs(j) ((unsigned int)(j) * 1000)
#define jiffies_to_nsecs(j) ((u64)(j) * 1000000)
#define msecs_to_jiffies(m) ((unsigned long)(m))
#define usecs_to_jiffies(u) (((unsigned long)(u) + 999) / 1000)

#endif
