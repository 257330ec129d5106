/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Signals' numbers. The C library's <sys/types.h> has a sigset_t of its own. */
#ifndef DP_LINUX_SIGNAL_H
#define DP_LINUX_SIGNAL_H

#define sigset_t dp_kernel_sigset_t
#include_next <linux/signal.h>
#undef sigset_t

#endif
