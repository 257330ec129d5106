// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * room: memory for code, near the sites that it serves.
 *
 * It comes in pools, and in island arenas, which take only the pages that are used. Both stay
 * mapped, and neither is ever mapped for writing: code is made on a stage, and written from
 * there in one go for many sites.
 */
#include "arch/arch.h"
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/room.h"
#include "engine/site/site.h"
#include "port.h"

#define POOL_MOST (4ull << 20)
#define ARENA_LEAST (64ull << 10)
#define ARENA_MOST (4ull << 20)
#define ARENAS_OF_A_SIZE 2
#define MAP_TRIES 4

int dp_room_begin(struct dp_engine *e, const struct dp_live_setup *setup)
{
	e->growth = dp_port_alloc(sizeof(*e->growth));
	if (!e->growth)
		return -ENOMEM;
	e->growth->setup = *setup;
	e->growth->stage.code = dp_port_resize(NULL, DP_STAGE_SIZE);
	e->growth->switches =
		dp_port_alloc(e->max_probes * sizeof(*e->growth->switches));
	return e->growth->switches && e->growth->stage.code ? 0 : -ENOMEM;
}

void dp_room_free(struct dp_growth *g)
{
	if (!g)
		return;
	dp_islands_free(g->islands);
	dp_port_free(g->switches);
	dp_port_free(g->holes);
	dp_port_free(g->touched);
	dp_port_free(g->stage.code);
	dp_port_free(g);
}

struct dp_growth *dp_room_copy(const struct dp_engine *of)
{
	const struct dp_growth *from = of->growth;
	struct dp_growth *g = dp_engine_dup(from, sizeof(*from));

	if (!g)
		return NULL;
	g->holes = NULL;
	g->switches = dp_engine_dup(from->switches,
				    of->max_probes * sizeof(*from->switches));
	g->touched = dp_engine_dup(from->touched,
				   from->cap_touched * sizeof(*from->touched));
	g->stage.code = dp_engine_dup(from->stage.code, DP_STAGE_SIZE);
	g->islands = dp_islands_copy(from->islands);
	if (g->switches && g->touched && g->stage.code &&
	    !g->islands == !from->islands)
		return g;
	dp_room_free(g);
	return NULL;
}

/* For islands, our island arenas are as good as holes. The fewer there are, the sooner is one
 * found: arenas side by side are one. */
static void add_arena(struct dp_growth *g, const struct dp_pool_need *p,
		      bool charted)
{
	u8 is = DP_HOLE_OURS | (charted ? DP_HOLE_CHARTED : 0);
	u64 start = p->addr, end = p->addr + p->size;
	size_t i;

	for (i = 0; i < g->nr_holes; i++) {
		struct dp_hole *h = &g->holes[i];

		if (h->is != is || (h->end != start && h->start != end))
			continue;
		if (h->end == start)
			h->end = end;
		else
			h->start = start;
		return;
	}
	g->holes[g->nr_holes++] = (struct dp_hole){ start, end, is };
}

static int refresh_holes(struct dp_engine *e)
{
	struct dp_growth *g = e->growth;
	const struct dp_pool_need *p;
	struct dp_hole *holes;
	size_t n;
	u32 i;
	int err = g->setup.ops->holes(g->setup.arg, &holes, &n);

	if (err)
		return err;
	dp_port_free(g->holes);
	g->holes = holes;
	g->nr_holes = n;
	for (i = 0; i < e->need.nr_pools; i++) {
		p = &e->need.pools[i];
		if (g->pools[i].island_arena)
			add_arena(g, p, g->pools[i].charted);
	}
	return 0;
}

static bool is_charted(const struct dp_growth *g, u64 addr)
{
	size_t i;

	for (i = 0; i < g->nr_holes; i++)
		if (addr >= g->holes[i].start && addr < g->holes[i].end)
			return g->holes[i].is & DP_HOLE_CHARTED;
	return false;
}

/* The caller has checked that there is room. */
static void enter_pool(struct dp_engine *e, const struct dp_pool_need *need,
		       struct dp_pool pool)
{
	struct dp_arena_control *c = &e->arena->control;
	u32 i = e->need.nr_pools;

	e->growth->pools[i] = pool;
	e->need.pools[i] = *need;
	c->pools[i].start = need->addr;
	c->pools[i].size = need->size;
	e->need.nr_pools = i + 1;
	__atomic_store_n(&c->nr_pools, i + 1, __ATOMIC_RELEASE);
}

static int map_pool(struct dp_engine *e, const struct dp_pool_need *need,
		    bool island_arena)
{
	struct dp_growth *g = e->growth;
	struct dp_pool pool = { .island_arena = island_arena,
				.charted = is_charted(g, need->addr) };
	int err;

	if (e->need.nr_pools == DP_MAX_POOLS)
		return -ENOMEM;
	err = g->setup.ops->map(g->setup.arg, need->addr, need->size);
	if (err)
		return err;
	enter_pool(e, need, pool);
	g->nr_arenas += island_arena;
	g->nr_holes =
		dp_holes_carve(g->holes, g->nr_holes, need->addr, need->size);
	if (island_arena)
		add_arena(g, need, pool.charted);
	return 0;
}

