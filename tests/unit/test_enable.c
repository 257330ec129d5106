// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* enable: probes of an armed engine that are switched off and on, on bytes in an array. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/arena.h"
#include "engine/layout/instance.h"
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/instances.h"
#include "engine/site/internal.h"
#include "engine/site/reach.h"
#include "engine/text/target.h"
#include "port/fake/fake.h"
#include "memory.h"

#define TEXT 0x7f0000000000ull
#define SLOT 0x7ffff7ab8ull

/* push; mov; push; nop…; ret: a function for a jump, with sites inside; then others, and
 * mov $13, %eax; syscall */
static const u8 program[96] = {
	0x55, 0x48,	   0x89,	0xe5, 0x41,	   0x54,	0x90,
	0x90, 0xc3,	   [16] = 0x55, 0x90, 0xc3,	   [32] = 0x55, 0x90,
	0xc3, [48] = 0x53, 0x90,	0xc3, [64] = 0xb8, 0x0d,	0,
	0,    0,	   0x0f,	0x05, 0x90,	   0x90,	0x90
};
enum { LEADER = 0, COVERED = 1, LAST = 4, FIRST = 16, FIRST_RET = 18 };
enum { SECOND = 32, SECOND_RET = 34, TARGET_RET = 50 };
enum { INTERCEPT = 64, SYSCALL = 69 };

struct bytes {
	struct dp_target target;
	u8 text[sizeof(program)];
	u64 readable; /* of them, from the first one on */
};

static int read_bytes(struct dp_target *t, u64 addr, void *to, size_t len)
{
	struct bytes *b = (struct bytes *)t;

	if (addr - TEXT + len > b->readable)
		return -EFAULT;
	memcpy(to, b->text + (addr - TEXT), len);
	return 0;
}

static int write_bytes(struct dp_target *t, u64 addr, const void *from,
		       size_t len)
{
	memcpy(((struct bytes *)t)->text + (addr - TEXT), from, len);
	return 0;
}

static const struct dp_target_ops ops = { .read = read_bytes,
					  .write = write_bytes };

struct world {
	struct bytes b;
	struct memory m;
	struct dp_engine *e;
	void *file;
	u8 off[16];
	u64 bad;
};

static u32 add(struct world *w, u32 at, bool jump)
{
	struct dp_reach g = { .start = TEXT + at,
			      .code = program + at,
			      .size = 16,
			      .function = 16,
			      .room = 16 };
	u32 probe;

	assert_int_equal(dp_engine_add(w->e, TEXT + at, program + at,
				       sizeof(program) - at, &probe, NULL),
			 0);
	if (jump)
		dp_engine_allow_jump(w->e, probe, &g);
	return probe;
}

static u32 add_exit(struct world *w, u32 enter, u32 at)
{
	u32 probe;

	assert_int_equal(dp_engine_add_exit(w->e, enter, 0, TEXT + at,
					    program + at, sizeof(program) - at,
					    &probe, NULL),
			 0);
	return probe;
}

static void begin_with(struct world *w, enum dp_arming arming)
{
	memset(w, 0, sizeof(*w));
	w->b.target.ops = &ops;
	w->b.readable = sizeof(program);
	memcpy(w->b.text, program, sizeof(program));
	w->m.hole[0] =
		(struct dp_hole){ TEXT - 0x50000000, TEXT - 0x10000000, false };
	w->m.hole[1] =
		(struct dp_hole){ TEXT + 0x100000, TEXT + 0x10000000, false };
	w->m.nr_holes = 2;
	assert_int_equal(dp_engine_create(&w->e), 0);
	dp_engine_set_arming(w->e, arming);
}

static void begin(struct world *w)
{
	begin_with(w, DP_ARM_QUIESCE);
}

static int plan(struct world *w)
{
	struct dp_mapping map = { .base = TEXT + 0x40000000,
				  .intercept_entry = TEXT + 0x40001000,
				  .entries = { .hit = TEXT + 0x40002000 },
				  .owner = 1,
				  .tool = 2 };

	return memory_build(&w->m, w->e, &w->b.target, &map, &w->file);
}

static void arm(struct world *w)
{
	assert_int_equal(plan(w), 0);
	assert_int_equal(dp_engine_arm_intercepts(w->e, &w->b.target), 0);
	assert_int_equal(dp_engine_commit(w->e, &w->b.target, &w->bad), 0);
}

