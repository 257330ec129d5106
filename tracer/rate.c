// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * rate: how long a tick of a source's clock is.
 *
 * One rate serves the whole run. A latency that a record shows, one that a program computes in the
 * target, and one that a table there keeps are then the same number. The clock it is measured
 * against is slewed at most, and never set.
 */
#include "tracer/expr.h"
#include "tracer/session.h"
#include <time.h>

#define RATE_NS 10000000 /* long enough: a sample is right within some ns */
#define SAMPLES 16
#define NS 1000000000ull
#define LOW_BITS ((1ull << DP_TRACE_RATE_BITS) - 1)

struct sample {
	u64 ticks, ns;
	u64 width; /* ticks between which the clock was read */
};

static struct sample origin;

static struct sample read_clocks(const struct dp_session *s)
{
	struct timespec t;
	struct sample now;

	now.ticks = s->ops->ticks();
	clock_gettime(CLOCK_MONOTONIC, &t);
	now.width = s->ops->ticks() - now.ticks;
	now.ticks += now.width / 2;
	now.ns = (u64)t.tv_sec * NS + (u64)t.tv_nsec;
	return now;
}

/* The first reading of a clock takes longer than others, and any may be interrupted. */
static struct sample sample(const struct dp_session *s)
{
	struct sample best = read_clocks(s), now;
	int i;

	for (i = 1; i < SAMPLES; i++) {
		now = read_clocks(s);
		if (now.width < best.width)
			best = now;
	}
	return best;
}

void dp_rate_begin(const struct dp_session *s)
{
	if (!origin.ns)
		origin = sample(s);
}

u64 dp_rate_ask(const struct dp_session *s)
{
	static u64 rate;
	struct sample now;

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
