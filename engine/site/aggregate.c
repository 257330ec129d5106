// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * aggregate: tables in which hits keep values (engine/layout/aggregate.h), control's side.
 *
 * The engine has a copy of the geometry, and believes nothing else of what is in the arena.
 */
#include "engine/insn/bits.h"
#include "engine/layout/aggregate.h"
#include "engine/layout/arena.h"
#include "arch/arch.h"
#include "engine/site/aggregate.h"
#include "engine/site/internal.h"
#include "engine/vm/vm.h"
#include "port.h"

#define LINE 64
#define TABLE_BYTES \
	(64ull << 20) /* from here on, CPUs have no rows of their own */
#define TABLES_BYTES (512ull << 20)
/* Of those that come after the arena: of one with rows of CPUs, of all */
#define LATE_BYTES (8ull << 20)
#define LATES_BYTES (64ull << 20)
/* Slots that are looked at in one go */
#define GO (1u << 16)
/* A writer that is that often at a row while it is copied is a hostile one. */
#define SNAPSHOTS 100

_Static_assert(DP_AGGREGATE_TABLES == DP_VM_AGGREGATES &&
		       DP_AGGREGATE_WORDS <= DP_AGGREGATE_COUNT_MASK,
	       "an instruction names each table, and says what it takes");

static u64 lines(u64 bytes)
{
	return (bytes + LINE - 1) & ~(u64)(LINE - 1);
}

static u64 slots_of(const struct dp_aggregate_entry *t)
{
	return (u64)t->slot_mask + 1;
}

static u64 slot_bytes(const struct dp_aggregate_entry *t)
{
	return slots_of(t) * t->slot_words * sizeof(u64);
}

static u64 bytes_of(const struct dp_aggregate_entry *t)
{
	return LINE + lines(slot_bytes(t)) + (t->shards + 1) * t->shard_bytes;
}

static u32 words_of(const struct dp_aggregate_field *f)
{
	switch (f->kind) {
	case DP_FIELD_HIST:
		return DP_HIST_BUCKETS;
	case DP_FIELD_LHIST:
		return dp_lhist_buckets(f->low, f->high, f->step);
	case DP_FIELD_FIRST:
	case DP_FIELD_LAST:
		return 2;
	case DP_FIELD_SET:
		return 0;
	default:
		return 1;
	}
}

static u32 updates_of(const struct dp_aggregate_field *f)
{
	return f->kind == DP_FIELD_SET				     ? 0 :
	       f->kind == DP_FIELD_FIRST || f->kind == DP_FIELD_LAST ? 2 :
								       1;
}

static bool is_histogram(const struct dp_aggregate_field *f)
{
	return f->kind == DP_FIELD_HIST || f->kind == DP_FIELD_LHIST;
}

/* A pair is aligned, because an instruction changes both words at once. */
static void place_fields(struct dp_aggregate_entry *t)
{
	u32 i, at;

	t->sole = t->nr_fields == 1 && is_histogram(&t->fields[0]);
	t->updates = 0;
	for (i = 0; i < t->nr_fields && !t->sole; i++)
		t->updates += updates_of(&t->fields[i]);
	at = 1 + 2 * t->updates * (u32)(sizeof(struct dp_aggregate_log) / 8);
	for (i = 0; i < t->nr_fields; i++) {
		struct dp_aggregate_field *f = &t->fields[i];

		f->words = (u16)words_of(f);
		at += f->words == 2 ? at & 1 : 0;
		f->at = (u16)at;
		at += f->words;
	}
	t->row_words = at + (at & 1);
}

static struct dp_aggregate_entry begin(u32 keys, u32 most)
{
	return (struct dp_aggregate_entry){
		.keys = keys,
		.most = most,
		.slot_mask = dp_bits_power(most + most / 2, 2) - 1,
		.slot_words = 1 + keys,
	};
}

/* Of one that has gone nothing is left. */
static bool is_there(const struct dp_engine *e, u32 i)
{
	return i < e->nr_aggregates && e->aggregates[i].most;
}

/* A bit for each */
static u64 numbers(const struct dp_engine *e)
{
	u64 all = 0;
	u32 i;

	for (i = 0; i < e->nr_aggregates; i++)
		all |= (u64)is_there(e, i) << i;
	return all;
}

static int append(struct dp_engine *e, const struct dp_aggregate_entry *t,
		  u32 *table)
{
	u32 i = 0;

	while (is_there(e, i))
		i++;
	if (i == e->nr_aggregates &&
	    dp_engine_reserve((void **)&e->aggregates, e->nr_aggregates,
			      &e->cap_aggregates, sizeof(*e->aggregates)))
		return -ENOMEM;
	e->nr_aggregates += i == e->nr_aggregates;
	*table = i;
	e->aggregates[i] = *t;
	return 0;
}

