// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * jump: which sites get one, where it lands, and how it gets into text and out
 * again, on bytes in an array that looks at every write.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/insn/region.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/site/reach.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"
#include "engine/text/state.h"
#include "engine/text/strategy.h"
#include "port/fake/fake.h"
#include "starve.h"
#include "hex.h"
#include "arch/arch.h"
#include "engine/layout/site.h"
#include "engine/text/target.h"

#define HIGH 0x7f0000000000ull
#define LOW 0x10000000ull
#define SLOT 32
#define SLOTS 512
#define SIZE (SLOT * SLOTS)
#define WATCHES 16
#define SITES 32
#define JUMP 0xe9

/* A jump's five bytes, and the instructions that were there. */
struct watch {
	const struct dp_site_entry *site;
	struct dp_region region;
	u64 at; /* offset in the text */
};

struct text {
	struct dp_target target;
	u64 base;
	u8 orig[SIZE], now[SIZE];
	u8 synced[SIZE]; /* what everybody is sure to have seen */
	struct watch watch[WATCHES];
	u32 nr_watches, writes, syncs, broken;
	bool stopped; /* nobody runs */
	/* The tool dies: after so many writes, and so many bytes of the next. */
	bool mortal, dead;
	u32 left, torn;
	u32 fail_at; /* the nth write from now fails; 0: none */
	/* After so many reads and writes a slot goes, or, before a read, something
	 * else comes to its place: of a look and the write that follows it nobody
	 * can make one. */
	u32 go_at, slot;
	bool goes, gone, replaced;
	const void *arena;
	void *snapshot;
	size_t arena_size;
};

struct world {
	struct text t;
	struct dp_engine *e;
	void *file;
	u32 probe[SITES], nr_probes;
	struct dp_view view;
};

static struct text *text_of(struct dp_target *t)
{
	return (struct text *)t;
}

static bool breaks(const struct watch *w, int i, const u8 *bytes)
{
	return bytes[i] == DP_BREAKPOINT ||
	       (i == DP_JUMP_SIZE - 1 && w->site->traps >> i & 1 &&
		bytes[i] == w->site->patch[i]);
}

/* Whoever arrives at an instruction's address finds it whole, or a breakpoint,
 * or at the first one the jump. */
static bool arrives(const struct text *t, const struct watch *w)
{
	const u8 *now = t->now + w->at, *orig = t->orig + w->at;
	int i, k;

	for (k = 0; k < w->region.nr; k++) {
		i = w->region.at[k];
		if (i >= DP_JUMP_SIZE ?
			    !memcmp(now + i, orig + i, w->region.facts[k].len) :
			    breaks(w, i, now))
			continue;
		if (!k && !memcmp(now, w->site->patch, DP_JUMP_SIZE))
			continue;
		if (memcmp(now + i, orig + i, w->region.facts[k].len))
			return false;
	}
	return true;
}

/* May the first byte of an instruction become this, while it runs? */
static bool head_may(const struct text *t, const struct watch *w, int i,
		     int end, const u8 *new)
{
	const u8 *now = t->now + w->at, *synced = t->synced + w->at;
	const u8 *whole = t->orig + w->at;

	if (breaks(w, i, new))
		return true;
	if (!i && new[0] == JUMP) {
		whole = w->site->patch;
		end = DP_JUMP_SIZE;
	}
	/* Behind a breakpoint, over what everybody has seen. */
	return breaks(w, i, now) && breaks(w, i, synced) &&
	       !memcmp(new + i, whole + i, (size_t)(end - i)) &&
	       !memcmp(now + i + 1, whole + i + 1, (size_t)(end - i - 1)) &&
	       !memcmp(synced + i + 1, whole + i + 1, (size_t)(end - i - 1));
}

/* Is the way from what is there to @new one that no thread falls into? */
static bool may_write(const struct text *t, const struct watch *w,
		      const u8 *new)
{
	const u8 *now = t->now + w->at, *synced = t->synced + w->at;
	int i, k, b, end;

	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (new[b] != now[b] && (now[0] == JUMP || synced[0] == JUMP))
			return false;
	for (k = 0; k < w->region.nr; k++) {
		i = w->region.at[k];
		end = k + 1 < w->region.nr ? w->region.at[k + 1] : DP_JUMP_SIZE;
		end = end > DP_JUMP_SIZE ? DP_JUMP_SIZE : end;
		if (i >= DP_JUMP_SIZE)
			break;
		if (new[i] != now[i] && !head_may(t, w, i, end, new))
			return false;
		for (b = i + 1; b < end; b++)
			if (new[b] != now[b] &&
			    !(breaks(w, i, now) && breaks(w, i, synced)))
				return false;
	}
	return true;
}

/* Bytes that nobody of ours has written. */
#define FOREIGN 0xf1

static bool is_gone(struct text *t, u64 addr)
{
	if (t->goes && !t->go_at--) {
		t->gone = true;
		if (t->replaced)
			memset(t->now + t->slot * SLOT, FOREIGN, SLOT);
	}
	return t->gone && !t->replaced && (addr - t->base) / SLOT == t->slot;
}

static bool is_observed(const struct text *t, const struct watch *w)
{
	return !t->stopped && !(t->gone && w->at / SLOT == t->slot);
}

static void look_before(struct text *t, u64 at, const u8 *from, size_t len)
{
	u8 new[SLOT];
	u32 i;

	for (i = 0; i < t->nr_watches; i++) {
		const struct watch *w = &t->watch[i];
		u64 b;

		if (!is_observed(t, w))
			continue;
		memcpy(new, t->now + w->at, DP_JUMP_SIZE);
		for (b = 0; b < DP_JUMP_SIZE; b++)
			if (w->at + b - at < len)
				new[b] = from[w->at + b - at];
		t->broken += !may_write(t, w, new);
	}
}

static void look_after(struct text *t)
{
	u32 i;

	for (i = 0; i < t->nr_watches; i++)
		t->broken += is_observed(t, &t->watch[i]) &&
			     !arrives(t, &t->watch[i]);
}

static int read_text(struct dp_target *target, u64 addr, void *to, size_t len)
{
	struct text *t = text_of(target);

	if (t->dead)
		return -EIO;
	if (is_gone(t, addr))
		return -EFAULT;
	memcpy(to, t->now + (addr - t->base), len);
	return 0;
}

static int write_text(struct dp_target *target, u64 addr, const void *from,
		      size_t len)
{
	struct text *t = text_of(target);
	u64 at = addr - t->base;

	if (t->dead || (t->fail_at && !--t->fail_at))
		return -EIO;
	if (!t->replaced && is_gone(t, addr))
		return -EFAULT;
	t->dead = t->mortal && !t->left--;
	if (t->dead)
		len = t->torn < len ? t->torn : len;
	look_before(t, at, from, len);
	memcpy(t->now + at, from, len);
	look_after(t);
	t->writes++;
	if (t->dead && t->arena)
		memcpy(t->snapshot, t->arena, t->arena_size);
	return t->dead ? -EIO : 0;
}

