/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jump_world: an engine's sites on bytes in an array that looks at every write. */
#ifndef DP_TEST_JUMP_WORLD_H
#define DP_TEST_JUMP_WORLD_H

#include <stdlib.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/insn/region.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/program.h"
#include "engine/site/reach.h"
#include "engine/site/view.h"
#include "engine/text/state.h"
#include "engine/text/strategy.h"
#include "engine/text/target.h"
#include "port/fake/fake.h"
#include "hex.h"
#include "memory.h"

#define HIGH 0x7f0000000000ull
#define LOW 0x10000000ull
#define SLOT 32
#define SLOTS 512
#define SIZE (SLOT * SLOTS)
#define SITES 32
#define JUMP 0xe9

/* Bytes that nobody of ours has written. */
#define FOREIGN 0xf1

struct text {
	struct dp_target target;
	u64 base;
	u8 orig[SIZE], now[SIZE];
	u8 synced[SIZE]; /* what everybody is sure to have seen */
	u32 begins[SLOTS]; /* a bit for each byte where an instruction begins */
	const struct dp_view *view; /* the engine's; NULL: nobody looks */
	u32 writes, syncs, broken;
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
	struct memory m;
	struct dp_engine *e;
	void *file;
	u32 probe[SITES], nr_probes;
	bool arrivals; /* threads may come to the middle of what is added */
	u64 bad;
	struct dp_view view; /* of the next tool */
};

static inline struct text *text_of(struct dp_target *t)
{
	return (struct text *)t;
}

/* What a thread may meet. */

static inline const struct dp_site_entry *text_site(const struct text *t,
						    u32 at)
{
	u32 i;

	for (i = 0; i < t->view->nr_sites; i++)
		if (t->view->sites[i].addr == t->base + at)
			return &t->view->sites[i];
	return NULL;
}

/* The site at @at, if it has a jump. */
static inline const struct dp_site_entry *jump_at(const struct text *t, u32 at)
{
	const struct dp_site_entry *s = text_site(t, at);

	return s && s->mode == DP_MODE_JUMP && !s->intercept &&
			       s->patch[0] == JUMP ?
		       s :
		       NULL;
}

/* A site whose jump, wherever it is now, has @at inside and a breakpoint there, or has not. */
static inline const struct dp_site_entry *around(const struct text *t, u32 at,
						 bool traps)
{
	const struct dp_site_entry *s;
	u32 d;

	for (d = 1; d < DP_JUMP_SIZE && d <= at; d++) {
		s = jump_at(t, at - d);
		if (s && (s->traps >> d & 1) == traps &&
		    (traps || dp_site_jumps(s)))
			return s;
	}
	return NULL;
}

static inline bool begins(const struct text *t, u32 at)
{
	return t->begins[at / SLOT] >> at % SLOT & 1;
}

/* No thread is there: it has been moved out of a jump without breakpoints. */
static inline bool is_empty(const struct text *t, u32 at)
{
	return around(t, at, false);
}

static inline u32 length_at(const struct text *t, u32 at)
{
	u32 end = at + 1;

	while (end % SLOT && !begins(t, end))
		end++;
	return end - at;
}

/* Does a thread that traps at @at find the site? */
static inline bool is_found(const struct text *t, u32 at,
			    const struct dp_site_entry *s)
{
	const struct dp_arena *arena = t->view->arena;
	const u32 *slots =
		(const void *)((const char *)arena + arena->control.hash_off);
	u32 mask = arena->control.hash_mask, i;

	for (i = dp_site_hash(t->base + at) & mask; s && slots[i];
	     i = (i + 1) & mask)
		if (s == &t->view->sites[slots[i] - 1])
			return true;
	return false;
}

/* A breakpoint that some site answers for. */
static inline bool breaks(const struct text *t, const u8 *bytes, u32 at)
{
	const struct dp_site_entry *s = at >= 4 ? jump_at(t, at - 4) : NULL;

	if (bytes[at] == DP_BREAKPOINT)
		return is_found(t, at, text_site(t, at)) ||
		       is_found(t, at, around(t, at, true));
	return s && s->traps >> 4 & 1 && bytes[at] == s->patch[4];
}

