// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * grow: plans for single sites, made while others are armed.
 *
 * Memory comes in pools of a megabyte near the sites they serve, and in island arenas,
 * which take only the pages that are used. Both stay mapped, and neither is ever mapped
 * for writing: code is made on a stage, and written from there in one go for many sites.
 */
#include "arch/arch.h"
#include "engine/insn/class.h"
#include "engine/insn/detour.h"
#include "engine/insn/insn.h"
#include "engine/site/grow.h"
#include "engine/site/live.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/base.h"
#include "engine/plan/copy.h"
#include "engine/plan/jump.h"
#include "engine/plan/plan.h"
#include "engine/site/build.h"
#include "engine/text/strategy.h"
#include "engine/site/site.h"
#include "engine/site/internal.h"
#include "engine/site/arm.h"
#include "port.h"

#define POOL_SIZE (1ull << 20)
#define ISLAND_ARENA_SIZE (4ull << 20)
#define MAP_TRIES 4

int dp_grow_begin(struct dp_engine *e, const struct dp_live_setup *setup)
{
	e->growth = dp_port_alloc(sizeof(*e->growth));
	if (!e->growth)
		return -ENOMEM;
	e->growth->setup = *setup;
	e->growth->switches =
		dp_port_alloc(setup->max_sites * sizeof(*e->growth->switches));
	return e->growth->switches ? 0 : -ENOMEM;
}

void dp_grow_free(struct dp_growth *g)
{
	if (!g)
		return;
	dp_islands_free(g->islands);
	dp_port_free(g->switches);
	dp_port_free(g->holes);
	dp_port_free(g->touched);
	dp_port_free(g);
}

