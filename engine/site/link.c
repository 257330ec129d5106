// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* link: the probes of a site, as the hit half follows them while control changes them. */
#include "engine/layout/arena.h"
#include "engine/layout/handler.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/site/build.h"
#include "engine/site/calls.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "engine/site/view.h"

bool dp_live_is_off(const struct dp_engine *e, u32 probe)
{
	return e->growth && __atomic_load_n(&e->growth->switches[probe].off,
					    __ATOMIC_SEQ_CST);
}

/* Can the site's present detour do all the work of a probe? */
static bool may_be_fast(const struct dp_engine *e, u32 i,
			const struct dp_probe *p)
{
	if (p->kind == DP_KIND_RETURN)
		return dp_view_jump(&e->view, dp_entry_of(e, &e->sites[i]))
			->tracked;
	return dp_kind_is_called(p->kind) && p->handlers.pre;
}

u64 dp_live_entry(const struct dp_engine *e, u32 probe)
{
	const struct dp_arena_control *c = &e->arena->control;

	return c->base + DP_ARENA_OFFSET + c->probe_off +
	       probe * sizeof(struct dp_probe_entry);
}

/* Address of the entry of the site's only probe, if the detour can do all the work; else
 * 0. */
static u64 fast(const struct dp_engine *e, u32 i)
{
	u32 p, only = 0;

	for (p = e->sites[i].first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];

		if (!probe->linked)
			continue;
		if (only || !probe->enabled || dp_live_is_off(e, p - 1) ||
		    !may_be_fast(e, i, probe) || e->view.states[p - 1].status)
			return 0;
		only = p;
	}
	return only ? dp_live_entry(e, only - 1) : 0;
}

static bool is_handler(const struct dp_probe *p)
{
	return dp_kind_is_handler(p->kind) || p->handlers.instance_pool;
}

/* Has a hit to do more for the probe than to count the site? */
static bool needs_agent(const struct dp_probe *p)
{
	if (dp_kind_is_called(p->kind))
		return p->handlers.pre || p->handlers.post;
	return p->kind != DP_KIND_PLAIN || p->bound;
}

/* What a hit of the site has to do: for each of these words, one probe is enough. */
static void note_work(struct dp_engine *e, u32 i)
{
	struct dp_site_entry *entry = dp_entry_of(e, &e->sites[i]);
	bool counts = false, calls = false, runs = false, any = false;
	u32 p;

	for (p = e->sites[i].first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];
		bool handler = is_handler(probe);

		if (!probe->linked)
			continue;
		counts |= handler || probe->kind == DP_KIND_PLAIN ||
			  probe->kind == DP_KIND_STUB;
		calls |= handler;
		runs |= !handler && needs_agent(probe);
		any |= needs_agent(probe);
	}
	entry->counts = counts;
	entry->calls = calls;
	entry->runs = runs;
	__atomic_store_n(&entry->enable_word, any, __ATOMIC_RELEASE);
}

/* The hit half follows these links while control changes them, one word at a time. */
void dp_link_mirror(struct dp_engine *e, u32 i)
{
	struct dp_site_entry *entry = dp_entry_of(e, &e->sites[i]);
	u32 p, *link = &entry->first_probe;

	for (p = e->sites[i].first_probe; p; p = e->probes[p - 1].next) {
		if (!e->probes[p - 1].linked)
			continue;
		if (*link != p)
			__atomic_store_n(link, p, __ATOMIC_RELEASE);
		link = &dp_live_probe(e, p - 1)->next;
	}
	if (*link)
		__atomic_store_n(link, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&entry->fast, fast(e, i), __ATOMIC_SEQ_CST);
	/* dp_live_switch_off() may have cleared the word just before it was stored. */
	if (!fast(e, i))
		__atomic_store_n(&entry->fast, 0, __ATOMIC_SEQ_CST);
	note_work(e, i);
	dp_calls_note(e, i);
}

static void switch_on(struct dp_engine *e, u32 probe)
{
	struct dp_switch *s = &e->growth->switches[probe];

	s->instance_pool = e->probes[probe].handlers.instance_pool;
	s->site = e->probes[probe].site;
	__atomic_store_n(&s->off, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&s->user, e->probes[probe].handlers.user,
			 __ATOMIC_RELEASE);
}

/* 1 + the next probe behind it that is linked, or 0. */
static u32 next_linked(const struct dp_engine *e, u32 probe)
{
	u32 p = e->probes[probe].next;

	while (p && !e->probes[p - 1].linked)
		p = e->probes[p - 1].next;
	return p;
}

/* A call begins when all that ends it is in place: see dp_engine_admit(). What waits is on from the
 * next generation on. */
static u32 on_word(const struct dp_engine *e, const struct dp_probe *p)
{
	if (!p->enabled || (p->kind == DP_KIND_ENTER && !is_handler(p)))
		return 0;
	return p->waits ? DP_ENABLED_FROM(e->arena->control.generation + 1) : 1;
}

