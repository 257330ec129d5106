// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aggregates: tables of values, as control lays them out and reads them, whatever the target writes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "engine/layout/aggregate.h"
#include "engine/layout/arena.h"
#include "engine/site/aggregate.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"

#define SHARDS 2
#define BEGIN 4096
#define READS 2000

static struct dp_engine *e;
static char *memory;
static const struct dp_aggregate_entry *t;

static const struct dp_aggregate_shape shape = {
	.keys = 2,
	.most = 100,
	.nr = 3,
	.fields = { { .kind = DP_FIELD_SUM },
		    { .kind = DP_FIELD_MAX },
		    { .kind = DP_FIELD_LAST } },
};

static int setup(void **state)
{
	const char *why;
	u32 table;

	assert_int_equal(dp_engine_create(&e), 0);
	assert_int_equal(dp_engine_add_aggregate(e, &shape, &table, &why), 0);
	dp_aggregates_place(e, SHARDS);
	memory = calloc(1, BEGIN + e->aggregate_bytes);
	e->arena = (void *)memory;
	e->aggregated_off = BEGIN;
	t = dp_engine_aggregate(e, table);
	return 0;
}

static int teardown(void **state)
{
	e->arena = NULL;
	dp_engine_destroy(e);
	free(memory);
	return 0;
}

static u64 *at(u64 off)
{
	return (u64 *)(memory + BEGIN + off);
}

static u64 *slot(u32 i)
{
	return at(t->slot_off) + i * t->slot_words;
}

static u64 *row(u32 shard, u32 i)
{
	return at(t->row_off + shard * t->shard_bytes) + i * t->row_words;
}

static void put_key(u32 i, u64 a, u64 b)
{
	slot(i)[1] = a;
	slot(i)[2] = b;
	slot(i)[0] = DP_SLOT_READY;
}

/** struct got - what the reader has given */
struct got {
	u64 rows, key[2], words[64];
};

static void take(void *arg, const u64 *key, const u64 *words)
{
	struct got *got = arg;

	got->rows++;
	memcpy(got->key, key, sizeof(got->key));
	memcpy(got->words, words, t->row_words * sizeof(u64));
}

static struct got look(void)
{
	struct got got = { 0 };

	assert_int_equal(dp_engine_read_aggregate(e, 0, take, &got), 0);
	return got;
}

static void rows_of_all_cpus(void **state)
{
	u32 sum = t->fields[0].at, max = t->fields[1].at,
	    last = t->fields[2].at;
	struct got got;
	u32 i;

	assert_int_equal(last % 2, 0);
	assert_int_equal(t->row_words % 2, 0);
	put_key(5, 11, 12);
	for (i = 0; i <= SHARDS; i++) {
		row(i, 5)[0] = 10 + i;
		row(i, 5)[sum] = 100;
		row(i, 5)[max] = 7 * (3 - i);
		row(i, 5)[last] = 1000 + i;
		row(i, 5)[last + 1] = 50 + i;
	}
	/* A key that no hit has come for, and one that is being written */
	put_key(6, 1, 1);
	slot(7)[0] = DP_SLOT_CLAIMED;
	row(0, 7)[0] = 1;
	got = look();
	assert_int_equal(got.rows, 1);
	assert_int_equal(got.key[0], 11);
	assert_int_equal(got.key[1], 12);
	assert_int_equal(got.words[0], 33);
	assert_int_equal(got.words[sum], 300);
	assert_int_equal(got.words[max], 21);
	assert_int_equal(got.words[last], 1000 + SHARDS);
	assert_int_equal(got.words[last + 1], 50 + SHARDS);
}

/* The count says which log is true, whether it has been carried out or not. */
static void logs(void **state)
{
	struct dp_aggregate_log *log = (void *)(row(0, 3) + 1);
	u32 sum = t->fields[0].at;

	put_key(3, 1, 2);
	row(0, 3)[sum] = 40;
	log[0] = (struct dp_aggregate_log){ sum, 41 };
	log[t->updates] = (struct dp_aggregate_log){ sum, 42 };
	row(0, 3)[0] = 4;
	assert_int_equal(look().words[sum], 41);
	row(0, 3)[0] = 5;
	assert_int_equal(look().words[sum], 42);
	/* Other words than fields are none of a log's. */
	log[t->updates].at = 0;
	assert_int_equal(look().words[sum], 40);
	log[t->updates].at = 3;
	assert_int_equal(look().words[sum], 40);
	log[t->updates].at = t->row_words;
	assert_int_equal(look().words[sum], 40);
	log[t->updates].at = ~0ull / 8;
	assert_int_equal(look().words[sum], 40);
}