/* What has come since is armed, too. */
static int arm_more(struct world *w)
{
	int err = dp_engine_plan(w->e);

	return err ? err : dp_engine_commit(w->e, &w->b.target, &w->bad);
}

static void end(struct world *w)
{
	dp_engine_destroy(w->e);
	free(w->file);
	memory_free(&w->m);
	assert_int_equal(dp_fake_live(), 0);
}

static int apply(struct world *w)
{
	const struct dp_disabled off = { w->off, sizeof(w->off) };
	int err;

	dp_engine_choose(w->e, &off);
	err = dp_engine_apply(w->e, &w->b.target, &w->bad);
	if (!err)
		dp_engine_admit(w->e, true);
	return err;
}

static bool is_armed(const struct world *w, u32 at)
{
	return w->b.text[at] != program[at];
}

static bool is_enabled(const struct world *w, u32 probe)
{
	return w->e->view.probes[probe].enabled;
}

/* A site with two probes stays while one of them is on. */
static void shares_sites(void **state)
{
	struct world w;
	u32 one, two;

	begin(&w);
	one = add(&w, FIRST, false);
	two = add(&w, FIRST, false);
	arm(&w);
	w.off[one] = 1;
	assert_int_equal(apply(&w), 0);
	assert_true(is_armed(&w, FIRST));
	assert_true(!is_enabled(&w, one) && is_enabled(&w, two));
	assert_true(w.e->view.probes[one].disabled);
	w.off[two] = 1;
	assert_int_equal(apply(&w), 0);
	assert_memory_equal(w.b.text, program, sizeof(program));
	w.off[one] = 0;
	assert_int_equal(apply(&w), 0);
	assert_true(is_armed(&w, FIRST));
	assert_true(is_enabled(&w, one) && !is_enabled(&w, two));
	assert_false(w.e->view.probes[one].disabled);
	end(&w);
}

static const struct dp_site_entry *entry_at(const struct world *w, u32 at)
{
	const struct dp_site *s = dp_engine_find(w->e, TEXT + at);

	assert_non_null(s);
	return &w->e->view.sites[s->place - 1];
}

/* The hit half counts a hit of a site. */
static void count_at(const struct world *w, u32 at)
{
	const struct dp_view *v = &w->e->view;

	((u64 *)(u64)v->counters)[entry_at(w, at) - v->sites]++;
}

/* Who leads to the site: its own jump or breakpoint, or the jump that covers it and calls out
 * for it. */
static bool is_reached(const struct world *w, u32 at)
{
	const struct dp_view *v = &w->e->view;
	const struct dp_site_entry *s = entry_at(w, at), *lead;
	const struct dp_jump *j;
	int k;

	if (!s->leader)
		return w->b.text[at] == DP_BREAKPOINT ||
		       !memcmp(w->b.text + at, s->patch, DP_JUMP_SIZE);
	lead = &v->sites[s->leader - 1];
	if (lead->armed != DP_SITE_THERE ||
	    memcmp(w->b.text + (lead->addr - TEXT), lead->patch, DP_JUMP_SIZE))
		return false;
	j = dp_view_jump(v, lead);
	for (k = 1; k < j->nr; k++)
		if (lead->addr + j->offset[k] == s->addr)
			return j->member[k] == (u32)(s - v->sites) + 1 &&
			       j->before >> k & 1;
	return false;
}

/* Sites that begin in the five bytes of a jump, or begin it */
static const u32 group[] = { LEADER, COVERED, LAST };
#define GROUP 3

/* All that are on count, and no other. */
static void expect_counts(struct world *w, const u32 *probes, u32 set)
{
	u64 before[GROUP];
	u32 i;

	for (i = 0; i < GROUP; i++) {
		before[i] = dp_engine_hits(w->e, probes[i]);
		if (set >> i & 1)
			assert_true(is_reached(w, group[i]));
		assert_int_equal(is_enabled(w, probes[i]), set >> i & 1);
		count_at(w, group[i]);
	}
	for (i = 0; i < GROUP; i++)
		assert_int_equal(dp_engine_hits(w->e, probes[i]),
				 before[i] + (set >> i & 1));
	if (!set)
		assert_memory_equal(w->b.text, program, sizeof(program));
}