static int sync_text(struct dp_target *target)
{
	struct text *t = text_of(target);

	if (t->dead)
		return -EIO;
	memcpy(t->synced, t->now, SIZE);
	t->syncs++;
	return 0;
}

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text,
					  .sync = sync_text };

/* Instructions of each length, which begin where bits of a number are set. */
static void put_slot(struct text *t, u32 slot, u32 starts)
{
	static const char *const insns[] = { "55", "89e5", "4889e5", "488b4708",
					     "b844332211" };
	u8 *at = t->orig + slot * SLOT;
	u32 i, end;

	memset(at, 0x90, SLOT);
	at[SLOT - 1] = 0xc3;
	for (i = 0; i < DP_JUMP_SIZE; i = end) {
		for (end = i + 1; end < DP_JUMP_SIZE && !(starts >> end & 1);)
			end++;
		/* The last one may go on behind the jump. */
		if (end == DP_JUMP_SIZE)
			end += slot / 16 % 5 < i ? slot / 16 % 5 : i;
		hex(insns[end - i - 1], at + i);
	}
}

static void begin(struct world *w, u64 base, enum dp_arming arming)
{
	u32 i;

	memset(w, 0, sizeof(*w));
	w->t.target.ops = &ops;
	w->t.base = base;
	for (i = 0; i < SLOTS; i++)
		put_slot(&w->t, i, i % 16 << 1);
	assert_int_equal(dp_engine_create(&w->e), 0);
	dp_engine_set_arming(w->e, arming);
}

static int add(struct world *w, u32 at, bool jump)
{
	u32 slot = at / SLOT * SLOT, *probe = &w->probe[w->nr_probes % SITES];
	struct dp_reach g = { .start = w->t.base + slot,
			      .code = w->t.orig + slot,
			      .size = SIZE - slot,
			      .function = SLOT,
			      .room = SLOT - at % SLOT };
	u64 branches[SLOT];
	int err = dp_engine_add(w->e, w->t.base + at, w->t.orig + at, SIZE - at,
				probe, NULL);

	g.entries.v = branches;
	dp_entries_find(&g.entries, g.code, SLOT, g.start);
	assert_true(g.entries.n < 2); /* in order */
	if (!err && jump)
		dp_engine_allow_jump(w->e, *probe, &g);
	w->nr_probes += !err;
	return err;
}

static void watch(struct text *t, const struct dp_site_entry *s)
{
	struct watch *w = &t->watch[t->nr_watches];
	const char *why;

	if (s->patch_len != DP_JUMP_SIZE || s->intercept ||
	    t->nr_watches == WATCHES)
		return;
	w->site = s;
	w->at = s->addr - t->base;
	assert_int_equal(dp_region_decode(t->orig + w->at, SLOT, SLOT,
					  &w->region, &why),
			 0);
	t->nr_watches++;
}

static int build_in(struct world *w, const struct dp_hole *holes, size_t n)
{
	struct dp_layout_need *need = dp_engine_layout(w->e, 2);
	struct dp_mapping map = { .base = w->t.base + 0x40000000,
				  .intercept_entry = w->t.base + 0x40001000,
				  .entries = { .hit = w->t.base + 0x40002000 },
				  .owner = 1,
				  .tool = 2 };
	int err = need ? dp_engine_place(w->e, holes, n) : -ENOMEM;
	u32 i;

	if (err)
		return err;
	w->file = calloc(1, need->file_size);
	map.file = w->file;
	err = dp_engine_build(w->e, &map);
	if (err)
		return err;
	w->t.arena = dp_engine_arena(w->e);
	w->t.arena_size = need->arena_size;
	w->t.snapshot = malloc(need->arena_size);
	assert_int_equal(dp_view_open(&w->view, dp_engine_arena(w->e),
				      need->arena_size),
			 0);
	memcpy(w->t.now, w->t.orig, SIZE);
	memcpy(w->t.synced, w->t.orig, SIZE);
	for (i = 0; i < w->view.nr_sites; i++)
		watch(&w->t, &w->view.sites[i]);
	return 0;
}

/* Room above, and as far below as the breakpoints of a jump lead. */
static int build(struct world *w)
{
	const struct dp_hole holes[] = {
		{ w->t.base - 0x50000000, w->t.base - 0x10000000, false },
		{ w->t.base + 0x100000, w->t.base + 0x10000000, false },
	};

	return build_in(w, holes, 2);
}

static void end(struct world *w)
{
	dp_engine_destroy(w->e);
	free(w->file);
	free(w->t.snapshot);
}

static const struct dp_site_entry *entry_of(const struct world *w, u64 addr)
{
	u32 i;

	for (i = 0; i < w->view.nr_sites; i++)
		if (w->view.sites[i].addr == addr)
			return &w->view.sites[i];
	return NULL;
}

static const struct dp_site_entry *site_of(const struct world *w, u32 at)
{
	return entry_of(w, w->t.base + at);
}

static const struct dp_jump *jump_of(const struct world *w,
				     const struct dp_site_entry *s)
{
	return dp_view_jump(&w->view, s);
}

/* Islands. */

static const u8 *memory_at(const struct world *w, u64 addr)
{
	const struct dp_layout_need *need = &w->e->need;
	u32 i;

	for (i = 0; i < need->nr_pools; i++)
		if (addr - need->pools[i].addr < need->pools[i].size)
			return need->pools[i].code +
			       (addr - need->pools[i].addr);
	return NULL;
}

static u64 jump_target(const u8 *code, u64 at)
{
	s32 rel;

	assert_int_equal(code[0], JUMP);
	memcpy(&rel, code + 1, 4);
	return at + DP_JUMP_SIZE + (u64)(s64)rel;
}

static void expect_island(const struct world *w, const struct dp_hole *holes,
			  size_t n, const struct dp_site_entry *s)
{
	const struct dp_jump *j = jump_of(w, s);
	u64 detour = j->base + j->start;
	size_t i, in = 0, b;

	assert_int_equal(jump_target(s->patch, s->addr), j->island);
	assert_non_null(memory_at(w, j->island));
	assert_int_equal(jump_target(memory_at(w, j->island), j->island),
			 detour);
	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (s->traps >> b & 1)
			assert_true(s->patch[b] == DP_BREAKPOINT ||
				    (b == 4 && w->t.base == LOW));
	for (i = 0; i < n; i++)
		in += j->island >= holes[i].start &&
		      j->island + DP_JUMP_SIZE <= holes[i].end;
	assert_int_equal(in, 1);
	/* Nor in a pool of detours. */
	for (i = 0; i < w->e->batch.code_pools; i++)
		assert_false(j->island + DP_JUMP_SIZE >
				     w->e->need.pools[i].addr &&
			     j->island < w->e->need.pools[i].addr +
						 w->e->need.pools[i].size);
}

