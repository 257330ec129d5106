// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* jump: which sites get one, and where it lands. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include "engine/plan/jump.h"
#include "engine/site/grow.h"
#include "engine/vm/ops.h"
#include "jump_world.h"
#include "starve.h"
#include "vm_bytes.h"

/* Islands. */

static u64 jump_target(const u8 *code, u64 at)
{
	s32 rel;

	assert_int_equal(code[0], JUMP);
	memcpy(&rel, code + 1, 4);
	return at + DP_JUMP_SIZE + (u64)(s64)rel;
}

/* It may lie in two pools. */
static void read_pools(const struct world *w, u64 addr, u8 *to, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		assert_non_null(memory_at(&w->m, addr + i));
		to[i] = *memory_at(&w->m, addr + i);
	}
}

static bool in_hole(const struct world *w, u64 addr, u64 size)
{
	u32 i;

	for (i = 0; i < w->m.nr_holes; i++)
		if (addr >= w->m.hole[i].start &&
		    addr + size <= w->m.hole[i].end)
			return true;
	return false;
}

/** struct piece - memory: [@at, @at + @len) */
struct piece {
	u64 at, len;
};

/* Where the jump leads: an island, or the detour itself. */
static struct piece expect_there(const struct world *w,
				 const struct dp_site_entry *s)
{
	const struct dp_jump *j = jump_of(w, s);
	u64 entry = j->base + j->start;
	u8 island[DP_JUMP_SIZE];
	u32 b;

	for (b = 1; b < DP_JUMP_SIZE; b++)
		if (s->traps >> b & 1)
			assert_true(s->patch[b] == DP_BREAKPOINT ||
				    (b == 4 && w->t.base == LOW));
	assert_int_equal(jump_target(s->patch, s->addr),
			 j->island ? j->island : entry);
	if (!j->island)
		return (struct piece){ j->base, j->room };
	read_pools(w, j->island, island, DP_JUMP_SIZE);
	assert_int_equal(jump_target(island, j->island), entry);
	return (struct piece){ j->island, DP_JUMP_SIZE };
}

/* Nor in a pool of detours. */
static void expect_in_arena(const struct world *w, const struct piece *p)
{
	const struct dp_layout_need *need = &w->e->need;
	u32 i;

	assert_true(in_hole(w, p->at, p->len));
	for (i = 0; i < need->nr_pools; i++)
		assert_false(!w->e->growth->pools[i].island_arena &&
			     p->at + p->len > need->pools[i].addr &&
			     p->at < need->pools[i].addr + need->pools[i].size);
}

