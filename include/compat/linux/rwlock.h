/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/spinlock.h>. */
#ifndef DP_LINUX_RWLOCK_H
#define DP_LINUX_RWLOCK_H

#include <linux/spinlock.h>

#endif