static int by_value(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/* Return: how many there are. */
static size_t expect_islands(const struct world *w, const struct dp_hole *holes,
			     size_t n)
{
	static u64 v[SLOTS];
	size_t nr = 0, i;

	for (i = 0; i < w->view.nr_sites; i++) {
		const struct dp_site_entry *s = &w->view.sites[i];

		if (s->mode != DP_MODE_JUMP)
			continue;
		assert_int_equal(!jump_of(w, s)->island, !s->traps);
		if (!jump_of(w, s)->island) {
			assert_int_equal(jump_target(s->patch, s->addr),
					 jump_of(w, s)->base +
						 jump_of(w, s)->start);
			continue;
		}
		expect_island(w, holes, n, s);
		v[nr++] = jump_of(w, s)->island;
	}
	qsort(v, nr, sizeof(*v), by_value);
	for (i = 1; i < nr; i++)
		assert_true(v[i] - v[i - 1] >= DP_JUMP_SIZE);
	return nr;
}

static void add_all(struct world *w)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		assert_int_equal(add(w, i * SLOT, true), 0);
}

static void lands_where_it_may(void **state)
{
	const struct dp_hole holes[] = {
		{ HIGH - 0x70000000, HIGH - 0x60000000, false },
		{ HIGH - 0x35000000, HIGH - 0x33c00000, false },
		{ HIGH - 0x33a00000, HIGH - 0x33000000, false },
		{ HIGH - 0x20000, HIGH - 0x10000, false },
		{ HIGH + 0x100000, HIGH + 0x400000, false },
		{ HIGH + 0x500000, HIGH + 0x501000, false },
		{ HIGH + 0x510000, HIGH + 0x50000000, false },
	};
	size_t n = sizeof(holes) / sizeof(holes[0]), i;
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	add_all(&w);
	assert_int_equal(build_in(&w, holes, n), 0);
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	assert_int_equal(dp_engine_caught(w.e), 1);
	assert_int_equal(expect_islands(&w, holes, n), SLOTS * 15 / 16);
	for (i = 0; i < w.view.nr_sites; i++)
		assert_int_equal(w.view.sites[i].traps, i % 16 << 1);
	end(&w);
}

/* There is nothing some 800 MB below: other bytes trap, and mean up. */
static void lands_above_low_addresses(void **state)
{
	const struct dp_hole hole = { LOW + 0x100000, LOW + 0x7c000000, false };
	struct world w;

	begin(&w, LOW, DP_ARM_INTERIOR);
	add_all(&w);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	assert_int_equal(dp_engine_caught(w.e), DP_CAUGHT_JUMPS);
	assert_int_equal(expect_islands(&w, &hole, 1), SLOTS * 15 / 16);
	end(&w);
}

static void traps_where_nothing_is_free(void **state)
{
	/* Enough for the detours. */
	const struct dp_hole hole = { HIGH + 0x100000, HIGH + 0x200000, false };
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	for (i = 0; i < 16; i++)
		assert_int_equal(add(&w, i * SLOT, true), 0);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	/* Two bytes of a displacement are free up to the third, three to the
	 * fourth: what reaches a megabyte or two above has no int3 up there. */
	for (i = 0; i < 16; i++) {
		bool up = i & 12;

		assert_string_equal(dp_engine_mode(w.e, w.probe[i]),
				    up ? "trap" : "jump");
		assert_int_equal(!!strstr(dp_engine_reason(w.e, w.probe[i]),
					  "no address is free"),
				 up);
		assert_int_equal(site_of(&w, i * SLOT)->patch_len, up ? 1 : 5);
	}
	expect_islands(&w, &hole, 1);
	end(&w);
}

static void wants_room_for_all_of_an_island(void **state)
{
	struct dp_hole holes[] = {
		{ HIGH - 0x50000000, HIGH - 0x50000000, false },
		{ HIGH + 0x100000, HIGH + 0x200000, false },
	};
	u64 only = HIGH + DP_JUMP_SIZE - 0x80000000ull + 0x4ccccccc, room;
	struct world w;

	/* All of it is given: a hole of this size, or one less. */
	for (room = DP_JUMP_SIZE - 1; room <= DP_JUMP_SIZE; room++) {
		holes[0].start = only;
		holes[0].end = only + room;
		begin(&w, HIGH, DP_ARM_INTERIOR);
		put_slot(&w.t, 0, 0x1e);
		assert_int_equal(add(&w, 0, true), 0);
		assert_int_equal(build_in(&w, holes, 2), 0);
		assert_int_equal(dp_engine_jumps(w.e), room == DP_JUMP_SIZE);
		end(&w);
	}
}

/* The jump reaches these, but from there none reaches the detour. */
static void lands_in_reach_of_its_detour(void **state)
{
	static const struct {
		u64 island, pool; /* displacement and distance */
	} far[] = { { 0xffffffffccccccccull, 0x70000000 },
		    { 0x60cccccc, -0x60000000ull } };
	struct world w;
	u32 i, room;

	for (i = 0; i < 2; i++)
		for (room = 0; room < 2; room++) {
			u64 at = HIGH + DP_JUMP_SIZE + far[i].island;
			u64 pool = HIGH + (room ? 0x100000 : far[i].pool);
			struct dp_hole holes[] = {
				{ at, at + DP_JUMP_SIZE, false },
				{ pool, pool + 0x2000, false },
			};

			begin(&w, HIGH, DP_ARM_INTERIOR);
			assert_int_equal(add(&w, 15 * SLOT, true), 0);
			holes[0].start += 15 * SLOT;
			holes[0].end += 15 * SLOT;
			assert_int_equal(build_in(&w, holes, 2), 0);
			assert_int_equal(dp_engine_jumps(w.e), room);
			end(&w);
		}
}

static int whole_run(void)
{
	struct world w;
	int err = 0;
	u32 i;

	memset(&w, 0, sizeof(w));
	w.t.base = HIGH;
	for (i = 0; i < SLOTS; i++)
		put_slot(&w.t, i, i % 16 << 1);
	err = dp_engine_create(&w.e);
	for (i = 0; i < 100 && !err; i++)
		err = add(&w, i * SLOT, true);
	if (!err)
		err = build(&w);
	if (!err)
		assert_int_equal(dp_engine_jumps(w.e), 100);
	end(&w);
	return err;
}

