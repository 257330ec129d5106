/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/kernel.h>. */
#ifndef DP_LINUX_TYPECHECK_H
#define DP_LINUX_TYPECHECK_H

#include <linux/kernel.h>

#endif
