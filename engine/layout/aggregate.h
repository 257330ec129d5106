/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * aggregate: what is kept of the values of many hits, by keys.
 *
 *   slots, a hash table           rows: of each CPU, and one that all may write
 *   ┌─────┬────────────┐          ┌───────┬──────────────────┬────────────┐
 *   │ tag │ key words  │  slot i  │ count │ log of 2 updates │ fields     │ row i
 *   └─────┴────────────┘          └───────┴──────────────────┴────────────┘
 *
 * A slot is claimed once, by compare and swap of its tag, and has its key for good. Other threads
 * that come while the key is being written go on to the next slot: so two slots may have the same
 * key, and the reader adds them up.
 *
 * A row of a CPU is changed in a restartable sequence. The update number n + 1 first carries out
 * what log n % 2 says, then writes into the other log what becomes of the fields, and then makes
 * the count n + 1. So a hit is in a row with all that it changes, or with nothing, whatever
 * interrupts the thread. What the log of the last update says is true before the fields have it.
 *
 * The row that all may write is for threads without restartable sequences. Each field is changed
 * there by one locked instruction, and the count last. So are rows of CPUs in a kernel (@locked),
 * whose hits stay on their CPU.
 *
 * The geometry is control's. Slots, rows and the account are hit's, and hostile to the reader.
 */
#ifndef DP_LAYOUT_AGGREGATE_H
#define DP_LAYOUT_AGGREGATE_H

#include "port_types.h"

#define DP_AGGREGATE_TABLES 64
#define DP_AGGREGATE_FIELDS 8
/* Of all keys of a table; and with the values of a hit */
#define DP_AGGREGATE_KEYS 20
#define DP_AGGREGATE_WORDS (DP_AGGREGATE_KEYS + DP_AGGREGATE_FIELDS)
/* Keys of a table, unless the user wants another number, and at most */
#define DP_AGGREGATE_USUAL 4096
#define DP_AGGREGATE_MOST (1u << 20)
/* Slots that are looked at for a key */
#define DP_AGGREGATE_PROBES 64

/** enum dp_aggregate_kind - what becomes of a value
 *  @DP_FIELD_SUM: one word, its sum modulo 2^64
 *  @DP_FIELD_MAX, @DP_FIELD_MIN: one word, the largest of dp_field_ordered()
 *  @DP_FIELD_HIST: DP_HIST_BUCKETS words; @DP_FIELD_LHIST: dp_lhist_buckets()
 *  @DP_FIELD_FIRST, @DP_FIELD_LAST: two words, a time and the value at that time
 *  @DP_FIELD_SET: the keys with the value are a key of another table */
enum dp_aggregate_kind {
	DP_FIELD_SUM,
	DP_FIELD_MAX,
	DP_FIELD_MIN,
	DP_FIELD_HIST,
	DP_FIELD_LHIST,
	DP_FIELD_FIRST,
	DP_FIELD_LAST,
	DP_FIELD_SET,
};

/**
 * struct dp_aggregate_field - what is kept of one value
 * @kind: enum dp_aggregate_kind; @sign: the value has one
 * @at: its first word in a row; @words: how many there are
 * @low, @high, @step: of DP_FIELD_LHIST; @set: number of the other table
 */
struct dp_aggregate_field {
	u8 kind, sign;
	u16 at, words;
	u32 set;
	s64 low, high;
	u64 step;
};

/** enum dp_aggregate_quick - what dp_keep_entry can do by itself, where there is one word of keys or none
 *  @DP_QUICK_COUNT: count; @DP_QUICK_HIST: of a sole hist() */
enum dp_aggregate_quick { DP_QUICK_NONE, DP_QUICK_COUNT, DP_QUICK_HIST };

/**
 * struct dp_aggregate_entry - a table; control owns it
 * @keys: words of a key; @nr_fields: values of a hit behind them
 * @most: keys that there may be; @slot_mask: slots, less one; @slot_words: of each
 * @updates: entries of a log; @row_words: of a row, an even number
 * @shards: CPUs that have rows; @shard_bytes: of all rows of one
 * @slot_off, @row_off, @account_off: in the arena, or from there on; @slots, @rows: addresses of the first two
 * @row_bytes: of each row of a CPU
 * @sole: the only field is a histogram. A hit is one more in a bucket, and the count stays 0
 * @quick: enum dp_aggregate_quick; @sign, @bucket_off: of its histogram, bytes in a row
 * @locked: hits change rows of their CPUs by locked instructions
 */
