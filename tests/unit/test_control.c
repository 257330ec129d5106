// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* control: sites, layout, placement, plans and arming, on bytes in an array. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "engine/site/instances.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/text/state.h"
#include "engine/site/engine.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"
#include "port/fake/fake.h"
#include "memory.h"
#include "starve.h"
#include "engine/layout/block.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"
#include "engine/site/internal.h"
#include "engine/text/target.h"

#define TEXT 0x10000000ull
#define ENTRY 0x20000000ull

/* nop; push; lea rip; call; ret; int3; hlt; then mov $13, %eax; syscall */
static const u8 program[] = {
	0x90, 0x55, 0x48, 0x8d, 0x05, 0x10, 0,	  0,	0,    0xe8, 0x10,
	0,    0,    0,	  0xc3, 0xcc, 0xf4, 0xb8, 0x0d, 0,    0,    0,
	0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
};
enum {
	PUSH = 1,
	LEA = 2,
	CALL = 9,
	RET = 14,
	INT3 = 15,
	HLT = 16,
	INTERCEPT = 17
};

struct bytes {
	struct dp_target target;
	u8 text[sizeof(program)];
	int fail_write; /* the nth from now; 0 none */
	const struct dp_probe_entry *late; /* not enabled before the last write */
	u8 log[32]; /* offset of each write */
	size_t writes;
};

static struct bytes *bytes_of(struct dp_target *t)
{
	return (struct bytes *)t;
}

static int read_bytes(struct dp_target *t, u64 addr, void *to, size_t len)
{
	memcpy(to, bytes_of(t)->text + (addr - TEXT), len);
	return 0;
}

static int write_bytes(struct dp_target *t, u64 addr, const void *from,
		       size_t len)
{
	struct bytes *b = bytes_of(t);

	if (b->fail_write && --b->fail_write == 0)
		return -EIO;
	if (b->late)
		assert_false(b->late->enabled);
	memcpy(b->text + (addr - TEXT), from, len);
	if (b->writes < sizeof(b->log))
		b->log[b->writes++] = (u8)(addr - TEXT);
	return 0;
}

static const struct dp_target_ops ops = { .read = read_bytes,
					  .write = write_bytes };

static void reset(struct bytes *b)
{
	memset(b, 0, sizeof(*b));
	b->target.ops = &ops;
	memcpy(b->text, program, sizeof(program));
}

static int add(struct dp_engine *e, unsigned int offset, u32 *probe)
{
	return dp_engine_add(e, TEXT + offset, program + offset,
			     sizeof(program) - offset, probe, NULL);
}

static struct memory memory;

/* Everything up to the plan; the "memfd" is *@file. */
static int build(struct dp_engine *e, struct bytes *b, void **file)
{
	struct dp_mapping map = { .base = 0x70000000,
				  .intercept_entry = ENTRY,
				  .owner = 1,
				  .tool = 2 };

	memory_free(&memory);
	memory = (struct memory){
		.hole = { { TEXT + 0x100000, TEXT + 0x10000000, false } },
		.nr_holes = 1,
	};
	return memory_build(&memory, e, &b->target, &map, file);
}

static int commit(struct dp_engine *e, struct bytes *b)
{
	u64 bad;

	return dp_engine_commit(e, &b->target, &bad);
}

static struct dp_engine *three_sites(struct bytes *b, void **file)
{
	struct dp_engine *e;
	u32 p;

	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(add(e, LEA, &p), 0);
	assert_int_equal(add(e, PUSH, &p), 0);
	assert_int_equal(add(e, CALL, &p), 0);
	assert_int_equal(add(e, PUSH, &p), 0);
	assert_int_equal(p, 3);
	assert_int_equal(dp_engine_add_intercept(e, TEXT + INTERCEPT,
						 program + INTERCEPT, 13,
						 false),
			 0);
	assert_int_equal(dp_engine_sites(e), 3);
	assert_int_equal(dp_engine_hits(e, 0), 0);
	assert_int_equal(dp_engine_tally(e, 0, 0), 0);
	assert_int_equal(dp_engine_interior_arrivals(e), 0);
	assert_int_equal(dp_engine_gone(e), 0);
	reset(b);
	assert_int_equal(build(e, b, file), 0);
	assert_int_equal(dp_engine_hits(e, p + 1), 0);
	assert_int_equal(dp_engine_tally(e, p + 1, 0), 0);
	assert_false(dp_engine_is_gone(e, p + 1));
	return e;
}