/* From each subset of a jump's sites to each other. */
static void counts_each_that_is_on(void **state)
{
	u32 arming, i, k, set, probes[GROUP];
	struct world w;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++) {
		begin_with(&w, arming);
		for (i = 0; i < GROUP; i++)
			probes[i] = add(&w, group[i], true);
		arm(&w);
		for (i = 1; i < GROUP; i++)
			assert_int_equal(dp_engine_is_covered(w.e, probes[i]),
					 arming != DP_ARM_TRAP);
		for (i = 0; i < 64; i++) {
			expect_counts(&w, probes, i ? set : 7);
			set = i % 2 ? i / 8 : i % 8;
			for (k = 0; k < GROUP; k++)
				w.off[probes[k]] = !(set >> k & 1);
			assert_int_equal(apply(&w), 0);
		}
		expect_counts(&w, probes, set);
		end(&w);
	}
}

/* A jump with sites inside, breakpoints, and jumps that have their bytes for themselves. */
static u32 add_various(struct world *w)
{
	static const struct {
		u32 at;
		bool jump;
	} various[] = { { LEADER, true }, { COVERED, true }, { LAST, true },
			{ FIRST, false }, { SECOND, true },  { 48, false } };
	u32 i;

	for (i = 0; i < sizeof(various) / sizeof(various[0]); i++)
		add(w, various[i].at, various[i].jump);
	return i;
}

/* What an engine that is never built says is what arming makes of the same probes. */
static void foretells_what_sites_become(void **state)
{
	struct world seen, made;
	u32 arming, n, i, jumps;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++) {
		begin_with(&made, arming);
		n = add_various(&made);
		arm(&made);
		begin_with(&seen, arming);
		add_various(&seen);
		dp_engine_preview(seen.e);
		for (i = jumps = 0; i < n; i++) {
			jumps += !strcmp(dp_engine_mode(made.e, i), "jump");
			assert_string_equal(dp_engine_mode(seen.e, i),
					    dp_engine_mode(made.e, i));
			assert_int_equal(dp_engine_is_covered(seen.e, i),
					 dp_engine_is_covered(made.e, i));
		}
		assert_int_equal(jumps > 0, arming != DP_ARM_TRAP);
		dp_engine_destroy(seen.e);
		memory_free(&seen.m);
		end(&made);
	}
}

/* A probe that comes later into a jump, at each of its sites, and in each way of arming. */
static void joins_an_armed_jump(void **state)
{
	static const struct dp_expected some = { .sites = GROUP,
						 .probes = GROUP };
	u32 arming, late, i, probes[GROUP];
	struct world w;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_TRAP; arming++)
		for (late = 0; late < GROUP; late++) {
			begin_with(&w, arming);
			dp_engine_expect(w.e, &some);
			for (i = 0; i < GROUP; i++)
				if (i != late)
					probes[i] = add(&w, group[i], true);
			arm(&w);
			for (i = 0; i < GROUP; i++)
				if (i != late)
					count_at(&w, group[i]);
			probes[late] = add(&w, group[late], true);
			assert_int_equal(arm_more(&w), 0);
			for (i = 0; i < GROUP; i++)
				assert_int_equal(dp_engine_hits(w.e, probes[i]),
						 i != late);
			expect_counts(&w, probes, 7);
			assert_int_equal(dp_engine_is_covered(w.e, probes[1]),
					 arming == DP_ARM_INTERIOR);
			end(&w);
		}
}

/* A call that is tracked is called out for, and its detour asks whether it is. */
static void disables_calls_inside_jumps(void **state)
{
	u32 leader, covered, arming;
	struct world w;

	for (arming = DP_ARM_INTERIOR; arming <= DP_ARM_QUIESCE; arming++) {
		begin_with(&w, arming);
		leader = add(&w, LEADER, true);
		covered = add(&w, COVERED, true);
		assert_int_equal(dp_engine_track(w.e, covered, false), 0);
		arm(&w);
		assert_true(dp_engine_is_covered(w.e, covered));
		assert_true(is_enabled(&w, covered));
		w.off[covered] = 1;
		assert_int_equal(apply(&w), 0);
		assert_true(is_reached(&w, LEADER));
		assert_true(is_enabled(&w, leader) && !is_enabled(&w, covered));
		w.off[covered] = 0;
		w.off[leader] = 1;
		assert_int_equal(apply(&w), 0);
		assert_true(is_reached(&w, COVERED));
		assert_true(!is_enabled(&w, leader) && is_enabled(&w, covered));
		assert_int_equal(w.b.text[LEADER], program[LEADER]);
		end(&w);
	}
}

