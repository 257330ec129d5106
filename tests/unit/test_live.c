// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * live: probes that come and go, on bytes in an array, with memory for their code that
 * cannot always be mapped or written.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "arch/arch.h"
#include "engine/insn/detour.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/arm.h"
#include "engine/site/engine.h"
#include "engine/site/grow.h"
#include "engine/site/internal.h"
#include "engine/site/live.h"
#include "engine/site/reach.h"
#include "engine/text/target.h"
#include "port.h"

#define TEXT 0x7f0000000000ull
#define BASE (TEXT + 0x40000000)
#define ENTRY (TEXT + 0x41000000)
#define ROOM 64u
#define NEVER (-1)

/* Five pushes: one address can be the island. Then lea, which needs none; and padding. Then
 * instructions of one to three bytes. */
static const u8 code[64] = {
	0x55, 0x55, 0x55, 0x55, 0x55, 0x90, 0x90, 0x90, 0x48, 0x8d, 0x05,
	0x10, 0,    0,	  0,	0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
	0xc3, 0xc3, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x53,
	0x48, 0x89, 0xe5, 0x41, 0x54, 0x41, 0x55, 0x31, 0xc0, 0xc3, 0x90,
};
enum { PUSHES = 0, LEA = 8, RET = 23, MIXED = 32 };
#define ISLAND (TEXT + DP_JUMP_SIZE + (u64)(s64)(s32)0xcccccccc)

/** struct pool - memory that was mapped; @written: a byte for each of its bytes */
struct pool {
	u64 addr, size;
	u8 *written;
};

struct world {
	struct dp_target target;
	u8 text[sizeof(code)];
	struct dp_engine *e;
	void *file;
	struct pool pools[DP_MAX_POOLS];
	u32 nr_pools, maps, puts;
	int put_fails, map_fails; /* the call that does; NEVER */
	int map_err; /* of all calls, or 0 */
	int text_fails; /* offset of the byte that cannot be written, or NEVER */
	u32 mapped; /* bytes of the text that can be read */
	bool unowned; /* the next probe is of an unowned mapping */
	bool held; /* what the last writing was told of that */
	/* the text and the arena as they were before write number @kill_at, or NEVER */
	int kill_at, writes;
	u8 text_then[sizeof(code)];
	u8 *file_then;
	size_t file_size;
};

static struct world *world_of(struct dp_target *target)
{
	return (struct world *)target;
}

static int read_text(struct dp_target *target, u64 addr, void *to, size_t len)
{
	if (addr - TEXT + len > world_of(target)->mapped)
		return -EFAULT;
	memcpy(to, world_of(target)->text + (addr - TEXT), len);
	return 0;
}

static int write_text(struct dp_target *target, u64 addr, const void *from,
		      size_t len)
{
	struct world *w = world_of(target);

	if (w->text_fails != NEVER && addr <= TEXT + (u64)w->text_fails &&
	    TEXT + (u64)w->text_fails < addr + len)
		return -EIO;
	if (w->writes++ == w->kill_at) {
		memcpy(w->text_then, w->text, sizeof(w->text));
		memcpy(w->file_then, w->file, w->file_size);
	}
	memcpy(w->text + (addr - TEXT), from, len);
	return 0;
}

static bool nobody_traces(struct dp_target *target)
{
	return false;
}

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text,
					  .traced = nobody_traces };

static int map_pool(void *arg, u64 addr, u64 size)
{
	struct world *w = arg;

	if ((int)w->maps++ == w->map_fails || w->map_err)
		return w->map_err ? w->map_err : -EEXIST;
	w->pools[w->nr_pools++] =
		(struct pool){ addr, size, calloc(1, (size_t)size) };
	return 0;
}

static u8 *byte_at(const struct world *w, u64 addr)
{
	u32 i;

	for (i = 0; i < w->nr_pools; i++)
		if (addr - w->pools[i].addr < w->pools[i].size)
			return &w->pools[i].written[addr - w->pools[i].addr];
	return NULL;
}

static int put_code(void *arg, u64 addr, const void *from, size_t len)
{
	struct world *w = arg;
	size_t i;

	if ((int)w->puts++ == w->put_fails)
		return -EIO;
	for (i = 0; i < len; i++)
		*byte_at(w, addr + i) = 1;
	return 0;
}

