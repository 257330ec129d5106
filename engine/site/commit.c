// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * commit: plan what was added, and arm it.
 *
 * A plan is the copies, detours and islands of all sites that have none. Until the commit
 * nothing leads there.
 */
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/call.h"
#include "engine/plan/copy.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/build.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/instances.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/program.h"
#include "engine/site/site.h"
#include "port.h"

/* Let readers of the arena know how many there are. */
static void tell_probes(struct dp_engine *e)
{
	e->view.nr_probes = e->nr_probes;
	__atomic_store_n(&e->arena->control.nr_probes, e->nr_probes,
			 __ATOMIC_RELEASE);
}

/* Removing probes must never need memory. */
int dp_live_reserve(struct dp_engine *e)
{
	u32 want = e->nr_sites + 2; /* each once */
	struct dp_growth *g = e->growth;
	u32 *bigger;

	if (2 * want <= g->cap_touched)
		return 0;
	bigger = dp_port_resize(g->touched, 2 * want * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	g->touched = bigger;
	g->cap_touched = 2 * want;
	return 0;
}

static int plan(struct dp_engine *e, u32 i)
{
	struct dp_site *s = &e->sites[i];
	struct dp_arena_control *c = &e->arena->control;
	int err;

	if (s->place)
		return 0;
	s->place = i + 1;
	err = 0;
	if (s->watch)
		dp_grow_watch(e, i);
	else
		err = s->intercept < 0 ? dp_grow_site(e, i) :
					 dp_grow_intercept(e, i);
	if (err)
		s->place = 0;
	else if (e->view.nr_sites < e->nr_sites) {
		e->view.nr_sites = e->nr_sites;
		__atomic_store_n(&c->nr_sites, e->nr_sites, __ATOMIC_RELEASE);
	}
	return err;
}

static int prepare(struct dp_engine *e, u32 probe)
{
	u32 i = e->probes[probe].site;
	int err = plan(e, i);

	if (!err && !e->sites[i].watch &&
	    (e->probes[probe].handlers.post ||
	     dp_site_needs_post(&e->sites[i])))
		err = dp_grow_post(e, i);
	return err;
}

static void link_in(struct dp_engine *e, u32 probe)
{
	struct dp_site *s = &e->sites[e->probes[probe].site];

	if (!s->entered && !s->watch)
		dp_hash_enter(e, s->addr, s->place - 1);
	s->entered = true;
	dp_grow_post_there(e, s);
	dp_link_in(e, probe);
}

/* Bytes at @addr are written for the nearest probe there or behind. */
static void blame(const struct dp_engine *e, const u32 *probes, u32 n, u64 addr,
		  u32 *bad)
{
	u64 nearest = DP_JUMP_SIZE, behind;
	u32 i;

	for (i = 0; i < n; i++) {
		behind = dp_live_addr(e, probes[i]) - addr;
		if (behind < nearest) {
			nearest = behind;
			*bad = i;
		}
	}
}

int dp_live_commit(struct dp_engine *e, struct dp_target *target,
		   const u32 *probes, u32 n, u32 *bad)
{
	u64 addr = 0;
	int err = 0;
	u32 i;

	for (i = 0; i < n && !err; i++) {
		err = prepare(e, probes[i]);
		*bad = i;
	}
	if (!err)
		err = dp_room_write(e);
	if (!err)
		tell_probes(e);
	for (i = 0; i < n && !err; i++)
		link_in(e, probes[i]);
	if (!err)
		err = dp_apply_around(e, target, probes, n, &addr);
	blame(e, probes, n, addr, bad);
	for (i = 0; i < n; i++) {
		e->probes[probes[i]].fresh = false;
		if (!err && dp_live_gone(e, probes[i])) {
			*bad = i;
			err = -EFAULT;
		}
	}
	return err;
}

/* Sites that its jump may have to count */
static u32 inner_sites(const struct dp_engine *e, const struct dp_site *s)
{
	/* Another jump's detour may go on with a site that has no region. */
	u32 n = !s->region.nr;
	int k;

	for (k = 1; k < s->region.nr; k++)
		n += dp_engine_find(e, s->addr + s->region.at[k]) != NULL;
	return n;
}

/* The most that the sites without a plan will need. */
static u64 coming(const struct dp_engine *e)
{
	u64 bytes = DP_STUBS + DP_DETOUR_MAX + 2 * DP_COPY_MAX;
	const struct dp_site *s;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		s = &e->sites[i];
		if (s->addr && !s->place && !s->watch)
			bytes += (s->records ? 2 : 1) * DP_COPY_MAX +
				 dp_jump_room(e, s) +
				 inner_sites(e, s) * DP_DETOUR_COUNT +
				 dp_call_is_inline(e, s) * DP_DETOUR_CALL;
	}
	return bytes;
}

/* Programs, and what the tables have room for. */
static int fits(struct dp_engine *e)
{
	return e->nr_sites < e->max_sites &&
			       e->nr_probes <= e->arena->control.max_probes &&
			       dp_programs_fit(e) ?
		       0 :
		       -ENOSPC;
}