/* Whoever arrives at an instruction's address finds it whole, or a breakpoint, or a jump. */
static inline bool arrives(const struct text *t, u32 at)
{
	const struct dp_site_entry *s = jump_at(t, at);

	return is_empty(t, at) || breaks(t, t->now, at) ||
	       (s && !memcmp(t->now + at, s->patch, DP_JUMP_SIZE)) ||
	       !memcmp(t->now + at, t->orig + at, length_at(t, at));
}

/* May the first byte of an instruction become this, while it runs? */
static inline bool head_may(const struct text *t, u32 at, const u8 *new)
{
	const struct dp_site_entry *s = jump_at(t, at);
	const u8 *whole = t->orig + at;
	u32 len = length_at(t, at);

	if (breaks(t, new, at))
		return true;
	if (new[at] == JUMP && s) {
		whole = s->patch;
		len = DP_JUMP_SIZE;
	}
	/* Behind a breakpoint, over what everybody has seen; or only the breakpoint goes. */
	return breaks(t, t->now, at) &&
	       (breaks(t, t->synced, at) || t->synced[at] == *whole) &&
	       !memcmp(new + at, whole, len) &&
	       !memcmp(t->now + at + 1, whole + 1, len - 1) &&
	       !memcmp(t->synced + at + 1, whole + 1, len - 1);
}

/* Has a thread a jump before it, or behind it, whose bytes change? */
static inline bool in_jump(const struct text *t, u32 at)
{
	u32 d;

	for (d = 1; d < DP_JUMP_SIZE && d <= at; d++)
		if (jump_at(t, at - d) &&
		    (t->now[at - d] == JUMP || t->synced[at - d] == JUMP))
			return true;
	return false;
}

/* Is the way from what is there to @new one that no thread falls into? */
static inline bool may_change(const struct text *t, u32 at, const u8 *new)
{
	u32 head = at;

	if (in_jump(t, at))
		return false;
	while (!begins(t, head) || is_empty(t, head))
		head--;
	return head == at ?
		       head_may(t, at, new) :
		       breaks(t, t->now, head) && breaks(t, t->synced, head);
}

static inline bool is_gone(struct text *t, u64 addr)
{
	if (t->goes && !t->go_at--) {
		t->gone = true;
		if (t->replaced)
			memset(t->now + t->slot * SLOT, FOREIGN, SLOT);
	}
	return t->gone && !t->replaced && (addr - t->base) / SLOT == t->slot;
}

static inline bool is_observed(const struct text *t, u32 slot)
{
	return t->view && !t->stopped && !(t->gone && slot == t->slot);
}

/* Code that is none is taken for instructions of one byte. */
static inline void find_instructions(struct text *t, u32 slot)
{
	struct insn_facts f;
	u32 at;

	if (t->begins[slot])
		return;
	for (at = 0; at < SLOT; at += f.len) {
		t->begins[slot] |= 1u << at;
		if (dp_insn_facts(t->orig + slot * SLOT + at, SLOT - at, &f))
			f.len = 1;
	}
}

static inline void look_before(struct text *t, u32 at, const u8 *from,
			       size_t len)
{
	static u8 new[SIZE];
	u32 i;

	if (!is_observed(t, at / SLOT))
		return;
	find_instructions(t, at / SLOT);
	memcpy(new + at / SLOT *SLOT, t->now + at / SLOT * SLOT, SLOT);
	memcpy(new + at, from, len);
	for (i = at; i < at + len; i++)
		t->broken += new[i] != t->now[i] && !may_change(t, i, new);
}

static inline void look_at(struct text *t, u32 slot)
{
	u32 i;

	find_instructions(t, slot);
	for (i = slot * SLOT; i < (slot + 1) * SLOT; i++)
		t->broken += begins(t, i) && !arrives(t, i);
}

static inline int read_text(struct dp_target *target, u64 addr, void *to,
			    size_t len)
{
	struct text *t = text_of(target);

	if (t->dead)
		return -EIO;
	if (is_gone(t, addr))
		return -EFAULT;
	memcpy(to, t->now + (addr - t->base), len);
	return 0;
}

