/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/kprobes.h>. */
#ifndef DP_ASM_KPROBES_H
#define DP_ASM_KPROBES_H

#include <linux/kprobes.h>

#endif
