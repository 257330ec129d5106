/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/mm.h>. */
#ifndef DP_LINUX_MM_TYPES_H
#define DP_LINUX_MM_TYPES_H

#include <linux/mm.h>

#endif
