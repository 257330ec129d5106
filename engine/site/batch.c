// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * batch: the sites that are planned and armed next; sites whose code has gone.
 *
 * A batch has consecutive places in the table, in the order of addresses. A probe whose
 * code has gone keeps its number and its counts. When the code is there again, perhaps
 * elsewhere, the probe moves to a new site.
 */
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/site/build.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"
#include "engine/text/state.h"
#include "port.h"

static void sift(struct dp_engine *e, u32 *o, u32 root, u32 n)
{
	u32 child, top = o[root];

	for (; (child = 2 * root + 1) < n; root = child) {
		if (child + 1 < n &&
		    e->sites[o[child + 1]].addr > e->sites[o[child]].addr)
			child++;
		if (e->sites[o[child]].addr <= e->sites[top].addr)
			break;
		o[root] = o[child];
	}
	o[root] = top;
}

/* Heap sort: no recursion and no worst case, in a world without libc. */
static void sort(struct dp_engine *e, u32 *o, u32 n)
{
	u32 i, tmp;

	for (i = n / 2; i-- > 0;)
		sift(e, o, i, n);
	for (i = n; i-- > 1;) {
		tmp = o[0];
		o[0] = o[i];
		o[i] = tmp;
		sift(e, o, 0, i);
	}
}

/* The layout may be made again before it is built. */
static void forget_places(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_sites; i++)
		e->sites[i].place = 0;
	e->nr_places = e->nr_earlier = e->need.nr_pools = 0;
	e->batch = (struct dp_batch){ 0 };
}

static u32 unplanned(const struct dp_engine *e)
{
	u32 i, n = 0;

	for (i = 0; i < e->nr_sites; i++)
		n += !e->sites[i].place && e->sites[i].addr;
	return n;
}

/* The batch that has one of the @n places from @first on, or NULL. */
static const struct dp_batch *batch_in(const struct dp_engine *e, u32 first,
				       u32 n)
{
	const struct dp_batch *b = &e->batch;
	u32 i = 0;

	while (b->first >= first + n || first >= b->first + b->n) {
		if (i == e->nr_earlier)
			return NULL;
		b = &e->earlier[i++];
	}
	return b;
}

/* The first @n places that are free. */
static u32 find_places(const struct dp_engine *e, u32 n)
{
	const struct dp_batch *b;
	u32 first = 0;

	while ((b = batch_in(e, first, n)))
		first = b->first + b->n;
	return first;
}

static int keep(struct dp_engine *e)
{
	e->batch.pools = e->need.nr_pools - e->batch.pool;
	if (!e->batch.n && !e->batch.pools)
		return 0;
	if (dp_engine_reserve((void **)&e->earlier, e->nr_earlier,
			      &e->cap_earlier, sizeof(*e->earlier)))
		return -ENOMEM;
	e->earlier[e->nr_earlier++] = e->batch;
	return 0;
}

static int reserve_order(struct dp_engine *e, u32 end)
{
	int err = 0;

	while (!err && e->cap_places < end)
		err = dp_engine_reserve((void **)&e->order, e->cap_places,
					&e->cap_places, sizeof(*e->order));
	return err;
}

/* Have the tables room for what is there now? */
static bool fits(const struct dp_engine *e, u32 end)
{
	const struct dp_arena_control *c = &e->arena->control;

	return end <= c->max_sites && e->nr_probes <= c->max_probes &&
	       dp_programs_fit(e);
}

/* A jump must not take bytes in which a site of an earlier batch is. */
static void spare_earlier(struct dp_engine *e, struct dp_site *s)
{
	const struct dp_site *other;
	u64 d;

	for (d = 1; s->region.nr && d < DP_JUMP_SIZE; d++) {
		other = dp_engine_find(e, s->addr + d);
		if (!other || dp_batch_has(e, other))
			continue;
		s->region.nr = 0;
		s->why = DP_WHY_OVERLAP;
	}
}

int dp_batch_begin(struct dp_engine *e)
{
	struct dp_batch *b = &e->batch;
	u32 n, i, k = 0;

	if (!e->arena)
		forget_places(e);
	else if (keep(e))
		return -ENOMEM;
	n = unplanned(e);
	*b = (struct dp_batch){ .first = find_places(e, n),
				.pool = e->need.nr_pools,
				.later = e->arena };
	if (e->arena && !fits(e, b->first + n))
		return -ENOSPC;
	if (reserve_order(e, b->first + n + 1))
		return -ENOMEM;
	b->n = n;
	for (i = 0; i < e->nr_sites; i++)
		if (!e->sites[i].place && e->sites[i].addr)
			e->order[b->first + k++] = i;
	sort(e, e->order + b->first, n);
	for (i = b->first; i < b->first + n; i++)
		e->sites[e->order[i]].place = i + 1;
	for (i = b->first; b->later && i < b->first + n; i++)
		spare_earlier(e, dp_order_site(e, i));
	if (b->first + n > e->nr_places)
		e->nr_places = b->first + n;
	if (!b->later)
		e->nr_first = n;
	return 0;
}

/*
 * reclaim: batches of which no site is left.
 */

bool dp_engine_is_crowded(const struct dp_engine *e)
{
	u32 n = unplanned(e), end = find_places(e, n) + n;

	return end > e->arena->control.max_sites ||
	       e->need.nr_pools > DP_MAX_POOLS * 3 / 4;
}

