// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jump: sites closer than five bytes, which share one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/insn/callout.h"
#include "engine/plan/jump.h"
#include "engine/site/instances.h"
#include "jump_world.h"

static const struct dp_site_entry *look_up(const struct world *w, u64 addr)
{
	const struct dp_arena *arena = w->e->arena;
	const u32 *slots =
		(const void *)((const char *)arena + arena->control.hash_off);
	u32 i = dp_site_hash(addr) & arena->control.hash_mask, b;
	const struct dp_site_entry *around = NULL;

	for (; slots[i]; i = (i + 1) & arena->control.hash_mask) {
		const struct dp_site_entry *s = &w->e->view.sites[slots[i] - 1];

		if (s->addr == addr)
			return s;
		for (b = 1; b < DP_JUMP_SIZE; b++)
			if (s->traps >> b & 1 && s->addr + b == addr &&
			    dp_site_jumps(s))
				around = s;
	}
	return around;
}

/* Instructions of a function; sites are at those whose bits are set. */
struct code {
	const char *hex;
	u32 n, at[8];
};

static const struct code bytes = { "5555555555555555555555555555",
				   8,
				   { 0, 1, 2, 3, 4, 5, 6, 7 } };

/* Each of them can have several jumps: not all bytes of theirs are breakpoints. */
static const struct code mixed = { "55 89e5 55 89e5 55 4889e5 4889e5",
				   5,
				   { 0, 1, 3, 4, 6 } };

static u32 find(const struct code *c, u32 set, u32 at)
{
	u32 i;

	for (i = 0; i < c->n; i++)
		if (c->at[i] == at)
			return set >> i & 1;
	return 0;
}

static void expect_lead(const struct world *w, const struct code *c, u32 set,
			const struct dp_site_entry *s)
{
	const struct dp_jump *j = jump_of(w, s);
	u32 at = (u32)(s->addr - w->t.base), k, b;

	assert_int_equal(s->leader, 0);
	assert_int_equal(s->copy, j->base + j->insn[0]);
	for (k = 1; k < j->nr; k++) {
		b = j->offset[k];
		if (b >= DP_JUMP_SIZE)
			continue;
		assert_int_equal(j->member[k] != 0, find(c, set, at + b));
		assert_int_equal(j->before >> k & 1, find(c, set, at + b));
		assert_ptr_equal(look_up(w, s->addr + b),
				 find(c, set, at + b) ? site_of(w, at + b) : s);
	}
}

static void expect_groups(const struct world *w, const struct code *c, u32 set)
{
	const struct dp_site_entry *lead = NULL, *s;
	u32 i;

	for (i = 0; i < c->n; i++) {
		s = site_of(w, c->at[i]);
		assert_int_equal(s != NULL, set >> i & 1);
		if (!s)
			continue;
		assert_int_equal(s->mode, DP_MODE_JUMP);
		assert_true(dp_view_is_jump(&w->e->view, s));
		assert_int_equal(s->reason, 0);
		if (lead && s->addr - lead->addr < DP_JUMP_SIZE) {
			assert_int_equal(s->leader,
					 lead - w->e->view.sites + 1);
			continue;
		}
		lead = s;
		expect_lead(w, c, set, s);
	}
	expect_armed(w);
}

static void disarm_all(struct world *w)
{
	u32 i;

	assert_int_equal(disarm(w, false, NULL), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	for (i = 0; i < w->view.nr_sites; i++)
		assert_int_equal(w->view.sites[i].armed, 0);
	assert_int_equal(w->t.broken, 0);
}

/* @first: so many are armed at once, each of the others by itself */
static void group(const struct code *c, const u32 *order, u32 n, u32 set,
		  u32 first)
{
	const struct dp_expected some = { .sites = 8, .probes = 8 };
	u32 i, armed = 0;
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	dp_engine_expect(w.e, &some);
	hex(c->hex, w.t.orig);
	for (i = 0; i < first; i++) {
		if (!(set >> order[i] & 1))
			continue;
		assert_int_equal(add(&w, c->at[order[i]], true), 0);
		armed |= 1u << order[i];
	}
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	expect_groups(&w, c, armed);
	for (; i < n; i++) {
		if (!(set >> order[i] & 1))
			continue;
		assert_int_equal(add(&w, c->at[order[i]], true), 0);
		assert_int_equal(dp_engine_plan(w.e), 0);
		assert_int_equal(commit(&w), 0);
		armed |= 1u << order[i];
		expect_groups(&w, c, armed);
	}
	disarm_all(&w);
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
			group(&bytes, order, 8, set, 8);
		}
}

