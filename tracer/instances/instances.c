// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * instances: calls of tracked functions that have not ended.
 *
 *     entered = returned + tail + unwound + abandoned + inside + missed + …
 *
 * The hit half notices that a call was left by longjmp when another call uses its slot.
 * Abandoned calls that it has not noticed are found here, while the probes are armed: the
 * slot does not hold the return address any more. An instance that is in the table before
 * and after its slot is read had not ended when the slot was read. If the slot holds
 * something else then, the call never returns.
 */
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/instances.h"
#include "proc/proc.h"
#include "sym/list.h"
#include "tracer/instances/instances.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* Slots that one look reads; the next look goes on with the others. */
#define LOOKS 16384

/**
 * struct dp_calls - calls that have not ended
 * @open: by the probe of the entry, what became of its calls that had not ended
 * @stale: abandoned instances, ascending by index
 * @from: index of the first instance to look at; @left: how many more to look at
 */
struct dp_calls {
	struct dp_engine *engine;
	const struct dp_process *proc;
	bool logs;
	struct open {
		u64 inside, abandoned, cut;
	} * open;
	u32 nr_open;
	struct dp_instance_copy *stale;
	size_t n, cap, next;
	u32 from;
	size_t left;
};

int dp_calls_open(struct dp_calls **calls, struct dp_engine *engine,
		  const struct dp_process *proc, bool logs)
{
	u32 n = dp_engine_probes(engine);
	struct dp_calls *c = *calls;
	struct open *bigger;

	if (!c)
		c = *calls = calloc(1, sizeof(*c));
	bigger = c ? realloc(c->open, n * sizeof(*bigger)) : NULL;
	if (!bigger)
		return -ENOMEM;
	c->engine = engine;
	c->proc = proc;
	c->logs = logs;
	c->open = bigger;
	for (; c->nr_open < n; c->nr_open++)
		c->open[c->nr_open] = (struct open){ 0 };
	return 0;
}

void dp_calls_close(struct dp_calls *c)
{
	if (!c)
		return;
	free(c->open);
	free(c->stale);
	free(c);
}

static bool is_over(const struct dp_calls *c, const struct dp_instance_copy *v)
{
	u64 is;

	return pread(dp_process_mem(c->proc), &is, sizeof(is),
		     (off_t)v->slot) == sizeof(is) &&
	       is != v->ret && dp_engine_instances_still(c->engine, v);
}

static void look(void *arg, const struct dp_instance_copy *v)
{
	struct dp_calls *c = arg;

	if (!v->ret || v->index < c->from || !c->left)
		return;
	if (!--c->left)
		c->from = v->index + 1;
	if (is_over(c, v))
		/* Without memory the call counts as inside. */
		dp_list_add(&c->stale, &c->n, &c->cap, v, sizeof(*v));
}

void dp_calls_look(struct dp_calls *c, bool all)
{
	if (!c)
		return;
	c->n = 0;
	c->left = all ? SIZE_MAX : LOOKS;
	c->from = all ? 0 : c->from;
	dp_engine_instances(c->engine, look, c);
	if (c->left)
		c->from = 0;
}

struct closing {
	struct dp_calls *c;
	dp_source_take take;
	void *arg;
};

static void tell_stale(const struct closing *c,
		       const struct dp_instance_copy *v)
{
	struct dp_record_copy record;

	if (!c->c->logs)
		return;
	dp_engine_instance_record(c->c->engine, v, &record);
	c->take(c->arg, &record);
}

static void close_one(void *arg, const struct dp_instance_copy *v)
{
	const struct closing *closing = arg;
	struct dp_calls *c = closing->c;
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

void dp_calls_settle(struct dp_calls *c, dp_source_take take, void *arg)
{
	struct closing closing = { c, take, arg };

	if (c)
		dp_engine_instances(c->engine, close_one, &closing);
}

void dp_calls_count(const struct dp_calls *c, u32 probe, struct dp_account *n)
{
	const struct open *open = &c->open[probe];

	n->abandoned += open->abandoned;
	n->inside += open->inside;
	n->cut += open->cut;
	n->lost = (s64)((u64)n->lost - open->abandoned - open->inside);
}
