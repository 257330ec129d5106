// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * arrivals: jumps into whose bytes the program branches more often than it comes to where they
 * begin.
 *
 * Each arrival is a trap. As a breakpoint the site traps at its own hits only, and where the program
 * arrives, at the head of a loop say, the next site can begin a jump of its own. A site that has
 * stepped back once stays so, so this comes to an end.
 */
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* So many are not worth it. */
#define FEW 1000

/* Traps that were counted for the site, since another one has stepped back for it */
static u64 traps_of(const struct dp_engine *e, const struct dp_site *s)
{
	u64 n = s->first_probe ? dp_engine_tally(e, s->first_probe - 1,
						 DP_TALLY_MIDDLE) :
				 0;

	return n - s->traps_before;
}

static struct dp_site *covered(const struct dp_engine *e,
			       const struct dp_site *s, int k)
{
	return s->covers[k] ? &e->sites[s->covers[k] - 1] : NULL;
}

/* What arrives where no site is counts for the jump's own. */
static u64 arrivals_in(const struct dp_engine *e, const struct dp_site *s)
{
	u64 n = traps_of(e, s);
	int k;

	for (k = 1; k < s->region.nr; k++)
		if (covered(e, s, k))
			n += traps_of(e, covered(e, s, k));
	return n;
}

static bool is_crowded(const struct dp_engine *e, const struct dp_site *s)
{
	u64 n;

	if (!s->place || !s->first_probe || s->wants != DP_WANT_PLAN ||
	    s->leader || s->intercept >= 0 ||
	    dp_site_arming(e, s) != DP_ARM_INTERIOR)
		return false;
	n = arrivals_in(e, s);
	return n >= FEW && n > dp_engine_hits(e, s->first_probe - 1);
}

/* Threads may be in the copies of a jump around it, and come back to behind its first byte. */
static void let_arrive(const struct dp_engine *e, struct dp_site *s)
{
	if (s->arrivals || s->was_jump || !s->region.nr)
		return;
	s->arrivals = true;
	dp_jump_note_traps(e, s);
}

static void step_back(const struct dp_engine *e, struct dp_site *s)
{
	struct dp_site *inner;
	int k;

	s->crowded = true;
	for (k = 1; k < s->region.nr; k++) {
		inner = covered(e, s, k);
		if (!inner)
			continue;
		inner->traps_before += traps_of(e, inner);
		let_arrive(e, inner);
	}
}

bool dp_engine_has_settled(const struct dp_engine *e, u32 probe)
{
	const struct dp_site *s = &e->sites[e->probes[probe].site];

	return s->crowded ||
	       (s->traps_before && (!s->leader || arrivals_in(e, s) < FEW));
}

bool dp_engine_step_back(struct dp_engine *e)
{
	u64 n = dp_engine_interior_arrivals(e);
	bool any = false;
	u32 i;

	if (n - e->arrivals_seen < FEW)
		return false;
	e->arrivals_seen = n;
	for (i = 0; i < e->nr_sites; i++)
		if (is_crowded(e, &e->sites[i])) {
			step_back(e, &e->sites[i]);
			any = true;
		}
	return any;
}