static bool over;

static void *write_anything(void *arg)
{
	u64 seed = 88172645463325252ull, words = e->aggregate_bytes / 8;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		/* Tags are there often, and counts change all the time. */
		__atomic_store_n(at(0) + seed % words,
				 seed & 1 << 20 ? DP_SLOT_READY : seed >> 3,
				 __ATOMIC_RELAXED);
		row(0, (u32)(seed % 100))[0]++;
	}
	return arg;
}

static void count(void *arg, const u64 *key, const u64 *words)
{
	++*(u64 *)arg;
}

static void whatever_is_there(void **state)
{
	u64 all = 0, lost[DP_LOST_NR];
	pthread_t thread;
	u32 i;

	over = false;
	assert_int_equal(pthread_create(&thread, NULL, write_anything, NULL),
			 0);
	for (i = 0; i < READS || (!all && i < 1000 * READS); i++) {
		u64 n = 0;

		assert_int_equal(dp_engine_read_aggregate(e, 0, count, &n), 0);
		assert_true(n <= t->slot_mask + 1u);
		dp_engine_aggregate_lost(e, 0, lost);
		all += n;
	}
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	assert_true(all);
}

static void refusals(void **state)
{
	struct dp_aggregate_shape many = { .keys = 1, .most = 10, .nr = 8 };
	const char *why;
	u32 table, i;

	/* The tables are there. */
	assert_int_equal(dp_engine_add_aggregate(e, &shape, &table, &why),
			 -EBUSY);
	e->arena = NULL;
	for (i = 0; i < 8; i++)
		many.fields[i].kind = DP_FIELD_LAST;
	assert_int_equal(dp_engine_add_aggregate(e, &many, &table, &why),
			 -ENOSPC);
	many.nr = 4;
	assert_int_equal(dp_engine_add_aggregate(e, &many, &table, &why), 0);
	many.most = DP_AGGREGATE_MOST;
	many.fields[0].kind = DP_FIELD_HIST;
	assert_int_equal(dp_engine_add_aggregate(e, &many, &table, &why),
			 -ENOSPC);
	many.most = 1;
	while (!dp_engine_add_aggregate(e, &many, &table, &why))
		assert_true(table < DP_AGGREGATE_TABLES);
	assert_string_equal(why, "there are too many aggregations");
	assert_null(dp_engine_aggregate(e, DP_AGGREGATE_TABLES));
}

static void ranges(void **state)
{
	struct dp_aggregate_field f = { .low = -10, .high = 15, .step = 10 };

	assert_int_equal(dp_hist_bucket(0, false), 0);
	assert_int_equal(dp_hist_bucket(1, false), 1);
	assert_int_equal(dp_hist_bucket(4, false), 3);
	assert_int_equal(dp_hist_bucket(7, true), 3);
	assert_int_equal(dp_hist_bucket(~0ull, false), 64);
	assert_int_equal(dp_hist_bucket(~0ull, true), DP_HIST_NEGATIVE);
	assert_int_equal(dp_lhist_buckets(f.low, f.high, f.step), 5);
	f.sign = 1;
	assert_int_equal(dp_lhist_bucket(&f, (u64)-11), 0);
	assert_int_equal(dp_lhist_bucket(&f, (u64)-10), 1);
	assert_int_equal(dp_lhist_bucket(&f, (u64)-1), 1);
	assert_int_equal(dp_lhist_bucket(&f, 0), 2);
	assert_int_equal(dp_lhist_bucket(&f, 14), 3);
	assert_int_equal(dp_lhist_bucket(&f, 15), 4);
	f.sign = 0;
	assert_int_equal(dp_lhist_bucket(&f, (u64)-1), 4);
	f.low = INT64_MIN;
	f.high = INT64_MAX;
	f.step = 1ull << 60;
	assert_int_equal(dp_lhist_buckets(f.low, f.high, f.step), 18);
}

/* Of an engine that has its arena already: its memory is elsewhere, and the offsets lead there. */

#define LATE_ENTRIES 40960
#define LATE_BEGIN 49152

static int add_late(const struct dp_aggregate_shape *want, u32 *table,
		    const char **why)
{
	int err = dp_engine_add_aggregate(e, want, table, why);

	t = err ? NULL : dp_engine_aggregate(e, *table);
	return err;
}

static u64 *late_at(u64 off)
{
	return (u64 *)(memory + LATE_BEGIN + off);
}

