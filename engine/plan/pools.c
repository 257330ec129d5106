// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* pools: which copies share a pool, and how large it is. */
#include "arch/arch.h"
#include "engine/insn/detour.h"
#include "engine/insn/insn.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "port.h"

static void sift(struct dp_engine *e, u32 root, u32 n)
{
	u32 *o = e->order, child, top = o[root];

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
int dp_sites_sort(struct dp_engine *e)
{
	u32 i, n = e->nr_sites, tmp;

	dp_port_free(e->order);
	e->order = dp_port_alloc((n + 1) * sizeof(*e->order));
	if (!e->order)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		e->order[i] = i;
	for (i = n / 2; i-- > 0;)
		sift(e, i, n);
	for (i = n; i-- > 1;) {
		tmp = e->order[0];
		e->order[0] = e->order[i];
		e->order[i] = tmp;
		sift(e, 0, i);
	}
	return 0;
}

static void widen(const struct insn_facts *f, u64 addr, u64 *low, u64 *high)
{
	u64 next = addr + f->len, target = dp_insn_refers(f, addr);

	*low = target < *low ? target : *low;
	*high = target > *high ? target : *high;
	*high = next > *high ? next : *high;
}

void dp_site_span(const struct dp_site *s, u64 *low, u64 *high)
{
	int i;

	*low = *high = s->addr;
	widen(&s->facts, s->addr, low, high);
	for (i = 0; i < s->region.nr; i++)
		widen(&s->region.facts[i], s->addr + s->region.at[i], low,
		      high);
}

static bool joins(const struct dp_pool_need *pool, u64 low, u64 high)
{
	u64 lo = low < pool->low ? low : pool->low;
	u64 hi = high > pool->high ? high : pool->high;

	/* Half of DP_REACH on each side is left for the placement. */
	return hi - lo + pool->size < DP_REACH / 2;
}

static int assign_pool(struct dp_engine *e, struct dp_site *s)
{
	struct dp_layout_need *need = &e->need;
	struct dp_pool_need *pool;
	u64 low, high;

	dp_site_span(s, &low, &high);
	pool = need->nr_pools ? &need->pools[need->nr_pools - 1] : NULL;
	if (!pool || !joins(pool, low, high)) {
		if (need->nr_pools == DP_MAX_POOLS)
			return -ENOMEM;
		pool = &need->pools[need->nr_pools++];
		pool->low = low;
		pool->high = high;
		pool->size = DP_ENTRY_STUB + 2 * DP_DETOUR_MAX;
	}
	pool->low = low < pool->low ? low : pool->low;
	pool->high = high > pool->high ? high : pool->high;
	pool->size += s->intercept >= 0 ? DP_COPY_MAX : DP_COPY_MAX * 3 / 4;
	if (s->records)
		pool->size += DP_COPY_MAX;
	pool->size += dp_jump_room(e, s);
	s->pool = need->nr_pools - 1;
	return 0;
}

int dp_pools_assign(struct dp_engine *e)
{
	u32 i;

	e->need.nr_pools = 0;
	for (i = 0; i < e->nr_sites; i++)
		if (assign_pool(e, &e->sites[e->order[i]]))
			return -ENOMEM;
	return 0;
}