/* An intercept stays, and serves the probes inside it. */
static void leaves_intercepts_alone(void **state)
{
	struct world w;
	u32 leader, inside;
	u64 hits;

	begin(&w);
	leader = add(&w, LEADER, true);
	inside = add(&w, SYSCALL, false);
	assert_int_equal(dp_engine_add_intercept(w.e, TEXT + INTERCEPT,
						 program + INTERCEPT, 13,
						 false),
			 0);
	arm(&w);
	assert_true(dp_engine_is_covered(w.e, inside));
	w.off[leader] = 1;
	assert_int_equal(apply(&w), 0);
	assert_false(is_armed(&w, LEADER));
	assert_true(is_armed(&w, INTERCEPT));
	assert_true(entry_at(&w, INTERCEPT)->intercept &&
		    entry_at(&w, INTERCEPT)->wanted);
	assert_int_equal(entry_at(&w, SYSCALL)->wanted, DP_WANT_OFF);
	count_at(&w, SYSCALL);
	hits = dp_engine_hits(w.e, inside);
	assert_int_equal(hits, 1);
	w.off[inside] = 1;
	assert_int_equal(apply(&w), 0);
	assert_true(is_armed(&w, INTERCEPT));
	assert_true(entry_at(&w, INTERCEPT)->wanted);
	assert_false(is_enabled(&w, inside));
	count_at(&w, SYSCALL);
	assert_int_equal(dp_engine_hits(w.e, inside), hits);
	w.off[inside] = 0;
	assert_int_equal(apply(&w), 0);
	count_at(&w, SYSCALL);
	assert_int_equal(dp_engine_hits(w.e, inside), hits + 1);
	end(&w);
}

/* What must not trap is never armed with a breakpoint. */
static void arms_no_breakpoint_where_none_may_be(void **state)
{
	struct world w;
	u32 leader;

	begin(&w);
	dp_engine_set_signal_free(w.e);
	leader = add(&w, LEADER, true);
	arm(&w);
	assert_true(is_armed(&w, LEADER));
	w.off[leader] = 1;
	assert_int_equal(apply(&w), 0);
	assert_memory_equal(w.b.text, program, sizeof(program));
	w.off[leader] = 0;
	assert_int_equal(apply(&w), 0);
	assert_true(is_armed(&w, LEADER));
	assert_int_equal(w.m.stops, 3);
	end(&w);
}

/* From the beginning, or later. */
static void refuses_what_would_be_a_breakpoint(void **state)
{
	static const struct dp_expected some = { .sites = 1, .probes = 1 };
	struct world w;
	u32 leader;

	begin(&w);
	dp_engine_set_signal_free(w.e);
	add(&w, LEADER, true);
	add(&w, FIRST, false);
	assert_int_equal(plan(&w), 0);
	assert_int_equal(dp_engine_commit(w.e, &w.b.target, &w.bad),
			 -EOPNOTSUPP);
	assert_int_equal(w.bad, TEXT + FIRST);
	assert_memory_equal(w.b.text, program, sizeof(program));
	end(&w);

	begin(&w);
	dp_engine_set_signal_free(w.e);
	dp_engine_expect(w.e, &some);
	leader = add(&w, LEADER, true);
	arm(&w);
	add(&w, FIRST, false);
	assert_int_equal(arm_more(&w), -EOPNOTSUPP);
	assert_int_equal(w.bad, TEXT + FIRST);
	dp_engine_retract(w.e, &w.b.target, w.e->need.nr_pools);
	assert_true(is_reached(&w, LEADER) && !is_armed(&w, FIRST));
	w.off[leader] = 1;
	assert_int_equal(apply(&w), 0);
	assert_memory_equal(w.b.text, program, sizeof(program));
	w.off[leader] = 0;
	assert_int_equal(apply(&w), 0);
	assert_true(is_reached(&w, LEADER) && !is_armed(&w, FIRST));
	end(&w);
}

/* Bytes of another process that cannot be read tell nothing of whether its code has gone. */
static void fails_where_nothing_can_be_read(void **state)
{
	struct world w;
	u32 first, second;

	begin(&w);
	first = add(&w, FIRST, false);
	second = add(&w, SECOND, false);
	arm(&w);
	w.off[first] = w.off[second] = 1;
	w.b.readable = SECOND;
	assert_int_equal(apply(&w), -EFAULT);
	assert_int_equal(w.bad, TEXT + SECOND);
	assert_non_null(dp_engine_find(w.e, TEXT + SECOND));
	assert_true(is_armed(&w, SECOND));
	w.b.readable = sizeof(program);
	assert_int_equal(apply(&w), 0);
	assert_memory_equal(w.b.text, program, sizeof(program));
	end(&w);
}

