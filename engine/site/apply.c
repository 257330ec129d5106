// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * apply: bring the bytes at sites into their wanted state.
 *
 * What a site wants follows from its probes, its neighbours and the knobs (group.c):
 *
 *   off       no probe is enabled, or all are switched off
 *   jump      it begins a jump
 *   trap      everything else, a site that another's jump covers, too
 *
 * All transitions between the three pass through the breakpoint, so no hit is missed.
 * From jump to trap and from off to jump, inner bytes of the region are not original. A
 * thread that then meets the breakpoint goes on in the detour's copies of the whole
 * region (@copy). Only when the bytes are original again does @copy become that of the
 * one instruction.
 *
 * A jump that is to call out for other sites than before is another one. The site becomes
 * a breakpoint, then the other jump is written.
 *
 * In a signal-free process there are jumps alone, which come and go in one write while no
 * thread runs.
 */
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/site/arm.h"
#include "engine/site/build.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "engine/text/strategy.h"
#include "engine/text/target.h"

/* Sites, each at most once. */
struct batch {
	u32 *v, n;
};

static bool mark(struct dp_engine *e, struct batch *b, struct dp_site *s)
{
	if (s->marked || !s->place || s->intercept >= 0 || s->within ||
	    s->watch)
		return false;
	s->marked = true;
	b->v[b->n++] = (u32)(s - e->sites);
	return true;
}

/* The neighbour next to @addr in direction @by, or NULL. */
static struct dp_site *next_to(const struct dp_engine *e, u64 addr, u64 by)
{
	u64 d, most = dp_group_most(e);
	struct dp_site *s = NULL;

	for (d = 1; d <= most && !s; d++)
		s = dp_engine_find(e, addr + d * by);
	return s;
}

static void mark_side(struct dp_engine *e, struct batch *b, u64 addr, u64 by)
{
	struct dp_site *s = next_to(e, addr, by);

	for (; s; s = next_to(e, s->addr, by))
		mark(e, b, s);
}

/* A site, and all its neighbours. */
static void mark_around(struct dp_engine *e, struct batch *b, u32 i)
{
	u64 addr = e->sites[i].addr;

	if (!mark(e, b, &e->sites[i]))
		return;
	mark_side(e, b, addr, 1);
	mark_side(e, b, addr, ~0ull);
}

/* Jumps that have a duplicate of a site of the batch */
static void mark_branches(struct dp_engine *e, struct batch *b)
{
	const struct dp_site *to;
	bool any = false;
	u32 i;

	for (i = 0; i < b->n && !any; i++)
		any = e->sites[b->v[i]].duplicated;
	for (i = 0; any && i < e->nr_sites; i++) {
		to = e->sites[i].branches_to ?
			     dp_engine_find(e, e->sites[i].branches_to) :
			     NULL;
		if (to && to->marked)
			mark_around(e, b, i);
	}
}

static struct batch batch_of(struct dp_engine *e, const u32 *probes, u32 n)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	for (i = 0; i < n; i++)
		mark_around(e, &b, e->probes[probes[i]].site);
	mark_branches(e, &b);
	return b;
}

static void set_copy(const struct dp_engine *e, struct dp_site_entry *s,
		     bool whole)
{
	const struct dp_jump *j = dp_view_jump(&e->view, s);
	u64 copy = whole ? j->base + j->insn[0] : s->single;

	__atomic_store_n(&s->copy, copy, __ATOMIC_RELEASE);
}

static bool is_later(const struct dp_engine *e, u32 a, u32 b)
{
	return e->sites[a].addr > e->sites[b].addr;
}