static int by_place(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* Return: how many there are. */
static size_t expect_islands(const struct world *w)
{
	const struct dp_view *v = &w->e->view;
	static struct piece pieces[SLOTS];
	size_t nr = 0, i;

	for (i = 0; i < w->m.nr_pools; i++)
		assert_true(in_hole(w, w->m.pool[i].addr, w->m.pool[i].size));
	for (i = 0; i < v->nr_sites; i++) {
		const struct dp_site_entry *s = &v->sites[i];
		struct piece p;

		if (!s->jump)
			continue;
		p = expect_there(w, s);
		if (!s->traps) {
			assert_int_equal(jump_of(w, s)->island, 0);
			continue;
		}
		expect_in_arena(w, &p);
		pieces[nr++] = p;
	}
	qsort(pieces, nr, sizeof(*pieces), by_place);
	for (i = 1; i < nr; i++)
		assert_true(pieces[i - 1].at + pieces[i - 1].len <=
			    pieces[i].at);
	return nr;
}

static void add_all(struct world *w)
{
	u32 i;

	for (i = 0; i < SLOTS; i++)
		assert_int_equal(add(w, i * SLOT, true), 0);
}

/* Many writes: what they do to a thread is for other tests. */
static void commit_all(struct world *w)
{
	w->t.stopped = true;
	assert_int_equal(commit(w), 0);
	expect_armed(w);
}

/* How many jumps lead to their detours themselves, though they have breakpoints. Where these leave
 * few addresses, none does. */
static u32 direct(const struct world *w)
{
	u32 n = 0, i;

	for (i = 0; i < w->e->view.nr_sites; i++) {
		const struct dp_site_entry *s = &w->e->view.sites[i];

		if (!s->jump || !s->traps || jump_of(w, s)->island)
			continue;
		assert_in_range(__builtin_popcount(s->traps), 1, 2);
		n++;
	}
	return n;
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
	struct world w;
	size_t i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	add_all(&w);
	assert_int_equal(build_in(&w, holes, sizeof(holes) / sizeof(*holes)),
			 0);
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	commit_all(&w);
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	assert_int_equal(dp_engine_caught(w.e), DP_CAUGHT);
	assert_int_equal(expect_islands(&w), SLOTS * 15 / 16);
	for (i = 0; i < SLOTS; i++)
		assert_int_equal(site_of(&w, (u32)i * SLOT)->traps,
				 i % 16 << 1);
	assert_in_range(direct(&w), SLOTS * 8 / 16, SLOTS * 10 / 16);
	end(&w);
}

/* The first detour of all is made where its jump leads, too. */
static void needs_no_island(void **state)
{
	struct world w;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	assert_int_equal(add(&w, SLOT, true), 0);
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	assert_int_equal(site_of(&w, SLOT)->traps, 1 << 1);
	assert_int_equal(expect_islands(&w), 1);
	assert_int_equal(direct(&w), 1);
	end(&w);
}

#define TESTS 12

/* A program that asks @n times whether rdi is 0 */
static u32 add_program(struct world *w, u32 n)
{
	static const u8 ask[] = { OP(PUSH_R), 0x64,    0,
				  OP(JNZ),    WORD(1), OP(ABORT) },
			last[] = { OP(INC_LV_I), 0, 0, OP(EXIT) };
	u8 code[TESTS * sizeof(ask) + sizeof(last)];
	u32 i;

	for (i = 0; i < n; i++)
		memcpy(code + i * sizeof(ask), ask, sizeof(ask));
	memcpy(code + n * sizeof(ask), last, sizeof(last));
	return add_code(w, code, n * (u32)sizeof(ask) + (u32)sizeof(last), 64);
}

/* Detours of several sizes are guessed wrong again and again, and still each has its own room, with
 * its entry where the jump leads. */
static void lands_whatever_its_size(void **state)
{
	static const u32 sizes[] = { 1, TESTS, 4, 8 };
	struct dp_binding binding[4] = { 0 };
	u32 i, runs = 0, order;
	struct world w;

	for (order = 0; order < 2; order++) {
		begin(&w, HIGH, DP_ARM_INTERIOR);
		dp_engine_set_rseq(w.e, 0x20, 0x53053053);
		dp_engine_set_native(w.e, true, 0);
		for (i = 0; i < 4; i++) {
			binding[i].maxhits = DP_HITS_UNLIMITED;
			binding[i].program = add_program(&w, sizes[i]);
		}
		for (i = 0; i < SLOTS; i++) {
			put_slot(&w.t, i, 1 << 1 | 1 << 4);
			assert_int_equal(add(&w, i * SLOT, true), 0);
			if (i % 3 || order)
				dp_engine_bind(w.e, w.probe[i % SITES],
					       &binding[i * 7 / 4 % 4]);
		}
		assert_int_equal(build(&w), 0);
		commit_all(&w);
		assert_int_equal(expect_islands(&w), SLOTS);
		assert_in_range(direct(&w), SLOTS * 9 / 10, SLOTS);
		for (i = 0; i < SLOTS; i++)
			runs += jump_of(&w, site_of(&w, i * SLOT))->runs.program;
		assert_true(runs);
		end(&w);
	}
}

/* There is nothing some 800 MB below: other bytes trap, and mean up. */
static void lands_above_low_addresses(void **state)
{
	const struct dp_hole hole = { LOW + 0x100000, LOW + 0x7c000000, false };
	struct world w;

	begin(&w, LOW, DP_ARM_INTERIOR);
	add_all(&w);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	commit_all(&w);
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	assert_int_equal(expect_islands(&w), SLOTS * 15 / 16);
	end(&w);
}

/* The first probe is disabled, which leaves nothing, and enabled. */
static void off_and_on(struct world *w)
{
	dp_engine_turn(w->e, w->probe[0], false);
	assert_int_equal(apply(w), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	dp_engine_turn(w->e, w->probe[0], true);
	assert_int_equal(apply(w), 0);
}

static void end_as_before(struct world *w)
{
	assert_int_equal(disarm(w, false, NULL), 0);
	assert_memory_equal(w->t.now, w->t.orig, SIZE);
	assert_int_equal(w->t.broken, 0);
	end(w);
}

/* A site at the fifth byte of a jump, where only another byte than a breakpoint is possible, has
 * its own breakpoint there only while the jump is not there. */
static void covers_another_byte(void **state)
{
	const struct dp_hole hole = { LOW + 0x100000, LOW + 0x7c000000, false };
	struct world w;

	begin(&w, LOW, DP_ARM_INTERIOR);
	put_slot(&w.t, 0, 0x1e);
	assert_int_equal(add(&w, 0, true), 0);
	assert_int_equal(add(&w, 4, true), 0);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	assert_int_equal(commit(&w), 0);
	expect_armed(&w);
	assert_true(dp_engine_is_covered(w.e, w.probe[1]));
	assert_int_not_equal(w.t.now[4], DP_BREAKPOINT);
	assert_int_equal(apply(&w), 0);
	expect_armed(&w);
	end_as_before(&w);
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
	assert_int_equal(commit(&w), 0);
	/* Two bytes of a displacement are free up to the third, three to the
	 * fourth: what reaches a megabyte or two above has no int3 up there. */
	for (i = 0; i < 16; i++) {
		bool up = i & 12;

		assert_string_equal(dp_engine_mode(w.e, w.probe[i]),
				    up ? "trap" : "jump");
		assert_int_equal(!!strstr(dp_engine_reason(w.e, w.probe[i]),
					  "no address is free"),
				 up);
		assert_int_equal(site_of(&w, i * SLOT)->armed,
				 up ? DP_SITE_TRAPPED : DP_SITE_THERE);
		assert_int_equal(w.t.now[i * SLOT], up ? DP_BREAKPOINT : JUMP);
		if (up)
			assert_memory_equal(w.t.now + i * SLOT + 1,
					    w.t.orig + i * SLOT + 1, SLOT - 1);
	}
	expect_armed(&w);
	expect_islands(&w);
	assert_int_equal(w.t.broken, 0);
	end(&w);
}

/* An island that begins in one page and ends in the next. */
static void wants_room_for_all_of_an_island(void **state)
{
	enum { AT = 0x32c };
	u64 only = HIGH + AT + DP_JUMP_SIZE - 0x80000000ull + 0x4ccccccc,
	    page = only & ~(u64)(DP_PAGE - 1);
	struct dp_hole holes[] = {
		{ 0, 0, false },
		{ HIGH + 0x100000, HIGH + 0x200000, false },
	};
	struct world w;
	u32 pages;

	assert_int_not_equal((only + DP_JUMP_SIZE - 1) / DP_PAGE,
			     page / DP_PAGE);
	/* All of it is given, or only the pages that end or begin with it. */
	for (pages = 1; pages <= 3; pages++) {
		holes[0].start = pages & 1 ? page : page + DP_PAGE;
		holes[0].end = pages & 2 ? page + 2 * DP_PAGE : page + DP_PAGE;
		begin(&w, HIGH, DP_ARM_INTERIOR);
		memset(w.t.orig + AT / SLOT * SLOT, 0x55, SLOT - 1);
		assert_int_equal(add(&w, AT, true), 0);
		assert_int_equal(build_in(&w, holes, 2), 0);
		assert_int_equal(commit(&w), 0);
		assert_int_equal(dp_engine_jumps(w.e), pages == 3);
		assert_int_equal(expect_islands(&w), pages == 3);
		expect_armed(&w);
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
			u64 at =
				HIGH + 15 * SLOT + DP_JUMP_SIZE + far[i].island;
			u64 page = at & ~(u64)(DP_PAGE - 1);
			u64 pool = HIGH + (room ? 0x100000 : far[i].pool);
			struct dp_hole holes[] = {
				{ page, page + DP_PAGE, false },
				{ pool, pool + 0x20000, false },
			};

			begin(&w, HIGH, DP_ARM_INTERIOR);
			assert_int_equal(add(&w, 15 * SLOT, true), 0);
			assert_int_equal(build_in(&w, holes, 2), 0);
			assert_int_equal(commit(&w), 0);
			assert_int_equal(dp_engine_jumps(w.e), room);
			expect_armed(&w);
			end(&w);
		}
}

/* Without memory there is no jump, or nothing at all. */
static int whole_run(void)
{
	struct world w;
	size_t jumps;
	int err = 0;
	u32 i;

	memset(&w, 0, sizeof(w));
	w.t.base = HIGH;
	w.t.target.ops = &text_ops;
	w.t.stopped = true;
	put_slots(&w.t);
	err = dp_engine_create(&w.e);
	for (i = 0; i < 100 && !err; i++)
		err = add(&w, i * SLOT, true);
	if (!err)
		err = build(&w);
	jumps = err ? 0 : dp_engine_jumps(w.e);
	if (!err)
		err = commit(&w);
	if (!err) {
		expect_armed(&w);
		/* Arming tries again. */
		if (jumps < 100 || dp_engine_jumps(w.e) < 100)
			err = -ENOMEM;
	} else if (w.t.view) {
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
	}
	end(&w);
	return err;
}

static void survives_every_failed_allocation(void **state)
{
	unsigned int nth = starve(whole_run);

	assert_true(nth > 12 && nth < STARVE_MAX);
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

static u64 in_detour(const struct world *w, const struct dp_site_entry *s,
		     u32 by)
{
	const struct dp_jump *j = jump_of(w, s);
	int i = insn_by(j, by);

	return i < 0 ? 0 : j->base + j->insn[i];
}

/* Is a thread there in the middle of a jump, from where it would have to be moved? */
static bool inside(const struct world *w, u32 at, u64 *to)
{
	static u32 which[SLOTS];
	const struct dp_view *v = &w->e->view;
	struct dp_sites sites = { .v = v->sites,
				  .jumps = v->jumps,
				  .nr_jumps = v->nr_jumps,
				  .total = v->nr_sites,
				  .which = which };
	u32 i, k;

	for (i = 0; i < v->nr_sites; i++) {
		for (k = sites.n++;
		     k && v->sites[which[k - 1]].addr > v->sites[i].addr; k--)
			which[k] = which[k - 1];
		which[k] = i;
	}
	return dp_sites_inside(&sites, w->t.base + at, to);
}

static void expect_intercept(struct world *w, bool observed)
{
	const struct dp_site_entry *intercept = site_of(w, NUMBER);
	u64 to, at;
	u32 i;

	assert_int_equal(intercept->intercept,
			 observed ? DP_INTERCEPT_OBSERVED : DP_INTERCEPT_MADE);
	assert_int_equal(intercept->number, 13);
	assert_int_equal(intercept->patch_len, DP_JUMP_SIZE);
	assert_int_equal(intercept->traps, 0);
	assert_int_equal(jump_of(w, intercept)->nr, 3);
	/* Only where the detour makes the call itself is there something to see then. */
	assert_int_equal(jump_of(w, intercept)->after, observed ? 1 << 2 : 0);
	assert_int_equal(site_of(w, NUMBER + 5)->patch_len, 0);
	assert_int_equal(site_of(w, NUMBER + 5)->copy,
			 in_detour(w, intercept, 5));
	assert_int_equal(site_of(w, SYSCALL)->copy, in_detour(w, intercept, 6));
	assert_true(dp_engine_intercepted_call(w->e, w->t.base + NUMBER, true,
					       &to));
	assert_int_equal(to, in_detour(w, intercept, 6) + 2);
	assert_true(dp_engine_intercepted_call(w->e, w->t.base + NUMBER, false,
					       &to));
	assert_int_equal(to, jump_of(w, intercept)->base +
				     jump_of(w, intercept)->at[2]);
	assert_false(dp_engine_intercepted_call(w->e, w->t.base + NUMBER + 1,
						true, &to));
	for (i = 0; i < 5; i++) {
		dp_engine_site(w->e, w->e->probes[w->probe[i]].site, &at);
		at -= w->t.base;
		assert_string_equal(dp_engine_mode(w->e, w->probe[i]),
				    at == CALL || at == SYSCALL + 2 ? "trap" :
								      "jump");
	}
	for (i = 0; i < SLOT; i++)
		assert_false(inside(w, CALL + i, &to));
}

static void toggle_around_intercept(struct world *w)
{
	u32 i;

	assert_int_equal(dp_engine_arm_intercepts(w->e, &w->t.target), 0);
	assert_int_equal(w->t.now[NUMBER], JUMP);
	assert_memory_equal(w->t.now + NUMBER + 5, w->t.orig + NUMBER + 5, 4);
	assert_int_equal(commit(w), 0);
	assert_int_equal(w->t.now[CALL], DP_BREAKPOINT);
	assert_int_equal(w->t.now[SYSCALL + 2], DP_BREAKPOINT);
	for (i = 0; i < 5; i++)
		dp_engine_turn(w->e, w->probe[i], false);
	assert_int_equal(site_of(w, NUMBER)->wanted, 1);
	assert_int_equal(apply(w), 0);
	assert_int_equal(w->t.now[CALL], w->t.orig[CALL]);
	assert_int_equal(w->t.now[SYSCALL + 2], w->t.orig[SYSCALL + 2]);
	/* The intercept stays, whatever becomes of its probes. */
	assert_int_equal(w->t.now[NUMBER], JUMP);
	assert_int_equal(disarm(w, false, NULL), 0);
	assert_int_equal(w->t.now[NUMBER], JUMP);
	assert_int_equal(disarm(w, true, NULL), 0);
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
			w.t.stopped = true;
			assert_int_equal(dp_engine_sites(w.e), 5);
			expect_intercept(&w, seed / 2);
			toggle_around_intercept(&w);
			end(&w);
		}
}

static void knows_who_is_inside(void **state)
{
	u32 slot, by, k;
	struct world w;
	u64 to;

	begin(&w, HIGH, DP_ARM_QUIESCE);
	add_all(&w);
	assert_int_equal(build(&w), 0);
	commit_all(&w);
	assert_int_equal(w.m.stops, 1);
	assert_int_equal(dp_engine_jumps(w.e), SLOTS);
	for (slot = 0; slot < SLOTS; slot++) {
		const struct dp_site_entry *s = site_of(&w, slot * SLOT);
		const struct dp_jump *j = jump_of(&w, s);

		assert_int_equal(j->island, 0);
		assert_int_equal(s->traps, 0);
		for (by = 0, k = 0; by < SLOT; by++) {
			bool in = by && by < 5 && (slot % 16 << 1) >> by & 1;

			assert_int_equal(inside(&w, slot * SLOT + by, &to), in);
			if (in)
				assert_int_equal(to, j->base + j->at[++k]);
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
		assert_int_equal(commit(&w), 0);
		assert_string_equal(dp_engine_mode(w.e, w.probe[0]),
				    jump ? "jump" : "trap");
		assert_int_equal(!*dp_engine_reason(w.e, w.probe[0]), jump);
		assert_int_equal(w.t.now[0], jump ? JUMP : DP_BREAKPOINT);
		assert_int_equal(w.m.stops, 0);
		expect_armed(&w);
		end(&w);
	}
}

/* The program's handler may go on behind an instruction that faults: where that is inside the
 * jump, it has breakpoints there in all strategies, unless no signal is caught. */
static void minds_faults(void **state)
{
	static const struct {
		const char *code;
		bool inside;
	} slots[] = {
		{ "488b07 b801000000", true }, { "4889c3 488b07", false },
		{ "53 488b07 4889c3", true },  { "53 55 4889c3", false },
		{ "89f8 f7f9 4889c3", true },
	};
	u32 arming;
	size_t i;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++)
		for (i = 0; i < 2 * sizeof(slots) / sizeof(slots[0]); i++) {
			bool caught = i & 1, inside = slots[i / 2].inside;
			struct world w;

			begin(&w, HIGH, arming);
			hex(slots[i / 2].code, w.t.orig);
			if (!caught)
				dp_engine_set_signal_free(w.e);
			assert_int_equal(add(&w, 0, true), 0);
			assert_int_equal(build(&w), 0);
			assert_string_equal(dp_engine_mode(w.e, w.probe[0]),
					    "jump");
			assert_int_equal(w.e->sites[0].traps != 0,
					 caught && (arming == DP_ARM_INTERIOR ||
						    inside));
			end(&w);
		}
}

/* For handlers in C no jump of quiesce has breakpoints inside. */
static void minds_faults_of_handlers(void **state)
{
	struct world w;

	begin(&w, HIGH, DP_ARM_QUIESCE);
	hex("488b07 b801000000", w.t.orig);
	dp_engine_attach_own(w.e, SITES);
	assert_int_equal(add(&w, 0, true), 0);
	assert_int_equal(build(&w), 0);
	assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "trap");
	assert_string_equal(dp_engine_reason(w.e, w.probe[0]), DP_WHY_FAULTS);
	end(&w);
}

static void turn_all(struct world *w, bool on)
{
	u32 i;

	for (i = 0; i < w->nr_probes; i++)
		dp_engine_turn(w->e, w->probe[i], on);
	assert_int_equal(apply(w), 0);
}

/* Jumps into the middle of which threads may come, beside one of those into which none does: the
 * latter are written while all threads are stopped. */
static void breaks_where_threads_arrive(void **state)
{
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_QUIESCE);
	for (i = 0; i < 3; i++) {
		hex("4889c3 4889d8 90", w.t.orig + i * SLOT);
		w.arrivals = i;
		assert_int_equal(add(&w, i * SLOT, true), 0);
	}
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < 6; i++) {
		assert_int_equal(w.t.now[i % 3 * SLOT], JUMP);
		assert_int_equal(site_of(&w, i % 3 * SLOT)->traps,
				 i % 3 ? 1u << 3 : 0);
		if (i % 3)
			assert_int_equal(w.t.now[i % 3 * SLOT + 3],
					 DP_BREAKPOINT);
		expect_armed(&w);
		turn_all(&w, false);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		turn_all(&w, true);
	}
	end_as_before(&w);
}