static void survives_every_failed_allocation(void **state)
{
	unsigned int nth = starve(whole_run);

	assert_true(nth > 12 && nth < STARVE_MAX);
}

/* Sites closer than five bytes. */

static u64 in_detour(const struct world *w, const struct dp_site_entry *s,
		     u32 by)
{
	const struct dp_jump *j = jump_of(w, s);
	int i;

	for (i = 0; i < j->nr; i++)
		if (j->offset[i] == by)
			return j->base + j->insn[i];
	return 0;
}

static const struct dp_site_entry *look_up(const struct world *w, u64 addr)
{
	const struct dp_arena *arena = w->view.arena;
	const u32 *slots =
		(const void *)((const char *)arena + arena->control.hash_off);
	u32 i = dp_site_hash(addr) & arena->control.hash_mask, b;

	for (; slots[i]; i = (i + 1) & arena->control.hash_mask) {
		const struct dp_site_entry *s = &w->view.sites[slots[i] - 1];

		if (s->addr == addr)
			return s;
		for (b = 1; b < DP_JUMP_SIZE; b++)
			if (s->traps >> b & 1 && s->addr + b == addr)
				return s;
	}
	return NULL;
}

/* One-byte instructions; sites at the offsets that are set. */
static void expect_groups(const struct world *w, u32 set)
{
	const struct dp_site_entry *lead = NULL, *s;
	u32 at, from = 0, b;

	for (at = 0; at < 8; at++) {
		s = site_of(w, at);
		assert_int_equal(s != NULL, set >> at & 1);
		if (!s)
			continue;
		assert_int_equal(s->mode, DP_MODE_JUMP);
		if (!lead || at - from >= DP_JUMP_SIZE) {
			lead = s;
			from = at;
			assert_int_equal(jump_of(w, s)->nr, 5);
		}
		assert_int_equal(s->patch_len, s == lead ? DP_JUMP_SIZE : 0);
		assert_int_equal(jump_of(w, s)->nr, s == lead ? 5 : 0);
		assert_int_equal(s->copy, in_detour(w, lead, at - from));
		assert_true(s->copy != 0);
		assert_int_equal(s->insn_len, 1);
		for (b = 1; s == lead && b < DP_JUMP_SIZE; b++)
			assert_ptr_equal(look_up(w, s->addr + b),
					 set >> (at + b) & 1 ?
						 site_of(w, at + b) :
						 lead);
	}
}