/* All orders of five, by Heap's way. */
static void permute(u32 *v, u32 n, u32 *done)
{
	u32 i, x, k;

	if (n == 1) {
		group(&bytes, v, 5, 0x1f, 5);
		group(&mixed, v, 5, 0x1f, 5);
		group(&mixed, v, 5, 0x1f, *done % 4 + 1);
		group(&mixed, v, 5, 0x1f, 0);
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

/* At once, and one after the other: who comes later into an armed jump joins it. */
static void groups_five_in_all_orders(void **state)
{
	u32 v[] = { 0, 1, 2, 3, 4 }, done = 0;

	permute(v, 5, &done);
	assert_int_equal(done, 120);
}

/* With breakpoints in all of its bytes a jump leads to one address alone, where the island of
 * the jump before it is: the sites are breakpoints. */
static void joins_without_another_island(void **state)
{
	const struct dp_expected some = { .sites = 1, .probes = 1 };
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	dp_engine_expect(w.e, &some);
	hex(bytes.hex, w.t.orig);
	assert_int_equal(add(&w, 0, true), 0);
	assert_int_equal(add(&w, 1, true), 0);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	expect_groups(&w, &bytes, 3);
	assert_int_equal(add(&w, 2, true), 0);
	assert_int_equal(dp_engine_plan(w.e), 0);
	assert_int_equal(commit(&w), 0);
	expect_armed(&w);
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[0]),
			       "no address is free"));
	for (i = 0; i < 3; i++)
		assert_int_equal(w.t.now[i], DP_BREAKPOINT);
	/* The jump that it has had is there again. */
	dp_engine_turn(w.e, w.probe[2], false);
	assert_int_equal(apply(&w), 0);
	expect_armed(&w);
	assert_int_equal(w.t.now[0], JUMP);
	disarm_all(&w);
	end(&w);
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
		/* Only one of the sites is at an instruction. */
		w.t.stopped = true;
		assert_int_equal(commit(&w), 0);
		assert_string_equal(dp_engine_mode(w.e, w.probe[first]),
				    "trap");
		assert_non_null(strstr(dp_engine_reason(w.e, w.probe[first]),
				       "overlap"));
		assert_string_equal(dp_engine_mode(w.e, w.probe[!first]),
				    "jump");
		expect_armed(&w);
		disarm_all(&w);
		end(&w);
	}
}

/* Behind the five bytes. */

#define SIGNATURE 0x53053053
/* push %rbp; mov %rsp, %rbp; push %rbx */
#define LEAD "55 4889e5 53 "
#define LONGEST "6666666666662e0f1f840011223344"

/**
 * struct row - sites, the first of which begins a jump
 * @sites: where each is; 'j': it may begin one
 * @nr, @size: instructions and bytes that the first one's jump displaces
 * @behind: a bit for each site with which its detour goes on
 */
struct row {
	const char *name, *hex, *sites;
	u8 nr, size, behind;
};

static const struct row rows[] = {
	{ "one", LEAD "4989fc", "0j 5", 3, 5, 2 },
	{ "two", LEAD "4989fc 31c0 50", "0j 5 8", 3, 5, 6 },
	{ "at most five", LEAD "4989fc 31c0 50", "0j 5 8 10", 3, 5, 6 },
	{ "five already", "5555555555 50", "0j 5", 5, 5, 0 },
	{ "one inside", LEAD "4989fc", "0j 1j 5", 3, 5, 4 },
	{ "a gap", LEAD "90 4989fc", "0j 6", 3, 5, 0 },
	{ "one of two", LEAD "4989fc 90 50", "0j 5 9", 3, 5, 2 },
	{ "a longer last one", "55 4881ec00010000 50", "0j 8", 2, 8, 2 },
	{ "in the last one", "55 4881ec00010000 50", "0j 5 8", 2, 8, 4 },
	{ "ret", "55 4889e5 c3 4989fc", "0j 5", 3, 5, 0 },
	{ "jmp", "909090 eb0a 4989fc", "0j 5", 4, 5, 0 },
	{ "call", "e810000000 4989fc", "0j 5", 1, 5, 0 },
	{ "jcc", "909090 740a 4989fc", "0j 5", 4, 5, 2 },
	{ "a call behind", LEAD "e810000000 50", "0j 5 10", 3, 5, 2 },
	{ "a system call", LEAD "0f05", "0j 5", 3, 5, 0 },
	{ "its own jump", LEAD "4989fc 4989fc", "0j 5j", 3, 5, 0 },
	{ "another jump", LEAD "4989fc 4989fc 31c0", "0j 5 8j", 3, 5, 2 },
	{ "twenty bytes", "b844332211 " LONGEST, "0j 5", 1, 5, 2 },
	{ "a neighbour", LONGEST " 50", "0j 15", 1, 15, 2 },
	{ "farther away", "90 " LONGEST " 50", "0j 16", 2, 16, 0 },
	{ "more bytes", "4889e54889e5 " LONGEST, "0j 6", 2, 6, 0 },
};