/* A probe that came after the list was made is on. */
static void lists_some(void **state)
{
	struct dp_disabled off;
	struct world w;
	u32 one, two;

	begin(&w);
	one = add(&w, FIRST, false);
	two = add(&w, SECOND, false);
	arm(&w);
	memset(w.off, 1, sizeof(w.off));
	off = (struct dp_disabled){ w.off, two };
	dp_engine_choose(w.e, &off);
	assert_int_equal(dp_engine_apply(w.e, &w.b.target, &w.bad), 0);
	assert_false(is_armed(&w, FIRST) || is_enabled(&w, one));
	assert_true(is_armed(&w, SECOND) && is_enabled(&w, two));
	end(&w);
}

/* Exits go with their entry; those of tail targets, and unwinders, with the last entry. */
static void takes_exits_along(void **state)
{
	u32 first, second, target, unwind;
	struct world w;

	begin(&w);
	first = add(&w, FIRST, false);
	assert_int_equal(dp_engine_track(w.e, first, false), 0);
	add_exit(&w, first, FIRST_RET);
	second = add(&w, SECOND, false);
	assert_int_equal(dp_engine_track(w.e, second, false), 0);
	add_exit(&w, second, SECOND_RET);
	target = add_exit(&w, DP_NO_GROUP, TARGET_RET);
	assert_int_equal(dp_engine_add_unwind(w.e, DP_WAY_UNTIL_CX, TEXT + 48,
					      program + 48,
					      sizeof(program) - 48, &unwind),
			 0);
	arm(&w);
	assert_true(is_enabled(&w, first) && is_armed(&w, TARGET_RET));
	w.off[first] = 1;
	assert_int_equal(apply(&w), 0);
	assert_false(is_armed(&w, FIRST) || is_armed(&w, FIRST_RET));
	assert_true(is_armed(&w, SECOND) && is_armed(&w, SECOND_RET));
	assert_true(is_armed(&w, TARGET_RET) && is_armed(&w, 48));
	assert_true(is_enabled(&w, target) && is_enabled(&w, unwind));
	w.off[second] = 1;
	assert_int_equal(apply(&w), 0);
	assert_memory_equal(w.b.text, program, sizeof(program));
	assert_false(is_enabled(&w, target) || is_enabled(&w, unwind));
	w.off[first] = 0;
	assert_int_equal(apply(&w), 0);
	assert_true(is_armed(&w, FIRST_RET) && is_armed(&w, TARGET_RET));
	assert_true(is_enabled(&w, first) && !is_enabled(&w, second));
	w.off[second] = 0;
	assert_int_equal(apply(&w), 0);
	assert_true(is_enabled(&w, first) && is_enabled(&w, second));
	end(&w);
}

/* An instance as the hit half leaves it: in the line of its slot, or displaced. */
static void put_instance(struct dp_engine *e, u32 probe, u64 slot, u32 by,
			 const struct dp_exit_instance *v)
{
	u64 key = dp_instance_key(probe, slot);
	u32 home = dp_instance_hash(key) & (e->instances.table[0].lines - 1);
	u32 line = (home + by) & (e->instances.table[0].lines - 1), way = 0;
	struct dp_exit_instance *at;

	while (e->instances.table[0].line[line].key[way])
		way++;
	e->instances.table[0].line[line].key[way] = key;
	e->instances.table[0].line[home].displaced += by != 0;
	at = (void *)(e->instances.table[0].instances +
		      (line * DP_INSTANCE_WAYS + way) *
			      e->instances.instance_stride);
	*at = *v;
	at->group = probe + 1;
}