static void arm_and_disarm(struct world *w)
{
	u32 i;

	assert_int_equal(dp_engine_arm(w->e, &w->t.target, NULL), 0);
	for (i = 0; i < w->view.nr_sites; i++) {
		const struct dp_site_entry *s = &w->view.sites[i];

		assert_int_equal(s->armed, !s->intercept);
		if (s->patch_len && !s->intercept)
			assert_memory_equal(w->t.now + (s->addr - w->t.base),
					    s->patch, s->patch_len);
	}
	assert_int_equal(dp_view_disarm(&w->view, &w->t.target, false, NULL),
			 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	for (i = 0; i < w->view.nr_sites; i++)
		assert_int_equal(w->view.sites[i].armed, 0);
	assert_int_equal(w->t.broken, 0);
}

/* Fixed numbers, shuffled. */
static void shuffle(u32 *v, u32 n, u32 seed)
{
	u32 i, k, x;

	for (i = n; i > 1; i--) {
		seed = seed * 1664525 + 1013904223;
		k = (seed >> 8) % i;
		x = v[k];
		v[k] = v[i - 1];
		v[i - 1] = x;
	}
}

static void group(const u32 *order, u32 n, u32 set)
{
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	memset(w.t.orig, 0x55, SLOT - 1);
	for (i = 0; i < n; i++)
		if (set >> order[i] & 1)
			assert_int_equal(add(&w, order[i], true), 0);
	assert_int_equal(build(&w), 0);
	expect_groups(&w, set);
	arm_and_disarm(&w);
	end(&w);
}

static void groups_sites_in_any_order(void **state)
{
	u32 order[8], set, seed, i;

	for (set = 1; set < 256; set++)
		for (seed = 0; seed < 3; seed++) {
			for (i = 0; i < 8; i++)
				order[i] = seed ? i : 7 - i;
			if (seed > 1)
				shuffle(order, 8, set);
			group(order, 8, set);
		}
}

/* All orders of five, by Heap's way. */
static void permute(u32 *v, u32 n, u32 *done)
{
	u32 i, x, k;

	if (n == 1) {
		group(v, 5, 0x1f);
		++*done;
		return;
	}
	for (i = 0; i < n; i++) {
		permute(v, n - 1, done);
		k = n % 2 ? 0 : i;
		x = v[k];
		v[k] = v[n - 1];
		v[n - 1] = x;
	}
}

static void groups_five_in_all_orders(void **state)
{
	u32 v[] = { 0, 1, 2, 3, 4 }, done = 0;

	permute(v, 5, &done);
	assert_int_equal(done, 120);
}

/* A site in the middle of another's instruction. */
static void gives_up_what_overlaps(void **state)
{
	struct world w;
	int first;

	for (first = 0; first < 2; first++) {
		begin(&w, HIGH, DP_ARM_INTERIOR);
		hex("55 4889e5 4154 90", w.t.orig);
		assert_int_equal(add(&w, first ? 2 : 0, true), 0);
		assert_int_equal(add(&w, first ? 0 : 2, true), 0);
		assert_int_equal(build(&w), 0);
		assert_string_equal(dp_engine_mode(w.e, w.probe[first]),
				    "trap");
		assert_non_null(strstr(dp_engine_reason(w.e, w.probe[first]),
				       "overlap"));
		assert_string_equal(dp_engine_mode(w.e, w.probe[!first]),
				    "jump");
		arm_and_disarm(&w);
		end(&w);
	}
}

/* Intercepts. */

enum { CALL = 3 * SLOT, NUMBER = CALL + 2, SYSCALL = NUMBER + 6 };

/* 53 55 mov $13, %eax; nop; syscall; ret */
static void begin_intercept(struct world *w, enum dp_arming arming)
{
	begin(w, HIGH, arming);
	hex("53 55 b80d000000 90 0f05 c3", w->t.orig + CALL);
}

static int add_intercept(struct world *w, bool observed)
{
	return dp_engine_add_intercept(w->e, w->t.base + NUMBER,
				       w->t.orig + NUMBER, 13, observed);
}

static void expect_intercept(struct world *w, bool observed)
{
	const struct dp_site_entry *intercept = site_of(w, NUMBER);
	u64 to;
	u32 i;

	assert_int_equal(intercept->intercept,
			 observed ? DP_INTERCEPT_OBSERVED : DP_INTERCEPT_MADE);
	assert_int_equal(intercept->number, 13);
	assert_int_equal(intercept->patch_len, DP_JUMP_SIZE);
	assert_int_equal(intercept->traps, 0);
	assert_int_equal(jump_of(w, intercept)->nr, 3);
	assert_int_equal(site_of(w, CALL)->mode, DP_MODE_TRAP);
	assert_int_equal(site_of(w, NUMBER + 5)->copy,
			 in_detour(w, intercept, 5));
	assert_int_equal(site_of(w, SYSCALL)->copy, in_detour(w, intercept, 6));
	for (i = 0; i < 5; i++)
		assert_string_equal(
			dp_engine_mode(w->e, w->probe[i]),
			w->e->probes[w->probe[i]].site == w->e->order[0] ?
				"trap" :
			w->e->probes[w->probe[i]].site == w->e->order[4] ?
				"trap" :
				"jump");
	for (i = 0; i < SLOT; i++)
		assert_false(dp_engine_inside(w->e, w->t.base + CALL + i, &to));
}

static void toggle_around_intercept(struct world *w)
{
	u32 i;

	assert_int_equal(dp_engine_arm_intercepts(w->e, &w->t.target), 0);
	assert_int_equal(w->t.now[NUMBER], JUMP);
	assert_memory_equal(w->t.now + NUMBER + 5, w->t.orig + NUMBER + 5, 4);
	assert_int_equal(dp_engine_arm(w->e, &w->t.target, NULL), 0);
	assert_int_equal(w->t.now[CALL], DP_BREAKPOINT);
	for (i = 0; i < 5; i++)
		dp_engine_want(w->e, w->probe[i], false);
	assert_int_equal(site_of(w, NUMBER)->wanted, 1);
	assert_int_equal(dp_engine_apply(w->e, &w->t.target, NULL), 0);
	assert_int_equal(w->t.now[CALL], w->t.orig[CALL]);
	/* The intercept stays, whatever becomes of its probes. */
	assert_int_equal(w->t.now[NUMBER], JUMP);
	assert_int_equal(dp_view_disarm(&w->view, &w->t.target, false, NULL),
			 0);
	assert_int_equal(w->t.now[NUMBER], JUMP);
	assert_int_equal(dp_view_disarm(&w->view, &w->t.target, true, NULL), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
}

/* Probes before it, on it, inside and behind, added before it and after it. */
static void probes_intercepts(void **state)
{
	static const u32 where[] = { CALL, NUMBER, NUMBER + 5, SYSCALL,
				     SYSCALL + 2 };
	u32 at, i, seed;
	struct world w;

	for (at = 0; at <= 5; at++)
		for (seed = 0; seed < 4; seed++) {
			u32 order[] = { 0, 1, 2, 3, 4 };

			shuffle(order, 5, seed);
			begin_intercept(&w, seed % 2 ? DP_ARM_INTERIOR :
						       DP_ARM_QUIESCE);
			w.t.stopped = true;
			for (i = 0; i <= 5; i++) {
				if (i == at)
					assert_int_equal(
						add_intercept(&w, seed / 2), 0);
				if (i < 5)
					assert_int_equal(add(&w,
							     where[order[i]],
							     order[i] < 4),
							 0);
			}
			assert_int_equal(build(&w), 0);
			assert_int_equal(dp_engine_sites(w.e), 5);
			expect_intercept(&w, seed / 2);
			toggle_around_intercept(&w);
			end(&w);
		}
}

/* The protocol. */

/* Jumps over one instruction, two, and five of them; with another site inside;
 * one whose breakpoints are not all that begins there; a breakpoint. */
static void prepare(struct world *w, u64 base, enum dp_arming arming)
{
	begin(w, base, arming);
	w->t.stopped = arming == DP_ARM_QUIESCE;
	assert_int_equal(add(w, 0, true), 0);
	assert_int_equal(add(w, 15 * SLOT, true), 0);
	assert_int_equal(add(w, 15 * SLOT + 2, true), 0);
	assert_int_equal(add(w, 5 * SLOT, true), 0);
	assert_int_equal(add(w, 8 * SLOT, true), 0);
	assert_int_equal(add(w, 26 * SLOT, true), 0);
	assert_int_equal(add(w, 7 * SLOT, false), 0);
	assert_int_equal(build(w), 0);
	assert_int_equal(dp_engine_jumps(w->e), arming == DP_ARM_TRAP ? 0 : 6);
}

static void expect_armed(const struct world *w)
{
	u32 i;

	for (i = 0; i < w->view.nr_sites; i++) {
		const struct dp_site_entry *s = &w->view.sites[i];

		assert_memory_equal(w->t.now + (s->addr - w->t.base),
				    s->wanted ? s->patch : s->orig,
				    s->patch_len);
	}
}

static void writes_in_steps(void **state)
{
	u64 base;

	for (base = LOW;; base = HIGH) {
		struct world w;

		prepare(&w, base, DP_ARM_INTERIOR);
		assert_int_equal(w.t.nr_watches, 5);
		assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
		expect_armed(&w);
		/* Three writes a jump, one a breakpoint; a batch each. */
		assert_int_equal(w.t.writes, 3 * 5 + 1);
		assert_int_equal(w.t.syncs, 3);
		assert_int_equal(
			dp_view_disarm(&w.view, &w.t.target, false, NULL), 0);
		assert_int_equal(w.t.writes, 3 * 5 + 1 + 4 * 5 + 1);
		assert_int_equal(w.t.syncs, 3 + 4);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		assert_int_equal(w.t.broken, 0);
		end(&w);
		if (base == HIGH)
			break;
	}
}

static void die_after(struct world *w, u32 writes, u32 torn)
{
	w->t.mortal = true;
	w->t.left = writes;
	w->t.torn = torn;
}

/* Another tool: the arena is as it was at the moment of death. */
static void live_again(struct world *w)
{
	memcpy((void *)w->view.arena, w->t.snapshot, w->t.arena_size);
	memcpy(w->t.synced, w->t.now, SIZE);
	w->t.mortal = w->t.dead = false;
	assert_int_equal(dp_view_open(&w->view, (void *)w->view.arena,
				      w->t.arena_size),
			 0);
}

static void recover(struct world *w)
{
	live_again(w);
	assert_int_equal(dp_view_disarm(&w->view, &w->t.target, false, NULL),
			 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	assert_int_equal(w->t.broken, 0);
}

/* Return: false if it did all that it had to. */
static bool killed_arming(enum dp_arming arming, u32 writes, u32 torn)
{
	struct world w;
	bool dead;

	prepare(&w, HIGH, arming);
	die_after(&w, writes, torn);
	dp_engine_arm(w.e, &w.t.target, NULL);
	dead = w.t.dead;
	if (dead)
		recover(&w);
	end(&w);
	return dead;
}

static bool killed_disarming(enum dp_arming arming, u32 writes, u32 torn)
{
	struct world w;
	bool dead;

	prepare(&w, HIGH, arming);
	assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
	die_after(&w, writes, torn);
	dp_view_disarm(&w.view, &w.t.target, false, NULL);
	dead = w.t.dead;
	if (dead)
		recover(&w);
	end(&w);
	return dead;
}

static void recovers_from_every_kill(void **state)
{
	static bool (*const killed[])(
		enum dp_arming, u32, u32) = { killed_arming, killed_disarming };
	u32 k, arming, writes, torn;

	for (k = 0; k < 2; k++)
		for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE;
		     arming++)
			for (torn = 0; torn < DP_JUMP_SIZE; torn++) {
				writes = 0;
				while (killed[k](arming, writes, torn))
					writes++;
				assert_int_equal(writes,
						 k			  ? 21 :
						 arming == DP_ARM_QUIESCE ? 6 :
									    16);
			}
}

/* And the tool that recovers is killed too. */
static void recovers_from_kills_while_recovering(void **state)
{
	u32 writes, again, torn = 0;

	for (writes = 0; writes < 16; writes++)
		for (again = 0; again < 21; again++) {
			struct world w;

			prepare(&w, HIGH, DP_ARM_INTERIOR);
			die_after(&w, writes, torn++ % DP_JUMP_SIZE);
			dp_engine_arm(w.e, &w.t.target, NULL);
			live_again(&w);
			die_after(&w, again, torn++ % DP_JUMP_SIZE);
			dp_view_disarm(&w.view, &w.t.target, false, NULL);
			if (w.t.dead)
				recover(&w);
			assert_memory_equal(w.t.now, w.t.orig, SIZE);
			assert_int_equal(w.t.broken, 0);
			end(&w);
		}
}

/* A write that fails, and the tool goes on. */
static void rolls_back_failed_writes(void **state)
{
	u32 nth;

	for (nth = 0; nth < 16; nth++) {
		struct world w;
		u64 bad = 0;

		prepare(&w, HIGH, DP_ARM_INTERIOR);
		w.t.fail_at = nth + 1;
		assert_int_equal(dp_engine_arm(w.e, &w.t.target, &bad), -EIO);
		assert_non_null(entry_of(&w, bad));
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		assert_int_equal(w.t.broken, 0);
		end(&w);
	}
}

static void disarms_at_the_second_try(void **state)
{
	u32 nth;

	for (nth = 0; nth < 21; nth++) {
		struct world w;

		prepare(&w, HIGH, DP_ARM_INTERIOR);
		assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
		w.t.fail_at = nth + 1;
		assert_int_equal(dp_view_disarm(&w.view, &w.t.target, false,
						NULL),
				 -EIO);
		assert_int_equal(
			dp_view_disarm(&w.view, &w.t.target, false, NULL), 0);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		assert_int_equal(w.t.broken, 0);
		end(&w);
	}
}

static void want_all(struct world *w, bool wanted)
{
	u32 i;

	for (i = 0; i < w->nr_probes; i++)
		dp_engine_want(w->e, w->probe[i], wanted);
}

static void fail_then_apply(enum dp_arming arming, bool in, u32 nth, bool to)
{
	struct world w;

	prepare(&w, HIGH, arming);
	assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
	want_all(&w, in);
	assert_int_equal(dp_engine_apply(w.e, &w.t.target, NULL), 0);
	want_all(&w, !in);
	w.t.fail_at = nth;
	dp_engine_apply(w.e, &w.t.target, NULL);
	w.t.fail_at = 0;
	want_all(&w, to);
	assert_int_equal(dp_engine_apply(w.e, &w.t.target, NULL), 0);
	expect_armed(&w);
	assert_int_equal(w.t.broken, 0);
	end(&w);
}

/* What a failure leaves half-way, the next call brings where it belongs. */
static void applies_at_the_second_try(void **state)
{
	u32 arming, to, nth;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++)
		for (to = 0; to < 2; to++)
			for (nth = 1; nth <= 21; nth++) {
				fail_then_apply(arming, false, nth, to);
				fail_then_apply(arming, true, nth, to);
			}
}

static int write_all(struct world *w, u8 wanted)
{
	struct dp_sites sites = { .v = w->view.sites,
				  .jumps = w->view.jumps,
				  .n = w->view.nr_sites,
				  .may_go = true };
	struct dp_target *target = &w->t.target;
	int err;
	u32 i;

	for (i = 0; i < sites.n; i++) {
		sites.v[i].wanted = wanted;
		sites.v[i].unowned = w->t.replaced;
	}
	err = dp_strategy_interior.disarm(target, &sites, NULL);
	if (!err)
		err = dp_strategy_trap.disarm(target, &sites, NULL);
	if (!err)
		err = dp_strategy_interior.arm(target, &sites, NULL);
	if (!err)
		err = dp_strategy_trap.arm(target, &sites, NULL);
	return err;
}

/* Return: whether it was found out; it may have gone when all was written there. */
static bool expect_others(const struct world *w, bool wanted)
{
	const struct text *t = &w->t;
	bool found = false;
	u32 i;

	for (i = 0; i < w->view.nr_sites; i++) {
		const struct dp_site_entry *s = &w->view.sites[i];
		u64 at = s->addr - t->base;

		if (at / SLOT == t->slot)
			found |= s->armed == DP_SITE_GONE;
		else
			assert_memory_equal(t->now + at,
					    wanted ? s->patch : s->orig,
					    s->patch_len);
	}
	return found;
}

/* Return: whether it was gone before all was done. Where something else comes
 * there, a call may fail instead. */
static bool goes(u32 slot, u32 go_at, bool in, bool replaced, u32 *found)
{
	struct world w;
	bool gone;
	u32 i;
	int err;

	prepare(&w, HIGH, DP_ARM_INTERIOR);
	assert_int_equal(write_all(&w, !in), 0);
	w.t.slot = slot;
	w.t.go_at = go_at;
	w.t.replaced = replaced;
	w.t.goes = true;
	err = write_all(&w, in);
	gone = w.t.gone;
	if (!replaced)
		assert_int_equal(err, 0);
	else if (err)
		assert_int_equal(err, -EBUSY);
	for (i = 0; gone && replaced && i < SLOT; i++)
		assert_int_equal(w.t.now[slot * SLOT + i], FOREIGN);
	if (!err)
		*found += expect_others(&w, in);
	assert_int_equal(w.t.broken, 0);
	end(&w);
	return gone;
}

/* Code that is unmapped or replaced half-way: the others are written, and it is
 * not. */
static void goes_on_without(void **state)
{
	static const u32 slots[] = { 0, 5, 7, 26 };
	u32 i, n, how, found;

	for (how = 0; how < 4; how++)
		for (i = 0; i < 4; i++) {
			n = found = 0;
			while (goes(slots[i], n, how & 1, how & 2, &found))
				n++;
			assert_true(n > 10);
			assert_true(found > 1 || how & 2);
		}
}

/* None of these is ours, or there. */
static void refuses_foreign_bytes(void **state)
{
	u32 arming, b;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++)
		for (b = 0; b < DP_JUMP_SIZE; b++) {
			struct world w;
			u64 bad = 0;
			u8 seen[SIZE];

			prepare(&w, HIGH, arming);
			w.t.now[5 * SLOT + b] = FOREIGN;
			memcpy(seen, w.t.now, SIZE);
			assert_int_equal(dp_engine_arm(w.e, &w.t.target, &bad),
					 -EBUSY);
			assert_int_equal(bad, w.t.base + 5 * SLOT);
			assert_memory_equal(w.t.now, seen, SIZE);
			assert_int_equal(w.t.writes, 0);
			end(&w);
		}
}

