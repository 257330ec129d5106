// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * move: probes whose code has gone, and those that could not be armed.
 *
 * A probe whose code has gone keeps its number and its counts. When the code is there again,
 * perhaps elsewhere, the probe moves to a new site.
 */
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "port.h"

void dp_engine_release_gone(struct dp_engine *e)
{
	const struct dp_site *s;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		s = &e->sites[i];
		if (s->place && s->addr &&
		    dp_entry_of(e, s)->armed == DP_SITE_GONE)
			dp_gone_drop(e, i);
	}
}

int dp_engine_move(struct dp_engine *e, u32 probe, u64 addr, const u8 *code,
		   size_t size, const char **why)
{
	struct dp_probe *p = &e->probes[probe];
	struct dp_site *s;
	int err;

	dp_release_replaced(e, addr, code, size);
	err = dp_site_may_join(e, addr, why);
	if (!err)
		err = dp_site_take(e, addr, code, size, &s, why);
	if (err)
		return err;
	dp_engine_drop(e, probe);
	dp_release_probe(e, probe);
	p->moved = true;
	p->linked = false;
	s->instances |= p->kind != DP_KIND_PLAIN;
	dp_site_link(e, s, probe);
	dp_program_note(e, probe);
	return 0;
}

/* Code in pools that were never mapped. */
static bool is_lost(const struct dp_engine *e, u64 addr, u32 pools)
{
	u32 i;

	for (i = pools; i < e->need.nr_pools; i++)
		if (addr &&
		    addr - e->need.pools[i].addr < e->need.pools[i].size)
			return true;
	return false;
}

static void forget_jumps(struct dp_engine *e, struct dp_site *s, u32 pools)
{
	struct dp_jump *j;

	while (s->jumps) {
		j = &e->view.jumps[s->jumps];
		if (!is_lost(e, j->base, pools) &&
		    !is_lost(e, j->island, pools))
			return;
		s->jumps = j->earlier;
		dp_room_leave(e, j);
		*j = (struct dp_jump){ 0 };
	}
}

/* What others have left there serves nobody: something else will be mapped there. */
static void forget_left(struct dp_engine *e, struct dp_site *s, u32 pools)
{
	struct dp_jump *j;
	u32 n;

	if (is_lost(e, s->left.single, pools))
		s->left.single = 0;
	if (is_lost(e, s->left.post, pools))
		s->left.post = 0;
	for (n = s->left.jumps; n; n = j->earlier) {
		j = &e->view.jumps[n];
		if (is_lost(e, j->base, pools))
			j->base = j->room = 0;
	}
}

/* No code goes there any more, and no site gets a jump there: one that was there before may
 * have been about to. */
static void shun_pools(struct dp_engine *e, u32 pools)
{
	struct dp_growth *g = e->growth;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		forget_jumps(e, &e->sites[i], pools);
		if (is_lost(e, e->sites[i].post, pools))
			e->sites[i].post = 0;
	}
	for (i = pools; i < e->need.nr_pools; i++)
		g->pools[i] = (struct dp_pool){ .full = true };
	if (g->stage.pool >= pools)
		g->stage.from = g->stage.to = 0;
	dp_room_forget_holes(e);
}

/* Sites that have no plan leave no trace, nor do those for which nothing was written. */
static void drop_sites(struct dp_engine *e)
{
	struct dp_site *s;
	u32 i;

	for (i = e->nr_sites; i-- > 0;) {
		s = &e->sites[i];
		dp_release_unused(e, s);
		if (s->place || s->spare)
			continue;
		s->addr = 0;
		if (i + 1 == e->nr_sites && i >= e->view.nr_sites)
			e->nr_sites--;
		else
			dp_release_place(e, s);
	}
}

static void forget_pools(struct dp_engine *e, u32 pools)
{
	struct dp_arena_control *c = &e->arena->control;
	struct dp_site *s;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		s = &e->sites[i];
		if (s->place && s->addr &&
		    is_lost(e, dp_entry_of(e, s)->single, pools))
			dp_gone_drop(e, i);
		forget_left(e, s, pools);
	}
	for (i = pools; i < e->need.nr_pools; i++) {
		e->need.pools[i].size = e->need.pools[i].addr = 0;
		c->pools[i] = (struct dp_span){ 0 };
	}
}

/* What was told of a probe stays told. */
static void give_up(struct dp_engine *e, struct dp_target *target, u32 probe)
{
	u64 addr = e->sites[e->probes[probe].site].addr;

	dp_apply_around(e, target, &probe, 1, NULL);
	e->probes[probe].fresh = false;
	if (probe < e->view.nr_probes)
		dp_live_probe(e, probe)->gone = addr;
	else
		dp_release_probe(e, probe);
}

/* Bytes are written when no site wants any for the sake of another one that is given up. */
void dp_engine_retract(struct dp_engine *e, struct dp_target *target, u32 pools)
{
	u32 i;

	for (i = 0; i < e->nr_probes; i++)
		if (e->probes[i].fresh)
			dp_link_out(e, i);
	shun_pools(e, pools);
	for (i = 0; i < e->nr_probes; i++)
		if (e->probes[i].fresh)
			give_up(e, target, i);
	e->nr_probes = e->view.nr_probes;
	drop_sites(e);
	forget_pools(e, pools);
	dp_programs_drop(e, e->view.nr_programs);
}
