// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* place: choose addresses for the pools of copies. */
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/internal.h"
#include "port.h"

/* Page zero and its neighbours cannot be mapped (vm.mmap_min_addr). */
#define LOWEST 0x10000ull

static u64 window_low(const struct dp_pool_need *need)
{
	return need->high > DP_REACH + LOWEST ? need->high - DP_REACH : LOWEST;
}

static u64 distance(const struct dp_pool_need *need, u64 addr)
{
	if (addr + need->size <= need->low)
		return need->low - addr - need->size;
	return addr > need->high ? addr - need->high : 0;
}

/* The best start in a hole: at the end nearest to the sites that the pool serves. */
static u64 fit(const struct dp_pool_need *need, const struct dp_hole *hole)
{
	u64 lo = hole->start > window_low(need) ? hole->start :
						  window_low(need);
	u64 hi = need->low + DP_REACH;

	if (hi > hole->end)
		hi = hole->end;
	lo = (lo + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);
	hi &= ~(u64)(DP_PAGE - 1);
	if (lo >= hi || hi - lo < need->size)
		return 0;
	return hi <= need->low ? hi - need->size : lo;
}

int dp_place_one(struct dp_pool_need *need, const struct dp_hole *holes,
		 size_t n)
{
	u64 addr;
	size_t i;

	need->addr = 0;
	for (i = 0; i < n; i++) {
		addr = holes[i].ours ? 0 : fit(need, &holes[i]);
		if (addr && (!need->addr ||
			     distance(need, addr) < distance(need, need->addr)))
			need->addr = addr;
	}
	return need->addr ? 0 : -ENOMEM;
}

/* Take the range of a pool out of the holes. */
size_t dp_holes_carve(struct dp_hole *holes, size_t n, u64 addr, u64 size)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (addr < holes[i].start || addr >= holes[i].end)
			continue;
		holes[n].start = addr + size;
		holes[n].end = holes[i].end;
		holes[i].end = addr;
		return n + 1;
	}
	return n;
}

int dp_engine_place(struct dp_engine *engine, const struct dp_hole *holes,
		    size_t n)
{
	struct dp_layout_need *need = &engine->need;
	struct dp_hole *free_ =
		dp_port_alloc((n + need->nr_pools + 1) * sizeof(*free_));
	int err = 0;
	size_t i;

	if (!free_)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		free_[i] = holes[i];
	for (i = engine->batch.pool; i < need->nr_pools && !err; i++) {
		struct dp_pool_need *pool = &need->pools[i];

		err = dp_place_one(pool, free_, n);
		if (!err)
			n = dp_holes_carve(free_, n, pool->addr, pool->size);
	}
	if (!err)
		err = dp_islands_place(engine, free_, n);
	dp_port_free(free_);
	return err;
}
