// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* counts: what became of probes and their sites. */
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "engine/site/view.h"

u64 dp_engine_interior_arrivals(const struct dp_engine *e)
{
	return e->arena ? __atomic_load_n(&e->arena->hit.interior_arrivals,
					  __ATOMIC_RELAXED) :
			  0;
}

/* A site that is gone has no list of probes. One that never was there has no place. */
static bool is_counted(const struct dp_engine *e, const struct dp_site *s)
{
	return s->first_probe ?
		       e->probes[s->first_probe - 1].kind != DP_KIND_LINKER :
		       !s->addr && s->probes && s->place;
}

void dp_engine_set_watch_number(struct dp_engine *e, u32 number)
{
	e->watch_number = number;
	if (e->arena)
		__atomic_store_n(&e->arena->control.watch_number, number,
				 __ATOMIC_RELEASE);
}

void dp_engine_watch_begin(struct dp_engine *e, u32 probe, u64 now)
{
	__atomic_store_n(&e->view.states[probe].last, now, __ATOMIC_RELAXED);
}

u64 dp_engine_watch_tag(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return (u64)e->watch_number << 32 |
	       (u32)s->watch_serial << DP_WATCH_INDEX_BITS | (s->place - 1);
}

size_t dp_engine_watches(const struct dp_engine *e)
{
	size_t n = 0;
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		n += e->sites[i].watch && e->sites[i].first_probe;
	return n;
}

bool dp_engine_runs(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return dp_site_is_jump(s) &&
	       dp_view_jump(&e->view, &e->view.sites[s->place - 1])
		       ->runs.program;
}

u64 dp_engine_met(const struct dp_engine *e, u32 probe)
{
	return dp_view_probe_met(&e->view, probe);
}

size_t dp_engine_jumps(const struct dp_engine *e)
{
	size_t n = 0;
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		n += is_counted(e, &e->sites[i]) &&
		     dp_site_is_jump(&e->sites[i]);
	return n;
}

u32 dp_engine_site_of(const struct dp_engine *e, u32 probe)
{
	return e->probes[probe].site;
}

size_t dp_engine_sites(const struct dp_engine *e)
{
	size_t n = 0;
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		n += is_counted(e, &e->sites[i]) && !e->sites[i].watch;
	return n;
}

u64 dp_engine_hits(const struct dp_engine *e, u32 probe)
{
	return e->arena && probe < e->nr_probes ?
		       dp_view_probe_hits(&e->view, probe) :
		       0;
}

void dp_hits_begin(struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *p = (void *)&e->view.probes[probe];

	if (p->counting || !e->probes[probe].linked || dp_probe_counts_calls(p))
		return;
	p->since = dp_view_site_hits(&e->view, p->site);
	p->met_since = dp_view_met(&e->view, p->site);
	__atomic_store_n(&p->counting, 1, __ATOMIC_RELEASE);
}

void dp_hits_end(struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *p = (void *)&e->view.probes[probe];

	if (!p->counting)
		return;
	p->earlier += dp_view_site_hits(&e->view, p->site) - p->since;
	p->met_earlier += dp_view_met(&e->view, p->site) - p->met_since;
	__atomic_store_n(&p->counting, 0, __ATOMIC_RELEASE);
}

/* Counting cannot miss: it needs no memory, no lock and no instance, and it cannot
 * recurse. A program needs a context, and a tracked call an instance. */
u64 dp_engine_missed(const struct dp_engine *e, u32 probe)
{
	return dp_engine_tally(e, probe, DP_TALLY_CONTEXT) +
	       dp_engine_tally(e, probe, DP_TALLY_INSTANCES) +
	       dp_engine_tally(e, probe, DP_TALLY_UNJUDGED);
}

u64 dp_engine_tally(const struct dp_engine *e, u32 probe, enum dp_tally what)
{
	return e->arena && probe < e->nr_probes ?
		       __atomic_load_n(&e->view.states[probe].tally[what],
				       __ATOMIC_RELAXED) :
		       0;
}

void dp_engine_state(const struct dp_engine *e, u32 probe, u32 *status,
		     s64 *count)
{
	const struct dp_probe_state *s;

	*status = 0;
	*count = 0;
	if (!e->arena || probe >= e->view.nr_probes)
		return;
	s = &e->view.states[probe];
	*status = __atomic_load_n(&s->status, __ATOMIC_RELAXED);
	*count = __atomic_load_n(&s->count, __ATOMIC_RELAXED);
}

u64 dp_engine_middle(const struct dp_engine *e, u32 probe)
{
	u32 first = e->sites[e->probes[probe].site].first_probe;

	return first ? dp_engine_tally(e, first - 1, DP_TALLY_MIDDLE) : 0;
}

bool dp_engine_is_covered(const struct dp_engine *e, u32 probe)
{
	return e->sites[e->probes[probe].site].leader;
}

static bool is_gone(const struct dp_engine *e, const struct dp_site *s)
{
	return s->probes && s->place &&
	       (!s->addr || dp_entry_of(e, s)->armed == DP_SITE_GONE);
}

size_t dp_engine_gone(const struct dp_engine *e)
{
	size_t n = 0;
	u32 i;

	for (i = 0; e->arena && i < e->nr_sites; i++)
		n += is_gone(e, &e->sites[i]);
	return n;
}

bool dp_engine_is_gone(const struct dp_engine *e, u32 probe)
{
	return e->arena && probe < e->view.nr_probes &&
	       (e->view.probes[probe].gone ||
		is_gone(e, &e->sites[e->probes[probe].site]));
}

u32 dp_engine_late(const struct dp_engine *e)
{
	return __atomic_load_n(&e->arena->hit.linker_late, __ATOMIC_RELAXED);
}

u64 dp_engine_of_children(const struct dp_engine *e)
{
	return __atomic_load_n(&e->arena->hit.missed[DP_MISSED_FORK],
			       __ATOMIC_RELAXED);
}

const char *dp_engine_mode(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return s->watch ? "watch" : dp_site_is_jump(s) ? "jump" : "trap";
}

const char *dp_engine_reason(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return dp_site_is_jump(s) || !s->why ? "" : s->why;
}
