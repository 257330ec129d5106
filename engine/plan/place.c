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
	u64 low = need->high - DP_REACH;

	/* Of programs, which alone have code between 0 and there */
	return dp_addr_below(low, LOWEST) && !dp_addr_below(need->low, 0) ?
		       LOWEST :
		       low;
}

/* How far a hole without a chart is away, besides */
#define UNCHARTED (1ull << 62)

static u64 distance(const struct dp_pool_need *need, u64 addr)
{
	if (!dp_addr_below(need->low, addr + need->size))
		return need->low - addr - need->size;
	return dp_addr_below(need->high, addr) ? addr - need->high : 0;
}

/* The best start in a hole: at the end nearest to the sites that the pool serves. */
static u64 fit(const struct dp_pool_need *need, const struct dp_hole *hole)
{
	u64 lo = window_low(need), hi = need->low + DP_REACH;

	if (dp_addr_below(lo, hole->start))
		lo = hole->start;
	if (dp_addr_below(hole->end, hi))
		hi = hole->end;
	lo = (lo + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);
	hi &= ~(u64)(DP_PAGE - 1);
	if (!dp_addr_below(lo, hi) || hi - lo < need->size)
		return 0;
	return dp_addr_below(need->low, hi) ? lo : hi - need->size;
}

int dp_place_one(struct dp_pool_need *need, const struct dp_hole *holes,
		 size_t n)
{
	u64 addr, far, least = ~0ull;
	size_t i;

	need->addr = 0;
	for (i = 0; i < n; i++) {
		addr = holes[i].is & DP_HOLE_OURS ? 0 : fit(need, &holes[i]);
		far = distance(need, addr) +
		      (holes[i].is & DP_HOLE_CHARTED ? 0 : UNCHARTED);
		if (!addr || far >= least)
			continue;
		need->addr = addr;
		least = far;
	}
	return need->addr ? 0 : -ENOMEM;
}

/* Take the range of a pool out of the holes. */
size_t dp_holes_carve(struct dp_hole *holes, size_t n, u64 addr, u64 size)
{
	u64 end = addr + size;
	size_t i;

	for (i = 0; i < n; i++) {
		if (addr < holes[i].start || addr >= holes[i].end)
			continue;
		if (end >= holes[i].end) {
			holes[i].end = addr;
		} else if (addr == holes[i].start) {
			holes[i].start = end;
		} else {
			holes[n] = holes[i];
			holes[n].start = end;
			holes[i].end = addr;
			return n + 1;
		}
		break;
	}
	return n;
}