static void leaves_foreign_bytes(void **state)
{
	u32 arming, b;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++)
		for (b = 0; b < DP_JUMP_SIZE; b++) {
			u8 *at, seen[DP_JUMP_SIZE];
			struct world w;
			u64 bad = 0;

			prepare(&w, HIGH, arming);
			assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL),
					 0);
			at = w.t.now + 5 * SLOT;
			at[b] = FOREIGN;
			memcpy(seen, at, DP_JUMP_SIZE);
			assert_int_equal(dp_view_disarm(&w.view, &w.t.target,
							false, &bad),
					 -EBUSY);
			assert_int_equal(bad, w.t.base + 5 * SLOT);
			assert_memory_equal(at, seen, DP_JUMP_SIZE);
			assert_true(site_of(&w, 5 * SLOT)->armed);
			/* All others have left. */
			memcpy(at, w.t.orig + 5 * SLOT, DP_JUMP_SIZE);
			assert_memory_equal(w.t.now, w.t.orig, SIZE);
			/* Nor does it come back over what is there again. */
			assert_int_equal(dp_view_disarm(&w.view, &w.t.target,
							false, &bad),
					 0);
			assert_int_equal(site_of(&w, 5 * SLOT)->armed, 0);
			end(&w);
		}
}

static bool nobody_traces(struct dp_target *target)
{
	return false;
}

