// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fuzz_build: the whole life of an engine, from its first table on, while a thread of the
 * target writes to what they share. Control must stay within that memory, write to no
 * text but that of its sites, and come to an end.
 *
 * Input: a byte that chooses what is built, and then what is scribbled (scribble.h).
 */
#include "fuzz/scribble.h"
#include "fuzz/text.h"
#include "memory.h"
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/site/reach.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/enable.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/arm.h"
#include "engine/text/target.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* The last ones take their time: there is room for much. */
enum {
	RSEQ = 1,
	TRAPS = 2,
	QUIESCED = 4,
	PROGRAM = 8,
	FORKED = 16,
	INSTANCES = 32,
	RECORDS = 64
};
static size_t file_size;
#define PROBES (SITES + 5) /* at most */

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text };

static void add(struct dp_engine *e, u32 at)
{
	const struct dp_reach reach = { .start = TEXT,
					.code = code,
					.size = sizeof(code),
					.function = 14,
					.room = 20 - at };
	const char *why;
	u32 probe;

	if (!dp_engine_add(e, TEXT + at, code + at, sizeof(code) - at, &probe,
			   &why))
		dp_engine_allow_jump(e, probe, &reach);
}

static struct dp_engine *plan(u32 how)
{
	static const struct dp_expected later = {
		.sites = 3, .probes = 4, .programs = 1, .log = 64
	};
	struct dp_engine *e;
	const char *why;
	u32 probe, i;

	must(!dp_engine_create(&e));
	dp_engine_set_arming(e, how & TRAPS    ? DP_ARM_TRAP :
				how & QUIESCED ? DP_ARM_QUIESCE :
						 DP_ARM_INTERIOR);
	dp_engine_expect(e, &later);
	for (i = 0; i < SITES; i++)
		add(e, places[i]);
	must(dp_engine_probes(e) == SITES);
	must(!dp_engine_add_intercept(e, TEXT + INTERCEPT, code + INTERCEPT, 13,
				      false));
	if (how & PROGRAM) {
		must(!dp_engine_track(e, 2, true));
		must(!dp_engine_add_exit(e, 2, 0, TEXT + 13, code + 13,
					 sizeof(code) - 13, &probe, &why));
		add_program(e);
	}
	if (how & RSEQ)
		dp_engine_set_rseq(e, 64, 0x53053053);
	return e;
}

static void take_record(void *arg, const struct dp_record_copy *r)
{
	must(r->head.probe < PROBES && r->head.len <= sizeof(r->data));
}

static void take_instance(void *arg, const struct dp_instance_copy *v)
{
	must(v->probe < PROBES);
}

static void read_counts(struct dp_engine *e)
{
	struct dp_account account;
	u32 i;

	for (i = 0; i < SITES; i++) {
		dp_engine_hits(e, i);
		dp_engine_missed(e, i);
		dp_engine_account(e, i, &account);
		dp_engine_local(e, 0, i);
		dp_engine_global(e, i);
		must(strlen(dp_engine_mode(e, i)) < 16);
	}
	dp_engine_sites(e);
	dp_engine_jumps(e);
	dp_engine_interior_arrivals(e);
	dp_engine_late(e);
	dp_engine_of_children(e);
}

/* A child that the target has made, with memory of its own. */
static void fork_it(struct dp_engine *e, const struct dp_mapping *of,
		    struct memory *m, struct dp_target *target)
{
	struct dp_mapping map = *of;
	struct dp_engine *child;

	map.file = calloc(1, file_size);
	must(map.file != NULL);
	if (!dp_engine_fork(e, &map, m, &child)) {
		dp_engine_catch_up(child, target);
		read_counts(child);
		dp_engine_destroy(child);
	}
	free(map.file);
}

/* What cannot be planned or armed is retracted. */
static void arm(struct dp_engine *e, const struct memory *m,
		struct dp_target *target)
{
	u64 bad;

	if (dp_engine_plan(e) || dp_engine_commit(e, target, &bad))
		dp_engine_retract(e, target, m->nr_pools);
}

/* Probes come to the armed engine, and one whose library is elsewhere by now. */
static void grow(struct dp_engine *e, const struct memory *m,
		 struct dp_target *target)
{
	const char *why;

	add(e, 17);
	add(e, places[1]);
	arm(e, m, target);
	dp_engine_release_gone(e);
	if (dp_engine_is_gone(e, 4) &&
	    dp_engine_move(e, 4, TEXT + 16, code + 16, sizeof(code) - 16, &why))
		return;
	add(e, 18);
	if (!dp_engine_plan(e))
		dp_engine_retract(e, target, m->nr_pools);
	add(e, 19);
	arm(e, m, target);
}

static void live(struct dp_engine *e, const struct dp_mapping *map,
		 struct memory *m, u32 how)
{
	struct dp_target target = { &ops };
	u64 words[DP_MAX_SHARDS], bad;
	u32 n, i;

	m->engine = e;
	m->target = &target;
	if (dp_engine_build(e, map, &memory_ops, m))
		return;
	dp_engine_plan(e);
	dp_engine_table(e, words, &n);
	dp_engine_arm_intercepts(e, &target);
	arm(e, m, &target);
	read_counts(e);
	dp_engine_disturbed(e, &target);
	grow(e, m, &target);
	if (how & RECORDS)
		dp_engine_records(e, take_record, NULL, false);
	if (how & INSTANCES)
		dp_engine_instances(e, take_instance, NULL);
	if ((how & (FORKED | INSTANCES)) == FORKED)
		fork_it(e, map, m, &target);
	for (i = 0; i < SITES; i++)
		dp_engine_turn(e, i, i & 1);
	dp_engine_apply(e, &target, &bad);
	dp_engine_admit(e, false);
	dp_engine_settle_all(e);
	if (how & RECORDS)
		dp_engine_records(e, take_record, NULL, true);
	read_counts(e);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct memory m = {
		.hole = { { TEXT + 0x100000, TEXT + 0x10000000, false } },
		.nr_holes = 1,
	};
	struct dp_mapping map = { .base = BASE,
				  .intercept_entry = ENTRY,
				  .entries = { .hit = ENTRY + 64 },
				  .owner = 1,
				  .tool = 2 };
	struct dp_layout_need *need;
	struct dp_engine *e;
	u8 *file;

	if (!size)
		return 0;
	memcpy(text, code, sizeof(text));
	e = plan(*data);
	need = dp_engine_layout(e, 2);
	file_size =
		(DP_FILE_ARENA_OFFSET + need->arena_size + SCRIBBLE_PAGE - 1) &
		~(SCRIBBLE_PAGE - 1);
	map.file = file = scribble_map(file_size);
	scribble_aim(file, need);
	scribble_start(data + 1, size - 1);
	live(e, &map, &m, *data);
	scribble_stop();
	dp_engine_destroy(e);
	scribble_unmap(file, file_size);
	memory_free(&m);
	return 0;
}