/* A set has the keys, and the value as one more. */
static int append_sets(struct dp_engine *e, struct dp_aggregate_entry *t,
		       u32 most)
{
	struct dp_aggregate_entry set = begin(t->keys + 1, most);
	int err = 0;
	u32 i;

	for (i = 0; i < t->nr_fields && !err; i++)
		if (t->fields[i].kind == DP_FIELD_SET)
			err = append(e, &set, &t->fields[i].set);
	return err;
}

static const char *too_much(const struct dp_engine *e,
			    const struct dp_aggregate_entry *t)
{
	u64 row = (u64)t->row_words * sizeof(u64), all = 0;
	u32 i, sets = 0;

	for (i = 0; i < t->nr_fields; i++)
		sets += t->fields[i].kind == DP_FIELD_SET;
	if (dp_bits_count(numbers(e)) + sets >= DP_AGGREGATE_TABLES)
		return "there are too many aggregations";
	if (t->updates > DP_ROW_UPDATES)
		return "a spec keeps eight values at most, and first() and last() are two each";
	for (i = 0; i < e->nr_aggregates; i++)
		all += slot_bytes(&e->aggregates[i]) +
		       slots_of(&e->aggregates[i]) *
			       e->aggregates[i].row_words * sizeof(u64);
	all += (1 + sets) * (slot_bytes(t) + slots_of(t) * sizeof(u64)) +
	       slots_of(t) * row;
	return all > TABLES_BYTES / 4 ?
		       "the tables would take more than 128 MB for each CPU: give fewer keys (--map-size), or fewer histograms" :
		       NULL;
}

const struct dp_aggregate_entry *dp_engine_aggregate(const struct dp_engine *e,
						     u32 table)
{
	return is_there(e, table) ? &e->aggregates[table] : NULL;
}

/* Very many keys have rows for fewer CPUs; the others share one. */
static u32 shards_for(const struct dp_aggregate_entry *t, u32 shards)
{
	while (shards && shards * t->shard_bytes > TABLE_BYTES)
		shards /= 2;
	return shards;
}

/* Offsets count from the first table, until they are filled in. */
void dp_aggregates_place(struct dp_engine *e, u32 shards)
{
	u64 at = 0;
	u32 i;

	for (i = 0; i < e->nr_aggregates; i++) {
		struct dp_aggregate_entry *t = &e->aggregates[i];

		t->shard_bytes =
			lines(slots_of(t) * t->row_words * sizeof(u64));
		t->shards = t->row_words ? shards_for(t, shards) : 0;
		t->account_off = at;
		t->slot_off = at + LINE;
		t->row_off = at + LINE + lines(slot_bytes(t));
		at += bytes_of(t);
	}
	e->aggregate_bytes = at;
}

static void make_quick(const struct dp_engine *e, struct dp_aggregate_entry *t)
{
	u64 base = e->arena->control.base + DP_ARENA_OFFSET;

	t->slots = base + t->slot_off;
	t->rows = base + t->row_off;
	t->row_bytes = t->row_words * (u32)sizeof(u64);
	if (!e->rseq_usable || e->rseq.signature != DP_RSEQ_SIGNATURE ||
	    t->keys > 1)
		return;
	if (!t->nr_fields && t->row_words)
		t->quick = DP_QUICK_COUNT;
	else if (t->sole && t->fields[0].kind == DP_FIELD_HIST)
		t->quick = DP_QUICK_HIST;
	t->sign = t->fields[0].sign;
	t->bucket_off = t->fields[0].at * (u32)sizeof(u64);
}

/* Where the hit half finds it */
static struct dp_aggregate_entry *entry_of(const struct dp_engine *e, u32 i)
{
	return (struct dp_aggregate_entry *)((char *)e->arena +
					     e->arena->control.aggregate_off) +
	       i;
}

/* Without keys there is one row. Two threads that came first would each claim a slot, and the table has only one key. */
static void make_only(const struct dp_engine *e,
		      const struct dp_aggregate_entry *t)
{
	char *table = (char *)e->arena + e->arena->control.aggregated_off;
	struct dp_aggregate_account *account = (void *)(table + t->account_off);
	struct dp_aggregate_slot *slot = (void *)(table + t->slot_off);

	account->used = 1;
	slot->tag = DP_SLOT_READY;
}

static void fill_entry(const struct dp_engine *e, u32 i)
{
	const u64 off = e->arena->control.aggregated_off;
	struct dp_aggregate_entry *to = entry_of(e, i);

	if (!e->aggregates[i].keys)
		make_only(e, &e->aggregates[i]);

	*to = e->aggregates[i];
	to->account_off += off;
	to->slot_off += off;
	to->row_off += off;
	make_quick(e, to);
}

void dp_aggregates_fill(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < e->nr_aggregates; i++)
		fill_entry(e, i);
}