static int find_holes(void *arg, struct dp_hole **holes, size_t *n)
{
	const struct dp_hole all[] = {
		{ ISLAND & ~(DP_PAGE - 1ull),
		  (ISLAND & ~(DP_PAGE - 1ull)) + DP_PAGE, false },
		{ TEXT + 0x100000, TEXT + 0x1000000, false },
	};
	struct world *w = arg;
	u32 i;

	*holes = dp_port_alloc((3 * DP_MAX_POOLS + 2) * sizeof(**holes));
	assert_non_null(*holes);
	memcpy(*holes, all, sizeof(all));
	*n = 2;
	for (i = 0; i < w->nr_pools; i++)
		*n = dp_holes_carve(*holes, *n, w->pools[i].addr,
				    w->pools[i].size);
	return 0;
}

static int write_stopped(void *arg, const u32 *which, u32 n)
{
	return 0;
}

static int hold(void *arg, bool unowned, int (*work)(void *what), void *what)
{
	struct world *w = arg;

	w->held = unowned;
	return work(what);
}

static const struct dp_growth_ops growth = { map_pool, put_code, find_holes,
					     write_stopped, hold };

static void begin(struct world *w)
{
	const struct dp_hole hole = { BASE + 0x100000, BASE + 0x10000000,
				      false };
	struct dp_mapping map = { .base = BASE,
				  .intercept_entry = ENTRY,
				  .entries = { .hit = ENTRY + 64 },
				  .owner = 1,
				  .tool = 2 };
	struct dp_live_setup setup = { .ops = &growth,
				       .arg = w,
				       .entries = { .hit = ENTRY + 128,
						    .tracked = ENTRY + 192 },
				       .max_sites = ROOM };
	struct dp_engine *built;
	struct dp_layout_need *need;

	*w = (struct world){ .target = { &ops },
			     .put_fails = NEVER,
			     .map_fails = NEVER,
			     .text_fails = NEVER,
			     .kill_at = NEVER,
			     .mapped = sizeof(code) };
	memcpy(w->text, code, sizeof(code));
	assert_int_equal(dp_engine_create(&built), 0);
	dp_engine_attach_own(built, ROOM);
	need = dp_engine_layout(built, 2);
	assert_non_null(need);
	assert_int_equal(dp_engine_place(built, &hole, 1), 0);
	w->file_size = need->file_size;
	map.file = w->file = calloc(1, need->file_size);
	w->file_then = calloc(1, need->file_size);
	assert_non_null(w->file_then);
	assert_int_equal(dp_engine_build(built, &map), 0);
	setup.size = need->arena_size;
	assert_int_equal(dp_engine_create(&w->e), 0);
	assert_int_equal(dp_engine_adopt(w->e, dp_engine_arena(built), &setup),
			 0);
	dp_engine_destroy(built);
}

static void end(struct world *w)
{
	dp_engine_destroy(w->e);
	free(w->file);
	free(w->file_then);
	while (w->nr_pools--)
		free(w->pools[w->nr_pools].written);
}

static u32 add(struct world *w, u32 at)
{
	const struct dp_found found = { .code = code + at,
					.size = sizeof(code) - at,
					.unowned = w->unowned };
	const struct dp_handlers handlers = { .kind = DP_KIND_KPROBE,
					      .user = at + 1,
					      .pre = ENTRY };
	struct dp_reach reach = { .start = TEXT,
				  .code = code,
				  .size = sizeof(code),
				  .function = sizeof(code),
				  .room = sizeof(code) - at };
	const char *why;
	u32 probe;

	assert_int_equal(dp_live_add(w->e, TEXT + at, &found, &handlers, true,
				     &probe, &why),
			 0);
	if (dp_live_is_new(w->e, probe))
		dp_engine_allow_jump(w->e, probe, &reach);
	return probe;
}

/* Return: as dp_live_commit(); a probe that fails is gone. */
static int arm(struct world *w, u32 at)
{
	u32 probe = add(w, at), bad;
	int err = dp_live_commit(w->e, &w->target, &probe, 1, &bad);

	if (!err)
		return 0;
	assert_int_equal(bad, 0);
	dp_live_remove(w->e, &w->target, &probe, 1);
	dp_live_forget(w->e, probe);
	return err;
}