/* add $8, %rsp; ret: the jump begins at the add, which nobody probes. */
static void begin_early(struct world *w, enum dp_arming arming)
{
	begin(w, HIGH, arming);
	hex("4883c408c3", w->t.orig + 10);
	assert_int_equal(add(w, 14, true), 0);
	dp_engine_start_early(w->e, HIGH + 10, w->t.orig + 10, 5, false);
}

static void begins_before_a_probe(void **state)
{
	u32 arming, i;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++) {
		struct world w;

		begin_early(&w, arming);
		assert_int_equal(build(&w), 0);
		assert_int_equal(dp_engine_sites(w.e), 1);
		assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "jump");
		assert_int_equal(commit(&w), 0);
		assert_int_equal(site_of(&w, 10)->patch_len, DP_JUMP_SIZE);
		assert_int_equal(site_of(&w, 10)->first_probe, 0);
		assert_true(dp_engine_is_covered(w.e, w.probe[0]));
		for (i = 0; i < 2; i++) {
			assert_int_equal(w.t.now[10], JUMP);
			expect_armed(&w);
			/* Nothing behind it has changed. */
			assert_memory_equal(w.t.now + 15, w.t.orig + 15,
					    SIZE - 15);
			off_and_on(&w);
		}
		end_as_before(&w);
	}
}