static void adds_and_refuses(void **state)
{
	const char *why = NULL;
	struct dp_engine *e;
	u32 p;

	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(add(e, INT3, &p), -EBUSY);
	assert_int_equal(add(e, HLT, &p), -EINVAL);
	assert_int_equal(dp_engine_add(e, TEXT, program, 0, &p, &why), -EILSEQ);
	assert_non_null(why);
	assert_int_equal(dp_engine_sites(e), 0);
	dp_engine_destroy(e);
	assert_int_equal(dp_fake_live(), 0);
}

static bool is_in_pool(const struct dp_engine *e, u32 pool, u64 addr)
{
	return addr - e->need.pools[pool].addr < e->need.pools[pool].size;
}

/* In any hole that is near enough, wherever the others are. */
static void places_within_reach(void **state)
{
	static const struct dp_hole far = { TEXT + (1ull << 32),
					    TEXT + (2ull << 32), false },
				    below = { 0x8000000, 0x8100000, false },
				    above = { TEXT + 0x1000, TEXT + 0x70000000,
					      false };
	struct dp_mapping map = { .base = 0x70000000 };
	const struct dp_hole *near[] = { &above, &below };
	struct memory m = { .hole = { far }, .nr_holes = 1 };
	struct dp_engine *e;
	struct bytes b;
	void *file;
	u32 p, i;

	for (i = 0; i < 2; i++) {
		reset(&b);
		assert_int_equal(dp_engine_create(&e), 0);
		assert_int_equal(add(e, PUSH, &p), 0);
		m.hole[0] = far;
		assert_int_equal(memory_build(&m, e, &b.target, &map, &file),
				 -ENOMEM);
		assert_int_equal(m.nr_pools, 0);
		m.hole[0] = *near[i];
		assert_int_equal(dp_engine_plan(e), 0);
		assert_int_equal(m.nr_pools, 1);
		assert_true(m.pool[0].addr >= near[i]->start &&
			    m.pool[0].addr + m.pool[0].size <= near[i]->end);
		assert_int_equal(commit(e, &b), 0);
		assert_true(is_in_pool(e, 0, e->view.sites[0].copy));
		assert_int_equal(b.text[PUSH], 0xcc);
		dp_engine_destroy(e);
		free(file);
		memory_free(&m);
	}
}

static void arms_and_disarms(void **state)
{
	struct dp_view view;
	struct bytes b;
	void *file;
	struct dp_engine *e = three_sites(&b, &file);
	struct dp_arena *arena = dp_engine_arena(e);
	u64 orig;

	assert_int_equal(dp_engine_arm_intercepts(e, &b.target), 0);
	/* All of it at once: nobody would catch a breakpoint. */
	assert_int_equal(b.writes, 1);
	assert_int_equal(b.log[0], INTERCEPT);
	assert_int_equal(b.text[INTERCEPT], 0xe9);
	assert_int_equal(commit(e, &b), 0);
	assert_int_equal(b.text[PUSH], 0xcc);
	assert_int_equal(b.text[LEA], 0xcc);
	assert_int_equal(b.text[CALL], 0xcc);
	assert_int_equal(b.text[LEA + 1], program[LEA + 1]);
	assert_int_equal(dp_view_open(&view, arena, arena->control.arena_size),
			 0);
	assert_int_equal(view.sites[1].addr, TEXT + PUSH);
	assert_int_equal(dp_view_original(&view, view.sites[1].copy, &orig), 0);
	assert_int_equal(orig, TEXT + PUSH);
	assert_int_equal(dp_view_original(&view, view.sites[1].copy + 1, &orig),
			 0);
	assert_int_equal(orig, TEXT + LEA);
	assert_int_equal(dp_view_original(&view, view.sites[2].copy + 3, &orig),
			 -EAGAIN);
	assert_true(dp_view_owns(&view, view.sites[2].copy));
	assert_false(dp_view_owns(&view, TEXT));
	assert_int_equal(dp_view_disarm(&view, &b.target, false, NULL), 0);
	assert_int_equal(dp_view_disarm(&view, &b.target, true, NULL), 0);
	assert_memory_equal(b.text, program, sizeof(program));
	dp_engine_destroy(e);
	free(file);
}

