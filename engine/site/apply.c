// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * apply: bring the bytes at sites into their wanted state.
 *
 * The wanted bytes of a site follow from its probes, its neighbours and the knobs
 * (want()):
 *
 *   off       no probe is enabled, or all are switched off
 *   jump      a jump is possible, all its probes allow it, optimising is on, and no
 *             other site is within its five bytes
 *   trap      everything else
 *
 * All transitions between the three pass through the breakpoint, so no hit is missed.
 * From jump to trap and from off to jump, inner bytes of the region are not original. A
 * thread that then meets the breakpoint goes on in the detour's copies of the whole
 * region (@copy). Only when the bytes are original again does @copy become that of the
 * one instruction.
 */
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/site/arm.h"
#include "engine/site/build.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "engine/text/strategy.h"
#include "engine/text/target.h"

static bool in_use(const struct dp_site *s)
{
	return s && (s->first_probe || s->intercept >= 0);
}

/* A thread may still be in a copy that leads back to between two of the five bytes. Where
 * jumps have no breakpoints inside, it must not arrive in a jump. */
static bool leads_inside(const struct dp_engine *e, u64 addr, u64 d)
{
	const struct dp_site *after = dp_engine_find(e, addr + d);
	const struct dp_site *before = dp_engine_find(e, addr - d);

	return (after && after->planned) || (before && before->was_jump);
}

static bool is_overlapped(const struct dp_engine *e, const struct dp_site *s)
{
	u64 d;

	for (d = 1; d < DP_JUMP_SIZE; d++)
		if (in_use(dp_engine_find(e, s->addr + d)) ||
		    (e->arming == DP_ARM_QUIESCE &&
		     leads_inside(e, s->addr, d)))
			return true;
	return false;
}

static u8 want(const struct dp_engine *e, struct dp_site *s)
{
	bool enabled = false;
	u32 p;

	/* A site that cannot be a jump keeps its reason. */
	if (s->mode == DP_MODE_TRAP)
		s->why = s->why ? s->why : "breakpoints were asked for";
	else
		s->why = NULL;
	for (p = s->first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];

		if (!probe->linked)
			continue;
		enabled |= probe->enabled;
		if (probe->handlers.single && s->mode == DP_MODE_JUMP)
			s->why = probe->handlers.why;
	}
	if (!enabled || e->growth->disarmed)
		return DP_WANT_OFF;
	if (!s->why && e->growth->unoptimized)
		s->why = "optimising is switched off";
	if (!s->why && s->mode == DP_MODE_JUMP && is_overlapped(e, s))
		s->why = "overlap: another probe needs the same bytes";
	return s->why && s->mode == DP_MODE_JUMP ? DP_WANT_TRAP : DP_WANT_PLAN;
}

/* Sites, each at most once. */
struct batch {
	u32 *v, n;
};

static void mark(struct dp_engine *e, struct batch *b, struct dp_site *s)
{
	if (!s || s->marked || !s->planned || s->intercept >= 0)
		return;
	s->marked = true;
	b->v[b->n++] = (u32)(s - e->sites);
}

/* A site, and all sites whose five bytes include it. */
static void mark_around(struct dp_engine *e, struct batch *b, u32 i)
{
	u64 addr = e->sites[i].addr, d;

	mark(e, b, &e->sites[i]);
	for (d = 1; d < DP_JUMP_SIZE; d++)
		mark(e, b, dp_engine_find(e, addr - d));
}

static struct batch batch_of(struct dp_engine *e, const u32 *probes, u32 n)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	for (i = 0; i < n; i++)
		mark_around(e, &b, e->probes[probes[i]].site);
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

	for (gap = n / 2; gap; gap /= 2)
		for (i = gap; i < n; i++) {
			x = v[i];
			for (j = i; j >= gap && is_later(e, v[j - gap], x);
			     j -= gap)
				v[j] = v[j - gap];
			v[j] = x;
		}
}

/* Threads could not be moved out of the regions: use breakpoints until the next call. */
static int stay_traps(struct dp_engine *e, const u32 *which, u32 n)
{
	static const char *const why = "threads are in the way of a jump";
	u32 i;

	for (i = 0; i < n; i++) {
		struct dp_site_entry *s = dp_live_site(e, which[i]);

		e->sites[which[i]].why = why;
		dp_entry_why(e->arena, s, why);
		s->wanted = DP_WANT_TRAP;
	}
	return 0;
}

/* A tracer has to stop all threads for that. */
static int arm_stopped(struct dp_engine *e, const struct dp_sites *sites)
{
	const struct dp_growth *g = e->growth;
	u32 *which = g->touched + sites->n, n = 0, i;
	int err;

	for (i = 0; i < sites->n; i++) {
		const struct dp_site_entry *s = dp_sites_at(sites, i);

		if (s->mode == DP_MODE_JUMP && s->wanted == DP_WANT_PLAN &&
		    s->armed != DP_SITE_THERE && s->armed != DP_SITE_GONE)
			which[n++] = sites->which[i];
	}
	sort_by_address(e, which, n);
	err = n ? g->setup.ops->stopped(g->setup.arg, which, n) : 0;
	return err == -EAGAIN ? stay_traps(e, which, n) : err;
}