/* Where the jump is, and the probe behind it is a breakpoint for threads that branch to it */
static void expect_far(struct world *w, u32 start, u32 probed, u32 probe)
{
	const struct dp_jump *j = dp_view_jump(&w->e->view, site_of(w, start));

	assert_int_equal(w->t.now[start], JUMP);
	assert_int_equal(w->t.now[probed], DP_BREAKPOINT);
	assert_memory_equal(w->t.now + start + DP_JUMP_SIZE,
			    w->t.orig + start + DP_JUMP_SIZE,
			    probed - start - DP_JUMP_SIZE);
	assert_int_equal(w->t.orig[probed], 0xc3);
	assert_int_equal(j->offset[j->nr - 1], probed - start);
	assert_int_equal(j->member[j->nr - 1],
			 site_of(w, probed) - w->e->view.sites + 1);
	assert_int_equal(j->size, probed - start + 1);
	assert_string_equal(dp_engine_mode(w->e, w->probe[probe]), "jump");
	assert_string_equal(dp_engine_reason(w->e, w->probe[probe]), "");
	expect_armed(w);
}

/* add $8, %rsp; pop %rbp; pop %rbx; ret: the probe is behind the jump's five bytes. */
static void begins_far_before(void **state)
{
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	hex("4883c408 5d 5b c3", w.t.orig + 10);
	assert_int_equal(add(&w, 16, false), 0);
	assert_true(
		dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, 7, false));
	assert_true(
		dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, 7, false));
	assert_false(
		dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, 5, false));
	assert_false(
		dp_engine_start_early(w.e, HIGH + 14, w.t.orig + 14, 3, false));
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < 2; i++) {
		expect_far(&w, 10, 16, 0);
		off_and_on(&w);
	}
	end_as_before(&w);
}