static void sort_by_address(const struct dp_engine *e, u32 *v, u32 n)
{
	u32 gap, i, j, x;

	for (i = 1; i < n && !is_later(e, v[i - 1], v[i]); i++)
		continue;
	/* Mostly they are in order. */
	for (gap = i < n ? n / 2 : 0; gap; gap /= 2)
		for (i = gap; i < n; i++) {
			x = v[i];
			for (j = i; j >= gap && is_later(e, v[j - gap], x);
			     j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
}

static int arm_jumps(struct dp_engine *e, struct dp_target *target,
		     const struct dp_sites *sites, u64 *bad)
{
	int err = 0;

	if (e->arming == DP_ARM_QUIESCE)
		err = dp_apply_stopped(e, target, sites, bad);
	if (!err && !e->signal_free)
		err = dp_strategy_interior.arm(target, sites, bad);
	return err;
}

/* The site does not begin a jump after all. */
static void surrender(struct dp_engine *e, const struct batch *b,
		      struct dp_site *lead, const char *why)
{
	u32 i;

	lead->wants = lead->first_probe ? DP_WANT_TRAP : DP_WANT_OFF;
	lead->why = why;
	dp_jump_cover_none(lead);
	for (i = 0; i < b->n; i++) {
		struct dp_site *s = &e->sites[b->v[i]];

		if (s->leader == lead->place)
			s->leader = 0;
		if (s->behind == lead->place)
			s->behind = 0;
	}
}

static bool covers_any(const struct dp_engine *e, const struct dp_site *s)
{
	const struct dp_jump *j = dp_view_jump(&e->view, dp_entry_of(e, s));
	bool any = false;
	int k;

	for (k = 1; k < s->region.nr && s->region.at[k] < DP_JUMP_SIZE; k++)
		any |= s->covers[k] || (j->nr && j->member[k]);
	return any;
}

/* Sites that a jump of quiesce covers have no breakpoints while it becomes another one. */
static bool must_stay(const struct dp_engine *e, const struct dp_site *s)
{
	u32 jump = dp_entry_of(e, s)->jump;

	return dp_site_arming(e, s) == DP_ARM_QUIESCE && jump &&
	       covers_any(e, s) && !dp_grow_serves(e, s, jump);
}

/* Without memory for a jump there are breakpoints: taking probes out never needs any. */
static void plan_jumps(struct dp_engine *e, const struct batch *b)
{
	struct dp_site *s;
	int err;
	u32 i;

	for (i = 0; i < b->n; i++) {
		s = &e->sites[b->v[i]];
		if (s->wants != DP_WANT_PLAN)
			continue;
		if (must_stay(e, s))
			surrender(e, b, s, DP_WHY_OVERLAP);
		else if (dp_grow_jump(e, s))
			surrender(e, b, s, DP_WHY_NO_ISLAND);
	}
	err = dp_room_write(e);
	for (i = 0; i < b->n; i++) {
		s = &e->sites[b->v[i]];
		if (!err)
			s->staged = false;
		else if (s->wants == DP_WANT_PLAN && s->staged)
			surrender(e, b, s, DP_WHY_NO_ISLAND);
	}
}

/* What a site's entry says is wanted there */
static u8 wanted(const struct dp_site *s)
{
	return s->wants == DP_WANT_TRAP && s->mode == DP_MODE_TRAP ?
		       DP_WANT_PLAN :
		       s->wants;
}

/* The hit half must find a site before its first byte is a breakpoint. One without probes is found from
 * its first jump on. */
static void enter(struct dp_engine *e, struct dp_site *s)
{
	if (s->entered || s->wants == DP_WANT_OFF)
		return;
	dp_hash_enter(e, s->addr, s->place - 1);
	s->entered = true;
}

static void decide(struct dp_engine *e, const struct batch *b)
{
	u32 i;

	dp_group_choose(e, b->v, b->n);
	plan_jumps(e, b);
	for (i = 0; i < b->n; i++) {
		struct dp_site *s = &e->sites[b->v[i]];
		struct dp_site_entry *entry = dp_live_site(e, b->v[i]);

		enter(e, s);
		s->late = false;
		entry->wanted = wanted(s);
		if (e->own)
			entry->unowned = s->unowned;
		dp_entry_why(e->arena, entry, s->leader ? NULL : s->why);
		s->was_armed |= s->wants != DP_WANT_OFF;
		s->was_jump |= s->wants == DP_WANT_PLAN;
		s->was_trap |= s->wants == DP_WANT_TRAP && !s->leader;
	}
}

static bool is_out(const struct dp_site_entry *entry)
{
	return entry->armed == DP_SITE_OFF || entry->armed == DP_SITE_TRAPPED ||
	       entry->armed == DP_SITE_CEDED;
}

static bool changes_jump(const struct dp_site *s,
			 const struct dp_site_entry *entry)
{
	return s->wants == DP_WANT_PLAN && entry->jump != s->plan;
}

static int take_out_stopped(struct dp_engine *e, const struct dp_sites *sites)
{
	const struct dp_growth *g = e->growth;
	u32 i;

	for (i = 0; i < sites->n; i++)
		if (dp_sites_at(sites, i)->armed == DP_SITE_THERE &&
		    !dp_sites_at(sites, i)->wanted)
			return g->setup.ops->stopped(g->setup.arg, sites->which,
						     sites->n, false);
	return 0;
}

/* A jump that goes, or is to be another one. */
static int take_out(struct dp_engine *e, struct dp_target *target,
		    const struct dp_sites *sites, u64 *bad)
{
	struct dp_site_entry *entry;
	bool any = false;
	int err, later;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		entry = dp_sites_at(sites, i);
		any |= entry->armed != DP_SITE_OFF;
		if (changes_jump(&e->sites[sites->which[i]], entry) &&
		    !is_out(entry))
			entry->wanted = DP_WANT_TRAP;
	}
	if (e->signal_free)
		return take_out_stopped(e, sites);
	err = dp_strategy_interior.disarm(target, sites, bad);
	later = dp_strategy_trap.disarm(target, sites, err ? NULL : bad);
	err = err ? err : later;
	if (err || !(any || e->growth->unseen))
		return err;
	e->growth->unseen = false;
	return dp_text_sync(target);
}

/* Has the jump that is to cover the site another byte than a breakpoint there? */
static bool is_inner(const struct dp_engine *e, const struct dp_site *s)
{
	const struct dp_site *lead = &e->sites[s->leader - 1];

	return dp_site_arming(e, lead) == DP_ARM_QUIESCE ||
	       (s->addr - lead->addr == DP_JUMP_SIZE - 1 &&
		lead->last != DP_BREAKPOINT);
}

/* A site that is off waits for the jump that is to cover it. */
static void let_wait(struct dp_engine *e, const struct dp_sites *sites,
		     bool wait)
{
	struct dp_site_entry *entry;
	struct dp_site *s;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		entry = dp_sites_at(sites, i);
		s = &e->sites[sites->which[i]];
		if (s->leader && entry->armed == DP_SITE_OFF &&
		    !dp_site_is_covered(sites, entry))
			entry->wanted = wait ? DP_WANT_OFF : wanted(s);
	}
}

