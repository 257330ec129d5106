/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/fs.h>. */
#ifndef DP_LINUX_FDTABLE_H
#define DP_LINUX_FDTABLE_H

#include <linux/fs.h>

#endif
