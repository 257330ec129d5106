/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/module.h>. */
#ifndef DP_LINUX_KMOD_H
#define DP_LINUX_KMOD_H

#include <linux/module.h>

#endif