/* What could not be armed is retracted. */
static void rolls_back_failed_writes(void **state)
{
	struct bytes b;
	void *file;
	int nth;

	for (nth = 1; nth <= 3; nth++) {
		struct dp_engine *e = three_sites(&b, &file);

		b.fail_write = nth;
		assert_int_equal(commit(e, &b), -EIO);
		dp_engine_retract(e, &b.target, memory.nr_pools);
		assert_memory_equal(b.text, program, sizeof(program));
		dp_engine_destroy(e);
		free(file);
	}
}

/* A tool ended between two writes of a jump leaves this to the next one. */
static void finishes_half_written_jumps(void **state)
{
	struct dp_view view;
	struct bytes b;
	void *file;
	int nth;

	for (nth = 1; nth <= 3; nth++) {
		struct dp_engine *e = three_sites(&b, &file);
		struct dp_arena *arena = dp_engine_arena(e);

		assert_int_equal(dp_view_open(&view, arena,
					      arena->control.arena_size),
				 0);
		view.sites[3].armed = 1;
		b.text[INTERCEPT] = nth < 3 ? 0xcc : 0xe9;
		if (nth > 1)
			memcpy(b.text + INTERCEPT + 1, view.sites[3].patch + 1,
			       4);
		assert_int_equal(dp_view_disarm(&view, &b.target, true, NULL),
				 0);
		assert_memory_equal(b.text, program, sizeof(program));
		dp_engine_destroy(e);
		free(file);
	}
}

static void leaves_foreign_bytes(void **state)
{
	struct dp_view view;
	struct bytes b;
	void *file;
	struct dp_engine *e = three_sites(&b, &file);
	struct dp_arena *arena = dp_engine_arena(e);
	u64 bad = 0;

	assert_int_equal(commit(e, &b), 0);
	b.text[LEA] = 0xeb;
	assert_int_equal(dp_view_open(&view, arena, arena->control.arena_size),
			 0);
	assert_int_equal(dp_view_disarm(&view, &b.target, false, &bad), -EBUSY);
	assert_int_equal(bad, TEXT + LEA);
	assert_int_equal(b.text[LEA], 0xeb);
	assert_int_equal(b.text[PUSH], program[PUSH]);
	assert_int_equal(b.text[CALL], program[CALL]);
	b.text[LEA] = program[LEA];
	b.text[PUSH] = 0xeb;
	assert_int_equal(dp_engine_apply(e, &b.target, &bad), -EBUSY);
	assert_int_equal(bad, TEXT + PUSH);
	assert_int_equal(b.text[CALL], program[CALL]);
	dp_engine_destroy(e);
	free(file);
}

/* Each word of the head and of the tables in turn, made absurd: a view is
 * refused or safe to walk. */
static void distrusts_arenas(void **state)
{
	static const u64 absurd[] = { ~0ull, 0x7fffffffull, 1, 1ull << 40 };
	struct dp_view view;
	struct bytes b;
	void *file, *copy;
	struct dp_engine *e = three_sites(&b, &file);
	struct dp_arena *arena = dp_engine_arena(e);
	size_t size = arena->control.arena_size, at, i, refused = 0;
	u64 orig;
	u32 p;

	assert_int_equal(commit(e, &b), 0);
	copy = malloc(size);
	for (at = 0; at < sizeof(struct dp_arena_control) + 512; at += 8)
		for (i = 0; i < 4; i++) {
			memcpy(copy, arena, size);
			memcpy((char *)copy + at, &absurd[i], 8);
			if (dp_view_open(&view, copy, size)) {
				refused++;
				continue;
			}
			for (p = 0; p < view.nr_probes; p++)
				dp_view_hits(&view, p);
			dp_view_original(&view, TEXT, &orig);
		}
	assert_true(refused > 20);
	assert_int_equal(dp_view_open(&view, arena, sizeof(*arena) - 1),
			 -EBADMSG);
	free(copy);
	dp_engine_destroy(e);
	free(file);
}

