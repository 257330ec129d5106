/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/uaccess.h>. */
#ifndef DP_ASM_UACCESS_H
#define DP_ASM_UACCESS_H

#include <linux/uaccess.h>

#endif