static bool is_dead(const struct dp_engine *e, const struct dp_batch *b)
{
	u32 i;

	for (i = b->first; i < b->first + b->n; i++)
		if (dp_order_site(e, i)->addr ||
		    dp_order_site(e, i)->first_probe)
			return false;
	return b->later;
}

bool dp_engine_in_dead(const struct dp_engine *e, u64 addr)
{
	u32 i, k;

	for (i = 0; i < e->nr_earlier; i++)
		for (k = 0; k < e->earlier[i].pools; k++) {
			const struct dp_pool_need *p =
				&e->need.pools[e->earlier[i].pool + k];

			if (addr - p->addr < p->size &&
			    is_dead(e, &e->earlier[i]))
				return true;
		}
	return false;
}

/* New code may come to the addresses of the old. */
static void spare_sites(struct dp_engine *e, const struct dp_batch *b)
{
	struct dp_site *s;
	u32 i;

	for (i = b->first; i < b->first + b->n; i++) {
		s = dp_order_site(e, i);
		e->view.sites[i] = (struct dp_site_entry){ 0 };
		e->view.jumps[i + 1] = (struct dp_jump){ 0 };
		s->place = 0;
		s->pool = e->spare_sites;
		e->spare_sites = e->order[i] + 1;
	}
}

static void drop_pools(struct dp_engine *e, const struct dp_batch *b)
{
	u32 i;

	for (i = b->pool; i + b->pools < e->need.nr_pools; i++)
		e->need.pools[i] = e->need.pools[i + b->pools];
	e->need.nr_pools -= b->pools;
	for (i = 0; i < e->nr_earlier; i++)
		if (e->earlier[i].pool > b->pool)
			e->earlier[i].pool -= b->pools;
}

static void rebuild_hash(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i <= e->slots_mask; i++)
		e->slots[i] = 0;
	for (i = 0; i < e->view.nr_sites; i++)
		if (e->view.sites[i].addr)
			dp_hash_site(e, &e->view.sites[i], i);
	for (i = 0; i < e->view.nr_sites; i++)
		dp_hash_traps(e, &e->view.sites[i], i);
}

int dp_engine_reclaim(struct dp_engine *e,
		      int (*unmap)(void *arg, u64 addr, u64 size), void *arg)
{
	struct dp_batch b;
	u32 i = 0, k;
	int err = keep(e);

	if (err)
		return err;
	while (!err && i < e->nr_earlier) {
		b = e->earlier[i];
		if (!is_dead(e, &b)) {
			i++;
			continue;
		}
		for (k = 0; k < b.pools && !err; k++)
			err = unmap(arg, e->need.pools[b.pool + k].addr,
				    e->need.pools[b.pool + k].size);
		spare_sites(e, &b);
		e->earlier[i] = e->earlier[--e->nr_earlier];
		drop_pools(e, &b);
	}
	e->batch.n = 0;
	e->batch.pool = e->need.nr_pools;
	dp_note_pools(e, 0);
	rebuild_hash(e);
	return err;
}

/* No thread reaches the site any more, and no address finds it. Listings of the arena show
 * where its probes were. */
static void release(struct dp_engine *e, struct dp_site *s)
{
	struct dp_site_entry *entry = &e->view.sites[s->place - 1];
	u32 p;

	for (p = s->first_probe; p; p = e->probes[p - 1].next) {
		dp_hits_end(e, p - 1);
		dp_live_probe(e, p - 1)->gone = s->addr;
		e->probes[p - 1].linked = false;
	}
	s->addr = 0;
	entry->addr = 0;
	entry->first_probe = 0;
	entry->traps = 0;
	entry->wanted = DP_WANT_OFF;
	dp_site_set_state(entry, DP_SITE_OFF);
}

void dp_engine_release_gone(struct dp_engine *e)
{
	struct dp_site *s;
	u32 i;

	for (i = 0; i < e->nr_sites; i++) {
		s = &e->sites[i];
		if (s->place && s->addr &&
		    e->view.sites[s->place - 1].armed == DP_SITE_GONE)
			release(e, s);
	}
}

void dp_engine_retract(struct dp_engine *e, bool mapped)
{
	u32 i;

	for (i = e->batch.first; i < dp_batch_end(e); i++)
		if (dp_order_site(e, i)->addr)
			release(e, dp_order_site(e, i));
	/* What the tables had no room for must not stand in the way of others. */
	while (e->nr_probes > e->view.nr_probes)
		dp_engine_drop(e, --e->nr_probes);
	for (i = 0; i < e->nr_sites; i++)
		if (!e->sites[i].place)
			e->sites[i].addr = 0;
	dp_programs_drop(e, e->view.nr_programs);
	dp_engine_built(e);
	if (!mapped)
		e->need.nr_pools = e->batch.pool;
}

int dp_engine_move(struct dp_engine *e, u32 probe, u64 addr, const u8 *code,
		   size_t size, const char **why)
{
	const struct dp_probe *p = &e->probes[probe];
	struct dp_site *s;
	int err = dp_site_take(e, addr, code, size, &s, why);

	if (!err)
		err = dp_site_join(e, s, why);
	if (err)
		return err;
	dp_engine_drop(e, probe);
	e->probes[probe].moved = true;
	e->probes[probe].linked = false;
	s->instances |= p->kind != DP_KIND_PLAIN;
	s->records |= p->bound && p->kind != DP_KIND_ENTER;
	dp_site_link(e, s, probe);
	return 0;
}
