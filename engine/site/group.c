// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * group: which sites of an engine whose probes come and go share a jump.
 *
 * Sites of which each is within five bytes of the next are neighbours. What one of them
 * wants may change the jumps of all, so neighbours are looked at together, in the order of
 * their addresses. A site begins a jump if it can. The jump covers the sites in its five
 * bytes, if each is at an instruction of the region and none has to be a breakpoint by
 * itself.
 *
 * A site that a jump covers keeps the breakpoint that it has by itself: the bytes of the
 * jump contain it. So a jump comes and goes around such sites, and no hit is missed.
 */
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/site/arm.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

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

	return (after && after->place) || (before && before->was_jump);
}

/* Are there bytes of others in the site's five, which its jump cannot have? */
static bool is_overlapped(const struct dp_engine *e, const struct dp_site *s)
{
	const struct dp_site *other;
	u64 d;

	for (d = 1; d < DP_JUMP_SIZE; d++) {
		other = dp_engine_find(e, s->addr + d);
		if (e->arming == DP_ARM_INTERIOR ?
			    other && other->intercept >= 0 :
			    in_use(other) || leads_inside(e, s->addr, d))
			return true;
	}
	return false;
}

/* Has the site an enabled probe? @why: why one needs a breakpoint, or NULL */
static bool is_enabled(const struct dp_engine *e, const struct dp_site *s,
		       const char **why)
{
	bool enabled = false;
	u32 p;

	for (p = s->first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];

		if (!probe->linked)
			continue;
		enabled |= probe->enabled;
		if (probe->handlers.single)
			*why = probe->handlers.why;
	}
	return enabled && !e->growth->disarmed;
}

/* What the site wants by itself. A site without a region keeps its reason. */
static void want(const struct dp_engine *e, struct dp_site *s)
{
	bool able = s->mode == DP_MODE_JUMP;
	const char *why = NULL;

	s->leader = 0;
	dp_jump_cover_none(s);
	s->alone = false;
	s->wants = DP_WANT_OFF;
	if (able)
		s->why = NULL;
	else if (!s->why)
		s->why = "breakpoints were asked for";
	if (!is_enabled(e, s, &why))
		return;
	if (!why && e->growth->unoptimized)
		why = "optimising is switched off";
	s->alone = why;
	if (!why && able && is_overlapped(e, s))
		why = DP_WHY_OVERLAP;
	if (able)
		s->why = why;
	s->wants = able && !why ? DP_WANT_PLAN : DP_WANT_TRAP;
}

/* An illegal instruction that stands for a breakpoint is in jumps alone. */
static bool join(const struct dp_engine *e, struct dp_site *lead,
		 struct dp_site *s)
{
	return e->arming == DP_ARM_INTERIOR && !s->alone &&
	       (s->addr - lead->addr < DP_JUMP_SIZE - 1 || !lead->last ||
		lead->last == DP_BREAKPOINT) &&
	       dp_jump_cover(lead, s);
}

/* The site, and those before the @n-th that its jump was to cover, are breakpoints. */
static void give_up(struct dp_engine *e, const u32 *which, u32 n,
		    struct dp_site *lead)
{
	struct dp_site *s;

	dp_jump_cover_none(lead);
	do {
		s = &e->sites[which[--n]];
		if (s != lead && s->leader != lead->place)
			continue;
		s->leader = 0;
		s->wants = DP_WANT_TRAP;
		if (s->mode == DP_MODE_JUMP)
			s->why = DP_WHY_OVERLAP;
	} while (s != lead);
}

void dp_group_choose(struct dp_engine *e, const u32 *which, u32 n)
{
	struct dp_site *lead = NULL, *s;
	u32 i;

	for (i = 0; i < n; i++) {
		s = &e->sites[which[i]];
		want(e, s);
		if (s->wants == DP_WANT_OFF)
			continue;
		if (lead && s->addr - lead->addr >= DP_JUMP_SIZE)
			lead = NULL;
		if (lead && join(e, lead, s)) {
			s->wants = DP_WANT_TRAP;
			continue;
		}
		if (lead)
			give_up(e, which, i, lead);
		lead = s->wants == DP_WANT_PLAN ? s : NULL;
	}
}
