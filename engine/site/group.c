// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * group: which sites begin jumps, and which share them.
 *
 * Sites of which each is within five bytes of the next are neighbours; where a jump's detour may go
 * on behind them, within an instruction's. What one of them wants may change the jumps of all, so
 * neighbours are looked at together, in the order of their addresses. A site begins a jump if it can. The jump covers the sites in its five
 * bytes, if each is at an instruction of the region and none has to be a breakpoint by
 * itself.
 *
 * A site that a jump covers keeps the breakpoint that it has by itself: the bytes of the
 * jump contain it. So a jump comes and goes around such sites, and no hit is missed.
 *
 * quiesce: jumps have no breakpoints inside. They cover sites that have never been
 * breakpoints, nor jumps, which become breakpoints before others cover them. Those get
 * their own breakpoints when the jump leaves.
 *
 * A site without probes begins a jump early, if that covers the one that it serves.
 *
 * Where branches of a jump's region go to a ret that is a breakpoint, the detour may have a duplicate of
 * the ret. A site without probes may begin a jump for that alone.
 *
 * Behind its five bytes, a jump's detour may go on with the instructions of sites that cannot begin
 * jumps, because they have no room, say. Such a site is a breakpoint in the text, for threads that
 * branch to it. Threads that come through the jump go on behind it. Only neighbours do that: a site
 * that is farther away is not looked at when the jump changes.
 */
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/site/arm.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* A thread may still be in a copy that leads back to between two of the five bytes. Where
 * jumps have no breakpoints inside, it must not arrive in a jump. */
static bool leads_inside(const struct dp_engine *e, u64 addr, u64 d)
{
	const struct dp_site *after = dp_engine_find(e, addr + d);
	const struct dp_site *before = dp_engine_find(e, addr - d);

	return (after && after->was_trap) || (before && before->was_jump);
}

/* Are there bytes of others in the site's five, which its jump cannot have? */
static bool is_overlapped(const struct dp_engine *e, const struct dp_site *s)
{
	const struct dp_site *other;
	u64 d;

	for (d = 1; d < DP_JUMP_SIZE; d++) {
		other = dp_engine_find(e, s->addr + d);
		if ((other && other->intercept >= 0) ||
		    (dp_site_arming(e, s) != DP_ARM_INTERIOR &&
		     leads_inside(e, s->addr, d)))
			return true;
	}
	return false;
}

/* Can the site be a jump at all? */
static const char *unfit(const struct dp_engine *e, const struct dp_site *s)
{
	if (e->arming == DP_ARM_TRAP)
		return "breakpoints were asked for";
	if (dp_site_arming(e, s) != DP_ARM_QUIESCE)
		return NULL;
	if (s->region.returns)
		return DP_WHY_RETURNS;
	if (s->region.faults && e->nr_caught)
		return DP_WHY_FAULTS;
	return NULL;
}

/* A handler of a fault goes on at a breakpoint of the jump's. Where no signal is caught the fault is in
 * the copy, and the way on, too. */
static bool may_go_on(const struct dp_engine *e, const struct dp_site *s)
{
	return s->region.faults && e->nr_caught && !e->own;
}

void dp_group_prepare(const struct dp_engine *e, struct dp_site *s)
{
	const char *why;

	s->arrivals |= may_go_on(e, s) && !s->region.returns;
	why = unfit(e, s);

	if (!why)
		return;
	s->region.nr = 0;
	s->why = why;
}

/* Has the site an enabled probe? @why: why one needs a breakpoint, or NULL */
static bool is_enabled(const struct dp_engine *e, const struct dp_site *s,
		       const char **why)
{
	bool enabled = false;
	u32 p;

	for (p = s->first_probe; p; p = e->probes[p - 1].next) {
		const struct dp_probe *probe = &e->probes[p - 1];

		if (!probe->linked && !probe->fresh)
			continue;
		enabled |= probe->enabled;
		if (probe->handlers.single)
			*why = probe->handlers.why;
	}
	return enabled && !e->growth->disarmed;
}