static inline int write_text(struct dp_target *target, u64 addr,
			     const void *from, size_t len)
{
	struct text *t = text_of(target);
	u32 at = (u32)(addr - t->base);

	if (t->dead || (t->fail_at && !--t->fail_at))
		return -EIO;
	if (!t->replaced && is_gone(t, addr))
		return -EFAULT;
	assert_int_equal(at / SLOT, (at + len - 1) / SLOT);
	t->dead = t->mortal && !t->left--;
	if (t->dead)
		len = t->torn < len ? t->torn : len;
	look_before(t, at, from, len);
	memcpy(t->now + at, from, len);
	if (is_observed(t, at / SLOT))
		look_at(t, at / SLOT);
	t->writes++;
	if (t->dead && t->arena)
		memcpy(t->snapshot, t->arena, t->arena_size);
	return t->dead ? -EIO : 0;
}

static inline int sync_text(struct dp_target *target)
{
	struct text *t = text_of(target);

	if (t->dead)
		return -EIO;
	memcpy(t->synced, t->now, SIZE);
	t->syncs++;
	return 0;
}

/* Threads that run again have seen all that was written. */
static inline void hold_text(struct dp_target *target, bool held)
{
	struct text *t = text_of(target);
	u32 slot;

	t->stopped = held || t->dead;
	if (t->stopped)
		return;
	for (slot = 0; slot < SLOTS; slot++)
		if (memcmp(t->now + slot * SLOT, t->synced + slot * SLOT,
			   SLOT) &&
		    is_observed(t, slot))
			look_at(t, slot);
	memcpy(t->synced, t->now, SIZE);
}

static const struct dp_target_ops text_ops = { .read = read_text,
					       .write = write_text,
					       .sync = sync_text };

/* The engine. */