static struct dp_instance_copy seen[4];
static u32 nr_seen;

static void see(void *arg, const struct dp_instance_copy *instance)
{
	assert_true(nr_seen < 4);
	seen[nr_seen++] = *instance;
}

/* An instance as the hit half leaves it. */
static struct dp_exit_instance *put_instance(struct dp_arena *arena, u32 place,
					     u64 key)
{
	const struct dp_arena_control *c = &arena->control;
	struct dp_instance_line *lines = (void *)((char *)arena + c->line_off);

	lines[place / DP_INSTANCE_WAYS].key[place % DP_INSTANCE_WAYS] = key;
	return (void *)((char *)arena + c->instance_off +
			(u64)place * c->instance_stride);
}

/* Calls that are tracked: what the hit half is told, and what is read of it. */
static void accounts_for_calls(void **state)
{
	const u64 slot = 0x7ffff7ab8;
	struct dp_record_copy record;
	const struct dp_probe_entry *probes;
	struct dp_account account;
	struct dp_arena *arena;
	struct dp_engine *e;
	struct dp_exit_instance *v;
	struct bytes b;
	void *file;
	u32 enter, exit, words;

	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(add(e, LEA, &enter), 0);
	assert_int_equal(add(e, PUSH, &enter), 0);
	assert_int_equal(dp_engine_track(e, enter, false), 0);
	assert_int_equal(dp_engine_add_exit(e, enter, DP_WAY_SHARED, TEXT + RET,
					    program + RET,
					    sizeof(program) - RET, &exit, NULL),
			 0);
	reset(&b);
	assert_int_equal(build(e, &b, &file), 0);
	arena = dp_engine_arena(e);
	probes = (void *)((char *)arena + arena->control.probe_off);
	/* An instance begins only while its exits are armed. */
	b.late = &probes[enter];
	assert_int_equal(commit(e, &b), 0);
	assert_int_equal(b.writes, 3);
	assert_int_equal(probes[0].kind, DP_KIND_PLAIN);
	assert_int_equal(probes[enter].kind, DP_KIND_ENTER);
	assert_int_equal(probes[exit].kind, DP_KIND_EXIT);
	assert_int_equal(probes[exit].group, enter);
	assert_int_equal(probes[exit].way, DP_WAY_SHARED);
	assert_true(probes[0].enabled && probes[exit].enabled);
	assert_true(probes[enter].enabled);
	dp_engine_admit(e, false);
	assert_false(probes[enter].enabled);

	v = put_instance(arena, 9, dp_instance_key(enter, slot));
	*v = (struct dp_exit_instance){ .group = enter + 1,
					.state = DP_INSTANCE_LIVE,
					.len = 0xffff,
					.ret = 77,
					.serial = 5,
					.tid = 6 };
	words = (arena->control.block_mask + 1) * DP_BLOCK_WORDS;
	put_instance(arena, 11, dp_instance_key(exit, slot));
	put_instance(arena, 12, ~0ull);
	nr_seen = 0;
	assert_int_equal(dp_engine_instances(e, see, NULL), 1);
	assert_int_equal(seen[0].index, words + 9);
	assert_int_equal(seen[0].probe, enter);
	assert_int_equal(seen[0].slot, slot);
	assert_int_equal(seen[0].ret, 77);
	assert_true(seen[0].whole);
	assert_true(dp_engine_instances_still(e, seen));
	dp_engine_instance_record(e, seen, &record);
	assert_int_equal(record.head.len, sizeof(struct dp_leaving));
	assert_int_equal(record.head.probe, enter);
	v->serial++;
	assert_false(dp_engine_instances_still(e, seen));
	v->state = DP_INSTANCE_DOUBT;
	dp_engine_instances(e, see, NULL);
	assert_int_equal(seen[1].ret, 0);
	assert_false(seen[1].whole);
	dp_engine_account(e, enter, &account);
	assert_int_equal(account.returned + account.tail + account.abandoned,
			 0);
	dp_engine_destroy(e);
	free(file);
}