static int setup_late(void **state)
{
	assert_int_equal(dp_engine_create(&e), 0);
	memory = calloc(2, LATE_BEGIN);
	e->arena = (void *)memory;
	e->arena->control.aggregate_off = LATE_ENTRIES;
	e->arena->control.aggregated_off = LATE_BEGIN;
	e->aggregated_off = LATE_BEGIN;
	e->shards = SHARDS;
	return 0;
}

static void late(void **state)
{
	const struct dp_aggregate_entry *hits = (void *)(memory + LATE_ENTRIES);
	struct dp_aggregate_shape large = { .keys = 1,
					    .most = 1 << 16,
					    .nr = 1 };
	struct dp_aggregate_shape only = { .most = 100 };
	struct dp_aggregate_shape distinct = { .keys = 1, .most = 4, .nr = 1 };
	struct got got = { 0 };
	u64 *slots, first = 0, at;
	const char *why;
	u32 table, i;

	distinct.fields[0].kind = DP_FIELD_SET;
	large.fields[0].kind = DP_FIELD_HIST;
	assert_int_equal(add_late(&shape, &table, &why), -EBUSY);
	e->expected.tables = 4;
	assert_int_equal(add_late(&shape, &table, &why), 0);
	assert_int_equal(table, 0);
	assert_int_equal(e->arena->control.nr_aggregates, 1);
	assert_true(hits->locked && hits->shards == SHARDS);
	/* Hits find what control does, in rows that are aligned. */
	assert_ptr_equal(memory + hits->slot_off, late_at(t->slot_off));
	assert_int_equal((u64)(memory + hits->row_off) % 16, 0);
	slots = late_at(t->slot_off);
	for (i = 3; i < 5; i++) {
		slots[i * t->slot_words] = DP_SLOT_READY;
		slots[i * t->slot_words + 1] = i;
		for (at = 0; at <= SHARDS; at++)
			late_at(t->row_off +
				at * t->shard_bytes)[i * t->row_words] = i;
	}
	assert_int_equal(dp_engine_read_slots(e, 0, &first, 1, take, &got), 1);
	assert_true(got.rows == 1 && got.key[0] == 3 && got.words[0] == 9);
	assert_int_equal(dp_engine_read_slots(e, 0, &first, 5, take, &got), 0);
	assert_true(got.rows == 2 && got.key[0] == 4 && got.words[0] == 12);
	/* One that is too large leaves all as it was. */
	assert_int_equal(add_late(&large, &table, &why), -ENOSPC);
	assert_non_null(strstr(why, "64 MB"));
	assert_true(!dp_engine_aggregate(e, 1) && dp_engine_aggregate(e, 0));
	assert_int_equal(e->arena->control.nr_aggregates, 1);
	/* What is distinct has a table of its own, which goes with the one that it belongs to. Their numbers are others' then. */
	assert_int_equal(add_late(&distinct, &table, &why), 0);
	assert_int_equal(table, 2);
	dp_engine_remove_aggregate(e, 0);
	assert_true(!dp_engine_aggregate(e, 0) && dp_engine_aggregate(e, 1));
	assert_int_equal(e->arena->control.nr_aggregates, 3);
	assert_int_equal(add_late(&shape, &table, &why), 0);
	assert_int_equal(table, 0);
	dp_engine_remove_aggregate(e, 2);
	assert_true(!dp_engine_aggregate(e, 1) && !dp_engine_aggregate(e, 2));
	assert_int_equal(e->arena->control.nr_aggregates, 1);
	dp_engine_remove_aggregate(e, 0);
	dp_engine_remove_aggregate(e, 0);
	assert_int_equal(e->arena->control.nr_aggregates, 0);
	/* The row without a key is there before any hit, and has none. */
	assert_int_equal(add_late(&only, &table, &why), 0);
	assert_int_equal(late_at(dp_engine_aggregate(e, 0)->slot_off)[0],
			 DP_SLOT_READY);
	assert_int_equal(late_at(dp_engine_aggregate(e, 0)->account_off)[0], 1);
	first = got.rows = 0;
	assert_int_equal(dp_engine_read_slots(e, 0, &first, 5, take, &got), 0);
	assert_int_equal(got.rows, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		TEST(rows_of_all_cpus),
		TEST(logs),
		TEST(whatever_is_there),
		TEST(refusals),
		TEST(ranges),
		cmocka_unit_test_setup_teardown(late, setup_late, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("aggregates", tests, NULL, NULL);
}
