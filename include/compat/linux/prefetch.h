/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Lines of the cache. */
#ifndef DP_LINUX_PREFETCH_H
#define DP_LINUX_PREFETCH_H

#include <linux/compiler.h>

#define L1_CACHE_BYTES 64
#define SMP_CACHE_BYTES 64
#ifndef prefetch
#define prefetch(p) __builtin_prefetch(p)
#endif

#endif