/* The sites of a row. Return: how many there are. */
static u32 read_sites(const char *text, u32 *at, bool *jump)
{
	char *end;
	u32 n;

	for (n = 0; *text; n++) {
		at[n] = (u32)strtoul(text, &end, 10);
		jump[n] = *end == 'j';
		text = end + jump[n];
	}
	return n;
}

/* A row as it is armed. */
struct group {
	const struct row *row;
	u32 n, at[4];
	bool jump[4], counts;
};

/* Those of the sites that are @on with which the jump goes on: each is where the last one ends,
 * and none is in between. */
static u8 behind(const struct group *g, u32 on)
{
	u8 set = 0, bit;
	u32 i;

	for (i = 1; i < g->n && on & 1; i++) {
		bit = (u8)(1u << i);
		if (g->at[i] < DP_JUMP_SIZE)
			continue;
		if (!(on & bit) != !(g->row->behind & bit))
			break;
		set |= on & bit;
	}
	return set;
}

static bool has(const u8 *code, size_t size, const void *bytes, size_t n)
{
	size_t i;

	for (i = 0; i + n <= size; i++)
		if (!memcmp(code + i, bytes, n))
			return true;
	return false;
}

/* What stands before instruction @k: it counts in the site's counter, and tells the agent of the site,
 * or that alone. */
static void expect_code(const struct world *w, const struct dp_jump *j, int k,
			bool counts)
{
	const u8 *code = memory_at(&w->m, j->base) + j->at[k];
	u64 table = w->e->arena->control.base + DP_TABLE_OFFSET;
	size_t size = (size_t)(j->insn[k] - j->at[k]);
	u32 i = j->member[k] - 1, counter = i * 8;
	u8 load[4] = { 0x48, 0x8b, 0x41, (u8)counter }, push[5] = { 0x68 };

	assert_in_range(counter, 1, 127);
	i |= DP_CALLOUT_UNCOUNTED | DP_CALLOUT_INNER;
	memcpy(push + 1, &i, sizeof(i));
	assert_int_equal(has(code, size, load, sizeof(load)), counts);
	assert_int_equal(has(code, size, &table, sizeof(table)), counts);
	assert_true(has(code, size, push, sizeof(push)));
}

static void expect_member(const struct world *w, const struct dp_jump *j,
			  u32 at, bool counts)
{
	const struct dp_site_entry *s = site_of(w, at);
	int k = insn_by(j, at);
	u8 bit;

	assert_true(k > 0);
	bit = (u8)(1u << k);
	assert_int_equal(j->member[k], s - w->e->view.sites + 1);
	assert_int_equal(j->counted & bit, counts ? bit : 0);
	assert_int_equal(j->before & bit, counts ? 0 : bit);
	assert_int_equal(j->after & bit, 0);
	expect_code(w, j, k, counts);
}

/* The instruction is there, and behind the last one is the way back. */
static void expect_copy(const struct world *w, const struct dp_jump *j, u32 at)
{
	const struct dp_site_entry *s = site_of(w, at);
	const u8 *code = memory_at(&w->m, j->base);
	s32 rel;

	if (s->class == DP_INSN_PLAIN)
		assert_memory_equal(code + j->insn[insn_by(j, at)],
				    w->t.orig + at, s->insn_len);
	if (at + s->insn_len != j->size || s->class != DP_INSN_PLAIN)
		return;
	assert_int_equal(code[j->at[j->nr]], JUMP);
	memcpy(&rel, code + j->at[j->nr] + 1, 4);
	assert_int_equal(j->base + j->at[j->nr] + DP_JUMP_SIZE + (u64)(s64)rel,
			 w->t.base + j->size);
}

static void expect_first(const struct world *w, const struct group *g, u32 on)
{
	const struct dp_jump *j = jump_of(w, site_of(w, 0));
	u32 nr = g->row->nr, size = g->row->size, i;

	for (i = 1; i < g->n; i++) {
		if (!(behind(g, on) >> i & 1))
			continue;
		expect_member(w, j, g->at[i], g->counts);
		expect_copy(w, j, g->at[i]);
		nr++;
		size += site_of(w, g->at[i])->insn_len;
	}
	assert_int_equal(j->nr, nr);
	assert_int_equal(j->size, size);
	for (i = 1; i < g->n; i++)
		if (on >> i & 1 && g->at[i] < DP_JUMP_SIZE)
			expect_member(w, j, g->at[i], g->counts);
}