/* A probe that can have a jump of its own has that. */
static void begins_far_before_no_jump(void **state)
{
	static const struct {
		enum dp_arming arming;
		bool room;
		u8 at10, at16;
	} rows[] = {
		{ DP_ARM_INTERIOR, true, 0x48, JUMP },
		{ DP_ARM_QUIESCE, true, 0x48, JUMP },
		{ DP_ARM_QUIESCE, false, JUMP, DP_BREAKPOINT },
		{ DP_ARM_TRAP, false, 0x48, DP_BREAKPOINT },
	};
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		begin(&w, HIGH, rows[i].arming);
		hex("4883c408 5d 5b c3 90909090", w.t.orig + 10);
		assert_int_equal(add(&w, 16, rows[i].room), 0);
		assert_true(dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10,
						  7, true));
		assert_int_equal(build(&w), 0);
		assert_int_equal(commit(&w), 0);
		assert_int_equal(w.t.now[10], rows[i].at10);
		assert_int_equal(w.t.now[16], rows[i].at16);
		if (rows[i].at10 == JUMP)
			assert_int_equal(site_of(&w, 10)->traps, 1u << 4);
		assert_int_equal(disarm(&w, false, NULL), 0);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		end(&w);
	}
}

/* xor %eax, %eax; cmpq $5, 16(%rsi); setne %al; ret: the jump at the first probe goes on to the
 * second, while that is enabled. */
