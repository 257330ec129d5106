/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Waiting. Not in a handler that the program cannot spare the time for. */
#ifndef DP_LINUX_DELAY_H
#define DP_LINUX_DELAY_H

#include <linux/ktime.h>

/** ndelay(), udelay(), mdelay() - turn round until the time is over */
void ndelay(unsigned long ns) DP_COMPAT(ndelay);
#define udelay(us) ndelay((us) * 1000UL)
#define mdelay(ms) ndelay((ms) * 1000000UL)
/** nsleep() and relatives - sleep. Context: any, but a handler should not. */
void dp_compat_nsleep(unsigned long ns);
#define msleep(ms) dp_compat_nsleep((ms) * 1000000UL)
#define ssleep(s) dp_compat_nsleep((s) * 1000000000UL)
#define usleep_range(min, max) ((void)(max), dp_compat_nsleep((min) * 1000UL))
#define msleep_interruptible(ms) (dp_compat_nsleep((ms) * 1000000UL), 0UL)

#endif
