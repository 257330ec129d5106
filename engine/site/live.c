// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* live: probes that come and go. */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "engine/site/view.h"
#include "engine/text/strategy.h"
#include "engine/text/target.h"
#include "port.h"

#define INTERCEPTED "it belongs to a system call that the library watches"

static int take_probe(struct dp_engine *e, u32 *probe)
{
	struct dp_growth *g = e->growth;

	if (g->free_probe) {
		*probe = g->free_probe - 1;
		g->free_probe = e->probes[*probe].next;
		return 0;
	}
	if (e->nr_probes == e->max_probes ||
	    dp_engine_reserve((void **)&e->probes, e->nr_probes, &e->cap_probes,
			      sizeof(*e->probes)))
		return -ENOMEM;
	*probe = e->nr_probes++;
	return 0;
}

/* A jprobe leaves the site, too. */
static bool is_last(const struct dp_handlers *h)
{
	return h->last || h->kind == DP_KIND_JPROBE;
}

static void link(struct dp_engine *e, struct dp_site *s, u32 probe)
{
	const struct dp_handlers *h = &e->probes[probe].handlers;
	u32 last = s->last_probe;

	if (h->first && !is_last(h))
		dp_site_link_first(e, s, probe);
	else if (last && !is_last(h) && is_last(&e->probes[last - 1].handlers))
		dp_site_link_before_last(e, s, probe);
	else
		dp_site_link(e, s, probe);
}

int dp_live_add(struct dp_engine *e, u64 addr, const struct dp_found *found,
		const struct dp_handlers *h, bool enabled, u32 *probe,
		const char **why)
{
	struct dp_site *s;
	int err;

	dp_release_replaced(e, addr, found->code, found->size);
	*why = "there are too many probes";
	if (!dp_site_has_room(e, addr))
		return -ENOMEM;
	*why = "out of memory";
	if (dp_live_reserve(e))
		return -ENOMEM;
	*why = "there are too many probes";
	if (dp_site_inside_intercept(e, addr)) {
		*why = INTERCEPTED;
		return -EINVAL;
	}
	err = dp_site_take(e, addr, found->code, found->size, &s, why);
	if (!err && s->intercept >= 0 && h->kind == DP_KIND_JPROBE) {
		*why = INTERCEPTED;
		err = -EINVAL;
	}
	if (!err)
		err = take_probe(e, probe);
	if (err)
		return err;
	if (!s->place)
		s->x87 = found->x87;
	s->unowned = found->unowned;
	e->probes[*probe] = (struct dp_probe){ .handlers = *h,
					       .kind = h->kind,
					       .way = h->way,
					       .enabled = enabled };
	link(e, s, *probe);
	return 0;
}

int dp_live_add_watch(struct dp_engine *e, u64 addr, u8 len, u8 watch,
		      const struct dp_handlers *h, u32 *probe)
{
	struct dp_site *s;

	if (e->nr_sites >= e->max_sites - 1 && !e->spare_sites)
		return -ENOMEM;
	if (dp_live_reserve(e) || take_probe(e, probe))
		return -ENOMEM;
	if (dp_site_make_data(e, addr, len, watch, &s)) {
		e->probes[*probe].next = e->growth->free_probe;
		e->growth->free_probe = *probe + 1;
		return -ENOMEM;
	}
	e->probes[*probe] = (struct dp_probe){ .handlers = *h,
					       .kind = h->kind,
					       .enabled = true };
	dp_site_link(e, s, *probe);
	return 0;
}

int dp_live_add_absent(struct dp_engine *e, bool enabled, u32 *probe)
{
	struct dp_site *s;

	if (e->nr_sites >= e->max_sites - 1 && !e->spare_sites)
		return -ENOMEM;
	if (dp_live_reserve(e) || take_probe(e, probe))
		return -ENOMEM;
	if (dp_site_make_absent(e, &s)) {
		e->probes[*probe].next = e->growth->free_probe;
		e->growth->free_probe = *probe + 1;
		return -ENOMEM;
	}
	e->probes[*probe] = (struct dp_probe){ .kind = DP_KIND_PLAIN,
					       .site = (u32)(s - e->sites),
					       .fresh = true,
					       .enabled = enabled };
	s->probes++;
	/* Its number may have been another's, and what has moved goes on counting. */
	*dp_live_probe(e, *probe) = (struct dp_probe_entry){ 0 };
	e->view.states[*probe] = (struct dp_probe_state){ 0 };
	return 0;
}

void dp_live_stub(struct dp_engine *e, u32 probe, bool logs)
{
	struct dp_probe *p = &e->probes[probe];

	p->kind = DP_KIND_STUB;
	p->way = logs ? DP_WAY_LOGS : 0;
	/* Its hits call out for more than a count. */
	e->sites[p->site].instances = true;
}

void dp_live_stub_pool(struct dp_engine *e, u32 probe, u64 pool)
{
	e->probes[probe].handlers.user = pool;
}

