/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* twins_lttng: two tracepoints alike, with one integer each. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER twin
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "bench/twins_lttng.h"

#if !defined(BENCH_TWINS_LTTNG_H) || \
	defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_TWINS_LTTNG_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(twin, probed, LTTNG_UST_TP_ARGS(int, n),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n,
								       n)))
LTTNG_UST_TRACEPOINT_EVENT(twin, plain, LTTNG_UST_TP_ARGS(int, n),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, n,
								       n)))

#endif

#include <lttng/tracepoint-event.h>
