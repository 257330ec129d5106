// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cost: what hits of watchpoints take, measured here, and told where there are many. */
#include "tracer/output.h"
#include "tracer/watchpoint/watchpoint.h"

/* More hits a second than that are worth a sentence. A signal costs more than a trap. */
#define HITS_TOLD 20000
#define SIGNALS_TOLD 5000
#define TOLD_SECONDS 0.5

static u64 all_hits(const struct dp_watch_events *events, u32 nr)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += dp_watch_events_count(events, i);
	return sum;
}

static void tell(double rate, bool signals, const char *without)
{
	u64 ns = dp_watch_events_cost(signals);

	dp_output_say(
		"watchpoints hit %.0f times a second: each is a %s of %lu ns here%s, so they take %.0f %% of a CPU",
		rate, signals ? "signal" : "trap into the kernel", ns, without,
		rate * (double)ns / 1e7);
}

void dp_watch_cost_begin(struct dp_watch_cost *cost, double t)
{
	*cost = (struct dp_watch_cost){ .looked = t };
}

void dp_watch_cost_look(struct dp_watch_cost *cost,
			const struct dp_watch_events *events, u32 nr, double t,
			bool signals, const char *without)
{
	double passed = t - cost->looked;
	u64 hits;

	if (cost->told || passed < TOLD_SECONDS)
		return;
	hits = all_hits(events, nr);
	cost->told = (double)(hits - cost->seen) / passed >
		     (signals ? SIGNALS_TOLD : HITS_TOLD);
	if (cost->told)
		tell((double)(hits - cost->seen) / passed, signals, without);
	cost->seen = hits;
	cost->looked = t;
}