/* The site for which this one begins a jump early, if that is enabled, or NULL */
static const struct dp_site *served(const struct dp_engine *e,
				    const struct dp_site *s)
{
	const struct dp_region *r = &s->region;
	const struct dp_site *to =
		s->early && r->nr ?
			dp_engine_find(e, s->addr + r->at[r->nr - 1]) :
			NULL;
	const char *why = NULL;

	return to && is_enabled(e, to, &why) && !why ? to : NULL;
}

static bool may_follow(const struct dp_engine *e)
{
	return !e->own && !e->signal_free && e->arming != DP_ARM_TRAP;
}

/* The site whose ret the jump's detour is to have, or NULL. One that can be a jump is reached by a
 * branch in the text. */
static const struct dp_site *duplicate_of(const struct dp_engine *e,
					  const struct dp_site *s)
{
	const struct dp_site *to = s->branches_to && may_follow(e) ?
					   dp_engine_find(e, s->branches_to) :
					   NULL;
	const char *why = NULL;

	return to && to->place && to->duplicated && to->mode == DP_MODE_TRAP &&
			       is_enabled(e, to, &why) && !why &&
			       dp_jump_branches(s) ?
		       to :
		       NULL;
}

/* Its jump's five bytes end in the last instruction, or with it. */
static void end_region(struct dp_region *r)
{
	while (r->nr && r->at[r->nr - 1] >= DP_JUMP_SIZE)
		r->len = r->at[--r->nr];
}

/* Or the region ends with the instruction of the site that is served. */
static void begin_region(struct dp_site *s)
{
	struct dp_region *r = &s->region;

	end_region(r);
	while (r->nr && r->len < s->serves) {
		r->len = r->at[r->nr] + r->facts[r->nr].len;
		r->nr++;
	}
}

/* What the site wants by itself. A site without a region keeps its reason. */
static void want(const struct dp_engine *e, struct dp_site *s)
{
	bool able = s->mode == DP_MODE_JUMP;
	const char *why = NULL;

	s->leader = s->behind = 0;
	dp_jump_cover_none(s);
	begin_region(s);
	s->alone = false;
	s->wants = DP_WANT_OFF;
	if (able)
		s->why = NULL;
	else if (!s->why)
		s->why = "breakpoints were asked for";
	if (!is_enabled(e, s, &why) && !served(e, s) && !duplicate_of(e, s))
		return;
	if (!why && e->growth->unoptimized)
		why = "optimising is switched off";
	s->alone = why;
	if (!why && able && is_overlapped(e, s))
		why = DP_WHY_OVERLAP;
	if (!why && able && s->crowded)
		why = DP_WHY_CROWDED;
	if (able)
		s->why = why;
	s->wants = able && !why	  ? DP_WANT_PLAN :
		   s->first_probe ? DP_WANT_TRAP :
				    DP_WANT_OFF;
}

static bool join(const struct dp_engine *e, struct dp_site *lead,
		 struct dp_site *s)
{
	return (dp_site_arming(e, lead) == DP_ARM_INTERIOR ||
		(!s->was_trap && !s->was_jump)) &&
	       !s->alone && dp_jump_cover(lead, s);
}

/* So near that functions are none, at the 16 bytes to which they are aligned. */
u32 dp_group_most(const struct dp_engine *e)
{
	return may_follow(e) ? DP_INSN_MAX : DP_JUMP_SIZE - 1;
}

/* Of two sites, one after the other: what one wants is decided whenever the other changes. */
static bool are_neighbours(const struct dp_engine *e, u32 a, u32 b)
{
	return e->sites[b].addr - e->sites[a].addr <= dp_group_most(e);
}

/* The region of @lead goes on with the site, which is right behind it. Return: false: it cannot. */
static bool extend(struct dp_site *lead, const struct dp_site *s)
{
	struct dp_region *r = &lead->region;
	u8 i, len = s->facts.len;

	if (s->addr != lead->addr + r->len || r->nr == DP_REGION_INSNS ||
	    r->len + len > sizeof(lead->code) ||
	    !dp_insn_falls_through(r->facts[r->nr - 1].class))
		return false;
	for (i = 0; i < len; i++)
		lead->code[r->len + i] = s->code[i];
	r->at[r->nr] = r->len;
	r->facts[r->nr++] = s->facts;
	r->len += len;
	return true;
}

