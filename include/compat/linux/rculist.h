/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/list.h>. */
#ifndef DP_LINUX_RCULIST_H
#define DP_LINUX_RCULIST_H

#include <linux/list.h>

#endif