static void goes_on_to_a_probe(void **state)
{
	const struct dp_jump *j;
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	hex("31c0 48837e1005 0f95c0 c3", w.t.orig + 10);
	assert_int_equal(add(&w, 10, true), 0);
	assert_int_equal(add(&w, 20, false), 0);
	assert_true(dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, 11,
					  false));
	assert_int_equal(build(&w), 0);
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < 2; i++) {
		expect_far(&w, 10, 20, 1);
		dp_engine_turn(w.e, w.probe[1], false);
		assert_int_equal(apply(&w), 0);
		j = dp_view_jump(&w.e->view, site_of(&w, 10));
		assert_int_equal(j->nr, 2);
		assert_int_equal(j->size, 7);
		assert_int_equal(w.t.now[10], JUMP);
		assert_int_equal(w.t.now[20], 0xc3);
		dp_engine_turn(w.e, w.probe[1], true);
		assert_int_equal(apply(&w), 0);
	}
	/* The jump counts hits of the first one. So it is not there for the other alone. */
	dp_engine_turn(w.e, w.probe[0], false);
	assert_int_equal(apply(&w), 0);
	assert_int_equal(w.t.now[10], w.t.orig[10]);
	assert_int_equal(w.t.now[20], DP_BREAKPOINT);
	dp_engine_turn(w.e, w.probe[1], false);
	assert_int_equal(apply(&w), 0);
	assert_memory_equal(w.t.now, w.t.orig, SIZE);
	assert_int_equal(disarm(&w, false, NULL), 0);
	assert_int_equal(w.t.broken, 0);
	end(&w);
}

