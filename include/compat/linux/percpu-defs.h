/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/percpu.h>. */
#ifndef DP_LINUX_PERCPU_DEFS_H
#define DP_LINUX_PERCPU_DEFS_H

#include <linux/percpu.h>

#endif
