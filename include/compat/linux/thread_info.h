/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/mm.h>. */
#ifndef DP_LINUX_THREAD_INFO_H
#define DP_LINUX_THREAD_INFO_H

#include <linux/mm.h>

#endif
