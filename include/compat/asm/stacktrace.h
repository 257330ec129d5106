/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* See <linux/stacktrace.h>. */
#ifndef DP_ASM_STACKTRACE_H
#define DP_ASM_STACKTRACE_H

#include <linux/stacktrace.h>

#endif
