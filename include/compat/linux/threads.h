/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/smp.h>. */
#ifndef DP_LINUX_THREADS_H
#define DP_LINUX_THREADS_H

#include <linux/smp.h>

#endif
