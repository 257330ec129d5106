/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/sched.h>. */
#ifndef DP_LINUX_SCHED_SIGNAL_H
#define DP_LINUX_SCHED_SIGNAL_H

#include <linux/sched.h>
#include <linux/signal.h>

#endif