static void expect_written(const struct world *w, u64 addr, u64 len)
{
	u64 i;

	assert_true(len > 0);
	for (i = 0; i < len; i++) {
		assert_non_null(byte_at(w, addr + i));
		assert_true(*byte_at(w, addr + i));
	}
}

static const struct dp_site_entry *entry_of(const struct world *w, u32 at)
{
	const struct dp_site *s = dp_engine_find(w->e, TEXT + at);

	return dp_live_site(w->e, (u32)(s - w->e->sites));
}

/* A thread that hits runs nothing but code that was written. */
static void expect_armed(const struct world *w, u32 at, u8 mode)
{
	const struct dp_site *s = dp_engine_find(w->e, TEXT + at);
	const struct dp_site_entry *entry = entry_of(w, at);
	const struct dp_jump *j;

	assert_int_equal(dp_view_is_jump(&w->e->view, entry),
			 mode == DP_MODE_JUMP);
	expect_written(w, entry->single, entry->single_len);
	expect_written(w, w->e->need.pools[s->pool].addr, 3ull * DP_ENTRY_STUB);
	if (mode != DP_MODE_JUMP) {
		assert_int_not_equal(entry->armed, DP_SITE_OFF);
		assert_int_equal(w->text[at], DP_BREAKPOINT);
		return;
	}
	assert_memory_equal(w->text + at, entry->patch, entry->patch_len);
	j = dp_view_jump(&w->e->view, entry);
	expect_written(w, j->base, j->len);
	assert_int_equal(!j->island, !entry->traps);
	if (j->island)
		expect_written(w, j->island, DP_JUMP_SIZE);
}

