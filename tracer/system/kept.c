// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kept: values of the kernel's hits, in tables that dprobes.ko has.
 *
 *     shape ─► an engine without probes: geometry     the same shape ─► DP_DEVICE_TABLE ─► the same number
 *     DP_DEVICE_ROWS ─► key, hits, words of each field ─► a row as the engine's geometry has it
 */
#include "engine/site/aggregate.h"
#include "engine/site/engine.h"
#include "tracer/system/kept.h"
#include "tracer/system/system.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of rows that are asked for at a time */
#define ROOM (256u << 10)

/* Words of a row of the device; a set has keys alone. */
static u32 words_of(const struct dp_aggregate_entry *t)
{
	u32 words = t->keys + (t->row_words ? 1 : 0), i;

	for (i = 0; i < t->nr_fields; i++)
		words += t->fields[i].words;
	return words;
}

static int ask_table(struct dp_system_kept *k, const struct dp_system_device *d,
		     const struct dp_aggregate_shape *shape, u32 number)
{
	struct dp_device_field fields[DP_DEVICE_FIELDS] = { 0 };
	struct dp_device_table want = { .fields = (u64)fields,
					.words = (u64)k->words,
					.words_size = DP_DEVICE_WORDS,
					.keys = shape->keys,
					.most = shape->most,
					.nr = shape->nr };
	const struct dp_aggregate_field *f = shape->fields;
	u32 i;
	int err;

	for (i = 0; i < shape->nr; i++, f++) {
		fields[i].kind = f->kind;
		fields[i].sign = f->sign;
		if (f->kind != DP_FIELD_LHIST)
			continue;
		fields[i].low = f->low;
		fields[i].high = f->high;
		fields[i].step = f->step;
	}
	k->words[0] = '\0';
	err = dp_system_device_table(d, &want);
	if (err)
		return err;
	return want.table == number &&
			       want.row == words_of(dp_system_kept_table(
						   k, number)) ?
		       0 :
		       -EBADMSG;
}

int dp_system_kept_add(struct dp_system_kept *k,
		       const struct dp_system_device *d,
		       const struct dp_aggregate_shape *shape, u32 *table,
		       const char **why)
{
	int err = 0;

	*why = "out of memory";
	if (!k->engine)
		err = dp_engine_create(&k->engine);
	err = err ?: dp_engine_add_aggregate(k->engine, shape, table, why);
	if (err)
		return err;
	err = ask_table(k, d, shape, *table);
	*why = err == -EPERM ?
		       "what is kept may be addresses of the kernel: it takes CAP_SYSLOG, and kernel.kptr_restrict below 2" :
	       *k->words ? k->words :
			   strerror(-err);
	return err;
}

const struct dp_aggregate_entry *
dp_system_kept_table(const struct dp_system_kept *k, u32 table)
{
	return dp_engine_aggregate(k->engine, table);
}

void dp_system_kept_free(struct dp_system_kept *k)
{
	if (k->engine)
		dp_engine_destroy(k->engine);
	*k = (struct dp_system_kept){ 0 };
}

/* A row as tables of a process have it */
static void put_row(const struct dp_aggregate_entry *t, const u64 *from,
		    u64 *row)
{
	const struct dp_aggregate_field *f = t->fields;
	u32 i;

	memset(row, 0, (t->row_words + 1) * sizeof(*row));
	if (t->row_words)
		row[0] = *from++;
	for (i = 0; i < t->nr_fields; i++, from += f->words, f++) {
		memcpy(&row[f->at], from, f->words * sizeof(*row));
		if (f->kind == DP_FIELD_MAX || f->kind == DP_FIELD_MIN)
			row[f->at] = dp_field_ordered(f, row[f->at]);
		if (f->kind == DP_FIELD_FIRST)
			row[f->at] = ~row[f->at];
	}
}

int dp_system_kept_read(const struct dp_system_kept *k,
			const struct dp_system_device *d, u32 table,
			void (*take)(void *arg, const u64 *key, const u64 *row),
			void *arg)
{
	const struct dp_aggregate_entry *t = dp_system_kept_table(k, table);
	u32 words = t ? words_of(t) : 1, most = ROOM / (words * 8) + 1, i;
	struct dp_device_rows want = { .table = table, .more = 1 };
	u64 *rows = calloc(most, words * sizeof(*rows)),
	    *row = calloc(t ? t->row_words + 1 : 1, sizeof(*row));
	int err = rows && row ? 0 : -ENOMEM;

	while (t && !err && want.more) {
		want = (struct dp_device_rows){ .rows = (u64)rows,
						.next = want.next,
						.table = table,
						.nr = most };
		err = dp_system_device_rows(d, &want);
		for (i = 0; !err && i < want.nr && i < most; i++) {
			put_row(t, rows + (size_t)i * words + t->keys, row);
			take(arg, rows + (size_t)i * words, row);
		}
	}
	free(rows);
	free(row);
	return err;
}

void dp_system_kept_lost(const struct dp_system_device *d, u32 table,
			 u64 lost[DP_LOST_NR])
{
	struct dp_device_rows want = { .table = table };

	dp_system_device_rows(d, &want);
	lost[DP_LOST_FULL] = want.full;
	lost[DP_LOST_UNREADABLE] = want.unreadable;
}
