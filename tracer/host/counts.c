// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counts: what a process that probes itself has counted and recorded for a tool. */
#include "engine/site/counts.h"
#include "engine/site/mirror.h"
#include "engine/site/program.h"
#include "engine/site/view.h"
#include "engine/text/state.h"
#include "tracer/host/host.h"
#include <stdlib.h>
#include <string.h>

#define STUCK_SECONDS 1

static const struct dp_site_entry *site_of(const struct dp_host_source *h,
					   u32 probe)
{
	return dp_view_site_of(dp_mirror_view(h->engine), probe);
}

static bool is_jump(const struct dp_host_source *h, u32 probe)
{
	const struct dp_site_entry *s = site_of(h, probe);

	return s && dp_view_is_jump(dp_mirror_view(h->engine), s);
}

/* Once the guests are stopped, their sites may have other bytes. */
void dp_host_refresh(struct dp_host_source *h, double t)
{
	size_t i;

	if (!h->in || h->out || dp_host_look(h->host))
		return;
	h->looked = t;
	for (i = 0; h->jumps && !h->stopped && i < h->n; i++)
		h->jumps[i] = is_jump(h, h->guests[i].probe);
}

bool dp_host_is_disabled(const struct dp_host_source *h, size_t guest)
{
	const struct dp_view *view = dp_mirror_view(h->engine);
	u32 probe = h->guests[guest].probe;

	return probe >= view->nr_probes || !view->probes[probe].enabled;
}

void dp_host_count(const struct dp_source *source, const struct dp_point *point,
		   struct dp_source_count *count)
{
	const struct dp_host_source *h = dp_host_of(source);
	const struct dp_guest *g = &h->guests[point->probe];
	const struct dp_site_entry *s;
	size_t k;
	u32 exit;
	int t;

	*count = (struct dp_source_count){ .mode = "unknown" };
	if (!h->in)
		return;
	for (t = 0; t < DP_TALLY_NR; t++)
		count->tally[t] =
			dp_engine_tally(h->engine, g->probe, (enum dp_tally)t);
	count->hits = h->out ? g->hits : dp_engine_hits(h->engine, g->probe);
	count->missed = dp_engine_missed(h->engine, g->probe) +
			count->tally[DP_TALLY_RECURSED] +
			count->tally[DP_TALLY_SELF];
	count->interior = dp_view_middle(dp_mirror_view(h->engine), g->probe);
	for (k = 0; dp_host_exit(h, point->probe, k, &exit); k++)
		count->interior +=
			dp_view_middle(dp_mirror_view(h->engine), exit);
	dp_engine_state(h->engine, g->probe, &count->status, &count->count);
	s = site_of(h, g->probe);
	count->covered = s && s->leader;
	count->mode = h->jumps[point->probe] ? "jump" : "trap";
}

const char *dp_host_reason(const struct dp_source *source,
			   const struct dp_point *point, size_t exit)
{
	struct dp_host_source *h = dp_host_of(source);
	u32 probe = h->in ? h->guests[point->probe].probe : 0;
	const struct dp_site_entry *s;

	if (!h->in)
		return "the engine of the process decides it";
	h->reason[0] = '\0';
	if (exit && !dp_host_exit(h, point->probe, exit - 1, &probe))
		return h->reason;
	s = site_of(h, probe);
	if (s)
		dp_view_reason(dp_mirror_view(h->engine), s, h->reason);
	return h->reason;
}

struct counted {
	u64 addr, interior;
	bool jump, gone;
};

static int by_addr(const void *a, const void *b)
{
	const struct counted *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static struct counted counted(const struct dp_host_source *h, size_t i)
{
	const struct dp_guest *g = &h->guests[i];
	const struct dp_view *view = dp_mirror_view(h->engine);
	const struct dp_site_entry *s = site_of(h, g->probe);

	return (struct counted){
		.addr = g->addr,
		.interior = dp_view_middle(view, g->probe),
		.jump = h->jumps[i],
		.gone = s && (view->probes[g->probe].gone ||
			      s->armed == DP_SITE_GONE),
	};
}

void dp_host_totals(const struct dp_source *source,
		    struct dp_source_totals *totals)
{
	const struct dp_host_source *h = dp_host_of(source);
	struct counted *v = calloc(h->n + 1, sizeof(*v));
	size_t i;

	*totals = (struct dp_source_totals){
		.torn = dp_engine_torn(h->engine),
		.globals = h->shared ? dp_engine_globals(h->engine) : 0,
	};
	for (i = 0; v && i < h->n; i++)
		v[i] = counted(h, i);
	if (v)
		qsort(v, h->n, sizeof(*v), by_addr);
	for (i = 0; v && i < h->n; i++) {
		if (i && v[i].addr == v[i - 1].addr)
			continue;
		totals->sites++;
		totals->jumps += v[i].jump;
		totals->gone += v[i].gone;
		totals->interior += v[i].interior;
	}
	free(v);
}

u64 dp_host_variable(const struct dp_source *source, u32 program, u32 index)
{
	const struct dp_engine *e = dp_host_of(source)->engine;

	if (!dp_host_of(source)->shared)
		return 0;
	return program == DP_NO_PROGRAM ? dp_engine_global(e, index) :
					  dp_engine_local(e, program, index);
}

/* A record of a probe that is no guest makes no sense. */
void dp_host_translate(void *arg, const struct dp_record_copy *record)
{
	const struct dp_host_taking *t = arg;
	struct dp_record_copy known;
	u32 probe = record->head.probe, guest;

	guest = probe < t->h->nr_index ? t->h->index[probe] : 0;
	if (!guest) {
		dp_mirror_doubt(t->h->engine);
		return;
	}
	memcpy(&known, record,
	       offsetof(struct dp_record_copy, data) + record->head.len);
	known.head.probe = guest - 1;
	t->take(t->arg, &known);
}

/* A signal handler may leave a thread's record unfinished for good. A thread that is only slow
 * loses that record. */
static void free_stuck(struct dp_host_source *h)
{
	double t = dp_source_now();

	if (!dp_engine_records_stuck(h->engine))
		h->moved = t;
	else if (t - h->moved >= STUCK_SECONDS)
		dp_engine_records_settled(h->engine);
}

size_t dp_host_records(struct dp_source *source, dp_source_take take, void *arg,
		       bool ended)
{
	struct dp_host_taking t = { dp_host_of(source), take, arg };

	if (!t.h->shared)
		return 0;
	if (!ended)
		free_stuck(t.h);
	return dp_engine_records(t.h->engine, dp_host_translate, &t, ended);
}