/* Tables that come after the arena. Their offsets lead there from it. */

static u64 late_bytes(const struct dp_engine *e)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < e->nr_aggregates; i++)
		if (e->aggregate_memory[i])
			bytes += bytes_of(&e->aggregates[i]);
	return bytes;
}

static int make_one(struct dp_engine *e, u32 i, const char **why)
{
	struct dp_aggregate_entry *t = &e->aggregates[i];
	u64 at;

	t->locked = true;
	t->shard_bytes = lines(slots_of(t) * t->row_words * sizeof(u64));
	t->shards = t->row_words ? e->shards : 0;
	while (t->shards && bytes_of(t) > LATE_BYTES)
		t->shards /= 2;
	*why = "the tables would take more than 64 MB: give fewer keys (--map-size), or fewer histograms";
	if (late_bytes(e) + bytes_of(t) > LATES_BYTES)
		return -ENOSPC;
	*why = "out of memory";
	e->aggregate_memory[i] = dp_port_alloc(bytes_of(t) + LINE);
	if (!e->aggregate_memory[i])
		return -ENOMEM;
	at = lines((u64)e->aggregate_memory[i]) - (u64)e->arena -
	     e->aggregated_off;
	t->account_off = at;
	t->slot_off = at + LINE;
	t->row_off = at + LINE + lines(slot_bytes(t));
	fill_entry(e, i);
	return 0;
}

static int make_late(struct dp_engine *e, const char **why)
{
	int err = 0;
	u32 i;

	for (i = 0; i < e->nr_aggregates && !err; i++)
		if (is_there(e, i) && !e->aggregate_memory[i])
			err = make_one(e, i, why);
	if (!err)
		e->arena->control.nr_aggregates = e->nr_aggregates;
	return err;
}

static void remove_one(struct dp_engine *e, u32 i)
{
	e->aggregates[i] = (struct dp_aggregate_entry){ .most = 0 };
	if (e->arena)
		*entry_of(e, i) = e->aggregates[i];
	dp_port_free(e->aggregate_memory[i]);
	e->aggregate_memory[i] = NULL;
}

static void remove_all(struct dp_engine *e, u64 those)
{
	u32 i;

	for (i = 0; i < e->nr_aggregates; i++)
		if (those >> i & 1)
			remove_one(e, i);
	while (e->nr_aggregates && !is_there(e, e->nr_aggregates - 1))
		e->nr_aggregates--;
}

void dp_engine_remove_aggregate(struct dp_engine *e, u32 table)
{
	const struct dp_aggregate_entry *t = dp_engine_aggregate(e, table);
	u64 those = 1ull << table;
	u32 i;

	if (!t || !e->aggregate_memory[table])
		return;
	for (i = 0; i < t->nr_fields; i++)
		if (t->fields[i].kind == DP_FIELD_SET)
			those |= 1ull << t->fields[i].set;
	remove_all(e, those);
	e->arena->control.nr_aggregates = e->nr_aggregates;
}

void dp_aggregates_free(struct dp_engine *e)
{
	u32 i;

	for (i = 0; i < DP_AGGREGATE_TABLES; i++)
		dp_port_free(e->aggregate_memory[i]);
	dp_port_free(e->aggregates);
}

static int enter(struct dp_engine *e, const struct dp_aggregate_shape *shape,
		 u32 *table, const char **why)
{
	struct dp_aggregate_entry t = begin(shape->keys, shape->most);
	u32 i;

	t.nr_fields = shape->nr;
	for (i = 0; i < shape->nr; i++)
		t.fields[i] = shape->fields[i];
	if (!t.keys) {
		t.most = 1;
		t.slot_mask = 1;
	}
	place_fields(&t);
	*why = too_much(e, &t);
	if (*why)
		return -ENOSPC;
	*why = "out of memory";
	return append_sets(e, &t, shape->most) ?: append(e, &t, table);
}

int dp_engine_add_aggregate(struct dp_engine *e,
			    const struct dp_aggregate_shape *shape, u32 *table,
			    const char **why)
{
	const u64 had = numbers(e);
	int err;

	*why = "its table would have to be there from the beginning";
	if (e->arena && !e->expected.tables)
		return -EBUSY;
	err = enter(e, shape, table, why);
	if (!err && e->arena)
		err = make_late(e, why);
	if (err)
		remove_all(e, numbers(e) & ~had);
	return err;
}

void dp_aggregates_words(const struct dp_engine *e,
			 u8 words[DP_AGGREGATE_TABLES])
{
	u32 i;

	for (i = 0; i < DP_AGGREGATE_TABLES; i++)
		words[i] = is_there(e, i) ? (u8)(e->aggregates[i].keys +
						 e->aggregates[i].nr_fields) :
					    0xff;
}

/* The reader */

