/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/printk.h>. */
#ifndef DP_LINUX_ONCE_H
#define DP_LINUX_ONCE_H

#include <linux/printk.h>

#endif