/* A further table of instances, when the first fills up. */
static void adds_tables(void **state)
{
	const u64 slot = 0x7ffff7ab8;
	const struct dp_instance_table *t;
	struct dp_instance_line *lines;
	struct dp_arena *arena;
	struct dp_engine *e;
	struct dp_exit_instance *v;
	struct bytes b;
	u32 enter, first, words, i;
	void *file;
	char *more;
	u64 size;

	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(add(e, PUSH, &enter), 0);
	assert_int_equal(dp_engine_track(e, enter, false), 0);
	assert_int_equal(dp_engine_instances_want(e), 0);
	reset(&b);
	assert_int_equal(build(e, &b, &file), 0);
	assert_int_equal(commit(e, &b), 0);
	arena = dp_engine_arena(e);
	t = arena->control.instance_tables;
	assert_int_equal(arena->control.nr_instance_tables, 1);
	assert_int_equal(t[0].line_mask, DP_INSTANCE_LINES - 1);
	assert_int_equal(dp_engine_instances_want(e), 0);
	arena->hit.full++; /* somebody found no room */
	size = dp_engine_instances_want(e);
	assert_true(size > (u64)DP_INSTANCE_GROWTH * DP_INSTANCE_LINES *
				   DP_INSTANCE_WAYS *
				   sizeof(struct dp_exit_instance));
	more = calloc(1, size);
	dp_engine_instances_grow(e, 0x10000000, more);
	assert_int_equal(dp_engine_instances_want(e), 0);
	assert_int_equal(arena->control.nr_instance_tables, 2);
	assert_int_equal(t[1].lines, 0x10000000);
	assert_int_equal(t[1].line_mask,
			 DP_INSTANCE_GROWTH * DP_INSTANCE_LINES - 1);
	assert_true(t[1].instances + (u64)DP_INSTANCE_GROWTH *
					     DP_INSTANCE_LINES *
					     DP_INSTANCE_WAYS *
					     arena->control.instance_stride <=
		    t[1].lines + size);
	/* One in each */
	lines = (void *)more;
	first = DP_INSTANCE_LINES * DP_INSTANCE_WAYS;
	words = (arena->control.block_mask + 1) * DP_BLOCK_WORDS;
	put_instance(arena, first - 1, dp_instance_key(enter, slot));
	lines[1].key[2] = dp_instance_key(enter, slot + 8);
	v = (void *)(more + (t[1].instances - t[1].lines) +
		     (DP_INSTANCE_WAYS + 2) * arena->control.instance_stride);
	v->group = enter + 1;
	v->state = DP_INSTANCE_LIVE;
	v->ret = 78;
	nr_seen = 0;
	assert_int_equal(dp_engine_instances(e, see, NULL), 2);
	assert_int_equal(seen[0].index, words + first - 1);
	assert_int_equal(seen[0].slot, slot);
	assert_int_equal(seen[1].index, words + first + DP_INSTANCE_WAYS + 2);
	assert_int_equal(seen[1].slot, slot + 8);
	assert_int_equal(seen[1].ret, 78);
	assert_true(dp_engine_instances_still(e, &seen[0]));
	assert_true(dp_engine_instances_still(e, &seen[1]));
	lines[1].key[2] = 0;
	assert_false(dp_engine_instances_still(e, &seen[1]));
	/* The newest one fills up. */
	for (i = 0; i < 1024 * 4; i++)
		lines[i / 4].key[i % 4] = 1;
	assert_true(dp_engine_instances_want(e) > 3 * size);
	dp_engine_destroy(e);
	free(more);
	free(file);
}

static void disarm(struct dp_engine *e, struct dp_target *target)
{
	struct dp_arena *arena = dp_engine_arena(e);
	struct dp_view view;

	assert_int_equal(dp_view_open(&view, arena, arena->control.arena_size),
			 0);
	assert_int_equal(dp_view_disarm(&view, target, false, NULL), 0);
	assert_int_equal(dp_view_disarm(&view, target, true, NULL), 0);
}

