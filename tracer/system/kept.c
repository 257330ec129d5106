// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * kept: values of the kernel's hits, which are put into tables as their records come.
 *
 *     compiled:  … keys, values ─► aggregate TABLE        in the kernel:  … keys, values ─► log WORDS ─► record
 *                              └► aggregate TABLE, loses                              └► log 0
 *
 * A record that has not the bytes of all words is of a hit whose keys or values could not be read.
 */
#include "engine/site/aggregate.h"
#include "engine/site/engine.h"
#include "engine/vm/decode.h"
#include "engine/vm/program.h"
#include "engine/vm/vm.h"
#include "tracer/system/kept.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 64
/* In front of the words in a log */
#define PREFIX 3

/** struct rows - of a table: @n rows of @words each, a key and what is kept of it; @index: 1 + number, by hash */
struct rows {
	u64 *v;
	u32 *index, n, mask, words;
	u64 lost[DP_LOST_NR];
};

int dp_system_kept_add(struct dp_system_kept *k,
		       const struct dp_aggregate_shape *shape, u32 *table,
		       const char **why)
{
	int err = 0;

	*why = "out of memory";
	if (!k->engine)
		err = dp_engine_create(&k->engine);
	if (!err && !k->rows)
		k->rows = calloc(DP_AGGREGATE_TABLES, sizeof(*k->rows));
	if (err || !k->rows)
		return -ENOMEM;
	return dp_engine_add_aggregate(k->engine, shape, table, why);
}

const struct dp_aggregate_entry *
dp_system_kept_table(const struct dp_system_kept *k, u32 table)
{
	return dp_engine_aggregate(k->engine, table);
}

void dp_system_kept_free(struct dp_system_kept *k)
{
	u32 i;

	for (i = 0; k->rows && i < DP_AGGREGATE_TABLES; i++) {
		free(k->rows[i].v);
		free(k->rows[i].index);
	}
	free(k->rows);
	if (k->engine)
		dp_engine_destroy(k->engine);
	*k = (struct dp_system_kept){ 0 };
}

/* Without one the program keeps nothing. */
static bool is_keeping(const struct dp_program_spec *spec, u32 at, u64 arg)
{
	return spec->code[at] == DP_OPCODE_AGGREGATE &&
	       !(arg & DP_AGGREGATE_LOSES);
}

bool dp_system_kept_find(const struct dp_program_spec *spec,
			 struct dp_system_keeping *keeping)
{
	u32 at = 0, next;
	u64 arg;

	for (; at < spec->code_len; at = next) {
		next = dp_op_decode(spec->code, at, &arg);
		if (!is_keeping(spec, at, arg))
			continue;
		*keeping = (struct dp_system_keeping){
			.table = arg & DP_AGGREGATE_TABLE,
			.words = (u32)arg >> DP_AGGREGATE_SHIFT &
				 DP_AGGREGATE_COUNT_MASK,
			.before = spec->logmax,
			.used = true,
		};
		return true;
	}
	return false;
}

u32 dp_system_kept_bytes(const struct dp_system_keeping *keeping)
{
	return PREFIX + keeping->words * (u32)sizeof(u64);
}

void dp_system_kept_rewrite(const struct dp_program_spec *spec, u8 *code)
{
	u32 returns = spec->nr_starts > 1 ? spec->starts[1] : spec->code_len;
	bool keeps = false;
	u32 at = 0, next;
	u16 words;
	u64 arg;

	for (; at < spec->code_len; at = next) {
		next = dp_op_decode(spec->code, at, &arg);
		words = arg & DP_AGGREGATE_LOSES ?
				0 :
				arg >> DP_AGGREGATE_SHIFT &
					DP_AGGREGATE_COUNT_MASK;
		if (code[at] == DP_OPCODE_AGGREGATE) {
			code[at] = DP_OPCODE_LOG_I;
			memcpy(code + at + 1, &words, sizeof(words));
			keeps = true;
			continue;
		}
		/* A call that is not wanted makes no record. */
		if (code[at] == DP_OPCODE_EXIT && at >= returns && !keeps)
			code[at] = DP_OPCODE_ABORT;
		keeps = false;
	}
}