/* Entered as a full pool, so that no code is put there. */
int dp_live_own(struct dp_engine *e, u64 addr, u64 size)
{
	const struct dp_pool_need need = { .addr = addr, .size = size };

	if (e->need.nr_pools == DP_MAX_POOLS)
		return -ENOMEM;
	enter_pool(e, &need, (struct dp_pool){ .full = true });
	return 0;
}

/* Room for what is about to be planned, or for some that come later. */
static u64 pool_size(const struct dp_growth *g)
{
	u64 size = (g->coming + DP_PAGE - 1) & ~(u64)(DP_PAGE - 1);

	size = size < g->setup.least_pool ? g->setup.least_pool : size;
	return size < POOL_MOST ? size : POOL_MOST;
}

static int new_pool(struct dp_engine *e, u64 low, u64 high)
{
	struct dp_growth *g = e->growth;
	struct dp_pool_need need = { .low = low,
				     .high = high,
				     .size = pool_size(g) };
	u8 stubs[DP_STUBS];
	int err, tries = 0;

	do {
		err = !g->holes || tries ? refresh_holes(e) : 0;
		if (!err)
			err = dp_place_one(&need, g->holes, g->nr_holes);
		if (!err)
			err = map_pool(e, &need, false);
	} while (err == -EEXIST && ++tries < MAP_TRIES);
	if (err)
		return err == -EEXIST ? -ENOMEM : err;
	dp_detour_stubs(stubs, &g->setup.entries);
	g->pools[e->need.nr_pools - 1].used = sizeof(stubs);
	err = g->setup.ops->put(g->setup.arg, need.addr, stubs, sizeof(stubs));
	dp_room_chart(e, &(struct dp_charted){ .at = need.addr,
					       .len = sizeof(stubs) });
	/* No detour may call a stub that is not there. */
	g->pools[e->need.nr_pools - 1].full = err;
	return err;
}

static bool reaches(const struct dp_pool_need *p, u64 low, u64 high)
{
	return dp_addr_below(high - p->addr, DP_REACH) &&
	       dp_addr_below(p->addr + p->size - low, DP_REACH);
}

/* Find or map a pool with room for @bytes, within range of what the site refers to. */
static int find_pool(struct dp_engine *e, struct dp_site *s, u32 bytes)
{
	u64 low, high;
	u32 i;

	dp_site_span(s, &low, &high);
	for (i = e->need.nr_pools; i-- > 0;) {
		if (e->growth->pools[i].island_arena ||
		    e->growth->pools[i].full ||
		    e->growth->pools[i].used + bytes > e->need.pools[i].size ||
		    !reaches(&e->need.pools[i], low, high))
			continue;
		s->pool = i;
		return 0;
	}
	s->pool = e->need.nr_pools;
	return new_pool(e, low, high);
}

int dp_room_write(struct dp_engine *e)
{
	struct dp_growth *g = e->growth;
	struct dp_stage *st = &g->stage;
	int err = 0;

	if (st->to > st->from)
		err = g->setup.ops->put(g->setup.arg,
					e->need.pools[st->pool].addr + st->from,
					st->code, st->to - st->from);
	/* Sites have their plans already. What was not written stays on the stage. */
	if (!err)
		st->from = st->to;
	return err;
}

/* Make room on the stage for @bytes more of a pool; @bytes is at most a tenth of the
 * stage. */
static int prepare(struct dp_engine *e, const struct dp_site *s, u32 bytes)
{
	struct dp_stage *st = &e->growth->stage;
	u32 used = e->growth->pools[s->pool].used;
	int err;

	if (st->pool == s->pool && st->to == used && st->from < st->to &&
	    used - st->from + bytes <= DP_STAGE_SIZE)
		return 0;
	err = dp_room_write(e);
	if (err)
		return err;
	st->pool = s->pool;
	st->from = st->to = used;
	return 0;
}

u64 dp_room_cursor(struct dp_engine *e, const struct dp_site *s, u8 **out)
{
	const struct dp_pool *p = &e->growth->pools[s->pool];

	*out = e->growth->stage.code + (p->used - e->growth->stage.from);
	return e->need.pools[s->pool].addr + p->used;
}

void dp_room_consume(struct dp_engine *e, const struct dp_site *s, u32 bytes,
		     u32 align)
{
	struct dp_pool *p = &e->growth->pools[s->pool];

	p->used = (p->used + bytes + align - 1) & ~(align - 1);
	e->growth->stage.to = p->used;
}

/* There may be 1,024 pools: the more arenas, the larger are the next ones. */
static u64 arena_size(const struct dp_growth *g)
{
	u32 doubled = g->nr_arenas / ARENAS_OF_A_SIZE;

	return doubled < 6 ? ARENA_LEAST << doubled : ARENA_MOST;
}

