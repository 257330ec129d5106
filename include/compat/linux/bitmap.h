/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/bitops.h>. */
#ifndef DP_LINUX_BITMAP_H
#define DP_LINUX_BITMAP_H

#include <linux/bitops.h>

#endif