static int begin_plan(struct dp_engine *e)
{
	int err = fits(e);

	if (!err)
		err = dp_live_reserve(e);
	if (!err)
		dp_room_forget_holes(e);
	return err;
}

int dp_engine_plan(struct dp_engine *e)
{
	int err = begin_plan(e);
	u32 i;

	if (err)
		return err;
	e->growth->coming = coming(e);
	/* Intercepts come first: a probe may be at an instruction of theirs. */
	for (i = 0; i < e->nr_sites && !err; i++)
		if (e->sites[i].addr && e->sites[i].intercept >= 0)
			err = plan(e, i);
	for (i = 0; i < e->nr_sites && !err; i++)
		if (e->sites[i].addr)
			err = plan(e, i);
	for (i = 0; i < e->nr_probes && !err; i++)
		if (e->probes[i].fresh && e->sites[e->probes[i].site].addr)
			err = prepare(e, i);
	e->growth->coming = 0;
	if (!err)
		dp_apply_plan(e);
	return err ? err : dp_room_write(e);
}

int dp_live_plan(struct dp_engine *e, const u32 *probes, u32 n)
{
	int err = begin_plan(e);
	u32 i;

	if (err)
		return err;
	dp_programs_fill(e);
	e->growth->coming = coming(e);
	for (i = 0; i < n && !err; i++)
		if (!dp_live_gone(e, probes[i]))
			err = prepare(e, probes[i]);
	e->growth->coming = 0;
	return err ? err : dp_room_write(e);
}

int dp_live_choose(struct dp_engine *e)
{
	dp_apply_plan(e);
	return dp_room_write(e);
}

void dp_live_want(struct dp_engine *e, u32 probe, bool on, bool waits)
{
	e->probes[probe].enabled = on;
	e->probes[probe].waits = on && waits;
}

/* Everything else that a plan has set is decided anew (group.c). */
static void forget(struct dp_site *s)
{
	s->place = s->within = s->pool = 0;
	s->jumps = s->plan = 0;
	s->island = s->post = 0;
	s->entered = s->staged = false;
	dp_jump_cover_none(s);
}

void dp_engine_unbuild(struct dp_engine *e)
{
	u64 *word = (void *)e->arena, i;
	u32 n;

	for (n = 0; n < e->nr_sites; n++)
		if (e->sites[n].addr)
			forget(&e->sites[n]);
	for (i = 0; i < DP_CONTROL_ROOM / sizeof(*word); i++)
		word[i] = 0;
	for (i = e->need.tables_off; i < e->need.arena_size; i += sizeof(*word))
		word[i / sizeof(*word)] = 0;
	dp_room_free(e->growth);
	e->growth = NULL;
	e->arena = NULL;
	e->need.nr_pools = 0;
	e->rseq_usable = false;
}

/* The probes that were added since the last call, in memory of the caller's. */
static u32 fresh_probes(const struct dp_engine *e, u32 *probes)
{
	u32 i, n = 0;

	for (i = 0; i < e->nr_probes; i++)
		if (e->probes[i].fresh && e->sites[e->probes[i].site].addr)
			probes[n++] = i;
	return n;
}

int dp_engine_commit(struct dp_engine *e, struct dp_target *target, u64 *bad)
{
	u32 *probes = dp_port_alloc((e->nr_probes + 1) * sizeof(*probes));
	u32 n, i;
	int err;

	*bad = 0;
	if (!probes)
		return -ENOMEM;
	dp_programs_fill(e);
	n = fresh_probes(e, probes);
	tell_probes(e);
	for (i = 0; i < n; i++)
		link_in(e, probes[i]);
	/* At first all sites are new: neighbours need not be looked for. */
	err = e->committed ? dp_apply_around(e, target, probes, n, bad) :
			     dp_engine_apply(e, target, bad);
	for (i = 0; i < n && !err; i++)
		e->probes[probes[i]].fresh = false;
	dp_port_free(probes);
	if (err)
		return err;
	/* Children that were made before the first one are the caller's matter. */
	if (!e->committed)
		e->growth->nr_changed = 0;
	e->committed = true;
	dp_engine_admit(e, true);
	return 0;
}

/* Which sites share bytes decides as it will; islands may not be found later. */
void dp_engine_preview(struct dp_engine *e)
{
	struct dp_site *s;
	u32 i;

	e->max_probes = e->nr_probes;
	if (dp_room_begin(e, &(struct dp_live_setup){ 0 }) ||
	    dp_live_reserve(e))
		return;
	for (i = 0; i < e->nr_sites; i++) {
		s = &e->sites[i];
		if (s->watch)
			continue;
		dp_group_prepare(e, s);
		s->mode = s->region.nr ? DP_MODE_JUMP : DP_MODE_TRAP;
		s->place = i + 1;
	}
	dp_apply_preview(e);
}
