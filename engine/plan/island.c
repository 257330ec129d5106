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
 * There the detour enters, if at that address is room for all of it; else there is the
 * island, a jump of five bytes to the detour, which is anywhere near. Islands share pages as
 * far as possible.
 *
 * With breakpoints in most of its bytes a jump leads to few addresses, or to one alone. So such
 * jumps have islands, and others take the lowest addresses, where islands hardly ever have to
 * be.
 */
#include "arch/arch.h"
#include "engine/insn/bits.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "port.h"

#define TRIES 2048
/* Where a detour may go is looked for less: an island will do. */
#define ROOM_TRIES 64
#define ROOM_HOLES 4
#define ROOM_TRAPS 2
/* The less lines of the cache code is in, the faster it is. */
#define LINE 64
#define PATTERNS (1 << (DP_JUMP_SIZE - 1))
#define NEAR (1ull << 30)
#define UNCHARTED (1ull << 62)

struct page {
	u64 addr; /* 0: none */
	u64 used[DP_PAGE / 64]; /* a bit a byte */
};

/** struct search - what is known of the searches before
 * @hint: the last address of each pattern
 * @again: of each pattern, a bit: from the lowest address that became free on there may be room
 */
struct search {
	u64 hint[PATTERNS];
	u32 again;
};

struct dp_islands {
	const struct dp_hole *holes;
	size_t nr_holes;
	struct page *pages; /* a hash table */
	u32 mask, nr_pages;
	u64 lowest; /* the lowest address that has ever become free */
	struct search search[2]; /* for an island; for a detour */
};

static u64 above(u64 a, u64 b)
{
	return dp_addr_below(a, b) ? b : a;
}

static u64 below(u64 a, u64 b)
{
	return dp_addr_below(a, b) ? a : b;
}

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

/* The bits of [@addr, @end) in the word of @addr; @next: what follows */
static u64 bits_of(u64 addr, u64 end, u64 *next)
{
	u64 first = addr % 64, n = below(end - addr, 64 - first);

	*next = addr + n;
	return ~0ull >> (64 - n) << first;
}

static bool is_free(struct dp_islands *l, u64 addr, u64 end)
{
	const struct page *p = NULL;
	u64 a, bits, next;

	for (a = addr; a < end; a = next) {
		bits = bits_of(a, end, &next);
		if (a == addr || !(a % DP_PAGE))
			p = find_page(l, a & ~(u64)(DP_PAGE - 1), false);
		if (p && p->used[a % DP_PAGE / 64] & bits)
			return false;
	}
	return true;
}

void dp_island_claim(struct dp_islands *l, u64 addr, u32 len)
{
	u64 a, bits, next;

	for (a = addr; a < addr + len; a = next) {
		bits = bits_of(a, addr + len, &next);
		find_page(l, a & ~(u64)(DP_PAGE - 1), true)
			->used[a % DP_PAGE / 64] |= bits;
	}
}

/* Else every island would be behind the last one, and the islands of code that comes and goes
 * would fill hole after hole. */
void dp_island_drop(struct dp_islands *l, u64 addr, u32 len)
{
	u64 a, bits, next;

	for (a = addr; a < addr + len; a = next) {
		bits = bits_of(a, addr + len, &next);
		find_page(l, a & ~(u64)(DP_PAGE - 1), true)
			->used[a % DP_PAGE / 64] &= ~bits;
	}
	if (!l->lowest || dp_addr_below(addr, l->lowest))
		l->lowest = addr;
	l->search[0].again = l->search[1].again = ~0u;
}

/* Addresses [start, end) that an island may have. */
struct window {
	u64 start, end;
};

/* Within @reach of the site, and within DP_REACH of the whole pool. */
static struct window window_of(const struct dp_pool_need *pool, u64 from,
			       u64 reach)
{
	u64 end = pool->addr + pool->size;
	return (struct window){ above(from - reach, end - DP_REACH),
				below(from + reach, pool->addr + DP_REACH) };
}

/** struct wish - what is looked for: an address that a jump of the pattern leads to, in the window,
 *  with room */
struct wish {
	const struct dp_island_room *room;
	struct dp_jump_pattern pattern;
	struct window within;
	struct search *search;
	u32 which, tries, holes;
};

/* The first address in the hole, from @begin on, that the jump can lead to; or 0 */
static u64 first_in(const struct dp_hole *hole, const struct wish *w, u64 begin)
{
	const struct dp_jump_pattern *p = &w->pattern;
	s64 start = (s64)above(hole->start, w->within.start) + w->room->before;
	s64 end = (s64)below(hole->end, w->within.end) - w->room->after;
	u64 u;

	if (begin)
		start = (s64)above((u64)start, begin);
	if (end < start || end < p->least)
		return 0;
	u = next_match(start > p->least ? (u64)(start - p->least) : 0, p);
	return u >> 32 || (s64)u > end - p->least ? 0 : (u64)p->least + u;
}