static u32 hash_of(const u64 *key, u32 keys)
{
	u64 hash = 0;

	while (keys--) {
		hash = (hash ^ *key++) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	return (u32)(hash >> 32) ^ (u32)hash;
}

static u64 *row_at(const struct rows *r, u32 i)
{
	return r->v + (size_t)i * r->words;
}

/* Twice as many places as rows */
static bool grow(struct rows *r, u32 keys)
{
	u32 cap = r->mask ? r->mask + 1 : LEAST, i, at;
	u32 *index = calloc((size_t)2 * cap, sizeof(*index));
	u64 *v = reallocarray(r->v, cap, r->words * sizeof(*v));

	if (v)
		r->v = v;
	if (!v || !index) {
		free(index);
		return false;
	}
	free(r->index);
	r->index = index;
	r->mask = 2 * cap - 1;
	for (i = 0; i < r->n; i++) {
		at = hash_of(row_at(r, i), keys) & r->mask;
		while (r->index[at])
			at = (at + 1) & r->mask;
		r->index[at] = 1 + i;
	}
	return true;
}

/* The row of a key, behind that; NULL: there is no room */
static u64 *find(struct rows *r, const struct dp_aggregate_entry *t,
		 const u64 *key)
{
	u64 *row;
	u32 at;

	r->words = t->keys + t->row_words;
	if (2 * r->n >= r->mask && !grow(r, t->keys))
		return NULL;
	at = hash_of(key, t->keys) & r->mask;
	for (; r->index[at]; at = (at + 1) & r->mask) {
		row = row_at(r, r->index[at] - 1);
		if (!memcmp(row, key, t->keys * sizeof(*key)))
			return row + t->keys;
	}
	if (r->n == t->most)
		return NULL;
	row = row_at(r, r->n);
	memset(row, 0, r->words * sizeof(*row));
	memcpy(row, key, t->keys * sizeof(*key));
	r->index[at] = ++r->n;
	return row + t->keys;
}

static void put_set(struct dp_system_kept *k, u32 set, const u64 *key, u32 keys,
		    u64 value)
{
	u64 own[DP_AGGREGATE_KEYS + 1];

	memcpy(own, key, keys * sizeof(*own));
	own[keys] = value;
	if (!find(&k->rows[set], dp_system_kept_table(k, set), own))
		k->rows[set].lost[DP_LOST_FULL]++;
}

static void put_field(const struct dp_aggregate_field *f, u64 *row, u64 value,
		      u64 ticks)
{
	u64 word = dp_field_ordered(f, value);
	u64 pair[] = { f->kind == DP_FIELD_FIRST ? ~ticks : ticks, value };

	switch (f->kind) {
	case DP_FIELD_SUM:
		row[f->at] += value;
		break;
	case DP_FIELD_MAX:
	case DP_FIELD_MIN:
		row[f->at] = word > row[f->at] ? word : row[f->at];
		break;
	case DP_FIELD_HIST:
		row[f->at + dp_hist_bucket(value, f->sign)]++;
		break;
	case DP_FIELD_LHIST:
		row[f->at + dp_lhist_bucket(f, value)]++;
		break;
	case DP_FIELD_FIRST:
	case DP_FIELD_LAST:
		dp_aggregate_pair(&row[f->at], pair);
		break;
	default:
		break;
	}
}

/* @words: keys, and then values */
static void put(struct dp_system_kept *k, u32 table, const u64 *words,
		u64 ticks)
{
	const struct dp_aggregate_entry *t = dp_system_kept_table(k, table);
	u64 *row = find(&k->rows[table], t, words);
	u32 i;

	if (!row) {
		k->rows[table].lost[DP_LOST_FULL]++;
		return;
	}
	row[0]++;
	for (i = 0; i < t->nr_fields; i++)
		if (t->fields[i].kind == DP_FIELD_SET)
			put_set(k, t->fields[i].set, words, t->keys,
				words[t->keys + i]);
		else
			put_field(&t->fields[i], row, words[t->keys + i],
				  ticks);
}

void dp_system_kept_take(struct dp_system_kept *k,
			 const struct dp_system_keeping *keeping,
			 const struct dp_record_copy *r, u32 lead)
{
	u32 bytes = dp_system_kept_bytes(keeping), i;
	u64 words[DP_AGGREGATE_WORDS];

	if (r->head.exception ||
	    r->head.len != lead + keeping->before + bytes ||
	    keeping->words > DP_AGGREGATE_WORDS) {
		k->rows[keeping->table].lost[DP_LOST_UNREADABLE]++;
		return;
	}
	/* The last word of the log was the first on the stack. */
	for (i = 0; i < keeping->words; i++)
		memcpy(&words[i],
		       r->data + r->head.len - (i + 1) * sizeof(*words),
		       sizeof(*words));
	put(k, keeping->table, words, r->head.ticks);
}

int dp_system_kept_read(const struct dp_system_kept *k, u32 table,
			void (*take)(void *arg, const u64 *key, const u64 *row),
			void *arg)
{
	const struct dp_aggregate_entry *t = dp_system_kept_table(k, table);
	const struct rows *r = &k->rows[table];
	u32 i;

	for (i = 0; i < r->n; i++)
		take(arg, row_at(r, i), row_at(r, i) + t->keys);
	return 0;
}

void dp_system_kept_lost(const struct dp_system_kept *k, u32 table,
			 u64 lost[DP_LOST_NR])
{
	memcpy(lost, k->rows[table].lost, sizeof(k->rows[table].lost));
}
