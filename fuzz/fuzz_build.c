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
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/site/reach.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
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

static const struct dp_target_ops ops = { .read = read_text,
					  .write = write_text };

static struct dp_engine *plan(u32 how)
{
	struct dp_reach reach = { .start = TEXT,
				  .code = code,
				  .size = sizeof(code),
				  .function = 14 };
	struct dp_engine *e;
	const char *why;
	u32 probe, i;

	must(!dp_engine_create(&e));
	dp_engine_set_arming(e, how & TRAPS    ? DP_ARM_TRAP :
				how & QUIESCED ? DP_ARM_QUIESCE :
						 DP_ARM_INTERIOR);
	for (i = 0; i < SITES; i++) {
		must(!dp_engine_add(e, TEXT + places[i], code + places[i],
				    sizeof(code) - places[i], &probe, &why));
		reach.room = 20 - places[i];
		dp_engine_allow_jump(e, probe, &reach);
	}
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
	must(r->head.probe < SITES + 1 && r->head.len <= sizeof(r->data));
}

static void take_instance(void *arg, const struct dp_instance_copy *v)
{
	must(v->probe < SITES + 1);
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
static void fork_it(struct dp_engine *e, const struct dp_mapping *of)
{
	struct dp_mapping map = *of;
	struct dp_engine *child;

	map.file = calloc(1, file_size);
	must(map.file != NULL);
	if (!dp_engine_fork(e, &map, 1, 2, &child)) {
		read_counts(child);
		dp_engine_destroy(child);
	}
	free(map.file);
}

static void live(struct dp_engine *e, const struct dp_mapping *map, u32 how)
{
	struct dp_target target = { &ops };
	u64 words[DP_MAX_SHARDS], bad;
	u32 n, i;

	if (dp_engine_build(e, map))
		return;
	dp_engine_table(e, words, &n);
	dp_engine_arm_intercepts(e, &target);
	dp_engine_arm(e, &target, &bad);
	read_counts(e);
	dp_engine_disturbed(e, &target);
	if (how & RECORDS)
		dp_engine_records(e, take_record, NULL, false);
	if (how & INSTANCES)
		dp_engine_instances(e, take_instance, NULL);
	if ((how & (FORKED | INSTANCES)) == FORKED)
		fork_it(e, map);
	for (i = 0; i < SITES; i++)
		dp_engine_want(e, i, i & 1);
	dp_engine_apply(e, &target, &bad);
	dp_engine_inside(e, TEXT + 3, &bad);
	dp_engine_admit(e, false);
	dp_engine_settle_all(e);
	if (how & RECORDS)
		dp_engine_records(e, take_record, NULL, true);
	read_counts(e);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct dp_hole hole = { TEXT + 0x100000, TEXT + 0x10000000, false };
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
	must(need && !dp_engine_place(e, &hole, 1));
	file_size = (need->file_size + SCRIBBLE_PAGE - 1) &
		    ~(SCRIBBLE_PAGE - 1);
	map.file = file = scribble_map(file_size);
	scribble_aim(file, need);
	scribble_start(data + 1, size - 1);
	live(e, &map, *data);
	scribble_stop();
	dp_engine_destroy(e);
	scribble_unmap(file, file_size);
	return 0;
}