/* Sites that no jump covers any more have their breakpoints; so have those that one is
 * about to cover, if they were not off. Then sites get the jumps that they are to have. */
static int change_jumps(struct dp_engine *e, struct dp_target *target,
			const struct dp_sites *sites, u64 *bad)
{
	struct dp_site_entry *entry;
	struct dp_site *s;
	int err;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		entry = dp_sites_at(sites, i);
		if (!dp_site_is_covered(sites, entry))
			entry->leader = 0;
	}
	let_wait(e, sites, true);
	err = dp_strategy_trap.arm(target, sites, bad);
	let_wait(e, sites, false);
	for (i = 0; i < sites->n && !err; i++) {
		entry = dp_sites_at(sites, i);
		s = &e->sites[sites->which[i]];
		if (!changes_jump(s, entry) || !is_out(entry))
			continue;
		err = dp_grow_switch(e, s);
		entry->wanted = DP_WANT_PLAN;
	}
	for (i = 0; i < sites->n && !err; i++) {
		entry = dp_sites_at(sites, i);
		s = &e->sites[sites->which[i]];
		if (s->leader) {
			entry->inner = is_inner(e, s);
			entry->leader = s->leader;
		}
		set_copy(e, entry,
			 entry->jump && entry->wanted == DP_WANT_PLAN);
	}
	return err;
}

/** struct pass - over a batch; @bad: address where it failed, or NULL; @decided: changes when
 *  it was decided what to write */
struct pass {
	struct dp_engine *e;
	struct dp_target *target;
	const struct batch *b;
	u64 *bad, decided;
};