static void expect_site(const struct world *w, const struct group *g, u32 i,
			u32 on)
{
	u32 probe = w->probe[i], at = g->at[i];
	const struct dp_site_entry *s = site_of(w, at);
	bool covered = dp_engine_is_covered(w->e, probe),
	     jump = g->jump[i] || covered || behind(g, on) >> i & 1;

	assert_string_equal(dp_engine_mode(w->e, probe),
			    jump ? "jump" : "trap");
	assert_int_equal(!*dp_engine_reason(w->e, probe), jump);
	if (covered || g->jump[i])
		return;
	assert_int_equal(s->mode, DP_MODE_TRAP);
	assert_int_equal(s->armed, DP_SITE_THERE);
	assert_int_equal(s->copy, s->single);
	assert_int_equal(w->t.now[at], DP_BREAKPOINT);
}

/* All but jumps and breakpoints is as it was. */
static void expect_text(const struct world *w)
{
	const struct dp_view *v = &w->e->view;
	const struct dp_site_entry *s;
	u8 text[SLOT];
	u32 i, at;

	memcpy(text, w->t.orig, SLOT);
	for (i = 0; i < v->nr_sites; i++)
		if (v->sites[i].armed)
			text[v->sites[i].addr - w->t.base] = DP_BREAKPOINT;
	for (i = 0; i < v->nr_sites; i++) {
		s = &v->sites[i];
		at = (u32)(s->addr - w->t.base);
		if (s->armed == DP_SITE_THERE && s->mode == DP_MODE_JUMP)
			memcpy(text + at, s->patch, DP_JUMP_SIZE);
	}
	assert_memory_equal(w->t.now, text, SLOT);
	assert_memory_equal(w->t.now + SLOT, w->t.orig + SLOT, SIZE - SLOT);
	assert_int_equal(w->t.broken, 0);
}

/* What is applied once more changes nothing. */
static void expect_rest(struct world *w)
{
	u32 writes = w->t.writes, jumps = w->e->view.nr_jumps;

	assert_int_equal(apply(w), 0);
	assert_int_equal(w->t.writes, writes);
	assert_int_equal(w->e->view.nr_jumps, jumps);
}

static void expect_group(struct world *w, const struct group *g, u32 on)
{
	u32 i;

	if (on & 1)
		expect_first(w, g, on);
	for (i = 0; i < g->n; i++)
		if (on >> i & 1)
			expect_site(w, g, i, on);
		else
			assert_int_equal(site_of(w, g->at[i])->armed,
					 DP_SITE_OFF);
	expect_armed(w);
	expect_text(w);
}

/* What is behind the region may not have been read. */
static void forget_behind(struct world *w)
{
	struct dp_site *s = dp_engine_find(w->e, w->t.base);

	memset(s->code + s->region.len, FOREIGN,
	       sizeof(s->code) - s->region.len);
}

/* Is a site within the region of the first one? */
static bool is_around(const struct row *row)
{
	struct group g;

	read_sites(row->sites, g.at, g.jump);
	return g.at[1] < row->size;
}

static void begin_group(struct world *w, struct group *g, const struct row *r,
			enum dp_arming arming)
{
	u32 i;

	begin(w, HIGH, arming);
	memset(w->t.orig, 0x90, SLOT - 1);
	hex(r->hex, w->t.orig);
	find_instructions(&w->t, 0);
	g->row = r;
	g->n = read_sites(r->sites, g->at, g->jump);
	/* Otherwise no jump of quiesce comes around a site that has been a breakpoint. */
	w->arrivals = arming == DP_ARM_QUIESCE && is_around(r);
	if (g->counts)
		dp_engine_set_rseq(w->e, 0x20, SIGNATURE);
	for (i = 0; i < g->n; i++) {
		assert_int_equal(add(w, g->at[i], g->jump[i]), 0);
		/* What that does to a thread is not looked at. */
		w->t.stopped |= !begins(&w->t, g->at[i]);
	}
	forget_behind(w);
}

static void turn(struct world *w, u32 n, u32 on)
{
	u32 i;

	for (i = 0; i < n; i++)
		dp_engine_turn(w->e, w->probe[i], on >> i & 1);
	assert_int_equal(apply(w), 0);
}

/* From each set of the sites to each. */
static void switch_all(struct world *w, const struct group *g)
{
	u32 all = 1u << g->n, i, on;

	expect_group(w, g, all - 1);
	for (i = 0; i < all * all; i++) {
		on = i % 2 ? i / all : i % all;
		turn(w, g->n, on);
		expect_group(w, g, on);
		expect_rest(w);
	}
}