/* For a child of process 1 with id 3. */
static int fork_of(const struct dp_engine *e, void **file,
		   struct dp_engine **child)
{
	struct dp_mapping map = { .base = 0x70000000,
				  .intercept_entry = ENTRY,
				  .owner = 3,
				  .tool = 2 };

	map.file = *file =
		calloc(1, DP_FILE_ARENA_OFFSET + dp_engine_need(e)->arena_size);
	return dp_engine_fork(e, &map, &memory, child);
}

static void forks(void **state)
{
	struct dp_engine *e, *child;
	void *file, *own;
	struct bytes b;
	u64 tables;

	e = three_sites(&b, &file);
	assert_int_equal(dp_engine_arm_intercepts(e, &b.target), 0);
	assert_int_equal(commit(e, &b), 0);
	assert_int_equal(fork_of(e, &own, &child), 0);
	tables = DP_FILE_ARENA_OFFSET + dp_engine_need(e)->tables_off;
	assert_memory_equal((char *)own + tables, (char *)file + tables,
			    dp_engine_need(e)->arena_size -
				    dp_engine_need(e)->tables_off);
	assert_int_equal(dp_engine_arena(child)->control.owner, 3);
	assert_int_equal(dp_engine_arena(e)->control.owner, 1);
	/* The child's text is a copy of its parent's: it is taken out there alone. */
	assert_int_equal(dp_engine_hits(child, 0), 0);
	assert_int_equal(dp_engine_sites(child), 3);
	dp_engine_destroy(e);
	free(file);
	disarm(child, &b.target);
	assert_memory_equal(b.text, program, sizeof(program));
	dp_engine_destroy(child);
	free(own);
}

/* Those of Kprobes and Uprobes are no child's. */
static void forks_none_that_come_and_go(void **state)
{
	struct dp_engine *e, *child;
	void *file, *own;
	struct bytes b;

	reset(&b);
	assert_int_equal(dp_engine_create(&e), 0);
	dp_engine_attach_own(e, 16);
	dp_engine_upcall(e, 4);
	assert_int_equal(build(e, &b, &file), 0);
	assert_int_equal(fork_of(e, &own, &child), -EOPNOTSUPP);
	assert_null(child);
	dp_engine_destroy(e);
	free(file);
	free(own);
}

static int whole_run(void)
{
	struct dp_engine *e = NULL, *child = NULL;
	void *file = NULL, *own = NULL;
	int err = dp_engine_create(&e);
	struct bytes b;
	u32 p, i;

	reset(&b);

	for (i = 0; i < 20 && !err; i++)
		err = add(e, i % 2 ? PUSH : LEA, &p);
	if (!err)
		err = dp_engine_add_intercept(e, TEXT + INTERCEPT,
					      program + INTERCEPT, 13, false);
	if (!err)
		err = build(e, &b, &file);
	if (!err)
		err = commit(e, &b);
	if (!err)
		err = fork_of(e, &own, &child);
	dp_engine_destroy(child);
	dp_engine_destroy(e);
	free(own);
	free(file);
	return err;
}

static void survives_every_failed_allocation(void **state)
{
	unsigned int nth = starve(whole_run);

	assert_true(nth > 6 && nth < STARVE_MAX);
}

/* In all that the tests before have done. */
static void changes_no_site_impossibly(void **state)
{
	assert_int_equal(dp_engine_impossible(), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(adds_and_refuses),
		cmocka_unit_test(places_within_reach),
		cmocka_unit_test(arms_and_disarms),
		cmocka_unit_test(rolls_back_failed_writes),
		cmocka_unit_test(finishes_half_written_jumps),
		cmocka_unit_test(leaves_foreign_bytes),
		cmocka_unit_test(distrusts_arenas),
		cmocka_unit_test(accounts_for_calls),
		cmocka_unit_test(adds_tables),
		cmocka_unit_test(forks),
		cmocka_unit_test(forks_none_that_come_and_go),
		cmocka_unit_test(survives_every_failed_allocation),
		cmocka_unit_test(changes_no_site_impossibly),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
