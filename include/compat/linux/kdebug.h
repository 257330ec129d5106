/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <asm/traps.h>. */
#ifndef DP_LINUX_KDEBUG_H
#define DP_LINUX_KDEBUG_H

#include <asm/traps.h>

#endif
