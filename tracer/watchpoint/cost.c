// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cost: what hits of watchpoints take, measured here, and told where there are many. */
#include "tracer/output.h"
#include "tracer/watchpoint/watchpoint.h"

/* What takes more of a CPU than that is worth a sentence. */
#define SHARE_TOLD 0.03
/* Fewer hits a second cannot take so much, and are not worth to measure one. */
#define HITS_LEAST 100
#define TOLD_SECONDS 0.5

u64 dp_watch_armed_count(const struct dp_watch_armed *armed, u32 watch)
{
	return armed->registers ?
		       dp_watch_registers_count(armed->registers, watch) :
		       dp_watch_events_count(&armed->events, watch);
}

static u64 all_hits(const struct dp_watch_armed *armed, u32 nr)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < nr; i++)
		sum += dp_watch_armed_count(armed, i);
	return sum;
}

/* The thread waits for the tool, and for CPUs besides. */
static void tell_stops(double rate, u64 ns)
{
	dp_output_say(
		"watchpoints hit %.0f times a second: without perf events each stops its thread until dprobes has looked, for which dprobes alone takes %lu ns",
		rate, ns);
}

void dp_watch_bare_tell(const struct dp_watch_armed *armed)
{
	u64 n = armed->registers ? dp_watch_registers_bare(armed->registers) :
				   0;

	if (n)
		dp_output_say(
			"%lu thread%s came that no debug register could be set for, and had no watchpoints: others had taken them all",
			n, n == 1 ? "" : "s");
}

static void tell(double rate, u64 ns, bool signals, const char *without)
{
	dp_output_say(
		"watchpoints hit %.0f times a second: each is a %s of %lu ns here%s, so they take %.0f %% of a CPU",
		rate, signals ? "signal" : "trap into the kernel", ns, without,
		rate * (double)ns / 1e7);
}

void dp_watch_cost_begin(struct dp_watch_cost *cost, double t)
{
	*cost = (struct dp_watch_cost){ .looked = t };
}

/* Of one hit. An event's is measured once; a stop's mean is known at any time. */
static u64 cost_of(struct dp_watch_cost *cost,
		   const struct dp_watch_armed *armed, bool signals)
{
	if (armed->registers)
		return dp_watch_registers_cost(armed->registers);
	if (!cost->ns)
		cost->ns = dp_watch_events_cost(signals);
	return cost->ns;
}

void dp_watch_cost_look(struct dp_watch_cost *cost,
			const struct dp_watch_armed *armed, u32 nr, double t,
			bool signals, const char *without)
{
	double rate, passed = t - cost->looked;
	u64 hits, ns;

	if (cost->told || passed < TOLD_SECONDS)
		return;
	hits = all_hits(armed, nr);
	rate = (double)(hits - cost->seen) / passed;
	cost->seen = hits;
	cost->looked = t;
	if (rate < HITS_LEAST)
		return;
	ns = cost_of(cost, armed, signals);
	cost->told = rate * (double)ns / 1e9 > SHARE_TOLD;
	if (cost->told && armed->registers)
		tell_stops(rate, ns);
	else if (cost->told)
		tell(rate, ns, signals, without);
}
