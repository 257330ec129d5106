// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stopped: jumps that are written while no thread runs.
 *
 *     OFF ─► TRAPPED, and its copy is the whole region ─► all threads are stopped ─► THERE
 *              ▲                                               │ a thread is inside
 *              └── late: it is tried again by dp_live_retry() ◄┘
 *
 * The first step is there where threads inside are not moved (@traps_first of struct dp_growth_ops): from then on
 * no thread comes inside, and those that are there leave by themselves.
 */
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

static void stay_trap(struct dp_engine *e, u32 i, const char *why)
{
	struct dp_site_entry *s = dp_live_site(e, i);

	e->sites[i].why = why;
	dp_entry_why(e->arena, s, why);
	s->wanted = DP_WANT_TRAP;
}

/* Threads could not be moved out of the regions: use breakpoints until the next call. */
static int stay_traps(struct dp_engine *e, const u32 *which, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		stay_trap(e, which[i], "threads are in the way of a jump");
	return 0;
}

/* A site that the jump was to cover, or to go on with, has a breakpoint of its own from here on. */
static void part(struct dp_engine *e, const struct dp_site *lead,
		 struct dp_site *s)
{
	struct dp_site_entry *entry = dp_entry_of(e, s);

	if (s->behind == lead->place)
		s->behind = 0;
	if (s->leader != lead->place)
		return;
	s->leader = 0;
	s->why = DP_WHY_LATE;
	s->was_trap |= s->wants == DP_WANT_TRAP;
	entry->leader = 0;
	entry->inner = false;
	dp_entry_why(e->arena, entry, s->why);
}

/* The bytes are those of its breakpoint, whatever its state says. */
void dp_engine_unwritten(struct dp_engine *e, u64 addr)
{
	struct dp_site *s = dp_engine_find(e, addr);
	struct dp_site_entry *entry = dp_entry_of(e, s);
	int k;

	dp_site_set_state(entry, DP_SITE_LEAVING);
	dp_site_set_state(entry, DP_SITE_TRAPPED);
	stay_trap(e, s->place - 1, DP_WHY_LATE);
	s->wants = DP_WANT_TRAP;
	s->late = true;
	for (k = 1; k < s->region.nr; k++)
		if (s->covers[k])
			part(e, s, &e->sites[s->covers[k] - 1]);
}

bool dp_live_late(const struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		if (e->sites[i].late && e->sites[i].place)
			return true;
	return false;
}

void dp_engine_copies(const struct dp_engine *e, u64 addr,
		      struct dp_span copies[DP_COPIES])
{
	const struct dp_site *site = dp_engine_find(e, addr);
	const struct dp_site_entry *s = dp_entry_of(e, site);

	copies[0] = (struct dp_span){ s->single, s->single_len };
	copies[1] =
		(struct dp_span){ site->post, site->post ? s->post_len : 0 };
}

/* Who has stopped all threads does not tell where it failed. */
static void blame(const struct dp_engine *e, struct dp_target *target,
		  const u32 *which, u32 n, u64 *bad)
{
	u8 now[DP_JUMP_SIZE];
	u32 i;

	for (i = 0; bad && i < n; i++) {
		const struct dp_site_entry *s = dp_live_site(e, which[i]);
		u8 len = dp_site_patch_len(s);

		if (s->armed != DP_SITE_COMING &&
		    !target->ops->read(target, s->addr, now, len) &&
		    dp_site_bytes(s, now) <= DP_BYTES_BETWEEN)
			continue;
		*bad = s->addr;
		return;
	}
}

static void want(struct dp_engine *e, const u32 *which, u32 n, u8 wanted)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_live_site(e, which[i])->wanted = wanted;
}

/* Their hits go on in the copies of their regions. */
static int break_first(struct dp_engine *e, struct dp_target *target,
		       const u32 *which, u32 n, u64 *bad)
{
	struct dp_sites sites = dp_view_sites(&e->view);
	int err;

	sites.which = which;
	sites.n = n;
	want(e, which, n, DP_WANT_TRAP);
	err = dp_strategy_trap.arm(target, &sites, bad);
	want(e, which, n, DP_WANT_PLAN);
	return err ? err : dp_text_sync(target);
}

static bool is_stopped_for(const struct dp_engine *e, u32 i)
{
	return dp_site_arming(e, &e->sites[i]) == DP_ARM_QUIESCE;
}

static u32 choose(const struct dp_engine *e, const struct dp_sites *sites,
		  u32 *which)
{
	u32 n = 0, i;

	for (i = 0; i < sites->n; i++) {
		const struct dp_site_entry *s = dp_sites_at(sites, i);

		if (s->mode == DP_MODE_JUMP && s->wanted == DP_WANT_PLAN &&
		    s->armed != DP_SITE_THERE && s->armed != DP_SITE_GONE &&
		    is_stopped_for(e, sites->which[i]))
			which[n++] = sites->which[i];
	}
	return n;
}

/* The sites are in the order of their addresses, and so are those that are chosen. */
int dp_apply_stopped(struct dp_engine *e, struct dp_target *target,
		     const struct dp_sites *sites, u64 *bad)
{
	const struct dp_growth *g = e->growth;
	const struct dp_growth_ops *ops = g->setup.ops;
	u32 *which = g->touched + sites->n, n = choose(e, sites, which);
	int err = 0;

	if (n && ops->traps_first)
		err = break_first(e, target, which, n, bad);
	if (err || !n)
		return err;
	err = ops->stopped(g->setup.arg, which, n, true);
	if (err && err != -EAGAIN)
		blame(e, target, which, n, bad);
	return err == -EAGAIN && e->own ? stay_traps(e, which, n) : err;
}
