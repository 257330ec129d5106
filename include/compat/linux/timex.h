/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processor's counter of cycles. */
#ifndef DP_LINUX_TIMEX_H
#define DP_LINUX_TIMEX_H

#include <linux/ktime.h>

typedef unsigned long long cycles_t;
#define get_cycles() ((cycles_t)__builtin_ia32_rdtsc())
#define rdtsc() __builtin_ia32_rdtsc()
#define rdtsc_ordered()                    \
	({                                 \
		__builtin_ia32_lfence();   \
		__builtin_ia32_rdtsc();    \
	})
#define rdtscll(x) ((x) = __builtin_ia32_rdtsc())

#endif
