// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_arena: a target that writes what it likes to the memory it shares with the tool,
 * before the tool looks and whenever the tool reads or writes the target's text. The tool
 * must stay within that memory, and come to an end.
 *
 * Input: edits, eight bytes each: where, what, and before which access to the text.
 */
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/view.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"
#include "fuzz/text.h"
#include "memory.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define TABLES 0x4000u /* bytes, of sites, probes and programs */
#define STREAM 512u /* … of the first stream: its head, and some records */

/** struct edit - what the target writes, and when */
struct edit {
	u32 offset;
	u16 value;
	u16 when;
};

static struct dp_engine *engine;
static u8 *template, *copy;
static struct dp_arena *arena;
static size_t arena_size;
static const struct edit *edits;
static size_t nr_edits, accesses;
static u8 *edited;

/* Most of what is there is room for records; what matters comes first. */
static u32 place_of(const struct edit *e)
{
	u32 at = e->offset & 0x3fffffff;
	const struct dp_arena_control *c = (void *)template;

	switch (e->offset >> 30) {
	case 0:
		return at & 1 ? (c->stream_off + (at >> 1) % STREAM) & ~1u :
				at % (u32)arena_size & ~1u;
	case 1:
		return at % (u32)sizeof(*arena) & ~1u;
	case 2:
		return ((u32)sizeof(*arena) + at % TABLES) & ~1u;
	default:
		return (c->site_off +
			at % (c->nr_sites *
			      (u32)sizeof(struct dp_site_entry))) &
		       ~1u;
	}
}

static void apply(size_t when)
{
	size_t i;

	for (i = 0; i < nr_edits; i++)
		if (edits[i].when % 64 == when)
			memcpy(edited + place_of(&edits[i]), &edits[i].value,
			       sizeof(edits[i].value));
}

/* As it was made; where there is room for records, only what has been written to. */
static void restore(u8 *to)
{
	u32 tables = ((struct dp_arena_control *)template)->tables_off;
	size_t i;

	for (i = 0; i < nr_edits; i++)
		memcpy(to + place_of(&edits[i]), template + place_of(&edits[i]),
		       sizeof(edits[i].value));
	memcpy(to, template, sizeof(*arena) + TABLES);
	memcpy(to + tables, template + tables, arena_size - tables);
	edited = to;
}

static int see_text(struct dp_target *t, u64 addr, void *to, size_t len)
{
	apply(++accesses);
	if (!in_text(addr, len)) {
		memset(to, 0xcc, len);
		return -EFAULT;
	}
	memcpy(to, text + (addr - TEXT), len);
	return 0;
}

static int touch_text(struct dp_target *t, u64 addr, const void *from,
		      size_t len)
{
	static volatile u8 sum;
	size_t i;

	/* All of it is looked at, as the kernel would. */
	for (i = 0; i < len; i++)
		sum += ((const u8 *)from)[i];
	apply(++accesses);
	if (!in_text(addr, len))
		return -EFAULT;
	memcpy(text + (addr - TEXT), from, len);
	return 0;
}

static const struct dp_target_ops ops = { .read = see_text,
					  .write = touch_text };

static void add_sites(void)
{
	const char *why;
	u32 probe, i;

	for (i = 0; i < SITES; i++)
		must(!dp_engine_add(engine, TEXT + places[i], code + places[i],
				    sizeof(code) - places[i], &probe, &why));
	must(!dp_engine_add_intercept(engine, TEXT + INTERCEPT,
				      code + INTERCEPT, 13, false));
	must(!dp_engine_track(engine, 2, true));
	must(!dp_engine_add_exit(engine, 2, 0, TEXT + 13, code + 13,
				 sizeof(code) - 13, &probe, &why));
}

/* Turn every @step-th probe on, and the others off; 0: all off. */
static void turn_all(u32 step)
{
	u32 i;

	for (i = 0; i < SITES + 1; i++)
		dp_engine_turn(engine, i, step && i % step == 0);
}