static const struct dp_target_ops untraced = { .read = read_text,
					       .write = write_text,
					       .sync = sync_text,
					       .traced = nobody_traces };

/* A uprobe will write the file's byte: the bytes behind it have to be the file's, too. */
static void leaves_from_behind_a_uprobe(void **state)
{
	u32 signal_free;

	for (signal_free = 0; signal_free < 2; signal_free++) {
		struct world w;

		prepare(&w, HIGH,
			signal_free ? DP_ARM_QUIESCE : DP_ARM_INTERIOR);
		assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
		w.t.target.ops = &untraced;
		w.t.now[5 * SLOT] = DP_BREAKPOINT;
		dp_engine_arena(w.e)->control.signal_free = signal_free;
		assert_int_equal(
			dp_view_disarm(&w.view, &w.t.target, false, NULL), 0);
		assert_int_equal(w.t.now[5 * SLOT], DP_BREAKPOINT);
		assert_int_equal(site_of(&w, 5 * SLOT)->armed, DP_SITE_OFF);
		w.t.now[5 * SLOT] = w.t.orig[5 * SLOT];
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		end(&w);
	}
}

static void toggles_every_subset(void **state)
{
	u32 arming, i, set, probe;
	struct world w;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++) {
		begin(&w, HIGH, arming);
		w.t.stopped = arming == DP_ARM_QUIESCE;
		for (i = 0; i < 6; i++)
			assert_int_equal(add(&w, (15 - i) * SLOT, i != 2), 0);
		assert_int_equal(build(&w), 0);
		assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
		for (i = 0; i < 64 * 64; i++) {
			/* To each from each. */
			set = i % 2 ? i / 64 : i % 64;
			for (probe = 0; probe < 6; probe++)
				dp_engine_want(w.e, w.probe[probe],
					       set >> probe & 1);
			assert_int_equal(
				dp_engine_apply(w.e, &w.t.target, NULL), 0);
			expect_armed(&w);
			assert_int_equal(w.t.broken, 0);
		}
		assert_int_equal(
			dp_view_disarm(&w.view, &w.t.target, false, NULL), 0);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		end(&w);
	}
}

/* A member comes and goes with its leader. */
static void toggles_leaders_alone(void **state)
{
	struct world w;

	prepare(&w, HIGH, DP_ARM_INTERIOR);
	assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
	dp_engine_want(w.e, w.probe[2], false);
	assert_int_equal(dp_engine_apply(w.e, &w.t.target, NULL), 0);
	assert_int_equal(site_of(&w, 15 * SLOT + 2)->armed, 1);
	expect_armed(&w);
	dp_engine_want(w.e, w.probe[1], false);
	assert_int_equal(dp_engine_apply(w.e, &w.t.target, NULL), 0);
	assert_int_equal(site_of(&w, 15 * SLOT + 2)->armed, 0);
	assert_memory_equal(w.t.now + 15 * SLOT, w.t.orig + 15 * SLOT, SLOT);
	dp_engine_want(w.e, w.probe[1], true);
	assert_int_equal(dp_engine_apply(w.e, &w.t.target, NULL), 0);
	assert_int_equal(site_of(&w, 15 * SLOT + 2)->armed, 1);
	expect_armed(&w);
	assert_int_equal(w.t.broken, 0);
	end(&w);
}

static void knows_who_is_inside(void **state)
{
	u32 slot, by, k;
	struct world w;
	u64 to;

	begin(&w, HIGH, DP_ARM_QUIESCE);
	add_all(&w);
	assert_int_equal(build(&w), 0);
	assert_true(dp_engine_is_quiesced(w.e));
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	for (slot = 0; slot < SLOTS; slot++) {
		const struct dp_site_entry *s = site_of(&w, slot * SLOT);

		assert_int_equal(jump_of(&w, s)->island, 0);
		assert_int_equal(s->traps, 0);
		for (by = 0, k = 0; by < SLOT; by++) {
			bool in = by && by < 5 && (slot % 16 << 1) >> by & 1;

			assert_int_equal(
				dp_engine_inside(w.e, s->addr + by, &to), in);
			if (in)
				assert_int_equal(
					to, jump_of(&w, s)->base +
						    jump_of(&w, s)->at[++k]);
		}
	}
	end(&w);
}