/* jle 1f; mov %rax, %rbx; nops; 1: ret, which is probed */
static void begin_duplicate(struct world *w, enum dp_arming arming, bool room)
{
	begin(w, HIGH, arming);
	hex("7e06 4889c3 90 90 90 c3", w->t.orig + 10);
	assert_int_equal(add(w, 18, room), 0);
	dp_engine_duplicate(w->e, w->probe[0], HIGH + 10, w->t.orig + 10, 8);
	assert_int_equal(build(w), 0);
	assert_int_equal(commit(w), 0);
}

/* The branch's jump is there for the sake of the duplicate. */
static void duplicate_a_ret(enum dp_arming arming)
{
	const struct dp_jump *j;
	struct world w;
	u64 orig;
	u32 i;

	begin_duplicate(&w, arming, false);
	for (i = 0; i < 2; i++) {
		assert_int_equal(w.t.now[10], JUMP);
		assert_int_equal(w.t.now[18], DP_BREAKPOINT);
		expect_armed(&w);
		assert_int_equal(site_of(&w, 10)->traps, 1u << 2);
		j = dp_view_jump(&w.e->view, site_of(&w, 10));
		assert_int_equal(j->duplicated_at, HIGH + 18);
		assert_in_range(j->duplicate, j->at[j->nr] + 1,
				j->duplicate_insn);
		assert_int_equal(dp_view_original(&w.e->view,
						  j->base + j->duplicate,
						  &orig),
				 0);
		assert_int_equal(orig, HIGH + 18);
		assert_int_equal(dp_view_original(&w.e->view,
						  j->base + j->duplicate_insn,
						  &orig),
				 0);
		assert_int_equal(orig, HIGH + 18);
		off_and_on(&w);
	}
	end_as_before(&w);
}

