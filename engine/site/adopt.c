// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* adopt: an engine that takes over an arena with its intercepts armed. */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/site/build.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/instances.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/site.h"
#include "engine/site/view.h"
#include "engine/text/strategy.h"

/* Enter an intercept that is armed already. */
static int adopt_intercept(struct dp_engine *e, u32 i)
{
	const struct dp_site_entry *entry = dp_live_site(e, i);
	const struct dp_jump *j = dp_view_jump(&e->view, entry);
	struct dp_site *s;
	const char *why;
	u8 code[DP_REGION_MAX + 1] = { DP_NOP };
	int err = dp_site_take(e, entry->addr, code, 1, &s, &why);
	int k;

	if (err)
		return err;
	s->intercept = entry->number;
	s->place = i + 1;
	s->entered = true;
	s->mode = DP_MODE_JUMP;
	s->wants = DP_WANT_PLAN;
	s->region.nr = dp_jump_insns(j);
	s->region.len = j->size;
	for (k = 0; k < s->region.nr; k++)
		s->region.at[k] = j->offset[k];
	return 0;
}

static void adopt_pools(struct dp_engine *e)
{
	const struct dp_arena_control *c = &e->arena->control;
	u32 i;

	e->need.nr_pools = dp_few(&c->nr_pools, DP_MAX_POOLS);
	for (i = 0; i < e->need.nr_pools; i++) {
		e->need.pools[i].addr = c->pools[i].start;
		e->need.pools[i].size = c->pools[i].size;
		e->growth->pools[i].full = true;
	}
}

/* The view has checked the present tables; this checks their final size. */
static bool has_room(const struct dp_engine *e, const struct dp_live_setup *s)
{
	const char *start = (const char *)e->arena;
	u64 site = (u64)((const char *)e->view.sites - start);
	u64 jump = (u64)((const char *)e->view.jumps - start);
	u64 probe = (u64)((const char *)e->view.probes - start);
	u64 state = (u64)((const char *)e->view.states - start);

	return site + s->max_sites * sizeof(struct dp_site_entry) <= s->size &&
	       jump + e->arena->control.max_jumps * sizeof(struct dp_jump) <=
		       s->size &&
	       probe + s->max_sites * sizeof(struct dp_probe_entry) <=
		       s->size &&
	       state + s->max_sites * sizeof(struct dp_probe_state) <= s->size;
}

struct dp_upcalls *dp_live_upcalls(const struct dp_engine *e, u32 *n)
{
	*n = e->nr_upcalls;
	return e->upcalls;
}

int dp_engine_adopt(struct dp_engine *e, struct dp_arena *arena,
		    const struct dp_live_setup *setup)
{
	int err = dp_view_open(&e->view, arena, setup->size);
	u32 i;

	if (!err && !arena->control.own_process)
		err = -EBADMSG;
	e->max_sites = e->max_probes = setup->max_sites;
	e->own = true;
	if (!err)
		err = dp_room_begin(e, setup);
	if (err)
		return err;
	e->arena = arena;
	err = has_room(e, setup) ? dp_hash_find(e, setup->size) : -EBADMSG;
	if (!err)
		err = dp_upcalls_find(e, setup->size);
	if (err)
		return err;
	e->nr_caught = dp_few(&arena->control.nr_caught, DP_CAUGHT);
	if (arena->control.counts_alone)
		dp_engine_set_rseq(e, arena->control.rseq_offset,
				   arena->control.rseq_signature);
	adopt_pools(e);
	dp_instances_open(e);
	for (i = 0; i < e->view.nr_sites && !err; i++)
		err = adopt_intercept(e, i);
	return err;
}