static int arm_jumps(struct dp_engine *e, struct dp_target *target,
		     const struct dp_sites *sites, u64 *bad)
{
	if (e->arming == DP_ARM_QUIESCE)
		return arm_stopped(e, sites);
	return dp_strategy_interior.arm(target, sites, bad);
}

static void decide(struct dp_engine *e, const struct batch *b)
{
	u32 i;

	for (i = 0; i < b->n; i++) {
		struct dp_site *s = &e->sites[b->v[i]];
		struct dp_site_entry *entry = dp_live_site(e, b->v[i]);

		entry->wanted = want(e, s);
		entry->unowned = s->unowned;
		dp_entry_why(e->arena, entry, s->why);
		s->was_jump |= s->mode == DP_MODE_JUMP &&
			       entry->wanted == DP_WANT_PLAN;
	}
}

/** struct pass - over a batch; @bad: address where it failed, or NULL */
struct pass {
	struct dp_engine *e;
	struct dp_target *target;
	const struct batch *b;
	u64 *bad;
};

/* Write the wanted bytes. A site that fails stays as it is. */
static int write_batch(void *what)
{
	const struct pass *p = what;
	struct dp_engine *e = p->e;
	struct dp_target *target = p->target;
	const struct batch *b = p->b;
	struct dp_sites sites = { .v = e->view.sites,
				  .jumps = e->view.jumps,
				  .n = b->n,
				  .which = b->v,
				  .may_go = true };
	u64 *bad = p->bad;
	int err, later;
	u32 i;

	decide(e, b);
	err = dp_strategy_interior.disarm(target, &sites, bad);
	later = dp_strategy_trap.disarm(target, &sites, err ? NULL : bad);
	err = err ? err : later;
	if (!err)
		err = dp_text_sync(target);
	for (i = 0; i < b->n; i++) {
		struct dp_site_entry *s = dp_live_site(e, b->v[i]);

		set_copy(e, s,
			 s->mode == DP_MODE_JUMP && s->wanted == DP_WANT_PLAN);
	}
	if (!err)
		err = arm_jumps(e, target, &sites, bad);
	if (!err)
		err = dp_strategy_trap.arm(target, &sites, bad);
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

/* A failure may come of code that is gone: drop its sites and try again for the others. */
static int apply(struct dp_engine *e, struct dp_target *target, struct batch *b,
		 u64 *bad)
{
	const struct dp_live_setup *setup = &e->growth->setup;
	struct pass pass = { e, target, b, bad };
	bool again = true;
	int err = 0;
	u32 i;

	while (again) {
		err = setup->ops->hold(setup->arg, any_unowned(e, b),
				       write_batch, &pass);
		again = (err || met_gone(e, b)) && drop_gone(e, target, b);
	}
	for (i = 0; i < b->n; i++)
		e->sites[b->v[i]].marked = false;
	e->growth->nr_touched = b->n;
	return err;
}

int dp_apply_around(struct dp_engine *e, struct dp_target *target,
		    const u32 *probes, u32 n, u64 *bad)
{
	struct batch b = batch_of(e, probes, n);

	return apply(e, target, &b, bad);
}

static struct dp_sites all_of(const struct dp_engine *e)
{
	return (struct dp_sites){ .v = e->view.sites,
				  .jumps = e->view.jumps,
				  .n = e->view.nr_sites,
				  .may_go = true };
}

/* If arming needs all threads stopped, ceded jumps are not written again. */
static bool comes_back(const struct dp_engine *e)
{
	return e->arming == DP_ARM_INTERIOR;
}

bool dp_live_disturbed(const struct dp_engine *e, struct dp_target *target)
{
	const struct dp_sites sites = all_of(e);

	return dp_interior_disturbed(target, &sites, comes_back(e));
}

static void tell_nobody(void *arg, u64 addr, bool away)
{
}

static int cede(void *what)
{
	const struct pass *p = what;
	const struct dp_sites sites = all_of(p->e);

	return dp_interior_cede(p->target, &sites, comes_back(p->e),
				tell_nobody, NULL);
}

int dp_live_cede(struct dp_engine *e, struct dp_target *target)
{
	const struct dp_live_setup *setup = &e->growth->setup;
	struct pass pass = { .e = e, .target = target };
	bool unowned = false;
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		unowned |= e->sites[i].unowned;
	return setup->ops->hold(setup->arg, unowned, cede, &pass);
}

void dp_live_set_knobs(struct dp_engine *e, bool armed, bool jumps)
{
	e->growth->disarmed = !armed;
	e->growth->unoptimized = !jumps;
}

int dp_live_knobs(struct dp_engine *e, struct dp_target *target, bool armed,
		  bool jumps)
{
	struct batch b = { e->growth->touched, 0 };
	u32 i;

	dp_live_set_knobs(e, armed, jumps);
	for (i = 0; i < e->nr_sites; i++)
		mark(e, &b, &e->sites[i]);
	return apply(e, target, &b, NULL);
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