/* The detour of @lead, behind the five bytes of its jump, has the site's instruction, too.
 * Return: false: it cannot. */
static bool follow(const struct dp_engine *e, struct dp_site *lead,
		   struct dp_site *s)
{
	int k;

	if (!may_follow(e) || s->alone || s->early || s->intercept >= 0 ||
	    s->within || s->observed || s->wants != DP_WANT_TRAP ||
	    s->facts.class == DP_INSN_SYSCALL)
		return false;
	k = dp_jump_insn_at(lead, s->addr);
	if (k < 0 && extend(lead, s))
		k = lead->region.nr - 1;
	if (k < 0)
		return false;
	lead->covers[k] = s->place;
	s->behind = lead->place;
	return true;
}

/* The site, and those before the @n-th that its jump was to cover, are breakpoints. */
static void give_up(struct dp_engine *e, const u32 *which, u32 n,
		    struct dp_site *lead)
{
	struct dp_site *s;

	dp_jump_cover_none(lead);
	do {
		s = &e->sites[which[--n]];
		if (s->behind == lead->place)
			s->behind = 0;
		if (s != lead && s->leader != lead->place)
			continue;
		s->leader = 0;
		s->wants = s->first_probe ? DP_WANT_TRAP : DP_WANT_OFF;
		if (s->mode == DP_MODE_JUMP)
			s->why = DP_WHY_OVERLAP;
	} while (s != lead);
}

/* The jump ends with its five bytes, and so do the sites before the @n-th that are behind those. */
static void cut(struct dp_engine *e, const u32 *which, u32 n,
		struct dp_site *lead)
{
	struct dp_site *s = NULL;

	while (n && s != lead) {
		s = &e->sites[which[--n]];
		if (s->behind == lead->place)
			s->behind = 0;
	}
	end_region(&lead->region);
	for (n = lead->region.nr; n < DP_REGION_INSNS; n++)
		lead->covers[n] = 0;
}

/* No site from the @n-th on is part of the jump of @lead, or NULL. If the site that it serves is
 * none either, its detour must not have that one's instruction. */
static void leave(struct dp_engine *e, const u32 *which, u32 n,
		  struct dp_site *lead)
{
	if (!lead || !lead->serves || lead->wants != DP_WANT_PLAN ||
	    lead->covers[lead->region.nr - 1])
		return;
	if (lead->early && !duplicate_of(e, lead))
		give_up(e, which, n, lead);
	else
		cut(e, which, n, lead);
}

static void choose_duplicates(const struct dp_engine *e, const u32 *which,
			      u32 n)
{
	const struct dp_site *to;
	struct dp_site *s;
	u32 i;

	for (i = 0; i < n; i++) {
		s = &e->sites[which[i]];
		to = s->wants == DP_WANT_PLAN ? duplicate_of(e, s) : NULL;
		s->duplicates = to ? (u32)(to - e->sites) + 1 : 0;
	}
}

void dp_group_choose(struct dp_engine *e, const u32 *which, u32 n)
{
	struct dp_site *lead = NULL, *s;
	u32 i;

	for (i = 0; i < n; i++) {
		s = &e->sites[which[i]];
		if (i && !are_neighbours(e, which[i - 1], which[i])) {
			leave(e, which, i, lead);
			lead = NULL;
		}
		want(e, s);
		if (s->wants == DP_WANT_OFF)
			continue;
		if (lead && s->addr - lead->addr >= DP_JUMP_SIZE) {
			if (follow(e, lead, s))
				continue;
			leave(e, which, i, lead);
			lead = NULL;
		}
		if (lead && join(e, lead, s)) {
			s->wants = s->first_probe ? DP_WANT_TRAP : DP_WANT_OFF;
			continue;
		}
		if (lead)
			give_up(e, which, i, lead);
		lead = s->wants == DP_WANT_PLAN ? s : NULL;
	}
	leave(e, which, n, lead);
	choose_duplicates(e, which, n);
}
