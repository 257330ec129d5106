// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * island: addresses for jumps that contain breakpoints.
 *
 * A jump over several instructions has a breakpoint at the start of each but the first.
 * An interior arrival traps there and is sent to the copy. The jump's displacement
 * contains these bytes, and that decides where the jump goes:
 *
 *      site  jump xx bp xx bp     to where a displacement of these bytes leads
 *
 * At that address is the island, a jump of five bytes to the detour, which is anywhere
 * near. Islands share pages as far as possible.
 */
#include "arch/arch.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "port.h"

#define TRIES 2048
#define PATTERNS (1 << (DP_JUMP_SIZE - 1))
#define NEAR (1ull << 30)

struct page {
	u64 addr; /* 0: none */
	u64 used[DP_PAGE / 64]; /* a bit a byte */
};

struct dp_islands {
	const struct dp_hole *holes;
	size_t nr_holes;
	struct page *pages; /* a hash table */
	u32 mask, nr_pages;
	u64 hint[PATTERNS]; /* the last island of each pattern */
	u64 lowest; /* the lowest island that has ever become free */
	u32 again; /* of each pattern, a bit: there may be a free one from there on */
};

/* The least number from @from on that matches the pattern; above 2^32 if none. */
static u64 next_match(u64 from, const struct dp_jump_pattern *p)
{
	u64 mask = p->mask, differs = (from ^ p->value) & mask, low, up;

	if (from >> 32 || !differs)
		return from;
	low = (2ull << (63 - __builtin_clzll(differs))) - 1;
	up = from & ~low;
	/* Where the pattern is less, the free bits above it have to go up by one; the
	 * carry passes over the fixed bits. */
	if ((p->value & low) < (from & mask & low))
		up = (from | mask | low) + 1;
	if (up >> 32)
		return up;
	return (up & ~mask & ~low) | p->value;
}

static struct page *find_page(struct dp_islands *l, u64 addr, bool make)
{
	u32 i = dp_site_hash(addr) & l->mask;

	for (; l->pages[i].addr; i = (i + 1) & l->mask)
		if (l->pages[i].addr == addr)
			return &l->pages[i];
	if (!make)
		return NULL;
	l->pages[i].addr = addr;
	l->nr_pages++;
	return &l->pages[i];
}

/* At most half full. */
static int reserve(struct dp_islands *l)
{
	struct dp_islands bigger = *l;
	u32 i, slots = l->pages ? (l->mask + 1) * 2 : 64;

	/* An island takes two pages at most. */
	if (l->pages && l->nr_pages + 2 <= (l->mask + 1) / 2)
		return 0;
	bigger.pages = dp_port_alloc(slots * sizeof(*bigger.pages));
	if (!bigger.pages)
		return -ENOMEM;
	bigger.mask = slots - 1;
	bigger.nr_pages = 0;
	for (i = 0; l->pages && i <= l->mask; i++)
		if (l->pages[i].addr)
			*find_page(&bigger, l->pages[i].addr, true) =
				l->pages[i];
	dp_port_free(l->pages);
	*l = bigger;
	return 0;
}

static bool is_free(struct dp_islands *l, u64 addr)
{
	const struct page *p = NULL;
	u64 a;

	for (a = addr; a < addr + DP_JUMP_SIZE; a++) {
		if (a == addr || !(a % DP_PAGE))
			p = find_page(l, a & ~(u64)(DP_PAGE - 1), false);
		if (p && p->used[a % DP_PAGE / 64] >> a % 64 & 1)
			return false;
	}
	return true;
}

static void claim(struct dp_islands *l, u64 addr)
{
	u64 a;

	for (a = addr; a < addr + DP_JUMP_SIZE; a++)
		find_page(l, a & ~(u64)(DP_PAGE - 1), true)
			->used[a % DP_PAGE / 64] |= 1ull << a % 64;
}

/* Else every island would be behind the last one, and the islands of code that comes and goes
 * would fill hole after hole. */
void dp_island_drop(struct dp_islands *l, u64 addr)
{
	u64 a;

	for (a = addr; a < addr + DP_JUMP_SIZE; a++)
		find_page(l, a & ~(u64)(DP_PAGE - 1), true)
			->used[a % DP_PAGE / 64] &= ~(1ull << a % 64);
	if (!l->lowest || l->lowest > addr)
		l->lowest = addr;
	l->again = ~0u;
}

/* Addresses [start, end) that an island may have. */
struct window {
	u64 start, end;
};