/* 1 + the variable that a detour counts for the probe, which readers of the arena add; 0: none */
static u32 counted(const struct dp_engine *e, const struct dp_binding *binding)
{
	const struct dp_native *n =
		e->native && !e->own ?
			dp_native_from(e, binding->program, binding->start) :
			NULL;

	return n && n->variable != DP_NATIVE_NONE ? 1u + n->variable : 0;
}

static void fill_binding(struct dp_probe_entry *p,
			 const struct dp_binding *binding)
{
	p->program = binding->program + 1;
	p->start = binding->start;
	p->leaves = binding->leaves;
	p->way |= binding->judged ? DP_WAY_JUDGED : 0;
	p->way |= binding->tells ? DP_WAY_TELLS : 0;
	p->maxhits = binding->maxhits;
	p->major = binding->major;
	p->minor = binding->minor;
	p->logonfault = binding->logonfault;
	p->heap = binding->heap;
	p->ex_mask = binding->ex_mask;
}

/* A hit may come to a probe as soon as it is linked, and goes on to the next. What a probe
 * that has moved has counted stays. */
static void fill_probe(struct dp_engine *e, u32 probe)
{
	struct dp_probe_entry *entry = dp_live_probe(e, probe);
	struct dp_probe *p = &e->probes[probe];
	const struct dp_handlers *h = &p->handlers;
	u64 earlier = p->moved ? entry->earlier : 0;
	u64 met_earlier = p->moved ? entry->met_earlier : 0;
	u32 disabled = p->moved ? entry->disabled : 0;

	*entry = (struct dp_probe_entry){ .site = e->sites[p->site].place - 1,
					  .next = next_linked(e, probe),
					  .enabled = on_word(e, p),
					  .kind = p->kind,
					  .pre_needs = h->pre_needs,
					  .post_needs = h->post_needs,
					  .user = h->user,
					  .pre = h->pre,
					  .post = h->post,
					  .fault = h->fault,
					  .nmissed = h->nmissed,
					  .instance_pool = h->instance_pool,
					  .group = p->group,
					  .way = p->way,
					  .deadline = h->deadline,
					  .touches = ~h->spares,
					  .disabled = disabled,
					  .earlier = earlier,
					  .met_earlier = met_earlier };
	if (p->bound) {
		fill_binding(entry, &p->binding);
		entry->counted = counted(e, &p->binding);
	}
	/* Its number may have been another's. */
	if (!p->moved && dp_probe_counts_calls(entry))
		dp_view_forget_hits(&e->view, e->view.probe_counters + probe);
	if (!p->moved)
		e->view.states[probe] = (struct dp_probe_state){
			.count = p->bound ? -(s64)p->binding.passcount : 0
		};
	if (e->growth)
		switch_on(e, probe);
}

/* All memory that the probe leads to has been written. */
void dp_link_in(struct dp_engine *e, u32 probe)
{
	u32 i = e->probes[probe].site;

	fill_probe(e, probe);
	e->probes[probe].linked = true;
	if (e->probes[probe].enabled && !e->probes[probe].waits)
		dp_hits_begin(e, probe);
	dp_link_mirror(e, i);
}

void dp_link_out(struct dp_engine *e, u32 probe)
{
	struct dp_probe *p = &e->probes[probe];

	e->growth->changes++;
	if (p->linked)
		dp_hits_end(e, probe);
	dp_engine_drop(e, probe);
	if (p->linked)
		dp_link_mirror(e, p->site);
	p->linked = false;
	if (probe < e->view.nr_probes)
		dp_live_probe(e, probe)->gone = 0;
}

/* Once in the hit half's own memory, and once in memory that only control writes. */
void dp_link_tell_off(struct dp_engine *e, u32 probe)
{
	__atomic_fetch_or(&e->view.states[probe].status, DP_PROBE_REMOVED,
			  __ATOMIC_SEQ_CST);
	__atomic_store_n(&dp_live_probe(e, probe)->enabled, 0,
			 __ATOMIC_SEQ_CST);
}

/* Uses only memory that never moves and that a probed process cannot write. */
bool dp_live_switch_off(struct dp_engine *e, u32 probe, u64 user)
{
	struct dp_switch *s;

	if (probe >= e->max_probes)
		return false;
	s = &e->growth->switches[probe];
	if (__atomic_load_n(&s->user, __ATOMIC_ACQUIRE) != user ||
	    __atomic_exchange_n(&s->off, 1, __ATOMIC_SEQ_CST))
		return false;
	dp_link_tell_off(e, probe);
	__atomic_store_n(&dp_live_site(e, s->site)->fast, 0, __ATOMIC_SEQ_CST);
	if (s->instance_pool)
		__atomic_store_n(
			&((struct dp_instance_pool *)s->instance_pool)->handler,
			0, __ATOMIC_RELEASE);
	return true;
}