/* All that the tables have, disarmed, before the target writes. */
static void prepare(void)
{
	static struct memory memory = {
		.hole = { { TEXT + 0x100000, TEXT + 0x10000000, false } },
		.nr_holes = 1
	};
	static struct dp_target target = { &ops };
	struct dp_mapping map = {
		.base = BASE, .intercept_entry = ENTRY, .owner = 1, .tool = 2
	};
	void *all;
	u64 bad;

	must(!dp_engine_create(&engine));
	dp_engine_set_rseq(engine, 0x20, 0x53053053);
	dp_engine_set_tid_offset(engine, 720);
	add_sites();
	add_program(engine);
	memcpy(text, code, sizeof(text));
	must(!memory_build(&memory, engine, &target, &map, &all));
	must(!dp_engine_commit(engine, &target, &bad));
	turn_all(0);
	must(!dp_engine_apply(engine, &target, &bad));
	arena = dp_engine_arena(engine);
	arena_size = arena->control.arena_size;
	template = malloc(arena_size);
	copy = malloc(arena_size);
	must(template && copy);
	memcpy(template, arena, arena_size);
	memcpy(copy, arena, arena_size);
}

static void take_record(void *arg, const struct dp_record_copy *r)
{
	must(r->head.probe < SITES + 1 && r->head.len <= sizeof(r->data));
}

static void take_instance(void *arg, const struct dp_instance_copy *v)
{
	must(v->probe < SITES + 1);
}

/* What every command asks of a view, whether it is of the arena or of a copy. */
static void look(struct dp_view *view)
{
	struct dp_target target = { &ops };
	char reason[DP_REASON_SIZE];
	u64 orig, bad;
	u32 i;

	for (i = 0; i < view->nr_probes; i++)
		dp_view_probe_hits(view, i);
	for (i = 0; i < view->nr_sites; i++) {
		const struct dp_jump *j = dp_view_jump(view, &view->sites[i]);

		dp_view_reason(view, &view->sites[i], reason);
		must(strnlen(reason, sizeof(reason)) < sizeof(reason));
		dp_view_owns(view, view->sites[i].copy);
		dp_view_original(view, j->base + (i ? i * 3 : j->start), &orig);
		dp_view_original(view, view->sites[i].copy, &orig);
	}
	dp_view_presume(view);
	dp_view_disarm(view, &target, false, &bad);
	dp_view_disarm(view, &target, true, &bad);
}

/* A process that an earlier tool has left: its memory is copied first. */
static void recover(void)
{
	struct dp_view view;

	restore(copy);
	apply(0);
	if (!dp_view_open(&view, copy, arena_size))
		look(&view);
	restore(copy);
}

/* One that this tool probes, and that goes on writing. */
static void run(bool instances)
{
	struct dp_target target = { &ops };
	struct dp_account account;
	struct dp_view view;
	u64 bad;
	u32 i;

	restore((u8 *)arena);
	dp_engine_arm_intercepts(engine, &target);
	turn_all(1);
	dp_engine_apply(engine, &target, &bad);
	apply(0);
	for (i = 0; i < SITES + 1; i++) {
		dp_engine_hits(engine, i);
		dp_engine_missed(engine, i);
		dp_engine_account(engine, i, &account);
		dp_engine_local(engine, 0, i);
		dp_engine_global(engine, i);
	}
	dp_engine_records(engine, take_record, NULL, false);
	if (instances)
		dp_engine_instances(engine, take_instance, NULL);
	turn_all(2);
	dp_engine_apply(engine, &target, &bad);
	dp_engine_admit(engine, false);
	dp_engine_settle_all(engine);
	dp_engine_records(engine, take_record, NULL, true);
	if (!dp_view_open(&view, arena, arena_size))
		look(&view);
	restore((u8 *)arena);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct edit list[32];

	if (!engine)
		prepare();
	nr_edits = size / sizeof(*edits);
	if (nr_edits > sizeof(list) / sizeof(*list))
		nr_edits = sizeof(list) / sizeof(*list);
	memcpy(list, data, nr_edits * sizeof(*list));
	edits = list;
	accesses = 0;
	memcpy(text, code, sizeof(text));
	recover();
	accesses = 0;
	memcpy(text, code, sizeof(text));
	/* There is room for so many that it takes its time. */
	run(nr_edits && list[0].when % 8 == 1);
	return 0;
}
