// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* twins_lttng: functions with a tracepoint each, of which one is enabled. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "bench/twins_lttng.h"
#include "bench/twins.h"

static __attribute__((noinline)) void probed(int n)
{
	lttng_ust_tracepoint(twin, probed, n);
}

static __attribute__((noinline)) void plain(int n)
{
	lttng_ust_tracepoint(twin, plain, n);
}

int main(void)
{
	if (!lttng_ust_tracepoint_enabled(twin, probed) ||
	    lttng_ust_tracepoint_enabled(twin, plain)) {
		puts("the tracepoints are not as asked for");
		return 1;
	}
	return twins_measure(probed, plain);
}