bool dp_live_is_new(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return !s->place && !s->region.nr && s->intercept < 0;
}

int dp_live_remove(struct dp_engine *e, struct dp_target *target,
		   const u32 *probes, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_link_out(e, probes[i]);
	return dp_apply_around(e, target, probes, n, NULL);
}

const struct dp_handlers *dp_live_handlers(const struct dp_engine *e, u32 probe)
{
	return &e->probes[probe].handlers;
}

void dp_live_forget(struct dp_engine *e, u32 probe)
{
	dp_program_unbind(e, probe);
	dp_release_probe(e, probe);
	e->probes[probe].next = e->growth->free_probe;
	e->growth->free_probe = probe + 1;
}

static u64 missed(const struct dp_engine *e, u32 probe)
{
	const u64 *tally = e->view.states[probe].tally;

	return __atomic_load_n(&tally[DP_TALLY_RECURSED], __ATOMIC_RELAXED) +
	       __atomic_load_n(&tally[DP_TALLY_CONTEXT], __ATOMIC_RELAXED) +
	       __atomic_load_n(&tally[DP_TALLY_SELF], __ATOMIC_RELAXED);
}

u64 dp_live_hits(struct dp_engine *e, u32 probe)
{
	u64 lost = missed(e, probe), hits = dp_engine_hits(e, probe);

	return hits > lost ? hits - lost : 0;
}

/* Enabling lets faulted handlers be called again. */
static void forgive(struct dp_engine *e, u32 probe)
{
	__atomic_fetch_and(&e->view.states[probe].status, ~DP_PROBE_FAULTED,
			   __ATOMIC_RELEASE);
}

int dp_live_enable(struct dp_engine *e, struct dp_target *target,
		   const u32 *probes, u32 n, bool enabled)
{
	u32 i;

	for (i = 0; i < n; i++) {
		if (enabled)
			forgive(e, probes[i]);
		/* All that the probe does is for a hit that counts. */
		if (enabled)
			dp_hits_begin(e, probes[i]);
		e->probes[probes[i]].enabled = enabled;
		__atomic_store_n(&dp_live_probe(e, probes[i])->enabled, enabled,
				 __ATOMIC_SEQ_CST);
		if (!enabled)
			dp_hits_end(e, probes[i]);
		/* A probe that was switched off meanwhile stays off. */
		if (dp_live_is_off(e, probes[i]))
			dp_link_tell_off(e, probes[i]);
		dp_link_mirror(e, e->probes[probes[i]].site);
	}
	return dp_apply_around(e, target, probes, n, NULL);
}

bool dp_live_faulted(const struct dp_engine *e, u32 probe)
{
	return e->view.states[probe].status & DP_PROBE_FAULTED;
}

/* Restore sites with bytes up to @most. Return: whether there are sites beyond it. */
static bool take_back(const struct dp_engine *e, struct dp_target *target,
		      enum dp_bytes most)
{
	u8 now[DP_JUMP_SIZE];
	bool others = false;
	enum dp_bytes is;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		const struct dp_site_entry *s = dp_live_site(e, i);
		u8 n = dp_site_patch_len(s);

		if (!e->sites[i].place || e->sites[i].intercept >= 0 ||
		    e->sites[i].watch || !s->addr ||
		    target->ops->read(target, s->addr, now, n))
			continue;
		is = dp_site_bytes(s, now);
		if (is != DP_BYTES_ORIGINAL && is <= most)
			target->ops->write(target, s->addr, s->orig, n);
		others |= is > most;
	}
	return others;
}

/* A fork child does not know which sites were armed at the fork, but it knows their
 * bytes; replaced code is left alone. Jumps may begin inside the bytes of another site,
 * so whole patches go first, and half-written ones next. */
void dp_live_leave(const struct dp_engine *e, struct dp_target *target)
{
	if (take_back(e, target, DP_BYTES_PATCH) &&
	    take_back(e, target, DP_BYTES_MINGLED))
		take_back(e, target, DP_BYTES_MINGLED);
}

bool dp_live_first(const struct dp_engine *e, u64 addr, u32 *probe)
{
	const struct dp_site *s = dp_engine_find(e, addr);

	if (s && s->first_probe)
		*probe = s->first_probe - 1;
	return s && s->first_probe;
}

bool dp_live_next(const struct dp_engine *e, u32 *probe)
{
	u32 next = e->probes[*probe].next;

	if (next)
		*probe = next - 1;
	return next;
}

bool dp_live_optimized(const struct dp_engine *e, u32 probe)
{
	const struct dp_site_entry *s = dp_live_site(e, e->probes[probe].site);

	return dp_view_is_jump(&e->view, s);
}

u64 dp_live_addr(const struct dp_engine *e, u32 probe)
{
	return e->sites[e->probes[probe].site].addr;
}
