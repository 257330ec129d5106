// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rate: how long a tick of a source's clock is.
 *
 * One rate serves the whole run. A latency that a record shows, one that a program computes in the
 * target, and one that a table there keeps are then the same number. The clock it is measured
 * against is slewed at most, and never set.
 */
#include "tracer/clock.h"
#include "tracer/expr.h"
#include "tracer/session.h"

#define RATE_NS 10000000 /* long enough: a sample is right within some ns */
#define LOW_BITS ((1ull << DP_TRACE_RATE_BITS) - 1)

static struct dp_clock_sample origin;

static struct dp_clock_sample sample(const struct dp_session *s)
{
	return dp_clock_sample(CLOCK_MONOTONIC, s->ops->ticks);
}

void dp_rate_begin(const struct dp_session *s)
{
	if (!origin.ns)
		origin = sample(s);
}

u64 dp_rate_ask(const struct dp_session *s)
{
	static u64 rate;
	struct dp_clock_sample now;

	if (rate)
		return rate;
	dp_rate_begin(s);
	do
		now = sample(s);
	while (now.ns - origin.ns < RATE_NS);
	rate = (u64)((double)(now.ns - origin.ns) /
			     (double)(now.ticks - origin.ticks) *
			     (double)(LOW_BITS + 1) +
		     0.5);
	return rate;
}

u64 dp_rate_ns(const struct dp_session *s, u64 from, u64 to)
{
	u64 rate = dp_rate_ask(s), ticks = to - from;

	if (to <= from)
		return 0;
	return (ticks >> DP_TRACE_RATE_BITS) * rate +
	       ((ticks & LOW_BITS) * rate >> DP_TRACE_RATE_BITS);
}