static void go_on_behind(const struct row *row, enum dp_arming arming,
			 bool counts)
{
	struct group g = { .counts = counts };
	struct world w;

	print_message("# %s, %u, %u\n", row->name, arming, counts);
	begin_group(&w, &g, row, arming);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	switch_all(&w, &g);
	disarm_all(&w);
	end(&w);
}

/* As sites are switched off and on, where detours count, and where they call out. */
static void goes_on_behind(void **state)
{
	const struct row *row = rows;

	for (; row < rows + sizeof(rows) / sizeof(rows[0]); row++) {
		go_on_behind(row, DP_ARM_INTERIOR, false);
		go_on_behind(row, DP_ARM_INTERIOR, true);
		go_on_behind(row, DP_ARM_QUIESCE, false);
		go_on_behind(row, DP_ARM_QUIESCE, true);
	}
}

/* Where all are breakpoints. */
static void goes_on_behind_no_breakpoint(void **state)
{
	struct group g = { .counts = true };
	struct world w;

	begin_group(&w, &g, &rows[0], DP_ARM_TRAP);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "trap");
	assert_string_equal(dp_engine_mode(w.e, w.probe[1]), "trap");
	expect_armed(&w);
	disarm_all(&w);
	end(&w);
}

/* Threads have to wait at the breakpoint. */
static void goes_on_with_no_single_site(void **state)
{
	static const struct row alone = { .hex = LEAD "4989fc", .sites = "0j" };
	struct group g = { .counts = true };
	const char *why;
	struct world w;

	begin_group(&w, &g, &alone, DP_ARM_INTERIOR);
	assert_int_equal(dp_engine_watch_linker(w.e, HIGH + 5, w.t.orig + 5,
						SIZE - 5, 0, &why),
			 0);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "jump");
	assert_string_equal(dp_engine_mode(w.e, w.probe[0] + 1), "trap");
	assert_int_equal(jump_of(&w, site_of(&w, 0))->nr, 3);
	assert_int_equal(w.t.now[5], DP_BREAKPOINT);
	disarm_all(&w);
	end(&w);
}

/* A jump that has no island leaves nobody behind. */
static void goes_on_with_nothing(void **state)
{
	const struct dp_hole hole = { HIGH + 0x100000, HIGH + 0x200000, false };
	struct group g = { .counts = true };
	struct world w;
	u32 i;

	begin_group(&w, &g, &rows[1], DP_ARM_INTERIOR);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < g.n; i++) {
		assert_string_equal(dp_engine_mode(w.e, w.probe[i]), "trap");
		assert_int_equal(w.t.now[g.at[i]], DP_BREAKPOINT);
	}
	assert_int_equal(dp_engine_jumps(w.e), 0);
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[0]), "is free"));
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[1]), "known"));
	expect_armed(&w);
	disarm_all(&w);
	end(&w);
}

/* A probe that needs the agent: the detour calls out. */
static void add_needy(struct world *w, u32 at)
{
	u32 probe;

	assert_int_equal(dp_engine_add_unwind(w->e, 0, HIGH + at,
					      w->t.orig + at, SIZE - at,
					      &probe),
			 0);
}

/* Where a probe begins or ends an instance, or runs a program. */
static void calls_out_behind(void **state)
{
	struct group g = { .counts = true };
	const struct dp_jump *j;
	struct world w;
	int runs;

	for (runs = 0; runs < 2; runs++) {
		begin_group(&w, &g, &rows[1], DP_ARM_INTERIOR);
		if (runs)
			dp_engine_find(w.e, HIGH + 5)->runs = true;
		else
			add_needy(&w, 5);
		assert_int_equal(build(&w), 0);
		assert_int_equal(commit(&w), 0);
		j = jump_of(&w, site_of(&w, 0));
		assert_int_equal(j->nr, 5);
		expect_member(&w, j, 5, false);
		expect_member(&w, j, 8, true);
		end(&w);
	}
}

static void commit_more(struct world *w)
{
	assert_int_equal(dp_engine_plan(w->e), 0);
	assert_int_equal(commit(w), 0);
	expect_armed(w);
	expect_text(w);
}

/* Probes that come later: at a site behind, which the detour only counts; inside the jump; and
 * behind the last one. */