/* Map the part of a hole that is near an address. */
static int open_island_arena(struct dp_engine *e, u64 addr)
{
	const struct dp_growth *g = e->growth;
	struct dp_pool_need need = { 0 };
	u64 size = arena_size(g), start = addr & ~(size - 1),
	    end = start + size;
	size_t i;

	for (i = 0; i < g->nr_holes; i++) {
		const struct dp_hole *h = &g->holes[i];

		if (h->is & DP_HOLE_OURS || addr < h->start || addr >= h->end)
			continue;
		start = start < h->start ? h->start : start;
		end = end > h->end ? h->end : end;
		need.low = need.addr = start & ~(u64)(DP_PAGE - 1);
		need.size = end - need.addr;
		need.high = end;
		return map_pool(e, &need, true);
	}
	return -ENOMEM;
}

static bool has_island_arena(const struct dp_engine *e, u64 addr)
{
	u32 i;

	for (i = 0; i < e->need.nr_pools; i++)
		if (e->growth->pools[i].island_arena &&
		    addr - e->need.pools[i].addr < e->need.pools[i].size)
			return true;
	return false;
}

/* Less than a page is in two arenas at most. Return: 0; 1 there can be no more of them; an errno. */
static int open_arenas(struct dp_engine *e, u64 at, u32 len)
{
	int err = has_island_arena(e, at) ? 0 : open_island_arena(e, at);

	if (!err && !has_island_arena(e, at + len - 1))
		err = open_island_arena(e, at + len - 1);
	return err == -ENOMEM ? 1 : err;
}

/* @s->island becomes an address with room that is mapped. Return: as dp_room_island(). */
static int find_mapped(struct dp_engine *e, struct dp_site *s,
		       const struct dp_island_room *room)
{
	struct dp_growth *g = e->growth;
	int err, tries = 0;

	do {
		err = !g->holes || tries ? refresh_holes(e) : 0;
		if (!err)
			err = dp_island_find(&g->islands, e, s, room, g->holes,
					     g->nr_holes);
		if (!err)
			err = open_arenas(e, s->island - room->before,
					  room->before + room->after);
	} while (err == -EEXIST && ++tries < MAP_TRIES);
	return err == -EEXIST ? 1 : err;
}

int dp_room_island(struct dp_engine *e, struct dp_site *s, u64 detour)
{
	static const struct dp_island_room room = { .after = DP_JUMP_SIZE };
	u8 jmp[DP_JUMP_SIZE];
	int err = find_mapped(e, s, &room);

	if (err)
		return err;
	if (!dp_emit_jmp(jmp, s->island, detour))
		return -ENOMEM;
	err = dp_room_put(e, s->island, jmp, sizeof(jmp));
	if (err)
		return err;
	dp_island_claim(e->growth->islands, s->island, sizeof(jmp));
	dp_room_chart(e, &(struct dp_charted){ .at = s->island,
					       .len = sizeof(jmp),
					       .addr = s->addr });
	return 0;
}

int dp_room_meet(struct dp_engine *e, struct dp_site *s, u32 before, u32 after,
		 u64 *at)
{
	const struct dp_island_room room = { before, after };
	int err = find_mapped(e, s, &room);

	*at = s->island;
	return err;
}

int dp_room_settle(struct dp_engine *e, u64 at, const u8 *code, u32 len)
{
	int err = dp_room_put(e, at, code, len);

	if (!err)
		dp_island_claim(e->growth->islands, at, len);
	return err;
}

void dp_room_leave(struct dp_engine *e, struct dp_jump *j)
{
	struct dp_islands *l = e->growth->islands;

	if (j->island)
		dp_island_drop(l, j->island, DP_JUMP_SIZE);
	if (!j->base || !has_island_arena(e, j->base))
		return;
	dp_island_drop(l, j->base, j->room);
	j->base = j->room = 0;
}

int dp_room_near(const struct dp_engine *e, const struct dp_site *s, u64 at)
{
	u64 low, high;
	u32 i;

	dp_site_span(s, &low, &high);
	for (i = 0; at && i < e->need.nr_pools; i++)
		if (at - e->need.pools[i].addr < e->need.pools[i].size)
			return reaches(&e->need.pools[i], low, high) ? (int)i :
								       -1;
	return -1;
}

bool dp_room_charts(const struct dp_engine *e)
{
	return e->growth->setup.ops->chart || dp_engine_walks(e);
}

void dp_room_chart(struct dp_engine *e, const struct dp_charted *code)
{
	const struct dp_live_setup *setup = &e->growth->setup;

	dp_generated_note(e, code);
	if (setup->ops->chart)
		setup->ops->chart(setup->arg, code);
}

int dp_room_put(const struct dp_engine *e, u64 at, const u8 *code, u32 len)
{
	const struct dp_live_setup *setup = &e->growth->setup;

	return setup->ops->put(setup->arg, at, code, len);
}

void dp_room_forget_holes(struct dp_engine *e)
{
	dp_port_free(e->growth->holes);
	e->growth->holes = NULL;
}

int dp_room_take(struct dp_engine *e, struct dp_site *s, u32 bytes)
{
	int err = find_pool(e, s, bytes);

	return err ? err : prepare(e, s, bytes);
}