static struct dp_sites all_of(const struct dp_engine *e)
{
	struct dp_sites sites = dp_view_sites(&e->view);

	sites.may_go = e->own;
	return sites;
}

/* A breakpoint would have to be written. */
static int expect_no_traps(const struct dp_engine *e,
			   const struct dp_sites *sites, u64 *bad)
{
	const struct dp_site *s;
	u32 i;

	for (i = 0; i < sites->n; i++) {
		s = &e->sites[sites->which[i]];
		if (s->wants != DP_WANT_TRAP || s->leader)
			continue;
		if (bad)
			*bad = s->addr;
		return -EOPNOTSUPP;
	}
	return 0;
}

/* Write the wanted bytes. A site that fails stays as it is. */
static int write_batch(void *what)
{
	const struct pass *p = what;
	struct dp_engine *e = p->e;
	struct dp_sites sites = all_of(e);
	int err;

	sites.n = p->b->n;
	sites.which = p->b->v;
	/* Libraries have gone meanwhile. */
	if (e->growth->changes != p->decided)
		return 0;
	err = e->signal_free ? expect_no_traps(e, &sites, p->bad) : 0;
	if (err)
		return err;
	err = take_out(e, p->target, &sites, p->bad);
	if (!err)
		err = change_jumps(e, p->target, &sites, p->bad);
	if (!err)
		err = arm_jumps(e, p->target, &sites, p->bad);
	/* Some may not have become jumps. */
	if (!err)
		err = dp_strategy_trap.arm(p->target, &sites, p->bad);
	e->growth->unseen |= err != 0;
	return err;
}

/* Look at all sites before dropping any: a site's bytes are judged by what is armed
 * around it. Return: whether any were gone. */
static bool drop_gone(struct dp_engine *e, struct dp_target *target,
		      const struct batch *b)
{
	u32 *gone = b->v + b->n, n = 0, i;

	for (i = 0; i < b->n; i++)
		if (dp_site_is_gone(e, target, b->v[i]))
			gone[n++] = b->v[i];
	for (i = 0; i < n; i++)
		dp_gone_drop(e, gone[i]);
	return n;
}

static bool met_gone(const struct dp_engine *e, const struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		if (dp_live_site(e, b->v[i])->armed == DP_SITE_GONE)
			return true;
	return false;
}

static bool any_unowned(const struct dp_engine *e, const struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++)
		if (e->sites[b->v[i]].unowned)
			return true;
	return false;
}

/* What was at each site before. */
static void note_state(struct dp_engine *e, const struct batch *b)
{
	const struct dp_site_entry *entry;
	u32 i;

	for (i = 0; i < b->n; i++) {
		entry = dp_live_site(e, b->v[i]);
		e->sites[b->v[i]].armed_then = entry->armed;
		e->sites[b->v[i]].jump_then = entry->jump;
	}
}

/* Sites that have changed come first in the list that is kept. */
static void keep_touched(struct dp_engine *e, const struct batch *b)
{
	struct dp_growth *g = e->growth;
	const struct dp_site_entry *entry;
	const struct dp_site *s;
	u32 i, first;

	g->nr_touched = b->n;
	g->nr_changed = 0;
	for (i = 0; i < b->n; i++) {
		s = &e->sites[b->v[i]];
		entry = dp_live_site(e, b->v[i]);
		if (s->armed_then == entry->armed &&
		    s->jump_then == entry->jump)
			continue;
		first = b->v[g->nr_changed];
		b->v[g->nr_changed++] = b->v[i];
		b->v[i] = first;
	}
}

/* A failure may come of code that is gone: drop its sites and try again for the others. */
static int apply(struct dp_engine *e, struct dp_target *target, struct batch *b,
		 u64 *bad)
{
	const struct dp_live_setup *setup = &e->growth->setup;
	struct pass pass = { e, target, b, bad, 0 };
	bool again = true;
	int err = 0;
	u32 i;

	sort_by_address(e, b->v, b->n);
	note_state(e, b);
	while (again) {
		decide(e, b);
		pass.decided = e->growth->changes;
		err = setup->ops->hold(setup->arg, any_unowned(e, b),
				       write_batch, &pass);
		again = (((err && e->own) || met_gone(e, b)) &&
			 drop_gone(e, target, b)) ||
			e->growth->changes != pass.decided;
	}
	for (i = 0; i < b->n; i++)
		e->sites[b->v[i]].marked = false;
	keep_touched(e, b);
	return err;
}

