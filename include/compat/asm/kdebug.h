/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/kdebug.h>. */
#ifndef DP_ASM_KDEBUG_H
#define DP_ASM_KDEBUG_H

#include <linux/kdebug.h>

#endif
