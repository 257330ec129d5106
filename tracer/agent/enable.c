// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * enable: probes that are switched off and on while the others go on.
 *
 * The process keeps the agent, and the probes their counts. A call that was tracked when
 * its probe was disabled counts as inside: nothing will see its end.
 */
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/instances.h"
#include "proc/proc.h"
#include "tracer/agent/agent.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A thread leaves the agent within microseconds, if it runs. */
#define FORGET_TRIES 20
#define FORGET_NAP_US 500

static void forget_now(void *agent)
{
	const struct dp_agent *a = agent;

	dp_engine_forget_disabled(a->engine, &a->off);
}

/* Return: 0; -EAGAIN a thread is in the agent; a negative errno. */
static int forget(struct dp_agent *a)
{
	int tries, err = 0;

	for (tries = 0; tries < FORGET_TRIES; tries++) {
		if (!dp_engine_any_disabled(a->engine, &a->off))
			return 0;
		err = dp_process_outside(a->proc, forget_now, a);
		if (err != -EAGAIN)
			return err;
		usleep(FORGET_NAP_US);
	}
	return err;
}

static int apply(struct dp_agent *a, struct dp_diag *diag)
{
	int err;

	dp_engine_choose(a->engine, &a->off);
	err = dp_process_apply(a->proc, diag);
	/* The choice is in the text: let calls be tracked. */
	if (!err)
		dp_engine_admit(a->engine, true);
	return err;
}

static u8 *changed(const struct dp_agent *a, const struct dp_points *points,
		   const bool *which, bool on)
{
	u8 *off = calloc(dp_engine_probes(a->engine), 1);
	size_t i;

	if (off && a->off.n)
		memcpy(off, a->off.v, a->off.n);
	for (i = 0; off && i < points->n; i++)
		if (which[i])
			off[points->v[i].probe] = !on;
	return off;
}

int dp_agent_apply(struct dp_agent *a, u8 *off, struct dp_diag *diag)
{
	struct dp_disabled was = a->off;
	int err;

	a->off = (struct dp_disabled){ off, dp_engine_probes(a->engine) };
	err = apply(a, diag);
	if (!err) {
		forget(a);
		free((void *)was.v);
		return 0;
	}
	/* Make the choice before this one again. */
	a->off = was;
	free(off);
	apply(a, NULL);
	return err;
}

void dp_agent_keep(struct dp_agent *a, u8 *off)
{
	free((void *)a->off.v);
	a->off = (struct dp_disabled){ off, dp_engine_probes(a->engine) };
	if (!apply(a, NULL))
		forget(a);
}

int dp_agent_enable(struct dp_source *source, const struct dp_points *points,
		    const bool *which, bool on, struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	u8 *off = changed(a, points, which, on);
	int err;

	if (!off)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	/* A call that began before would end at an exit that another call comes to. */
	if (on && forget(a)) {
		free(off);
		return dp_diag_set(
			diag, -EAGAIN,
			"a thread of process %d is inside a probe; try again",
			source->pid);
	}
	err = dp_agent_apply(a, off, diag);
	dp_agent_semaphores(a, points);
	return err;
}

int dp_agent_fork_disabled(struct dp_agent *child,
			   const struct dp_agent *parent)
{
	u8 *off;

	if (!parent->off.v)
		return 0;
	off = malloc(parent->off.n);
	if (!off)
		return -ENOMEM;
	memcpy(off, parent->off.v, parent->off.n);
	child->off = (struct dp_disabled){ off, parent->off.n };
	/* The fork has copied the text and its sites' states. */
	dp_engine_choose(child->engine, &child->off);
	dp_engine_admit(child->engine, true);
	return 0;
}