static void duplicates_a_ret(void **state)
{
	duplicate_a_ret(DP_ARM_INTERIOR);
	duplicate_a_ret(DP_ARM_QUIESCE);
}

/* A probe that can have a jump is reached in the text. */
static void duplicates_no_other(void **state)
{
	static const struct {
		enum dp_arming arming;
		bool room;
	} rows[] = { { DP_ARM_INTERIOR, true },
		     { DP_ARM_QUIESCE, true },
		     { DP_ARM_TRAP, false } };
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct world w;

		begin_duplicate(&w, rows[i].arming, rows[i].room);
		assert_int_equal(w.t.now[10], 0x7e);
		assert_int_not_equal(w.t.now[18], 0xc3);
		assert_int_equal(disarm(&w, false, NULL), 0);
		assert_memory_equal(w.t.now, w.t.orig, SIZE);
		end(&w);
	}
}

/* The branch is in a probe's own jump, which has the duplicate only while the ret's probe is enabled. */
static void duplicates_in_a_probe(void **state)
{
	const struct dp_jump *j;
	struct world w;
	u32 i;

	begin(&w, HIGH, DP_ARM_INTERIOR);
	hex("90 7e06 4889c3 90 90 90 c3", w.t.orig + 9);
	assert_int_equal(add(&w, 9, true), 0);
	assert_int_equal(add(&w, 18, false), 0);
	dp_engine_duplicate(w.e, w.probe[1], HIGH + 10, w.t.orig + 10, 8);
	assert_int_equal(build(&w), 0);
	assert_null(site_of(&w, 10));
	assert_int_equal(commit(&w), 0);
	for (i = 0; i < 4; i++) {
		j = dp_view_jump(&w.e->view, site_of(&w, 9));
		assert_int_equal(w.t.now[9], JUMP);
		assert_int_equal(j->duplicated_at, i & 1 ? 0 : HIGH + 18);
		assert_int_equal(j->duplicate != 0, !(i & 1));
		assert_int_equal(w.t.now[18], i & 1 ? 0xc3 : DP_BREAKPOINT);
		dp_engine_turn(w.e, w.probe[1], i & 1);
		assert_int_equal(apply(&w), 0);
	}
	end_as_before(&w);
}

/* Where the jump cannot be, only the probe is a breakpoint. */
static void begins_nowhere_else(void **state)
{
	const struct dp_hole hole = { HIGH + 0x100000, HIGH + 0x200000, false };
	struct world w;

	begin_early(&w, DP_ARM_INTERIOR);
	assert_int_equal(build_in(&w, &hole, 1), 0);
	assert_string_equal(dp_engine_mode(w.e, w.probe[0]), "trap");
	assert_int_equal(commit(&w), 0);
	assert_int_equal(w.t.now[10], w.t.orig[10]);
	assert_int_equal(w.t.now[14], DP_BREAKPOINT);
	assert_int_equal(disarm(&w, false, NULL), 0);
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
		dp_engine_start_early(w.e, HIGH + 10, w.t.orig + 10, 5, false);
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
		cmocka_unit_test(needs_no_island),
		cmocka_unit_test(lands_whatever_its_size),
		cmocka_unit_test(lands_above_low_addresses),
		cmocka_unit_test(covers_another_byte),
		cmocka_unit_test(traps_where_nothing_is_free),
		cmocka_unit_test(wants_room_for_all_of_an_island),
		cmocka_unit_test(lands_in_reach_of_its_detour),
		cmocka_unit_test(survives_every_failed_allocation),
		cmocka_unit_test(probes_intercepts),
		cmocka_unit_test(knows_who_is_inside),
		cmocka_unit_test(minds_returns),
		cmocka_unit_test(minds_faults),
		cmocka_unit_test(minds_faults_of_handlers),
		cmocka_unit_test(breaks_where_threads_arrive),
		cmocka_unit_test(begins_before_a_probe),
		cmocka_unit_test(begins_far_before),
		cmocka_unit_test(begins_far_before_no_jump),
		cmocka_unit_test(goes_on_to_a_probe),
		cmocka_unit_test(duplicates_a_ret),
		cmocka_unit_test(duplicates_no_other),
		cmocka_unit_test(duplicates_in_a_probe),
		cmocka_unit_test(begins_nowhere_else),
		cmocka_unit_test(begins_at_the_probe),
		cmocka_unit_test(keeps_reasons),
		cmocka_unit_test(changes_no_site_impossibly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
