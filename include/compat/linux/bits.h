/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/bitops.h>. */
#ifndef DP_LINUX_BITS_H
#define DP_LINUX_BITS_H

#include <linux/bitops.h>

#endif