static void jumps(void **state)
{
	struct world w;

	begin(&w);
	assert_int_equal(arm(&w, PUSHES), 0);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	assert_int_equal(arm(&w, LEA), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	end(&w);
}

/* Until the copy is written there is no breakpoint, and until the detour is, no jump.
 * Return: did a write fail? */
static bool arms_without_a_write(u32 nth, u32 at, u32 other)
{
	struct world w;
	bool failed;
	int err;

	begin(&w);
	w.put_fails = (int)nth;
	err = arm(&w, at);
	failed = w.puts > nth;
	w.put_fails = NEVER;
	if (err) {
		assert_int_equal(err, -EIO);
		assert_memory_equal(w.text, code, sizeof(code));
		assert_int_equal(arm(&w, at), 0);
	} else if (failed) {
		expect_armed(&w, at, DP_MODE_TRAP);
		assert_int_equal(dp_live_knobs(w.e, &w.target, true, true), 0);
	}
	assert_int_equal(arm(&w, other), 0);
	expect_armed(&w, other, DP_MODE_JUMP);
	expect_armed(&w, at, DP_MODE_JUMP);
	end(&w);
	return failed;
}

/* Each write of code fails in turn. What comes later has its code. */
static void arms_no_code_that_was_not_written(void **state)
{
	u32 nth = 0;

	while (arms_without_a_write(nth, PUSHES, LEA))
		nth++;
	assert_int_equal(nth, 4); /* stubs, copy, island, detour */
	for (nth = 0; arms_without_a_write(nth, LEA, PUSHES);)
		nth++;
	assert_int_equal(nth, 3);
}

/* The same, when the code of another pool is about to be made. */
static void keeps_what_waits_for_another_pool(void **state)
{
	struct world w;

	begin(&w);
	w.put_fails = 1;
	assert_int_equal(arm(&w, LEA), -EIO);
	w.e->growth->pools[dp_engine_find(w.e, TEXT + LEA)->pool].full = true;
	w.put_fails = 3;
	assert_int_equal(arm(&w, PUSHES), -EIO);
	assert_int_equal(arm(&w, LEA), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_int_equal(arm(&w, PUSHES), 0);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	end(&w);
}

/* Another thread of the process maps memory where ours was to be, once or always. */
static void finds_other_memory(void **state)
{
	struct world w;
	int nth;

	for (nth = 0; nth < 2; nth++) {
		begin(&w);
		w.map_fails = nth;
		assert_int_equal(arm(&w, PUSHES), 0);
		expect_armed(&w, PUSHES, DP_MODE_JUMP);
		end(&w);
	}
	begin(&w);
	w.map_err = -EEXIST;
	assert_int_equal(arm(&w, PUSHES), -ENOMEM);
	w.map_err = 0;
	assert_int_equal(arm(&w, LEA), 0);
	w.map_err = -EEXIST;
	assert_int_equal(arm(&w, PUSHES), 0);
	expect_armed(&w, PUSHES, DP_MODE_TRAP);
	end(&w);
}

/* A probe's neighbour is written for that probe's sake. */
static void names_the_probe_that_failed(void **state)
{
	static const u32 sites[] = { LEA, PUSHES + 2, PUSHES + 1, RET };
	static const struct {
		int fails;
		u32 bad;
	} tries[] = { { LEA, 0 },
		      { PUSHES + 2, 1 },
		      { PUSHES + 1, 2 },
		      { PUSHES, 2 },
		      { RET, 3 } };
	u32 probes[4], bad, i, k;
	struct world w;

	for (i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
		begin(&w);
		assert_int_equal(arm(&w, PUSHES), 0);
		for (k = 0; k < 4; k++)
			probes[k] = add(&w, sites[k]);
		/* Where the jump is out already, no byte is written for it. */
		w.text_fails = tries[i].fails;
		if (tries[i].fails > PUSHES && tries[i].fails < DP_JUMP_SIZE)
			memcpy(w.text, code, DP_JUMP_SIZE);
		bad = ~0u;
		assert_int_equal(
			dp_live_commit(w.e, &w.target, probes, 4, &bad), -EIO);
		assert_int_equal(bad, tries[i].bad);
		end(&w);
	}
}

/* A uprobe comes to where a jump begins, then another probe to its other bytes. The jump
 * cedes, and is back when both have gone. */
static void comes_back_when_a_uprobe_has_gone(void **state)
{
	struct world w;
	u32 inner, bad;

	begin(&w);
	assert_int_equal(arm(&w, MIXED), 0);
	w.text[MIXED] = DP_BREAKPOINT;
	inner = add(&w, MIXED + 1);
	assert_int_equal(dp_live_commit(w.e, &w.target, &inner, 1, &bad), 0);
	assert_int_equal(entry_of(&w, MIXED)->armed, DP_SITE_CEDED);
	expect_armed(&w, MIXED + 1, DP_MODE_TRAP);
	assert_int_equal(dp_live_enable(w.e, &w.target, &inner, 1, false), 0);
	assert_int_equal(entry_of(&w, MIXED)->armed, DP_SITE_CEDED);
	assert_int_equal(w.text[MIXED + 1], code[MIXED + 1]);
	w.text[MIXED] = code[MIXED];
	assert_int_equal(dp_live_enable(w.e, &w.target, &inner, 1, true), 0);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	assert_true(dp_live_optimized(w.e, inner));
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	dp_live_forget(w.e, inner);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	end(&w);
}

/* A uprobe that comes and goes while nothing else changes: what it leaves is the file's
 * byte. */
static void cedes_to_a_uprobe(void **state)
{
	struct world w;

	begin(&w);
	assert_int_equal(arm(&w, PUSHES), 0);
	assert_int_equal(arm(&w, LEA), 0);
	assert_false(dp_live_disturbed(w.e, &w.target));
	w.text[LEA] = DP_BREAKPOINT;
	assert_true(dp_live_disturbed(w.e, &w.target));
	assert_int_equal(dp_live_cede(w.e, &w.target), 0);
	assert_int_equal(w.text[LEA], DP_BREAKPOINT);
	assert_memory_equal(w.text + LEA + 1, code + LEA + 1, DP_JUMP_SIZE - 1);
	assert_int_equal(entry_of(&w, LEA)->armed, DP_SITE_CEDED);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	assert_false(dp_live_disturbed(w.e, &w.target));
	w.text[LEA] = code[LEA];
	assert_true(dp_live_disturbed(w.e, &w.target));
	assert_int_equal(dp_live_cede(w.e, &w.target), 0);
	expect_armed(&w, LEA, DP_MODE_JUMP);
	assert_false(dp_live_disturbed(w.e, &w.target));
	end(&w);
}

/* The instructions of MIXED, and a step for each of them: it comes, goes, or comes back. */
static const u8 mixed[] = { 0, 1, 4, 6, 8 };
#define NR_MIXED sizeof(mixed)
static const struct step {
	u8 which;
	enum { ADD, OFF, ON, REMOVE } what;
} steps[] = {
	{ 1, ADD }, { 2, ADD }, { 0, ADD }, { 3, ADD },	   { 4, ADD },
	{ 0, OFF }, { 2, OFF }, { 0, ON },  { 1, REMOVE }, { 2, ON },
	{ 1, ADD }, { 3, OFF }, { 3, ON },  { 0, REMOVE }, { 4, OFF },
};
#define NR_STEPS (sizeof(steps) / sizeof(steps[0]))

static void take(struct world *w, const struct step *s, u32 *probes)
{
	u32 bad, *probe = &probes[s->which];

	if (s->what == ADD) {
		*probe = add(w, MIXED + mixed[s->which]);
		assert_int_equal(
			dp_live_commit(w->e, &w->target, probe, 1, &bad), 0);
	} else if (s->what == REMOVE) {
		assert_int_equal(dp_live_remove(w->e, &w->target, probe, 1), 0);
		dp_live_forget(w->e, *probe);
	} else {
		assert_int_equal(dp_live_enable(w->e, &w->target, probe, 1,
						s->what == ON),
				 0);
	}
}

/* Each site that is on is in some jump, which calls out for it and for no other. */
static void expect_groups(const struct world *w, u32 on)
{
	const struct dp_site_entry *lead = NULL, *s;
	const struct dp_jump *j = NULL;
	u32 i, k;

	for (i = 0; i < NR_MIXED; i++) {
		if (!(on >> i & 1))
			continue;
		s = entry_of(w, MIXED + mixed[i]);
		assert_true(dp_view_is_jump(&w->e->view, s));
		assert_int_equal(s->reason, 0);
		if (lead && s->addr - lead->addr < DP_JUMP_SIZE) {
			for (k = 1;
			     k < j->nr && j->offset[k] != s->addr - lead->addr;)
				k++;
			assert_true(k < j->nr);
			assert_int_equal(j->member[k],
					 s - w->e->view.sites + 1);
			assert_int_equal(w->e->view.sites[s->leader - 1].addr,
					 lead->addr);
			assert_int_equal(s->copy, s->single);
			continue;
		}
		lead = s;
		j = dp_view_jump(&w->e->view, s);
		assert_int_equal(s->leader, 0);
		assert_memory_equal(w->text + (s->addr - TEXT), s->patch,
				    DP_JUMP_SIZE);
		assert_int_equal(s->copy, j->base + j->insn[0]);
		for (k = 1; k < j->nr; k++)
			assert_true(!j->member[k] ||
				    w->e->view.sites[j->member[k] - 1].armed);
	}
}

static u32 on_after(const struct step *s, u32 on)
{
	return s->what == ADD || s->what == ON ? on | 1u << s->which :
						 on & ~(1u << s->which);
}

static void neighbours_share_a_jump(void **state)
{
	u32 probes[NR_MIXED], i, on = 0, jumps;
	struct world w;

	begin(&w);
	for (i = 0; i < NR_STEPS; i++) {
		take(&w, &steps[i], probes);
		on = on_after(&steps[i], on);
		expect_groups(&w, on);
	}
	/* They have had all these jumps before. */
	jumps = w.e->view.nr_jumps;
	for (i = 0; i < 20; i++) {
		take(&w, &(struct step){ 2, i % 2 ? ON : OFF }, probes);
		take(&w, &(struct step){ 4, i % 2 ? OFF : ON }, probes);
	}
	assert_in_range(w.e->view.nr_jumps, jumps, jumps + 2);
	for (i = 1; i < NR_MIXED; i++)
		take(&w, &(struct step){ (u8)i, REMOVE }, probes);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

/* The tool ends before its n-th write. The next one finds what it needs in the arena. */
static bool takes_out(u32 step, int nth)
{
	u32 probes[NR_MIXED], i;
	struct dp_view view;
	struct world w;
	bool killed;

	begin(&w);
	for (i = 0; i < step; i++)
		take(&w, &steps[i], probes);
	w.writes = 0;
	w.kill_at = nth;
	take(&w, &steps[step], probes);
	killed = w.writes > nth;
	if (killed) {
		memcpy(w.text, w.text_then, sizeof(w.text));
		memcpy(w.file, w.file_then, w.file_size);
		assert_int_equal(dp_view_open(&view, w.e->arena,
					      w.e->arena->control.arena_size),
				 0);
		assert_int_equal(dp_view_disarm(&view, &w.target, false, NULL),
				 0);
		assert_memory_equal(w.text, code, sizeof(code));
	}
	end(&w);
	return killed;
}

static void groups_outlive_the_tool(void **state)
{
	int nth, kills = 0;
	u32 step;

	for (step = 0; step < NR_STEPS; step++)
		for (nth = 0; takes_out(step, nth); nth++)
			kills++;
	assert_in_range(kills, 60, 400);
}

/* What a site is to be that no jump may cover. */
static void keeps_to_breakpoints(void **state)
{
	const struct dp_found found = { .code = code + MIXED + 1,
					.size = sizeof(code) - MIXED - 1 };
	const struct dp_handlers single = { .kind = DP_KIND_KPROBE,
					    .user = 1,
					    .pre = ENTRY,
					    .single = true,
					    .why = "it is single" };
	u32 first, inner, bad;
	const char *why;
	struct world w;

	begin(&w);
	first = add(&w, MIXED);
	assert_int_equal(dp_live_commit(w.e, &w.target, &first, 1, &bad), 0);
	assert_int_equal(dp_live_add(w.e, TEXT + MIXED + 1, &found, &single,
				     true, &inner, &why),
			 0);
	assert_int_equal(dp_live_commit(w.e, &w.target, &inner, 1, &bad), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	expect_armed(&w, MIXED + 1, DP_MODE_TRAP);
	assert_false(dp_live_optimized(w.e, first));
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	dp_live_forget(w.e, inner);
	expect_armed(&w, MIXED, DP_MODE_JUMP);
	/* Within the jump, and at none of its instructions. */
	inner = add(&w, MIXED + 2);
	assert_int_equal(dp_live_commit(w.e, &w.target, &inner, 1, &bad), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	expect_armed(&w, MIXED + 2, DP_MODE_JUMP);
	assert_int_equal(dp_live_remove(w.e, &w.target, &inner, 1), 0);
	dp_live_forget(w.e, inner);
	assert_int_equal(dp_live_knobs(w.e, &w.target, true, false), 0);
	expect_armed(&w, MIXED, DP_MODE_TRAP);
	assert_int_equal(dp_live_knobs(w.e, &w.target, false, true), 0);
	assert_memory_equal(w.text, code, sizeof(code));
	end(&w);
}

static u32 armed(struct world *w, u32 at, bool unowned)
{
	u32 probe, bad;

	w->unowned = unowned;
	probe = add(w, at);
	assert_int_equal(dp_live_commit(w->e, &w->target, &probe, 1, &bad), 0);
	return probe;
}

static void expect_gone(struct world *w, u32 probe, u32 at)
{
	assert_true(dp_live_gone(w->e, probe));
	assert_int_equal(dp_live_addr(w->e, probe), 0);
	assert_null(dp_engine_find(w->e, TEXT + at));
	assert_int_equal(dp_live_probe(w->e, probe)->gone, TEXT + at);
	assert_false(w->e->probes[probe].linked);
	assert_true(dp_live_lost(w->e));
	assert_false(dp_live_lost(w->e));
}

/* Other code has taken its place. Bytes decide only where a mapping may go unnoticed. */
static void code_is_replaced(void **state)
{
	u8 other[DP_JUMP_SIZE + 3];
	struct world w;
	u32 pushes, lea;

	memset(other, 0x11, sizeof(other));
	begin(&w);
	pushes = armed(&w, PUSHES, false);
	assert_false(w.held);
	lea = armed(&w, LEA, true);
	assert_true(w.held);
	dp_live_check(w.e, &w.target, lea);
	assert_false(dp_live_gone(w.e, lea));
	assert_false(dp_live_lost(w.e));
	memcpy(w.text + LEA, other, sizeof(other));
	memcpy(w.text + PUSHES, other, sizeof(other));
	dp_live_check(w.e, &w.target, pushes);
	assert_false(dp_live_gone(w.e, pushes));
	dp_live_check(w.e, &w.target, lea);
	expect_gone(&w, lea, LEA);
	assert_int_equal(dp_live_remove(w.e, &w.target, &lea, 1), 0);
	dp_live_forget(w.e, lea);
	assert_memory_equal(w.text + LEA, other, sizeof(other));
	end(&w);
}

static void code_is_unmapped(void **state)
{
	struct world w;
	u32 probe;

	begin(&w);
	probe = armed(&w, PUSHES, false);
	w.mapped = DP_JUMP_SIZE;
	dp_live_check(w.e, &w.target, probe);
	assert_false(dp_live_gone(w.e, probe));
	w.mapped--;
	dp_live_check(w.e, &w.target, probe);
	expect_gone(&w, probe, PUSHES);
	end(&w);
}

/* The probe is not armed, and what has come is left alone. */
static void code_goes_before(void **state)
{
	struct world w;
	u32 probes[2], bad;

	begin(&w);
	probes[0] = add(&w, PUSHES);
	w.unowned = true;
	probes[1] = add(&w, LEA);
	memset(w.text + LEA, 0x11, DP_JUMP_SIZE + 3);
	assert_int_equal(dp_live_commit(w.e, &w.target, probes, 2, &bad),
			 -EFAULT);
	assert_int_equal(bad, 1);
	assert_int_equal(w.text[LEA], 0x11);
	expect_gone(&w, probes[1], LEA);
	expect_armed(&w, PUSHES, DP_MODE_JUMP);
	end(&w);
}

static u32 slots_used(const struct world *w)
{
	u32 i, n = 0;

	for (i = 0; i <= w->e->slots_mask; i++)
		n += w->e->slots[i] != 0;
	return n;
}

/* What the engine has taken, in the order in which it was taken. */
struct taken {
	u32 sites, jumps, pools, bytes, slots;
};

static struct taken taken(const struct world *w)
{
	struct taken t = { .sites = w->e->nr_sites,
			   .jumps = w->e->view.nr_jumps,
			   .pools = w->e->need.nr_pools,
			   .slots = slots_used(w) };
	u32 i;

	for (i = 0; i < t.pools; i++)
		t.bytes += w->e->growth->pools[i].used;
	return t;
}

/* A library comes, is probed at two places, and goes. @late: so do its probes, only after
 * others have come */
static void come_and_go(struct world *w, bool late)
{
	static const u32 at[] = { MIXED, MIXED + 1, MIXED + 4, LEA };
	u32 probes[4], more = 0, i;
	struct dp_probe_entry *p;

	memcpy(w->text, code, sizeof(code));
	for (i = 0; i < 4; i++) {
		probes[i] = armed(w, at[i], true);
		assert_int_equal(dp_live_hits(w->e, probes[i]), 0);
	}
	for (i = 0; i < 4; i++) {
		assert_true(dp_live_optimized(w->e, probes[i]));
		/* A hit of the site, as its detour counts it. */
		p = dp_live_probe(w->e, probes[i]);
		++*(u64 *)(w->e->view.counters + p->site * sizeof(u64));
		assert_int_equal(dp_live_hits(w->e, probes[i]), 1);
	}
	memset(w->text, 0x11, sizeof(w->text));
	for (i = 0; i < 4; i++) {
		dp_live_check(w->e, &w->target, probes[i]);
		assert_true(dp_live_gone(w->e, probes[i]));
	}
	memcpy(w->text, code, sizeof(code));
	if (late)
		more = armed(w, MIXED, true);
	for (i = 0; i < 4; i++) {
		assert_true(dp_live_gone(w->e, probes[i]));
		assert_int_equal(dp_live_addr(w->e, probes[i]), 0);
		assert_int_equal(
			dp_live_remove(w->e, &w->target, &probes[i], 1), 0);
		dp_live_forget(w->e, probes[i]);
	}
	if (late) {
		expect_armed(w, MIXED, DP_MODE_JUMP);
		assert_int_equal(dp_live_remove(w->e, &w->target, &more, 1), 0);
		dp_live_forget(w->e, more);
	}
	assert_memory_equal(w->text, code, sizeof(code));
}

static void libraries_leave_nothing(void **state)
{
	struct taken early, now;
	struct world w;
	u32 i;

	begin(&w);
	for (i = 0; i < 21; i++)
		come_and_go(&w, i % 3 == 1);
	early = taken(&w);
	for (; i < 2001; i++)
		come_and_go(&w, i % 3 == 1);
	now = taken(&w);
	assert_memory_equal(&now, &early, sizeof(now));
	assert_in_range(now.sites, 4, 12);
	assert_int_equal(now.slots, 0);
	end(&w);
}

/* A site that never got its copy is as free as one that had it, once other code is there. */
static void failures_leave_nothing(void **state)
{
	static const struct dp_handlers handlers = { .kind = DP_KIND_KPROBE,
						     .user = 1,
						     .pre = ENTRY };
	u8 other[16] = { 0x90 };
	struct dp_found found = { .code = other, .size = sizeof(other) };
	u32 probe, bad, i;
	const char *why;
	struct world w;

	begin(&w);
	for (i = 0; i < 4 * ROOM; i++) {
		other[0] = i % 2 ? 0x90 : 0x55;
		assert_int_equal(dp_live_add(w.e, TEXT + LEA, &found, &handlers,
					     true, &probe, &why),
				 0);
		w.map_err = -ENOMEM;
		assert_int_equal(dp_live_commit(w.e, &w.target, &probe, 1,
						&bad),
				 -ENOMEM);
		dp_live_remove(w.e, &w.target, &probe, 1);
		dp_live_forget(w.e, probe);
	}
	assert_int_equal(w.e->nr_sites, 1);
	end(&w);
}

/* The table is full, and a site whose code has been replaced is still known to a probe. */
static void table_has_its_limit(void **state)
{
	static const struct dp_handlers handlers = { .kind = DP_KIND_KPROBE,
						     .user = 1,
						     .pre = ENTRY };
	u8 other[16] = { 0x90 };
	struct dp_found found = { .code = other, .size = sizeof(other) };
	const char *why;
	u32 probe, i;
	struct world w;

	begin(&w);
	for (i = 0; i < ROOM - 1; i++)
		assert_int_equal(dp_live_add(w.e, TEXT + i, &found, &handlers,
					     true, &probe, &why),
				 0);
	assert_int_equal(dp_live_remove(w.e, &w.target, &probe, 1), 0);
	other[0] = 0x55;
	for (i = 0; i < 2; i++)
		assert_int_equal(dp_live_add(w.e, TEXT + ROOM - 2, &found,
					     &handlers, true, &probe, &why),
				 -ENOMEM);
	assert_int_equal(w.e->nr_sites, ROOM - 1);
	end(&w);
}

/* One probe of two goes: its site stays. */
static void abandons_probes(void **state)
{
	struct world w;
	u32 first, second;

	begin(&w);
	first = armed(&w, LEA, false);
	second = armed(&w, LEA, false);
	dp_live_abandon(w.e, first);
	assert_int_equal(dp_live_probe(w.e, first)->gone, TEXT + LEA);
	assert_int_equal(dp_live_probe(w.e, second)->gone, 0);
	assert_int_equal(dp_live_addr(w.e, second), TEXT + LEA);
	assert_int_equal(dp_engine_find(w.e, TEXT + LEA)->first_probe,
			 second + 1);
	dp_live_abandon(w.e, second);
	assert_null(dp_engine_find(w.e, TEXT + LEA));
	end(&w);
}

static void pools_have_their_limit(void **state)
{
	struct world w;
	u32 before, n;

	begin(&w);
	before = w.e->need.nr_pools;
	for (n = 0; !dp_live_own(w.e, BASE + (n << 24), DP_PAGE); n++)
		;
	assert_int_equal(n, DP_MAX_POOLS - before);
	assert_int_equal(arm(&w, PUSHES), -ENOMEM);
	assert_memory_equal(w.text, code, sizeof(code));
	assert_int_equal(w.nr_pools, 0);
	end(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps),
		cmocka_unit_test(arms_no_code_that_was_not_written),
		cmocka_unit_test(keeps_what_waits_for_another_pool),
		cmocka_unit_test(finds_other_memory),
		cmocka_unit_test(names_the_probe_that_failed),
		cmocka_unit_test(comes_back_when_a_uprobe_has_gone),
		cmocka_unit_test(cedes_to_a_uprobe),
		cmocka_unit_test(neighbours_share_a_jump),
		cmocka_unit_test(groups_outlive_the_tool),
		cmocka_unit_test(keeps_to_breakpoints),
		cmocka_unit_test(code_is_replaced),
		cmocka_unit_test(code_is_unmapped),
		cmocka_unit_test(code_goes_before),
		cmocka_unit_test(libraries_leave_nothing),
		cmocka_unit_test(failures_leave_nothing),
		cmocka_unit_test(table_has_its_limit),
		cmocka_unit_test(abandons_probes),
		cmocka_unit_test(pools_have_their_limit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