static void goes_on_with_later_probes(void **state)
{
	const struct dp_expected some = { .sites = 8, .probes = 8 };
	static const struct row row = { .hex = LEAD "4989fc 31c0",
					.sites = "0j 5" };
	struct group g = { .counts = true };
	const struct dp_site_entry *first;
	struct world w;
	u32 i;

	begin_group(&w, &g, &row, DP_ARM_INTERIOR);
	dp_engine_expect(w.e, &some);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	first = site_of(&w, 0);
	expect_member(&w, jump_of(&w, first), 5, true);
	add_needy(&w, 5);
	commit_more(&w);
	expect_member(&w, jump_of(&w, first), 5, false);
	assert_int_equal(add(&w, 1, true), 0);
	commit_more(&w);
	expect_member(&w, jump_of(&w, first), 1, true);
	expect_member(&w, jump_of(&w, first), 5, false);
	assert_int_equal(add(&w, 8, false), 0);
	commit_more(&w);
	expect_member(&w, jump_of(&w, first), 1, true);
	expect_member(&w, jump_of(&w, first), 5, false);
	expect_member(&w, jump_of(&w, first), 8, true);
	for (i = 0; i < w.nr_probes; i++)
		assert_string_equal(dp_engine_mode(w.e, w.probe[i]), "jump");
	expect_rest(&w);
	disarm_all(&w);
	end(&w);
}

/* Jumps that step back. */

/* A jump with two sites inside, each of which could begin one; and one far away. */
enum { FIRST, SECOND, THIRD, OTHER };
#define AWAY (5 * SLOT)
#define CROWD "55 4889e5 53 4989fc 4989fc"

/* @arrivals: threads may come to the middle of the first one's jump */
static void begin_crowd_of(struct world *w, enum dp_arming arming,
			   bool arrivals)
{
	begin(w, HIGH, arming);
	hex(CROWD, w->t.orig);
	hex("5555555555", w->t.orig + AWAY);
	dp_engine_set_rseq(w->e, 0x20, SIGNATURE);
	w->arrivals = arrivals;
	assert_int_equal(add(w, 0, true), 0);
	w->arrivals = false;
	assert_int_equal(add(w, 1, true), 0);
	assert_int_equal(add(w, 4, true), 0);
	assert_int_equal(add(w, AWAY, true), 0);
	assert_int_equal(build(w), 0);
	assert_int_equal(commit(w), 0);
}

static void begin_crowd(struct world *w, enum dp_arming arming)
{
	begin_crowd_of(w, arming, false);
}

/* Threads come to the middle of a jump, which is counted for the probe. */
static void arrive(struct world *w, u32 which, u64 n)
{
	w->e->arena->hit.interior_arrivals += n;
	w->e->view.states[w->probe[which]].tally[DP_TALLY_MIDDLE] += n;
}

static void hits_are(struct world *w, u32 which, u64 n)
{
	u64 *hits = (void *)w->e->view.counters;

	hits[w->e->probes[w->probe[which]].site] = n;
	assert_int_equal(dp_engine_hits(w->e, w->probe[which]), n);
}

/* Each with so many hits of the first site, arrivals for each site, and what they come to. */
static const struct crowd {
	u64 hits, n[4];
	bool steps;
} crowds[] = {
	{ 0, { 0, 999, 0, 0 }, false },
	{ 0, { 0, 1000, 0, 0 }, true },
	{ 0, { 1000, 0, 0, 0 }, true }, /* where no site is */
	{ 0, { 400, 300, 300, 0 }, true },
	{ 0, { 400, 300, 299, 0 }, false },
	{ 0, { 400, 300, 299, 5000 }, false },
	{ 0, { 0, 0, 999, 5000 }, false },
	{ 0, { 0, 0, 0, 5000 }, false },
	{ 1000, { 0, 1000, 0, 0 }, false },
	{ 999, { 0, 1000, 0, 0 }, true },
	{ 5000, { 2000, 2000, 1000, 0 }, false },
	{ 5000, { 2000, 2000, 1001, 0 }, true },
};

static void expect_stepped(struct world *w, bool steps)
{
	u32 i;

	for (i = FIRST; i <= THIRD; i++) {
		assert_string_equal(dp_engine_mode(w->e, w->probe[i]),
				    steps && i == FIRST ? "trap" : "jump");
		assert_string_equal(dp_engine_reason(w->e, w->probe[i]),
				    steps && i == FIRST ? DP_WHY_CROWDED : "");
		assert_int_equal(dp_engine_is_covered(w->e, w->probe[i]),
				 i > (steps ? SECOND : FIRST));
	}
	assert_int_equal(w->t.now[0], steps ? DP_BREAKPOINT : JUMP);
	/* The jump around it has a breakpoint there. */
	assert_int_equal(site_of(w, 1)->inner, 0);
	assert_int_equal(w->t.now[AWAY], JUMP);
	if (steps)
		assert_int_equal(w->t.now[1], JUMP);
	assert_int_equal(dp_engine_jumps(w->e), steps ? 3 : 4);
	expect_armed(w);
	assert_int_equal(w->t.broken, 0);
}