/* A call returns into the middle: that is for interior alone. */
static void minds_returns(void **state)
{
	u32 arming;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++) {
		bool jump = arming == DP_ARM_INTERIOR;
		struct world w;

		begin(&w, HIGH, arming);
		hex("ffd0 4889c3", w.t.orig);
		assert_int_equal(add(&w, 0, true), 0);
		assert_int_equal(build(&w), 0);
		assert_string_equal(dp_engine_mode(w.e, w.probe[0]),
				    jump ? "jump" : "trap");
		assert_int_equal(!*dp_engine_reason(w.e, w.probe[0]), jump);
		assert_false(dp_engine_is_quiesced(w.e));
		end(&w);
	}
}

/* add $8, %rsp; ret: the jump begins at the add, which nobody probes. */
static void begin_early(struct world *w, enum dp_arming arming)
{
	begin(w, HIGH, arming);
	hex("4883c408c3", w->t.orig + 10);
	assert_int_equal(add(w, 14, true), 0);
	dp_engine_start_early(w->e, HIGH + 10, w->t.orig + 10, SLOT);
}

static void begins_before_a_probe(void **state)
{
	u32 arming;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++) {
		struct world w;

		begin_early(&w, arming);
		assert_int_equal(build(&w), 0);
		assert_int_equal(dp_engine_sites(w.e), 1);
		assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "jump");
		assert_int_equal(site_of(&w, 10)->patch_len, DP_JUMP_SIZE);
		assert_int_equal(site_of(&w, 10)->first_probe, 0);
		assert_int_equal(site_of(&w, 14)->patch_len, 0);
		assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
		assert_int_equal(w.t.now[10], JUMP);
		/* Nothing behind it has changed. */
		assert_memory_equal(w.t.now + 15, w.t.orig + 15, SIZE - 15);
		assert_int_equal(
			dp_view_disarm(&w.view, &w.t.target, false, NULL), 0);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		end(&w);
	}
}

/* Where the jump cannot be, only the probe is a breakpoint. */
static void begins_nowhere_else(void **state)
{
	const struct dp_hole hole = { HIGH + 0x100000, HIGH + 0x200000, false };
	struct world w;

	begin_early(&w, DP_ARM_INTERIOR);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "trap");
	assert_int_equal(dp_engine_arm(w.e, &w.t.target, NULL), 0);
	assert_int_equal(w.t.now[10], w.t.orig[10]);
	assert_int_equal(w.t.now[14], DP_BREAKPOINT);
	assert_int_equal(dp_view_disarm(&w.view, &w.t.target, false, NULL), 0);
	assert_memory_equal(w.t.now, w.t.orig, SIZE);
	end(&w);
}

/* A call returns among its bytes; instructions that do not end with the probe's. */
static void begins_at_the_probe(void **state)
{
	static const char *const codes[] = { "90ff5008c3",
					     "90909048c7c001000000c3" };
	u32 i;

	for (i = 0; i < 2; i++) {
		struct world w;

		begin(&w, HIGH, DP_ARM_INTERIOR);
		hex(codes[i], w.t.orig + 10);
		assert_int_equal(add(&w, 14, false), 0);
		dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, SLOT);
		assert_int_equal(build(&w), 0);
		assert_null(site_of(&w, 10));
		end(&w);
	}
}

static void keeps_reasons(void **state)
{
	static const struct {
		const char *code, *why;
	} refused[] = {
		{ "55 0f05 9090 9090", "system call" },
		{ "55 f4 90 9090 9090", "hlt" },
		{ "55 4889e5 4154 ebfa", "branch" },
		{ "48c7c00f000000 0f05", "signal return" },
	};
	struct world w;
	size_t i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	for (i = 0; i < 4; i++) {
		hex(refused[i].code, w.t.orig + i * SLOT);
		assert_int_equal(add(&w, (u32)i * SLOT, true), 0);
	}
	assert_int_equal(add(&w, 5 * SLOT - 4, true), 0);
	assert_int_equal(add(&w, 6 * SLOT, false), 0);
	assert_int_equal(add(&w, 7 * SLOT, true), 0);
	dp_engine_forbid_jump(w.e, w.probe[6], "because");
	assert_int_equal(build(&w), 0);
	for (i = 0; i < 7; i++)
		assert_string_equal(dp_engine_mode(w.e, w.probe[i]), "trap");
	for (i = 0; i < 4; i++)
		assert_non_null(strstr(dp_engine_reason(w.e, w.probe[i]),
				       refused[i].why));
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[4]), "no room"));
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[5]), "known"));
	assert_string_equal(dp_engine_reason(w.e, w.probe[6]), "because");
	end(&w);
}

/* In all that the tests before have done. */
static void changes_no_site_impossibly(void **state)
{
	assert_int_equal(dp_engine_impossible(), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(lands_where_it_may),
		cmocka_unit_test(lands_above_low_addresses),
		cmocka_unit_test(traps_where_nothing_is_free),
		cmocka_unit_test(wants_room_for_all_of_an_island),
		cmocka_unit_test(lands_in_reach_of_its_detour),
		cmocka_unit_test(survives_every_failed_allocation),
		cmocka_unit_test(groups_sites_in_any_order),
		cmocka_unit_test(groups_five_in_all_orders),
		cmocka_unit_test(gives_up_what_overlaps),
		cmocka_unit_test(probes_intercepts),
		cmocka_unit_test(writes_in_steps),
		cmocka_unit_test(recovers_from_every_kill),
		cmocka_unit_test(recovers_from_kills_while_recovering),
		cmocka_unit_test(rolls_back_failed_writes),
		cmocka_unit_test(disarms_at_the_second_try),
		cmocka_unit_test(applies_at_the_second_try),
		cmocka_unit_test(goes_on_without),
		cmocka_unit_test(refuses_foreign_bytes),
		cmocka_unit_test(leaves_foreign_bytes),
		cmocka_unit_test(leaves_from_behind_a_uprobe),
		cmocka_unit_test(toggles_every_subset),
		cmocka_unit_test(toggles_leaders_alone),
		cmocka_unit_test(knows_who_is_inside),
		cmocka_unit_test(minds_returns),
		cmocka_unit_test(begins_before_a_probe),
		cmocka_unit_test(begins_nowhere_else),
		cmocka_unit_test(begins_at_the_probe),
		cmocka_unit_test(keeps_reasons),
		cmocka_unit_test(changes_no_site_impossibly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