/* Return: an address in the hole with room, from @begin on, or 0. */
static u64 try_hole(struct dp_islands *l, const struct dp_hole *hole,
		    const struct wish *w, u64 begin)
{
	u64 at = first_in(hole, w, begin);
	u32 tries;

	for (tries = 0; at && tries < w->tries; tries++) {
		if (is_free(l, at - w->room->before, at + w->room->after))
			return at;
		at = first_in(hole, w, at + 1);
	}
	return 0;
}

/* Any hole with a chart is nearer than those without. */
static u64 distance(const struct dp_hole *hole, u64 addr)
{
	u64 far = hole->is & DP_HOLE_CHARTED ? 0 : UNCHARTED;

	if (addr < hole->start)
		return far + (hole->start - addr);
	return far + (addr > hole->end ? addr - hole->end : 0);
}

/* The nearest hole not tried yet that the jump can lead into: the next in distance after @last. */
static const struct dp_hole *next_hole(const struct dp_islands *l,
				       const struct wish *w, u64 addr,
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
		if ((!best || d < distance(best, addr)) && first_in(h, w, 0))
			best = h;
	}
	return best;
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
static u64 find_from(struct dp_islands *l, const struct wish *w, u64 begin)
{
	const struct dp_hole *h = begin ? hole_at(l, begin) : NULL;

	return h ? try_hole(l, h, w, begin) : 0;
}

/* Where islands have become free: from the first of them on, so that code which is there again
 * has the same ones. If there is none before the last one of the pattern, look again when
 * another one has become free. */
static u64 find_freed(struct dp_islands *l, const struct wish *w)
{
	u64 at = w->search->again >> w->which & 1 ? find_from(l, w, l->lowest) :
						    0;

	if (w->search->hint[w->which] &&
	    dp_addr_below(at, w->search->hint[w->which]))
		return at;
	w->search->again &= ~(1u << w->which);
	return 0;
}

/* Behind the last one of the pattern, or else in the nearest hole that has room. */
static u64 find(struct dp_islands *l, const struct dp_site *s,
		const struct wish *w)
{
	u64 at = find_from(l, w, w->search->hint[w->which]);
	const struct dp_hole *h = NULL;
	u32 holes = w->holes;

	while (!at && holes-- &&
	       (h = next_hole(l, w, s->addr + DP_JUMP_SIZE, h)))
		at = try_hole(l, h, w, 0);
	return at;
}

static bool is_detour(const struct dp_island_room *room)
{
	return room->after > DP_JUMP_SIZE;
}

/* At the beginning of a line, if the pattern leaves that open */
static void align(struct dp_jump_pattern *p)
{
	if (p->mask & (LINE - 1))
		return;
	p->mask |= LINE - 1;
	p->value |= (u32)-p->least & (LINE - 1);
}

/* Within @reach of the site */
static bool place_within(struct dp_islands *l, const struct dp_engine *e,
			 struct dp_site *s, const struct dp_island_room *room,
			 u64 reach)
{
	bool detour = is_detour(room);
	struct wish w = {
		.room = room,
		.pattern = dp_jump_pattern(s->addr, s->traps, s->last),
		.within = window_of(&e->need.pools[s->pool], s->addr, reach),
		.search = &l->search[detour],
		.which = (u32)s->traps >> 1,
		.tries = detour ? ROOM_TRIES : TRIES,
		.holes = detour ? ROOM_HOLES : ~0u,
	};

	if (detour)
		align(&w.pattern);
	s->island = find_freed(l, &w);
	if (s->island)
		return true;
	s->island = find(l, s, &w);
	if (s->island)
		w.search->hint[w.which] = s->island;
	return s->island;
}

/* Near the site if possible, so that islands are close together. */
static bool place_with(struct dp_islands *l, const struct dp_engine *e,
		       struct dp_site *s, const struct dp_island_room *room)
{
	return place_within(l, e, s, room, NEAR) ||
	       (!is_detour(room) && place_within(l, e, s, room, DP_REACH));
}

static bool place_one(struct dp_islands *l, struct dp_engine *e,
		      struct dp_site *s, const struct dp_island_room *room)
{
	u32 i;

	/* A site that has had a jump keeps that byte: traps of it may be on their way. */
	if (s->last)
		return place_with(l, e, s, room);
	s->last = DP_BREAKPOINT;
	if (place_with(l, e, s, room))
		return true;
	if (!(s->traps >> (DP_JUMP_SIZE - 1) & 1) || is_detour(room)) {
		s->last = 0;
		return false;
	}
	/* It raises another signal than a breakpoint does. */
	for (i = 0; e->nr_caught && (s->last = dp_jump_upward(i)); i++)
		if (place_with(l, e, s, room))
			return true;
	s->last = 0;
	return false;
}

int dp_island_find(struct dp_islands **l, struct dp_engine *e,
		   struct dp_site *s, const struct dp_island_room *room,
		   const struct dp_hole *holes, size_t n)
{
	if (is_detour(room) && dp_bits_count(s->traps) > ROOM_TRAPS)
		return 1;
	if (!*l)
		*l = dp_port_alloc(sizeof(**l));
	if (!*l)
		return -ENOMEM;
	(*l)->holes = holes;
	(*l)->nr_holes = n;
	if (reserve(*l))
		return -ENOMEM;
	return place_one(*l, e, s, room) ? 0 : 1;
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