struct dp_aggregate_entry {
	u32 keys, nr_fields;
	u32 most, slot_mask, slot_words;
	u32 updates, row_words;
	u32 shards;
	u64 shard_bytes;
	u64 slot_off, row_off, account_off;
	u64 slots, rows;
	u8 sole, quick, sign, locked;
	u32 bucket_off, row_bytes, pad;
	struct dp_aggregate_field fields[DP_AGGREGATE_FIELDS];
};

/* The low bits of a tag: 0: the slot is free */
#define DP_SLOT_CLAIMED 1u /* its key is being written */
#define DP_SLOT_READY 3u
#define DP_SLOT_STATE 3u

/** struct dp_aggregate_slot - @tag: of its key's hash, and DP_SLOT_STATE; hit owns it, but in a table without keys, where
 *  control makes the only one */
struct dp_aggregate_slot {
	u64 tag;
	u64 key[];
};

/** struct dp_aggregate_log - word @at of the row becomes @value; @at 0: nothing */
struct dp_aggregate_log {
	u64 at, value;
};

/** enum dp_aggregate_lost - why a hit is in no row */
enum dp_aggregate_lost {
	DP_LOST_FULL, /* the table has no room for its keys */
	DP_LOST_UNREADABLE, /* a key or a value is in memory that cannot be read */
	DP_LOST_NR,
};

/** struct dp_aggregate_account - @used: slots that are claimed; hit owns it */
struct dp_aggregate_account {
	u64 used;
	u64 lost[DP_LOST_NR];
};

/* 0; [1], [2,4), [4,8) … up to [2^63,2^64); below 0 */
#define DP_HIST_BUCKETS 66
#define DP_HIST_NEGATIVE 65

/** dp_hist_bucket() - the bucket of a value */
static inline u32 dp_hist_bucket(u64 value, bool sign)
{
	if (sign && (s64)value < 0)
		return DP_HIST_NEGATIVE;
	return value ? 64 - (u32)__builtin_clzll(value) : 0;
}

/** dp_lhist_buckets() - one below @low, one for each step, one from @high on */
static inline u32 dp_lhist_buckets(s64 low, s64 high, u64 step)
{
	return (u32)((((u64)high - (u64)low) - 1) / step) + 3;
}

/** dp_lhist_bucket() - the bucket of a value; one without a sign may be above all that have one */
static inline u32 dp_lhist_bucket(const struct dp_aggregate_field *f, u64 value)
{
	bool above = !f->sign && (s64)value < 0;

	if (!above && (s64)value < f->low)
		return 0;
	if (above || (s64)value >= f->high)
		return dp_lhist_buckets(f->low, f->high, f->step) - 1;
	return 1 + (u32)((value - (u64)f->low) / f->step);
}

/** dp_field_ordered() - a word that is larger where the value is, or for DP_FIELD_MIN where it is
 *  less; and the other way round */
static inline u64 dp_field_ordered(const struct dp_aggregate_field *f, u64 word)
{
	u64 flip = f->sign ? 1ull << 63 : 0;

	return f->kind == DP_FIELD_MIN ? word ^ ~flip : word ^ flip;
}

/**
 * struct dp_aggregate_shape - what a table keeps
 * @keys: words of a key; @most: keys that there may be, 1 to DP_AGGREGATE_MOST
 * @nr: values of a hit; of @fields @kind, @sign, @low, @high and @step are looked at
 */
struct dp_aggregate_shape {
	u32 keys, most, nr;
	struct dp_aggregate_field fields[DP_AGGREGATE_FIELDS];
};

static inline void dp_aggregate_pair(u64 *to, const u64 *from)
{
	if (from[0] <= to[0])
		return;
	to[0] = from[0];
	to[1] = from[1];
}

/** dp_aggregate_merge() - add row @from to @to, both of table @t. Readers only: it is not atomic */
static inline void dp_aggregate_merge(const struct dp_aggregate_entry *t,
				      u64 *to, const u64 *from)
{
	u32 i, k;

	to[0] += from[0];
	for (i = 0; i < t->nr_fields; i++) {
		const struct dp_aggregate_field *f = &t->fields[i];

		switch (f->kind) {
		case DP_FIELD_FIRST:
		case DP_FIELD_LAST:
			dp_aggregate_pair(&to[f->at], &from[f->at]);
			break;
		case DP_FIELD_MAX:
		case DP_FIELD_MIN:
			if (from[f->at] > to[f->at])
				to[f->at] = from[f->at];
			break;
		default:
			for (k = 0; k < f->words; k++)
				to[f->at + k] += from[f->at + k];
		}
	}
}

#endif