static void crowd(const struct crowd *c, enum dp_arming arming, bool arrivals)
{
	bool may = arrivals || arming == DP_ARM_INTERIOR;
	bool steps = c->steps && may;
	struct world w;
	u32 i, writes;

	begin_crowd_of(&w, arming, arrivals);
	writes = w.t.writes;
	hits_are(&w, FIRST, c->hits);
	hits_are(&w, OTHER, 1000000);
	for (i = 0; i < 4; i++)
		arrive(&w, i, c->n[i]);
	assert_int_equal(dp_engine_step_back(w.e), steps);
	assert_int_equal(w.t.writes, writes);
	for (i = FIRST; i <= OTHER; i++)
		assert_int_equal(dp_engine_has_settled(w.e, w.probe[i]),
				 steps && (i == FIRST || c->n[i]) &&
					 i != OTHER);
	assert_int_equal(apply(&w), 0);
	if (may)
		expect_stepped(&w, steps);
	else
		assert_int_equal(w.t.writes, writes);
	/* Nothing has come since. */
	assert_false(dp_engine_step_back(w.e));
	expect_rest(&w);
	disarm_all(&w);
	end(&w);
}

static void steps_back(void **state)
{
	enum dp_arming arming;
	size_t i;

	for (i = 0; i < sizeof(crowds) / sizeof(crowds[0]); i++) {
		for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++)
			crowd(&crowds[i], arming, false);
		crowd(&crowds[i], DP_ARM_QUIESCE, true);
	}
}

/* Whatever becomes of its probes, and of those inside. */
static void stays_back(void **state)
{
	struct world w;
	u32 on;

	begin_crowd(&w, DP_ARM_INTERIOR);
	arrive(&w, SECOND, 1000);
	assert_true(dp_engine_step_back(w.e));
	for (on = 0; on < 16; on++) {
		turn(&w, 4, on);
		assert_int_equal(w.t.now[0],
				 on & 1 ? DP_BREAKPOINT : w.t.orig[0]);
		assert_true(dp_engine_has_settled(w.e, w.probe[FIRST]));
		expect_armed(&w);
	}
	expect_stepped(&w, true);
	disarm_all(&w);
	end(&w);
}

/* Sites are looked at each time that so many have come. */
static void looks_when_enough_have_come(void **state)
{
	struct world w;

	begin_crowd(&w, DP_ARM_INTERIOR);
	hits_are(&w, FIRST, 1500);
	arrive(&w, SECOND, 999);
	assert_false(dp_engine_step_back(w.e));
	arrive(&w, SECOND, 500);
	assert_false(dp_engine_step_back(w.e));
	arrive(&w, SECOND, 999);
	assert_false(dp_engine_step_back(w.e));
	arrive(&w, SECOND, 1);
	assert_true(dp_engine_step_back(w.e));
	arrive(&w, OTHER, 999);
	assert_false(dp_engine_step_back(w.e));
	arrive(&w, OTHER, 1);
	assert_true(dp_engine_step_back(w.e));
	assert_int_equal(apply(&w), 0);
	assert_int_equal(w.t.now[AWAY], DP_BREAKPOINT);
	assert_int_equal(w.t.now[0], DP_BREAKPOINT);
	end(&w);
}

/* The traps of a site while another jump covered it are not those of its own jump. */
static void forgets_what_was_before(void **state)
{
	struct world w;

	begin_crowd(&w, DP_ARM_INTERIOR);
	hits_are(&w, OTHER, 1000000);
	arrive(&w, SECOND, 1500);
	arrive(&w, THIRD, 700);
	assert_true(dp_engine_step_back(w.e));
	assert_int_equal(apply(&w), 0);
	arrive(&w, THIRD, 999);
	arrive(&w, OTHER, 5000);
	assert_false(dp_engine_step_back(w.e));
	assert_true(dp_engine_has_settled(w.e, w.probe[SECOND]));
	assert_true(dp_engine_has_settled(w.e, w.probe[THIRD]));
	expect_stepped(&w, true);
	/* The next one steps back, too, and so nothing is inside any more. */
	arrive(&w, THIRD, 1);
	assert_false(dp_engine_has_settled(w.e, w.probe[THIRD]));
	arrive(&w, OTHER, 5000);
	assert_true(dp_engine_step_back(w.e));
	assert_int_equal(apply(&w), 0);
	assert_string_equal(dp_engine_mode(w.e, w.probe[SECOND]), "trap");
	assert_string_equal(dp_engine_mode(w.e, w.probe[THIRD]), "jump");
	assert_int_equal(w.t.now[4], JUMP);
	arrive(&w, THIRD, 999);
	arrive(&w, OTHER, 5000);
	assert_false(dp_engine_step_back(w.e));
	assert_true(dp_engine_has_settled(w.e, w.probe[THIRD]));
	assert_false(dp_engine_has_settled(w.e, w.probe[OTHER]));
	/* Many may have come until the jump around it was gone. */
	arrive(&w, THIRD, 5000);
	assert_true(dp_engine_has_settled(w.e, w.probe[THIRD]));
	expect_armed(&w);
	disarm_all(&w);
	end(&w);
}