/* What was inside counts as that, and is not taken for a later call. */
static void forgets_calls(void **state)
{
	const struct dp_exit_instance
		whole = { .state = DP_INSTANCE_LIVE, .ret = 1 },
		tail = { .state = DP_INSTANCE_LIVE | DP_INSTANCE_TAIL_CALLED },
		ending = { .state = DP_INSTANCE_DOUBT, .ret = 1 },
		incomplete = { 0 };
	const struct dp_instance_line none = { 0 };
	struct dp_account account;
	struct dp_disabled off;
	struct world w;
	u32 first, second, i;

	begin(&w);
	first = add(&w, FIRST, false);
	second = add(&w, SECOND, false);
	assert_int_equal(dp_engine_track(w.e, first, false), 0);
	assert_int_equal(dp_engine_track(w.e, second, false), 0);
	arm(&w);
	off = (struct dp_disabled){ w.off, sizeof(w.off) };
	put_instance(w.e, first, SLOT, 0, &whole);
	put_instance(w.e, first, SLOT + 8, 2, &tail);
	put_instance(w.e, first, SLOT + 64, 0, &ending);
	put_instance(w.e, first, SLOT + 128, 0, &incomplete);
	put_instance(w.e, second, SLOT, 0, &whole);
	assert_false(dp_engine_any_disabled(w.e, &off));
	w.off[first] = 1;
	assert_true(dp_engine_any_disabled(w.e, &off));
	dp_engine_forget_disabled(w.e, &off);
	assert_false(dp_engine_any_disabled(w.e, &off));
	dp_engine_account(w.e, first, &account);
	assert_int_equal(account.inside, 2);
	assert_int_equal(account.cut, 2);
	assert_int_equal(account.lost, -2);
	dp_engine_account(w.e, second, &account);
	assert_int_equal(account.inside + account.cut, 0);
	w.off[second] = 1;
	assert_true(dp_engine_any_disabled(w.e, &off));
	dp_engine_forget_disabled(w.e, &off);
	for (i = 0; i < w.e->instances.table[0].lines; i++)
		assert_memory_equal(&w.e->instances.table[0].line[i], &none,
				    sizeof(none));
	end(&w);
}

static bool is_empty(const struct dp_engine *e, u32 table)
{
	u32 lines = e->instances.table[table].lines, i;

	for (i = 0; i < lines * DP_INSTANCE_WAYS; i++)
		if (e->instances.table[table]
			    .line[i / DP_INSTANCE_WAYS]
			    .key[i % DP_INSTANCE_WAYS])
			return false;
	return true;
}

/* A slot whose calls are in the first line */
static u64 slot_of_first_line(const struct dp_engine *e)
{
	u64 slot = SLOT;

	while (dp_instance_hash(slot >> 3) & (e->instances.table[0].lines - 1))
		slot += 8;
	return slot;
}

/* From the first place of the first table to the last place of the last one. */
static void forgets_in_all_tables(void **state)
{
	const struct dp_exit_instance whole = { .state = DP_INSTANCE_LIVE,
						.ret = 1 };
	struct dp_instance_line *lines;
	struct dp_exit_instance *v;
	struct dp_account account;
	struct dp_disabled off;
	u32 probe, last;
	struct world w;
	void *more;
	u64 slot;

	begin(&w);
	probe = add(&w, FIRST, false);
	assert_int_equal(dp_engine_track(w.e, probe, false), 0);
	arm(&w);
	w.e->arena->hit.full++;
	more = calloc(1, dp_engine_instances_want(w.e));
	dp_engine_instances_grow(w.e, 0x60000000, more);
	slot = slot_of_first_line(w.e);
	put_instance(w.e, probe, slot, 0, &whole);
	put_instance(w.e, probe, slot + 8 * 1000, 0, &whole);
	lines = w.e->instances.table[1].line;
	last = w.e->instances.table[1].lines - 1;
	lines[0].key[0] = dp_instance_key(probe, slot);
	lines[last].key[DP_INSTANCE_WAYS - 1] = dp_instance_key(probe, slot);
	v = (void *)w.e->instances.table[1].instances;
	*v = whole;
	v->group = probe + 1;
	w.off[probe] = 1;
	off = (struct dp_disabled){ w.off, sizeof(w.off) };
	dp_engine_forget_disabled(w.e, &off);
	assert_true(is_empty(w.e, 0));
	assert_true(is_empty(w.e, 1));
	assert_int_equal(v->word, 0);
	dp_engine_account(w.e, probe, &account);
	assert_int_equal(account.inside, 3);
	assert_int_equal(account.cut, 1);
	end(&w);
	free(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_sites),
		cmocka_unit_test(counts_each_that_is_on),
		cmocka_unit_test(foretells_what_sites_become),
		cmocka_unit_test(joins_an_armed_jump),
		cmocka_unit_test(disables_calls_inside_jumps),
		cmocka_unit_test(leaves_intercepts_alone),
		cmocka_unit_test(arms_no_breakpoint_where_none_may_be),
		cmocka_unit_test(refuses_what_would_be_a_breakpoint),
		cmocka_unit_test(fails_where_nothing_can_be_read),
		cmocka_unit_test(lists_some),
		cmocka_unit_test(takes_exits_along),
		cmocka_unit_test(forgets_calls),
		cmocka_unit_test(forgets_in_all_tables),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