int dp_apply_around(struct dp_engine *e, struct dp_target *target,
		    const u32 *probes, u32 n, u64 *bad)
{
	struct batch b = batch_of(e, probes, n);

	return apply(e, target, &b, bad);
}

/* If arming needs all threads stopped, ceded jumps are not written again. */
static bool comes_back(const struct dp_engine *e)
{
	return e->arming == DP_ARM_INTERIOR;
}

bool dp_engine_disturbed(const struct dp_engine *e, struct dp_target *target)
{
	const struct dp_sites sites = all_of(e);

	return dp_trap_lost(target, &sites) ||
	       dp_interior_disturbed(target, &sites, comes_back(e));
}

/** struct ceding - arguments of cede() */
struct ceding {
	struct dp_engine *e;
	struct dp_target *target;
	dp_cede_fn *tell;
	void *arg;
};

static int cede(void *what)
{
	const struct ceding *c = what;
	const struct dp_sites sites = all_of(c->e);
	int err = dp_trap_return(c->target, &sites, c->tell, c->arg);

	return err ? err :
		     dp_interior_cede(c->target, &sites, comes_back(c->e),
				      c->tell, c->arg);
}

int dp_engine_cede(struct dp_engine *e, struct dp_target *target,
		   dp_cede_fn *tell, void *arg)
{
	const struct dp_live_setup *setup = &e->growth->setup;
	struct ceding c = { e, target, tell, arg };
	bool unowned = false;
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		unowned |= e->sites[i].unowned;
	return setup->ops->hold(setup->arg, unowned, cede, &c);
}

/* Where it has failed, there are the breakpoints that there were. */
static void note_late(struct dp_engine *e, const struct batch *b)
{
	struct dp_site *s;
	u32 i;

	for (i = 0; i < b->n; i++) {
		s = &e->sites[b->v[i]];
		s->late |= s->wants == DP_WANT_PLAN &&
			   dp_entry_of(e, s)->armed == DP_SITE_TRAPPED;
	}
}

int dp_live_retry(struct dp_engine *e, struct dp_target *target)
{
	struct batch b = { e->growth->touched, 0 };
	int err;
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		if (e->sites[i].late)
			mark_around(e, &b, i);
	err = apply(e, target, &b, NULL);
	if (err)
		note_late(e, &b);
	return err;
}

void dp_live_set_knobs(struct dp_engine *e, bool armed, bool jumps)
{
	e->growth->disarmed = !armed;
	e->growth->unoptimized = !jumps;
}

int dp_engine_apply(struct dp_engine *e, struct dp_target *target, u64 *bad)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		mark(e, &b, &e->sites[i]);
	return apply(e, target, &b, bad);
}

int dp_live_knobs(struct dp_engine *e, struct dp_target *target, bool armed,
		  bool jumps)
{
	dp_live_set_knobs(e, armed, jumps);
	return dp_engine_apply(e, target, NULL);
}

static struct batch choose_all(struct dp_engine *e)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		if (e->sites[i].addr)
			mark(e, &b, &e->sites[i]);
	sort_by_address(e, b.v, b.n);
	dp_group_choose(e, b.v, b.n);
	for (i = 0; i < b.n; i++)
		e->sites[b.v[i]].marked = false;
	return b;
}

void dp_apply_plan(struct dp_engine *e)
{
	const struct batch b = choose_all(e);

	plan_jumps(e, &b);
}

void dp_apply_preview(struct dp_engine *e)
{
	choose_all(e);
}

void dp_live_touched(const struct dp_engine *e,
		     void (*tell)(void *arg, u32 probe), void *arg)
{
	u32 i, p;

	for (i = 0; i < e->growth->nr_touched; i++)
		for (p = e->sites[e->growth->touched[i]].first_probe; p;
		     p = e->probes[p - 1].next)
			tell(arg, p - 1);
}
