// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exchange: probes with programs that come in the places of others, at one moment.
 *
 * engine/site/exchange.h has the steps. The new probes are armed first, and wait; then those that go
 * and those that come change places, by one word. Threads are stopped meanwhile, so that hits are
 * counted for the one or the other. The text of those that have gone is restored afterwards.
 */
#include "engine/site/engine.h"
#include "engine/site/exchange.h"
#include "engine/site/program.h"
#include "proc/proc.h"
#include "tracer/agent/agent.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thread leaves a detour within microseconds, if it runs. */
#define TRIES 200
#define TIDY_TRIES 40
#define NAP_US 500

/* As they are now, for all probes that there are. @from, @to: and these are retired */
static u8 *off_now(const struct dp_agent *a, u32 from, u32 to)
{
	u8 *off = calloc(dp_engine_probes(a->engine) + 1, 1);

	if (off && a->off.n)
		memcpy(off, a->off.v, a->off.n);
	if (off && from < to)
		memset(off + from, DP_OFF_RETIRED, to - from);
	return off;
}

static u8 *off_retired(const struct dp_agent *a, const struct dp_points *points,
		       const bool *which, size_t n)
{
	u8 *off = off_now(a, 0, 0);
	size_t i;

	for (i = 0; off && i < n; i++)
		if (which[i])
			off[points->v[i].probe] = DP_OFF_RETIRED;
	return off;
}

/** struct moment - what happens while threads are stopped; @off: which probes are off then; @err: what is new
 *  cannot be set, and nothing has changed */
struct moment {
	struct dp_agent *a;
	struct dp_engine *engine;
	struct dp_disabled off;
	struct dp_diag *diag;
	int err;
};

static void now(void *arg)
{
	struct moment *m = arg;

	m->err = dp_agent_data_swap(m->a, m->diag);
	if (m->err)
		return;
	dp_exchange_join(m->engine);
	dp_exchange_now(m->engine, &m->off);
	dp_agent_data_now(m->a);
}

/* Only detours that count what is to be shared have to be left. */
static int meet_moment(struct dp_agent *a, u8 *off, struct dp_diag *diag)
{
	struct moment m = {
		a, a->engine, { off, dp_engine_probes(a->engine) }, diag, 0
	};
	int tries, err = -EAGAIN;

	for (tries = 0; err == -EAGAIN && tries < TRIES; tries++) {
		err = dp_process_exchange(a->proc, a->data.swap, now, &m);
		if (err == -EAGAIN)
			usleep(NAP_US);
	}
	if (m.err)
		return m.err;
	return err ? dp_diag_set(
			     diag, err,
			     "a thread of process %d is always inside a probe; try again",
			     a->source.pid) :
		     0;
}

/** struct added - the first probe and program of those that come */
struct added {
	u32 probe, program;
};

static void tidy_now(void *agent)
{
	const struct dp_agent *a = agent;

	dp_exchange_tidy(a->engine, &a->off);
}

/* Where threads are hardly ever out of the agent, retired probes stay at their sites: hits pass them by. */
static void tidy(struct dp_agent *a)
{
	int tries, err = -EAGAIN;

	for (tries = 0; err == -EAGAIN && tries < TIDY_TRIES; tries++) {
		err = dp_process_outside(a->proc, tidy_now, a);
		if (err == -EAGAIN)
			usleep(NAP_US);
	}
	if (!err)
		dp_process_apply(a->proc, NULL);
}

/* The new probes never were on. They are off in each choice from now on, or do not exist any more. */
static void give_up(struct dp_agent *a, const struct added *first)
{
	u32 probes = dp_engine_probes(a->engine);
	u8 *off;

	dp_exchange_give_up(a->engine, first->probe, first->program);
	dp_exchange_end(a->engine);
	off = off_now(a, first->probe, probes);
	if (off)
		dp_agent_keep(a, off);
	dp_agent_data_give_up(a);
	tidy(a);
}

/* @first: of the points that come */
static int change_places(struct dp_agent *a, u8 *off, size_t first,
			 struct dp_diag *diag)
{
	/* What is about to change is run by the interpreter meanwhile. */
	int err = off ? dp_process_apply(a->proc, diag) :
			dp_diag_set(diag, -ENOMEM, "out of memory");

	if (!err)
		err = dp_agent_data_come(a, diag) ?:
			      dp_agent_any_left(a->points, first, diag);
	if (!err) {
		dp_agent_data_left_out(a, off);
		err = meet_moment(a, off, diag);
	}
	if (err) {
		free(off);
		return err;
	}
	dp_exchange_end(a->engine);
	dp_agent_keep(a, off);
	dp_agent_data_go(a);
	tidy(a);
	return 0;
}

int dp_agent_exchange(struct dp_source *source, struct dp_modules *mods,
		      const struct dp_source_request *want, const bool *retire,
		      struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	const struct added first = { dp_engine_probes(a->engine),
				     dp_engine_programs(a->engine) };
	size_t had = a->nr_points, i;
	int err;

	dp_exchange_begin(a->engine);
	for (i = 0; i < had; i++)
		if (retire[i] && want->points->v[i].program != DP_NO_PROGRAM)
			dp_exchange_program(a->engine,
					    want->points->v[i].program);
	dp_agent_data_leave(a, want->points, retire, had);
	err = dp_agent_libraries.extend(source, mods, want, diag);
	if (!err)
		err = dp_agent_any_left(want->points, had, diag);
	if (!err)
		err = change_places(a,
				    off_retired(a, want->points, retire, had),
				    had, diag);
	if (err)
		give_up(a, &first);
	dp_agent_semaphores(a, want->points);
	return err;
}

int dp_agent_retire(struct dp_source *source, const struct dp_points *points,
		    const bool *which, struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	u8 *off = off_retired(a, points, which, points->n);

	int err = off ? dp_agent_apply(a, off, diag) :
			dp_diag_set(diag, -ENOMEM, "out of memory");

	if (!err)
		dp_agent_data_go(a);
	dp_agent_semaphores(a, points);
	return err;
}
