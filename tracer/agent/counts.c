// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counts: read what the agent has counted and recorded. */
#include "engine/site/counts.h"
#include "engine/site/program.h"
#include "engine/text/state.h"
#include "proc/proc.h"
#include "tracer/agent/agent.h"

/* Shortest time between two stops of the threads that free a stuck ring. */
#define STUCK_SECONDS 0.005

/* The exits' probes of a return probe have the numbers behind its entry's probe. */
void dp_agent_count(const struct dp_source *source, const struct dp_point *p,
		    struct dp_source_count *count)
{
	const struct dp_engine *e = dp_agent_of(source)->engine;
	size_t k, n = p->spec->kind == DP_SPEC_RETURN ? p->nr_exits : 0;
	int t;

	*count = (struct dp_source_count){
		.hits = dp_engine_hits(e, p->probe),
		.missed = dp_engine_missed(e, p->probe),
		.covered = dp_engine_is_covered(e, p->probe),
		.settled = dp_engine_has_settled(e, p->probe),
		.mode = dp_engine_mode(e, p->probe),
	};
	dp_engine_state(e, p->probe, &count->status, &count->count);
	dp_agent_data_count(dp_agent_of(source), p->probe, count);
	for (k = 0; k <= n; k++)
		count->interior += dp_engine_middle(e, p->probe + (u32)k);
	for (t = 0; t < DP_TALLY_NR; t++)
		count->tally[t] =
			dp_engine_tally(e, p->probe, (enum dp_tally)t);
}

const char *dp_agent_reason(const struct dp_source *source,
			    const struct dp_point *p, size_t exit)
{
	return dp_engine_reason(dp_agent_of(source)->engine,
				p->probe + (u32)exit);
}

void dp_agent_totals(const struct dp_source *source,
		     struct dp_source_totals *totals)
{
	const struct dp_engine *e = dp_agent_of(source)->engine;

	*totals = (struct dp_source_totals){
		.sites = dp_engine_sites(e),
		.watchpoints = (u32)dp_engine_watches(e),
		.jumps = dp_engine_jumps(e),
		.interior = dp_engine_interior_arrivals(e),
		.torn = dp_engine_torn(e),
		.gone = dp_engine_gone(e),
		.late = dp_engine_late(e),
		.vforked = dp_engine_of_children(e),
		.globals = dp_engine_globals(e),
		.impossible = dp_engine_impossible(),
	};
}

static void settle(void *engine)
{
	dp_engine_records_settled(engine);
}

/* A signal handler may leave the agent for good in the middle of a record. Its ring is stuck
 * until no thread is in the agent: then no thread will finish the record. */
static void free_stuck(struct dp_agent *a)
{
	double t = dp_source_now();

	if (t - a->freed < STUCK_SECONDS || !dp_engine_records_stuck(a->engine))
		return;
	a->freed = t;
	dp_process_outside(a->proc, settle, a->engine);
}

size_t dp_agent_records(struct dp_source *source, dp_source_take take,
			void *arg, bool ended)
{
	struct dp_agent *a = dp_agent_of(source);

	if (!ended)
		free_stuck(a);
	return dp_engine_records(a->engine, take, arg, ended);
}
