// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* cost: what hits of watchpoints take, measured here, and told where there are many. */
#include "tracer/output.h"
#include "tracer/watchpoint/watchpoint.h"

/* More hits a second than that are worth a sentence. A signal costs more than a trap. */
#define HITS_TOLD 20000
#define SIGNALS_TOLD 5000
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
static void tell_stops(const struct dp_watch_registers *registers, double rate)
{
	dp_output_say(
		"watchpoints hit %.0f times a second: without perf events each stops its thread until dprobes has looked, for which dprobes alone takes %lu ns",
		rate, dp_watch_registers_cost(registers));
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
			const struct dp_watch_armed *armed, u32 nr, double t,
			bool signals, const char *without)
{
	double passed = t - cost->looked;
	bool dear = signals || armed->registers;
	u64 hits;

	if (cost->told || passed < TOLD_SECONDS)
		return;
	hits = all_hits(armed, nr);
	cost->told = (double)(hits - cost->seen) / passed >
		     (dear ? SIGNALS_TOLD : HITS_TOLD);
	if (cost->told && armed->registers)
		tell_stops(armed->registers,
			   (double)(hits - cost->seen) / passed);
	else if (cost->told)
		tell((double)(hits - cost->seen) / passed, signals, without);
	cost->seen = hits;
	cost->looked = t;
}
