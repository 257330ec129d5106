// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calls: the account of calls of tracked functions.
 *
 *     entered = returned + tail + unwound + abandoned + inside + missed + …
 *
 * The hit half notices that a call was left by longjmp when another call uses its slot.
 * Abandoned calls that it has not noticed are found here, while the probes are armed: the
 * slot does not hold the return address any more. An instance that is in the table before
 * and after its slot is read had not ended when the slot was read. If the slot holds
 * something else then, the call never returns.
 *
 * A table that fills up gets another table beside it, here, while the probes are
 * armed.
 */
#include "engine/site/counts.h"
#include "engine/site/instances.h"
#include "proc/proc.h"
#include "sym/list.h"
#include "tracer/agent/agent.h"
#include "tracer/output.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Slots that one look reads; the next look goes on with the others. */
#define LOOKS 16384

/**
 * struct dp_agent_calls - calls that have not ended
 * @open: by the probe of the entry, what became of its calls that had not ended
 * @stale: abandoned instances, ascending by index
 * @from: index of the first instance to look at; @left: how many more to look at
 * @stuck: there was no memory for a further table
 */
struct dp_agent_calls {
	struct open {
		u64 inside, abandoned, cut;
	} * open;
	u32 nr_open;
	struct dp_instance_copy *stale;
	size_t n, cap, next;
	u32 from;
	size_t left;
	bool stuck;
};

int dp_agent_calls_open(struct dp_agent *a)
{
	struct dp_agent_calls *c = a->calls;
	u32 n = dp_engine_probes(a->engine);
	struct open *bigger;

	if (!c)
		c = a->calls = calloc(1, sizeof(*c));
	bigger = c ? realloc(c->open, n * sizeof(*bigger)) : NULL;
	if (!bigger)
		return -ENOMEM;
	c->open = bigger;
	for (; c->nr_open < n; c->nr_open++)
		c->open[c->nr_open] = (struct open){ 0 };
	return 0;
}

void dp_agent_calls_close(struct dp_agent *a)
{
	if (!a->calls)
		return;
	free(a->calls->open);
	free(a->calls->stale);
	free(a->calls);
	a->calls = NULL;
}

static bool is_over(const struct dp_agent *a, const struct dp_instance_copy *v)
{
	u64 is;

	return pread(dp_process_mem(a->proc), &is, sizeof(is),
		     (off_t)v->slot) == sizeof(is) &&
	       is != v->ret && dp_engine_instances_still(a->engine, v);
}

static void look(void *arg, const struct dp_instance_copy *v)
{
	struct dp_agent *a = arg;
	struct dp_agent_calls *c = a->calls;

	if (!v->ret || v->index < c->from || !c->left)
		return;
	if (!--c->left)
		c->from = v->index + 1;
	if (is_over(a, v))
		/* Without memory the call counts as inside. */
		dp_list_add(&c->stale, &c->n, &c->cap, v, sizeof(*v));
}

void dp_agent_calls_look(struct dp_agent *a, bool all)
{
	struct dp_agent_calls *c = a->calls;

	if (!c)
		return;
	c->n = 0;
	c->left = all ? SIZE_MAX : LOOKS;
	c->from = all ? 0 : c->from;
	dp_engine_instances(a->engine, look, a);
	if (c->left)
		c->from = 0;
}

void dp_agent_calls_grow(struct dp_agent *a)
{
	struct dp_diag diag = { .text = "" };
	u64 size, addr;
	void *ours;

	if (!a->calls || a->calls->stuck)
		return;
	size = dp_engine_instances_want(a->engine);
	if (!size)
		return;
	if (!dp_process_share(a->proc, size, &addr, &ours, &diag)) {
		dp_engine_instances_grow(a->engine, addr, ours);
		return;
	}
	/* A process that has ended needs no table. */
	if (dp_process_poll(a->proc, 0) != DP_PROCESS_RUNS)
		return;
	a->calls->stuck = true;
	dp_output_say("there is no room to follow more calls at once: %s",
		      diag.text);
}

struct closing {
	struct dp_agent *a;
	dp_source_take take;
	void *arg;
};

static void tell_stale(const struct closing *c,
		       const struct dp_instance_copy *v)
{
	struct dp_record_copy record;

	if (!c->a->logs)
		return;
	dp_engine_instance_record(c->a->engine, v, &record);
	c->take(c->arg, &record);
}

static void close_one(void *arg, const struct dp_instance_copy *v)
{
	const struct closing *closing = arg;
	struct dp_agent_calls *c = closing->a->calls;
	struct open *open = &c->open[v->probe];

	while (c->next < c->n && c->stale[c->next].index < v->index)
		c->next++;
	if (!v->whole) {
		open->cut++;
	} else if (c->next < c->n && c->stale[c->next].index == v->index &&
		   c->stale[c->next].serial == v->serial) {
		open->abandoned++;
		tell_stale(closing, v);
	} else {
		open->inside++;
	}
}

void dp_agent_calls_settle(struct dp_source *source, dp_source_take take,
			   void *arg)
{
	struct closing c = { dp_agent_of(source), take, arg };

	if (c.a->calls)
		dp_engine_instances(c.a->engine, close_one, &c);
}

void dp_agent_calls_count(const struct dp_source *source,
			  const struct dp_point *p, struct dp_account *n)
{
	const struct dp_agent *agent = dp_agent_of(source);
	const struct open *open = &agent->calls->open[p->probe];

	dp_engine_account(agent->engine, p->probe, n);
	n->abandoned += open->abandoned;
	n->inside += open->inside;
	n->cut += open->cut;
	n->lost = (s64)((u64)n->lost - open->abandoned - open->inside);
}