/* A site that is off does not step back. */
static void steps_back_where_it_jumps(void **state)
{
	struct world w;

	begin_crowd(&w, DP_ARM_INTERIOR);
	hits_are(&w, OTHER, 1000000);
	turn(&w, 4, 0xe);
	arrive(&w, FIRST, 5000);
	assert_false(dp_engine_step_back(w.e));
	turn(&w, 4, 0xf);
	expect_stepped(&w, false);
	end(&w);
}

/* One that begins early serves a probe that has no jump of its own. */
static void stays_early(void **state)
{
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	hex("4883c408c3", w.t.orig + 10);
	assert_int_equal(add(&w, 14, true), 0);
	dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, 5, false);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	arrive(&w, FIRST, 5000);
	assert_false(dp_engine_step_back(w.e));
	assert_int_equal(apply(&w), 0);
	assert_int_equal(w.t.now[10], JUMP);
	disarm_all(&w);
	end(&w);
}

/* mov $0, %eax; syscall: a probe where an intercept begins has no jump of its own. */
static void intercepts_stay(void **state)
{
	struct world w;
	u32 nr;

	for (nr = 0; nr < 2; nr++) {
		begin(&w, HIGH, DP_ARM_INTERIOR);
		hex("b800000000 0f05 c3", w.t.orig);
		w.t.orig[1] = (u8)nr;
		assert_int_equal(dp_engine_add_intercept(w.e, HIGH, w.t.orig,
							 nr, true),
				 0);
		assert_int_equal(add(&w, 0, true), 0);
		assert_int_equal(build(&w), 0);
		arrive(&w, FIRST, 5000);
		assert_false(dp_engine_step_back(w.e));
		assert_false(dp_engine_has_settled(w.e, w.probe[FIRST]));
		end(&w);
	}
}

/* Sites behind a jump that steps back are breakpoints, for the reason that they had. */
static void leaves_sites_behind(void **state)
{
	struct group g = { .counts = true };
	struct world w;

	begin_group(&w, &g, &rows[1], DP_ARM_INTERIOR);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	arrive(&w, 0, 1000);
	assert_true(dp_engine_step_back(w.e));
	assert_int_equal(apply(&w), 0);
	assert_string_equal(dp_engine_reason(w.e, w.probe[0]), DP_WHY_CROWDED);
	assert_string_equal(dp_engine_mode(w.e, w.probe[1]), "trap");
	assert_string_equal(dp_engine_mode(w.e, w.probe[2]), "trap");
	assert_non_null(strstr(dp_engine_reason(w.e, w.probe[1]), "known"));
	assert_int_equal(dp_engine_jumps(w.e), 0);
	expect_armed(&w);
	expect_text(&w);
	disarm_all(&w);
	end(&w);
}

/* Nothing has been laid out yet. */
static void steps_back_from_nothing(void **state)
{
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	assert_int_equal(add(&w, 0, true), 0);
	assert_false(dp_engine_step_back(w.e));
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
		cmocka_unit_test(groups_sites_in_any_order),
		cmocka_unit_test(groups_five_in_all_orders),
		cmocka_unit_test(joins_without_another_island),
		cmocka_unit_test(gives_up_what_overlaps),
		cmocka_unit_test(goes_on_behind),
		cmocka_unit_test(goes_on_behind_no_breakpoint),
		cmocka_unit_test(goes_on_with_no_single_site),
		cmocka_unit_test(goes_on_with_nothing),
		cmocka_unit_test(calls_out_behind),
		cmocka_unit_test(goes_on_with_later_probes),
		cmocka_unit_test(steps_back),
		cmocka_unit_test(stays_back),
		cmocka_unit_test(looks_when_enough_have_come),
		cmocka_unit_test(forgets_what_was_before),
		cmocka_unit_test(steps_back_where_it_jumps),
		cmocka_unit_test(stays_early),
		cmocka_unit_test(intercepts_stay),
		cmocka_unit_test(leaves_sites_behind),
		cmocka_unit_test(steps_back_from_nothing),
		cmocka_unit_test(changes_no_site_impossibly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