/* For islands, our island arenas are as good as holes. */
static int refresh_holes(struct dp_engine *e)
{
	struct dp_growth *g = e->growth;
	struct dp_hole *holes;
	size_t n;
	u32 i;
	int err = g->setup.ops->holes(g->setup.arg, &holes, &n);

	if (err)
		return err;
	dp_port_free(g->holes);
	g->holes = holes;
	for (i = 0; i < e->need.nr_pools; i++)
		if (g->pools[i].island_arena)
			holes[n++] = (struct dp_hole){
				.start = e->need.pools[i].addr,
				.end = e->need.pools[i].addr +
				       e->need.pools[i].size,
				.ours = true,
			};
	g->nr_holes = n;
	return 0;
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
	int err;

	if (e->need.nr_pools == DP_MAX_POOLS)
		return -ENOMEM;
	err = g->setup.ops->map(g->setup.arg, need->addr, need->size);
	if (err)
		return err;
	enter_pool(e, need, (struct dp_pool){ .island_arena = island_arena });
	g->nr_holes =
		dp_holes_carve(g->holes, g->nr_holes, need->addr, need->size);
	if (island_arena)
		g->holes[g->nr_holes++] =
			(struct dp_hole){ .start = need->addr,
					  .end = need->addr + need->size,
					  .ours = true };
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

static int new_pool(struct dp_engine *e, u64 low, u64 high)
{
	struct dp_growth *g = e->growth;
	struct dp_pool_need need = { .low = low,
				     .high = high,
				     .size = POOL_SIZE };
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
	/* No detour may call a stub that is not there. */
	g->pools[e->need.nr_pools - 1].full = err;
	return err;
}

static bool reaches(const struct dp_pool_need *p, u64 low, u64 high)
{
	u64 lo = low < p->addr ? low : p->addr;
	u64 hi = high > p->addr + p->size ? high : p->addr + p->size;

	return hi - lo < DP_REACH;
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

int dp_grow_write(struct dp_engine *e)
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
	err = dp_grow_write(e);
	if (err)
		return err;
	st->pool = s->pool;
	st->from = st->to = used;
	return 0;
}

static u64 cursor(struct dp_engine *e, const struct dp_site *s, u8 **out)
{
	const struct dp_pool *p = &e->growth->pools[s->pool];

	*out = e->growth->stage.code + (p->used - e->growth->stage.from);
	return e->need.pools[s->pool].addr + p->used;
}

static void consume(struct dp_engine *e, const struct dp_site *s, u32 bytes,
		    u32 align)
{
	struct dp_pool *p = &e->growth->pools[s->pool];

	p->used = (p->used + bytes + align - 1) & ~(align - 1);
	e->growth->stage.to = p->used;
}

/* Map the part of a hole that is near an address. */
static int open_island_arena(struct dp_engine *e, u64 addr)
{
	const struct dp_growth *g = e->growth;
	struct dp_pool_need need = { 0 };
	u64 start = addr & ~(ISLAND_ARENA_SIZE - 1),
	    end = start + ISLAND_ARENA_SIZE;
	size_t i;

	for (i = 0; i < g->nr_holes; i++) {
		const struct dp_hole *h = &g->holes[i];

		if (h->ours || addr < h->start || addr >= h->end)
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

/* An island may lie across two island arenas. */
static int put_island(struct dp_engine *e, u64 at, u64 to)
{
	const struct dp_live_setup *setup = &e->growth->setup;
	u8 jmp[DP_JUMP_SIZE];
	int err = dp_emit_jmp(jmp, at, to) ? 0 : -ENOMEM;
	u32 i;

	for (i = 0; i < DP_JUMP_SIZE && !err; i++)
		if (!has_island_arena(e, at + i))
			err = open_island_arena(e, at + i);
	return err ? err : setup->ops->put(setup->arg, at, jmp, sizeof(jmp));
}

/* Return: 0; 1 no island is free; an errno. */
static int find_island(struct dp_engine *e, struct dp_site *s, u64 detour)
{
	struct dp_growth *g = e->growth;
	int err, tries = 0;

	do {
		err = !g->holes || tries ? refresh_holes(e) : 0;
		if (!err)
			err = dp_island_find(&g->islands, e, s, g->holes,
					     g->nr_holes);
		if (err)
			return err;
		err = put_island(e, s->island, detour);
		if (err)
			dp_island_drop(g->islands, s->island);
	} while (err == -EEXIST && ++tries < MAP_TRIES);
	return err == -EEXIST ? -ENOMEM : err;
}

/* Does a jump of the site call out for the sites that it is to cover, and no others? */
static bool serves(const struct dp_engine *e, const struct dp_site *s,
		   const struct dp_jump *j)
{
	int k;

	for (k = 1; k < s->region.nr; k++)
		if (j->member[k] != s->covers[k])
			return false;
	return j->tracked || !dp_jump_is_tracked(e, s);
}

/* The breakpoint of a site that is covered has no other form. */
static bool fits(const struct dp_site *s, const struct dp_jump *j)
{
	return s->last == DP_BREAKPOINT || !s->traps ||
	       !j->member[dp_jump_insns(j) - 1] ||
	       j->offset[dp_jump_insns(j) - 1] < DP_JUMP_SIZE - 1;
}

/* The pool that has @at, if it is within range of what the site refers to; else -1. */
static int near_pool(const struct dp_engine *e, const struct dp_site *s, u64 at)
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

static int put(const struct dp_engine *e, u64 at, const u8 *code, u32 len)
{
	const struct dp_live_setup *setup = &e->growth->setup;

	return setup->ops->put(setup->arg, at, code, len);
}

/* In the room of a detour that another site has left. Return: 1: it has not that room. */
static int encode_left(struct dp_engine *e, struct dp_site *s,
		       const struct dp_jump *left, struct dp_jump *j)
{
	int pool = near_pool(e, s, left->base), err;
	u8 code[DP_DETOUR_MAX];

	if (pool < 0)
		return 1;
	err = dp_jump_plan(e, s->place - 1, j, left->base, code,
			   e->need.pools[pool].addr, 0);
	if (err || j->len > left->room)
		return 1;
	s->pool = (u32)pool;
	j->room = left->room;
	return put(e, j->base, code, j->len);
}

/* In new memory. Return: 0; -ENOMEM there is no room; an error of writing. */
static int encode_new(struct dp_engine *e, struct dp_site *s, struct dp_jump *j)
{
	u32 most = DP_DETOUR_ALIGN + DP_DETOUR_MAX;
	int err = find_pool(e, s, most);
	u64 at;
	u8 *out;

	if (!err)
		err = prepare(e, s, most);
	if (err)
		return err;
	consume(e, s, 0, DP_DETOUR_ALIGN);
	at = cursor(e, s, &out);
	err = dp_jump_plan(e, s->place - 1, j, at, out,
			   e->need.pools[s->pool].addr, 0);
	j->room = j->len;
	return err;
}

/* @n: its number in the table. Return: 0; -ENOMEM there is no room; an error of writing. */
static int make_jump(struct dp_engine *e, struct dp_site *s, u32 n)
{
	struct dp_jump j = { 0 };
	bool fresh = false;
	int err = 1;

	if (n >= e->arena->control.max_jumps)
		return -ENOMEM;
	if (n < e->view.nr_jumps)
		err = encode_left(e, s, &e->view.jumps[n], &j);
	if (err > 0) {
		j = (struct dp_jump){ 0 };
		err = encode_new(e, s, &j);
		fresh = true;
	}
	s->island = 0;
	if (!err && s->traps)
		err = find_island(e, s, j.base + j.start);
	if (!err && !fits(s, &j)) {
		dp_island_drop(e->growth->islands, s->island);
		err = -ENOMEM;
	}
	if (err)
		return err > 0 ? -ENOMEM : err;
	if (fresh)
		consume(e, s, j.len, 1);
	s->staged |= fresh;
	j.island = s->island;
	j.earlier = s->jumps;
	e->view.jumps[n] = j;
	return 0;
}

int dp_grow_jump(struct dp_engine *e, struct dp_site *s)
{
	u32 n, left;
	int err;

	for (n = s->jumps; n; n = e->view.jumps[n].earlier)
		if (serves(e, s, &e->view.jumps[n])) {
			s->plan = n;
			return 0;
		}
	n = s->left.jumps ? s->left.jumps : e->view.nr_jumps;
	left = s->left.jumps ? e->view.jumps[n].earlier : 0;
	err = make_jump(e, s, n);
	if (err)
		return err;
	s->left.jumps = left;
	if (n == e->view.nr_jumps)
		e->view.nr_jumps++;
	__atomic_store_n(&e->arena->control.nr_jumps, e->view.nr_jumps,
			 __ATOMIC_RELEASE);
	s->jumps = s->plan = n;
	return 0;
}

/* The copies of a site: of its instruction alone, and that which ends in a breakpoint. */
typedef int copy_fn(const struct dp_site *s, struct dp_site_entry *entry,
		    u64 at, u8 *out, u8 *len);

static int make_single(const struct dp_site *s, struct dp_site_entry *entry,
		       u64 at, u8 *out, u8 *len)
{
	int err;

	entry->copy = entry->single = at;
	err = dp_entry_copy(s, entry, out);
	*len = entry->single_len = entry->copy_len;
	entry->single_body = entry->body_len;
	entry->single_atomic = entry->atomic;
	return err;
}

/* The hit half must not see it yet. */
static int make_post(const struct dp_site *s, struct dp_site_entry *entry,
		     u64 at, u8 *out, u8 *len)
{
	int err;

	entry->post = at;
	err = dp_entry_post(s, entry, out);
	entry->post = 0;
	*len = entry->post_len;
	return err;
}

/* Where another site has left one, or in new memory. */
static int put_copy(struct dp_engine *e, struct dp_site *s,
		    struct dp_site_entry *entry, copy_fn *make, u64 *at,
		    u8 room)
{
	int pool = near_pool(e, s, *at), err;
	u8 code[DP_COPY_MAX], len, *out;

	if (pool >= 0 && !make(s, entry, *at, code, &len) && len <= room) {
		s->pool = (u32)pool;
		return put(e, *at, code, len);
	}
	err = find_pool(e, s, DP_COPY_MAX);
	if (!err)
		err = prepare(e, s, DP_COPY_MAX);
	if (err)
		return err;
	*at = cursor(e, s, &out);
	err = make(s, entry, *at, out, &len);
	if (!err)
		consume(e, s, len, 1);
	return err;
}

int dp_grow_post(struct dp_engine *e, u32 i)
{
	struct dp_site_entry *entry = &e->view.sites[i];
	struct dp_site *s = &e->sites[i];
	u64 at = s->left.post;
	int err;

	if (entry->post || (s->facts.class != DP_INSN_PLAIN &&
			    s->facts.class != DP_INSN_SYSCALL))
		return 0;
	err = put_copy(e, s, entry, make_post, &at, s->left.post_room);
	/* The site may be armed already. */
	if (!err)
		err = dp_grow_write(e);
	if (err)
		return err;
	__atomic_store_n(&entry->post, at, __ATOMIC_RELEASE);
	dp_hash_enter(e, at + entry->post_body, i);
	return 0;
}

/* Until the site is to have a jump, its patch is what is there. */
static void begin_jump(const struct dp_engine *e, struct dp_site *s,
		       struct dp_site_entry *entry)
{
	int i;

	entry->mode = s->mode = DP_MODE_JUMP;
	entry->patch_len = DP_JUMP_SIZE;
	for (i = 0; i < DP_JUMP_SIZE; i++)
		entry->patch[i] = entry->orig[i];
	dp_jump_note_traps(e, s);
}

static int fill_entry(struct dp_engine *e, struct dp_site *s,
		      struct dp_site_entry *entry)
{
	u64 at = s->left.single;

	dp_entry_begin(s, entry);
	entry->x87 = s->x87;
	entry->calls = 1;
	entry->mode = s->mode = DP_MODE_TRAP;
	entry->patch[0] = DP_BREAKPOINT;
	entry->patch_len = 1;
	if (s->region.returns && e->arming == DP_ARM_QUIESCE) {
		s->region.nr = 0;
		s->why = DP_WHY_RETURNS;
	}
	if (s->region.nr)
		begin_jump(e, s, entry);
	return put_copy(e, s, entry, make_single, &at, s->left.single_room);
}

/* Who reads the table meanwhile finds no site there, or all of it. */
int dp_grow_site(struct dp_engine *e, u32 i)
{
	struct dp_site_entry entry = { 0 };
	int err = fill_entry(e, &e->sites[i], &entry);

	if (err)
		return err;
	entry.addr = 0;
	e->view.sites[i] = entry;
	__atomic_store_n(&e->view.sites[i].addr, e->sites[i].addr,
			 __ATOMIC_RELEASE);
	dp_view_forget_hits(&e->view, i);
	return 0;
}

int dp_grow_switch(struct dp_engine *e, struct dp_site *s)
{
	struct dp_site_entry *entry = &e->view.sites[s->place - 1];
	const struct dp_jump *j = &e->view.jumps[s->plan];
	bool first = !entry->jump;

	if (!dp_emit_jmp(entry->patch, s->addr,
			 j->island ? j->island : j->base + j->start))
		return -ENOMEM;
	entry->traps = s->traps;
	__atomic_store_n(&entry->jump, s->plan, __ATOMIC_RELEASE);
	if (first)
		dp_hash_traps(e, entry, s->place - 1);
	dp_link_mirror(e, s->place - 1);
	return 0;
}
