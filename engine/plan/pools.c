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
	pool = need->nr_pools > e->batch.pool ?
		       &need->pools[need->nr_pools - 1] :
		       NULL;
	if (!pool || !joins(pool, low, high)) {
		if (need->nr_pools == DP_MAX_POOLS)
			return -ENOMEM;
		pool = &need->pools[need->nr_pools++];
		*pool = (struct dp_pool_need){ .low = low,
					       .high = high,
					       .size = DP_STUBS +
						       2 * DP_DETOUR_MAX };
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

	for (i = e->batch.first; i < dp_batch_end(e); i++)
		if (assign_pool(e, &e->sites[e->order[i]]))
			return -ENOMEM;
	return 0;
}