static u64 above(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 below(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Within @reach of the site, and within DP_REACH of the whole pool. */
static struct window window_of(const struct dp_pool_need *pool, u64 from,
			       u64 reach)
{
	u64 end = pool->addr + pool->size;
	struct window w = { from > reach ? from - reach : 0, from + reach };

	w.start = above(w.start, end > DP_REACH ? end - DP_REACH : 0);
	w.end = below(w.end, pool->addr + DP_REACH);
	return w;
}

/* Return: an island in the hole that a jump of the pattern can reach, or 0. */
static u64 try_hole(struct dp_islands *l, const struct dp_hole *hole,
		    const struct window *w, u64 begin,
		    const struct dp_jump_pattern *p)
{
	s64 start = (s64)above(above(hole->start, w->start), begin);
	s64 end = (s64)below(hole->end, w->end) - DP_JUMP_SIZE;
	u64 low = start > p->least ? (u64)(start - p->least) : 0, u;
	int tries;

	if (end < start || end < p->least)
		return 0;
	for (tries = 0; tries < TRIES; tries++) {
		u = next_match(low, p);
		if (u >> 32 || (s64)u > end - p->least)
			return 0;
		if (is_free(l, (u64)p->least + u))
			return (u64)p->least + u;
		low = u + 1;
	}
	return 0;
}

static u64 distance(const struct dp_hole *hole, u64 addr)
{
	if (addr < hole->start)
		return hole->start - addr;
	return addr > hole->end ? addr - hole->end : 0;
}

/* The nearest hole not tried yet: the next in distance after @last. */
static const struct dp_hole *next_hole(const struct dp_islands *l, u64 addr,
				       const struct dp_hole *last)
{
	const struct dp_hole *best = NULL;
	u64 floor = last ? distance(last, addr) : 0, d;
	size_t i;

	for (i = 0; i < l->nr_holes; i++) {
		const struct dp_hole *h = &l->holes[i];

		d = distance(h, addr);
		if (d < floor || (last && d == floor && h <= last))
			continue;
		if (!best || d < distance(best, addr))
			best = h;
	}
	return best && distance(best, addr) < DP_JUMP_REACH ? best : NULL;
}

static const struct dp_hole *hole_at(const struct dp_islands *l, u64 addr)
{
	size_t i;

	for (i = 0; i < l->nr_holes; i++)
		if (addr >= l->holes[i].start && addr < l->holes[i].end)
			return &l->holes[i];
	return NULL;
}

/* From @begin on, in its hole */
static u64 find_from(struct dp_islands *l, const struct window *w, u64 begin,
		     const struct dp_jump_pattern *p)
{
	const struct dp_hole *h = begin ? hole_at(l, begin) : NULL;

	return h ? try_hole(l, h, w, begin, p) : 0;
}

/* Where islands have become free: from the first of them on, so that code which is there again
 * has the same ones. If there is none before the last one of the pattern, look again when
 * another one has become free. */
static u64 find_freed(struct dp_islands *l, const struct window *w, u32 which,
		      const struct dp_jump_pattern *p)
{
	u64 at = l->again >> which & 1 ? find_from(l, w, l->lowest, p) : 0;

	if (at < l->hint[which])
		return at;
	l->again &= ~(1u << which);
	return 0;
}

/* Behind the last island of the pattern, or else in the nearest hole that has room. */
static u64 find(struct dp_islands *l, const struct dp_site *s,
		const struct window *w, u64 hint,
		const struct dp_jump_pattern *p)
{
	u64 at = find_from(l, w, hint, p);
	const struct dp_hole *h = NULL;

	while (!at && (h = next_hole(l, s->addr + DP_JUMP_SIZE, h)))
		at = try_hole(l, h, w, 0, p);
	return at;
}

static bool place_within(struct dp_islands *l, struct dp_site *s,
			 const struct window *w)
{
	struct dp_jump_pattern p = dp_jump_pattern(s->addr, s->traps, s->last);
	u32 which = (u32)s->traps >> 1;

	s->island = find_freed(l, w, which, &p);
	if (!s->island) {
		s->island = find(l, s, w, l->hint[which], &p);
		if (!s->island)
			return false;
		l->hint[which] = s->island;
	}
	claim(l, s->island);
	return true;
}

/* Near the site if possible, so that islands are close together. */
static bool place_with(struct dp_islands *l, const struct dp_engine *e,
		       struct dp_site *s)
{
	const struct dp_pool_need *pool = &e->need.pools[s->pool];
	struct window near = window_of(pool, s->addr, NEAR);
	struct window far = window_of(pool, s->addr, DP_REACH);

	return place_within(l, s, &near) || place_within(l, s, &far);
}

static bool place_one(struct dp_islands *l, struct dp_engine *e,
		      struct dp_site *s)
{
	u32 i;

	/* A site that has had a jump keeps that byte: traps of it may be on their way. */
	if (s->last)
		return place_with(l, e, s);
	s->last = DP_BREAKPOINT;
	if (place_with(l, e, s))
		return true;
	if (!(s->traps >> (DP_JUMP_SIZE - 1) & 1)) {
		s->last = 0;
		return false;
	}
	/* It raises another signal than a breakpoint does. */
	for (i = 0; e->nr_caught && (s->last = dp_jump_upward(i)); i++)
		if (place_with(l, e, s))
			return true;
	s->last = 0;
	return false;
}

int dp_island_find(struct dp_islands **l, struct dp_engine *e,
		   struct dp_site *s, const struct dp_hole *holes, size_t n)
{
	if (!*l)
		*l = dp_port_alloc(sizeof(**l));
	if (!*l)
		return -ENOMEM;
	(*l)->holes = holes;
	(*l)->nr_holes = n;
	if (reserve(*l))
		return -ENOMEM;
	return place_one(*l, e, s) ? 0 : 1;
}

void dp_islands_free(struct dp_islands *l)
{
	if (l)
		dp_port_free(l->pages);
	dp_port_free(l);
}

struct dp_islands *dp_islands_copy(const struct dp_islands *of)
{
	struct dp_islands *l = of ? dp_port_alloc(sizeof(*l)) : NULL;
	size_t bytes = of && of->pages ? (of->mask + 1) * sizeof(*of->pages) :
					 0;

	if (!l)
		return NULL;
	*l = *of;
	l->holes = NULL;
	l->pages = bytes ? dp_port_alloc(bytes) : NULL;
	if (bytes && !l->pages) {
		dp_port_free(l);
		return NULL;
	}
	__builtin_memcpy(l->pages, of->pages, bytes);
	return l;
}