static u64 peek(const u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static const u64 *place(const struct dp_engine *e, u64 off)
{
	return (const void *)((const char *)e->arena + e->aggregated_off + off);
}

/* What the last update's log says, whether the fields have it or not */
static void carry_out(const struct dp_aggregate_entry *t, const u64 *row, u64 n,
		      u64 *to)
{
	const u64 *log = row + 1 + (n & 1) * 2 * t->updates;
	u32 first = 1 + 4 * t->updates, i;
	u64 at;

	for (i = 0; i < t->updates; i++) {
		at = peek(&log[2 * i]);
		if (at >= first && at < t->row_words)
			to[at] = peek(&log[2 * i + 1]);
	}
}

/* Each hit is one more in one of its buckets. */
static bool read_sole(const struct dp_aggregate_entry *t, const u64 *row,
		      u64 *to)
{
	const struct dp_aggregate_field *f = &t->fields[0];
	u32 i;

	to[0] = 0;
	for (i = 0; i < f->words; i++) {
		to[f->at + i] = peek(&row[f->at + i]);
		to[0] += to[f->at + i];
	}
	return to[0];
}

/* A row as it is after one of its hits. Return: false: it has none. */
static bool snapshot(const struct dp_aggregate_entry *t, const u64 *row,
		     u64 *to)
{
	u32 tries, i;
	u64 n = peek(row), before;

	for (tries = 0; n && tries < SNAPSHOTS; tries++) {
		for (i = 1 + 4 * t->updates; i < t->row_words; i++)
			to[i] = peek(&row[i]);
		carry_out(t, row, n, to);
		before = n;
		n = peek(row);
		if (n == before)
			break;
	}
	to[0] = n;
	return n;
}

static void clear(u64 *words, u32 n)
{
	while (n--)
		words[n] = 0;
}

static void read_rows(const struct dp_engine *e,
		      const struct dp_aggregate_entry *t, u64 slot, u64 *sum,
		      u64 *one)
{
	const u64 *row = place(e, t->row_off) + slot * t->row_words;
	u32 i;

	clear(sum, t->row_words);
	for (i = 0; t->row_words && i <= t->shards; i++) {
		if (t->sole ? read_sole(t, row, one) : snapshot(t, row, one))
			dp_aggregate_merge(t, sum, one);
		row += t->shard_bytes / sizeof(u64);
	}
}

/* Return: false: no key is there. */
static bool read_key(const struct dp_aggregate_entry *t, const u64 *slot,
		     u64 key[DP_AGGREGATE_KEYS + 1])
{
	u32 i;

	if ((peek(slot) & DP_SLOT_STATE) != DP_SLOT_READY)
		return false;
	for (i = 0; i < t->keys; i++)
		key[i] = peek(&slot[1 + i]);
	return true;
}

int dp_engine_read_slots(
	const struct dp_engine *e, u32 table, u64 *first, u32 most,
	void (*take)(void *arg, const u64 *key, const u64 *row), void *arg)
{
	const struct dp_aggregate_entry *t = dp_engine_aggregate(e, table);
	u64 key[DP_AGGREGATE_KEYS + 1], end, *row;
	const u64 *slot;

	if (!t || !e->arena || !e->aggregated_off || *first >= slots_of(t))
		return 0;
	row = dp_port_alloc(2 * (t->row_words + 1) * sizeof(u64));
	if (!row)
		return -ENOMEM;
	end = slots_of(t) - *first > GO ? *first + GO : slots_of(t);
	slot = place(e, t->slot_off) + *first * t->slot_words;
	for (; *first < end && most; ++*first, slot += t->slot_words) {
		if (!read_key(t, slot, key))
			continue;
		read_rows(e, t, *first, row, row + t->row_words + 1);
		if (!row[0] && t->row_words)
			continue;
		take(arg, key, row);
		most--;
	}
	dp_port_free(row);
	return *first < slots_of(t);
}

int dp_engine_read_aggregate(const struct dp_engine *e, u32 table,
			     void (*take)(void *arg, const u64 *key,
					  const u64 *row),
			     void *arg)
{
	u64 slot = 0;
	int more;

	do
		more = dp_engine_read_slots(e, table, &slot, ~0u, take, arg);
	while (more > 0);
	return more;
}

void dp_engine_aggregate_lost(const struct dp_engine *e, u32 table,
			      u64 lost[DP_LOST_NR])
{
	const struct dp_aggregate_entry *t = dp_engine_aggregate(e, table);
	const struct dp_aggregate_account *a;
	u32 i;

	for (i = 0; i < DP_LOST_NR; i++)
		lost[i] = 0;
	if (!t || !e->arena || !e->aggregated_off)
		return;
	a = (const void *)place(e, t->account_off);
	for (i = 0; i < DP_LOST_NR; i++)
		lost[i] = peek(&a->lost[i]);
}
