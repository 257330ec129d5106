/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clock: the time by which waits end. Context: any. */
#ifndef DP_PROC_PTRACE_CLOCK_H
#define DP_PROC_PTRACE_CLOCK_H

#include <time.h>
#include "port_types.h"

/** dp_now_ns() - CLOCK_MONOTONIC */
static inline s64 dp_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

#endif