/* Instructions of each length, which begin where bits of a number are set. */
static inline void put_slot(struct text *t, u32 slot, u32 starts)
{
	static const char *const insns[] = { "55", "89e5", "4889e5", "488d4708",
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

static inline void put_slots(struct text *t)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		put_slot(t, i, i % 16 << 1);
}

static inline void begin(struct world *w, u64 base, enum dp_arming arming)
{
	memset(w, 0, sizeof(*w));
	w->t.target.ops = &text_ops;
	w->t.base = base;
	w->m.held = hold_text;
	put_slots(&w->t);
	assert_int_equal(dp_engine_create(&w->e), 0);
	dp_engine_set_arming(w->e, arming);
}

static inline int add(struct world *w, u32 at, bool jump)
{
	u32 slot = at / SLOT * SLOT, *probe = &w->probe[w->nr_probes % SITES];
	struct dp_reach g = { .start = w->t.base + slot,
			      .code = w->t.orig + slot,
			      .size = SIZE - slot,
			      .function = SLOT,
			      .room = SLOT - at % SLOT,
			      .arrivals = w->arrivals };
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

/* Return: its number. */
static inline u32 add_code(struct world *w, const u8 *code, u32 len, u32 logmax)
{
	static const u32 start;
	const struct dp_program_spec spec = { .name = "it",
					      .code = code,
					      .code_len = len,
					      .starts = &start,
					      .nr_starts = 1,
					      .nr_lv = 1,
					      .jmpmax = 32,
					      .logmax = logmax,
					      .stack = 32 };
	const char *why;
	u32 program, offset;

	assert_int_equal(
		dp_engine_add_program(w->e, &spec, &program, &offset, &why), 0);
	return program;
}

static inline void see_arena(struct world *w)
{
	w->t.arena = dp_engine_arena(w->e);
	w->t.arena_size = w->e->need.arena_size;
	w->t.snapshot = malloc(w->t.arena_size);
	memcpy(w->t.now, w->t.orig, SIZE);
	memcpy(w->t.synced, w->t.orig, SIZE);
	w->t.view = &w->e->view;
}

/* Up to where nothing leads to the copies yet. */
static inline int build_in(struct world *w, const struct dp_hole *holes, u32 n)
{
	struct dp_mapping map = { .base = w->t.base + 0x40000000,
				  .intercept_entry = w->t.base + 0x40001000,
				  .entries = { .hit = w->t.base + 0x40002000 },
				  .owner = 1,
				  .tool = 2 };
	int err;

	assert_true(n <= MEMORY_HOLES);
	memcpy(w->m.hole, holes, n * sizeof(*holes));
	w->m.nr_holes = n;
	err = memory_build(&w->m, w->e, &w->t.target, &map, &w->file);
	if (!err)
		see_arena(w);
	return err;
}

/* Room above, and as far below as the breakpoints of a jump lead. */
static inline int build(struct world *w)
{
	const struct dp_hole holes[] = {
		{ w->t.base - 0x50000000, w->t.base - 0x10000000, false },
		{ w->t.base + 0x100000, w->t.base + 0x10000000, false },
	};

	return build_in(w, holes, 2);
}

static inline int commit(struct world *w)
{
	return dp_engine_commit(w->e, &w->t.target, &w->bad);
}

static inline int apply(struct world *w)
{
	return dp_engine_apply(w->e, &w->t.target, &w->bad);
}

/* What is there now is taken out, as by any other tool. */
static inline int disarm(struct world *w, bool intercepts, u64 *bad)
{
	struct dp_view *v = &w->view;

	assert_int_equal(dp_view_open(v, (void *)w->t.arena, w->t.arena_size),
			 0);
	return dp_view_disarm(v, &w->t.target, intercepts, bad);
}

static inline void end(struct world *w)
{
	dp_engine_destroy(w->e);
	free(w->file);
	free(w->t.snapshot);
	memory_free(&w->m);
}

static inline const struct dp_site_entry *entry_of(const struct world *w,
						   u64 addr)
{
	u32 i;

	for (i = 0; i < w->e->view.nr_sites; i++)
		if (w->e->view.sites[i].addr == addr)
			return &w->e->view.sites[i];
	return NULL;
}

static inline const struct dp_site_entry *site_of(const struct world *w, u32 at)
{
	return entry_of(w, w->t.base + at);
}

static inline const struct dp_jump *jump_of(const struct world *w,
					    const struct dp_site_entry *s)
{
	return dp_view_jump(&w->e->view, s);
}

/* The instruction of a jump that begins @by bytes behind its site; its number, or -1 */
static inline int insn_by(const struct dp_jump *j, u64 by)
{
	int i;

	for (i = 0; i < j->nr; i++)
		if (j->offset[i] == by)
			return i;
	return -1;
}

/* Fixed numbers, shuffled. */
static inline void shuffle(u32 *v, u32 n, u32 seed)
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

/* The site's probes are hit: by its own jump or breakpoint, or by the jump that covers it. */
static inline void expect_hits(const struct world *w,
			       const struct dp_site_entry *s)
{
	const u8 *now = w->t.now + (s->addr - w->t.base);
	const struct dp_view *v = &w->e->view;
	const struct dp_site_entry *lead;
	const struct dp_jump *j;
	int k;

	assert_int_not_equal(s->armed, DP_SITE_OFF);
	if (!s->leader && s->armed == DP_SITE_THERE) {
		assert_memory_equal(now, s->patch, s->patch_len);
		return;
	}
	if (!s->leader) {
		assert_int_equal(s->armed, DP_SITE_TRAPPED);
		assert_int_equal(*now, DP_BREAKPOINT);
		return;
	}
	lead = &v->sites[s->leader - 1];
	assert_int_equal(lead->armed, DP_SITE_THERE);
	assert_int_equal(lead->leader, 0);
	assert_memory_equal(w->t.now + (lead->addr - w->t.base), lead->patch,
			    DP_JUMP_SIZE);
	j = dp_view_jump(v, lead);
	k = insn_by(j, s->addr - lead->addr);
	assert_true(k > 0);
	assert_int_equal(j->member[k], s - v->sites + 1);
	assert_true((j->before | j->counted) >> k & 1);
	assert_int_equal(s->armed, s->mode == DP_MODE_JUMP ? DP_SITE_TRAPPED :
							     DP_SITE_THERE);
	assert_int_equal(s->copy, s->single);
}

/* Sites with an enabled probe are hit; where none is near, nothing has changed. */
static inline void expect_armed(const struct world *w)
{
	bool near[SLOTS] = { false };
	u32 i, p;

	for (p = 0; p < w->e->nr_probes; p++) {
		const struct dp_site_entry *s =
			&w->e->view.sites[w->e->view.probes[p].site];

		if (!w->e->probes[p].enabled)
			continue;
		expect_hits(w, s);
		near[(s->addr - w->t.base) / SLOT] = true;
	}
	for (i = 0; i < SLOTS; i++)
		if (!near[i])
			assert_memory_equal(w->t.now + i * SLOT,
					    w->t.orig + i * SLOT, SLOT);
}

#endif
