// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * aggregate: put the values of a hit into a table (engine/layout/aggregate.h).
 *
 *   keys ─► hash ─► slot: ready, the same key? that one
 *                         free? claim it, if the table has fewer keys than it may have
 *                         otherwise the next one
 *   values ─► updates of words ─► row of this CPU; or, without restartable sequences, that of all
 */
#include "arch/arch.h"
#include "engine/layout/aggregate.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/hit/hit.h"
#include "engine/ring/aggregate.h"
#include "port.h"

#define GOLDEN 0x9e3779b97f4a7c15ull
#define NO_SLOT 0xffffffffu

const struct dp_aggregate_entry *dp_aggregate_table(u32 number)
{
	const struct dp_aggregate_entry *entries =
		dp_at(dp_arena.control.aggregate_off);

	return &entries[number];
}

static struct dp_aggregate_account *
account_of(const struct dp_aggregate_entry *t)
{
	return dp_at(t->account_off);
}

static void lose(const struct dp_aggregate_entry *t, enum dp_aggregate_lost why)
{
	__atomic_fetch_add(&account_of(t)->lost[why], 1, __ATOMIC_RELAXED);
}

/* @last: the last word of the key, if it is elsewhere */
static u64 word_at(const struct dp_aggregate_entry *t, const u64 *first,
		   const u64 *last, u32 i)
{
	return last && i == t->keys - 1 ? *last : *(first - i);
}

static u64 value_at(const struct dp_aggregate_entry *t, const u64 *first, u32 i)
{
	return *(first - t->keys - i);
}

static u64 hash_of(const struct dp_aggregate_entry *t, const u64 *first,
		   const u64 *last)
{
	u64 hash = 0;
	u32 i;

	for (i = 0; i < t->keys; i++) {
		hash = (hash ^ word_at(t, first, last, i)) * GOLDEN;
		hash ^= hash >> 29;
	}
	return hash * GOLDEN;
}

static bool has_key(const struct dp_aggregate_entry *t,
		    const struct dp_aggregate_slot *slot, const u64 *first,
		    const u64 *last)
{
	u32 i = 0;

	while (i < t->keys && slot->key[i] == word_at(t, first, last, i))
		i++;
	return i == t->keys;
}

/* May the table have one more key? */
static bool admit(const struct dp_aggregate_entry *t)
{
	u64 *used = &account_of(t)->used;

	if (__atomic_load_n(used, __ATOMIC_RELAXED) < t->most &&
	    __atomic_fetch_add(used, 1, __ATOMIC_RELAXED) < t->most)
		return true;
	return false;
}

static bool claim(const struct dp_aggregate_entry *t,
		  struct dp_aggregate_slot *slot, u64 tag, const u64 *first,
		  const u64 *last)
{
	u64 is = 0;
	u32 i;

	if (!__atomic_compare_exchange_n(&slot->tag, &is, tag | DP_SLOT_CLAIMED,
					 false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return false;
	for (i = 0; i < t->keys; i++)
		slot->key[i] = word_at(t, first, last, i);
	__atomic_store_n(&slot->tag, tag | DP_SLOT_READY, __ATOMIC_RELEASE);
	return true;
}

/* The slot of a key; NO_SLOT: there is no room for it. A slot that another thread has just claimed
 * is looked at again if it was going to be this thread's: it may have the same key by then. */
static u32 find(const struct dp_aggregate_entry *t, const u64 *first,
		const u64 *last)
{
	u64 hash = hash_of(t, first, last);
	u64 tag = hash & ~(u64)DP_SLOT_STATE;
	struct dp_aggregate_slot *slots = dp_at(t->slot_off), *slot;
	bool admitted = false;
	u32 i, at;
	u64 is;

	for (i = 0; i < DP_AGGREGATE_PROBES; i++) {
		at = (u32)(hash >> 32) + i;
		at &= t->slot_mask;
		slot = (void *)((u64 *)slots + (u64)at * t->slot_words);
		is = __atomic_load_n(&slot->tag, __ATOMIC_ACQUIRE);
		if (!is) {
			admitted = admitted || admit(t);
			if (!admitted)
				return NO_SLOT;
			if (claim(t, slot, tag, first, last))
				return at;
			is = __atomic_load_n(&slot->tag, __ATOMIC_ACQUIRE);
		}
		if (is == (tag | DP_SLOT_READY) &&
		    has_key(t, slot, first, last))
			break;
	}
	if (admitted)
		__atomic_fetch_sub(&account_of(t)->used, 1, __ATOMIC_RELAXED);
	return i < DP_AGGREGATE_PROBES ? at : NO_SLOT;
}

static void update(struct dp_row_put *p, enum dp_row_how how, u32 at, u64 value)
{
	p->update[p->nr++] = (struct dp_row_update){ how, at, value };
}

/* The first one is that with the largest time, counted from the end. */
static void update_pair(struct dp_row_put *p,
			const struct dp_aggregate_field *f, u64 value,
			u64 *ticks)
{
	if (!*ticks)
		*ticks = dp_port_ticks();
	update(p, DP_ROW_PAIR, f->at,
	       f->kind == DP_FIELD_FIRST ? ~*ticks : *ticks);
	update(p, DP_ROW_ADD, f->at + 1u, value);
}

static void fill(struct dp_row_put *p, const struct dp_aggregate_entry *t,
		 const u64 *first)
{
	u64 ticks = 0;
	u32 i;

	for (i = 0; i < t->nr_fields; i++) {
		const struct dp_aggregate_field *f = &t->fields[i];
		u64 value = value_at(t, first, i);

		switch (f->kind) {
		case DP_FIELD_SUM:
			update(p, DP_ROW_ADD, f->at, value);
			break;
		case DP_FIELD_MAX:
		case DP_FIELD_MIN:
			update(p, DP_ROW_MAX, f->at,
			       dp_field_ordered(f, value));
			break;
		case DP_FIELD_HIST:
			update(p, DP_ROW_ADD,
			       f->at + dp_hist_bucket(value, f->sign), 1);
			break;
		case DP_FIELD_LHIST:
			update(p, DP_ROW_ADD, f->at + dp_lhist_bucket(f, value),
			       1);
			break;
		case DP_FIELD_FIRST:
		case DP_FIELD_LAST:
			update_pair(p, f, value, &ticks);
			break;
		default:
			break;
		}
	}
}

static void raise(u64 *word, u64 value)
{
	u64 is = __atomic_load_n(word, __ATOMIC_RELAXED);

	while (is < value &&
	       !__atomic_compare_exchange_n(word, &is, value, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
}

/* In the row that all may write, or in one that is as good */
static void put_shared(const struct dp_row_put *p, u64 shard)
{
	u64 *row = (u64 *)(p->row + shard * p->stride);
	u64 i;

	for (i = 0; i < p->nr; i++) {
		const struct dp_row_update *u = &p->update[i];

		switch (u->how) {
		case DP_ROW_ADD:
			__atomic_fetch_add(&row[u->at], u->value,
					   __ATOMIC_RELAXED);
			break;
		case DP_ROW_MAX:
			raise(&row[u->at], u->value);
			break;
		default:
			dp_row_pair(&row[u->at], u->value, u[1].value);
			i++;
		}
	}
	__atomic_fetch_add(row, 1, __ATOMIC_RELEASE);
}

/* Sets first: to put a key there once more changes nothing. */
static void put_sets(const struct dp_aggregate_entry *t, const u64 *first)
{
	const struct dp_aggregate_entry *set;
	u32 i;

	for (i = 0; i < t->nr_fields; i++) {
		if (t->fields[i].kind != DP_FIELD_SET)
			continue;
		set = dp_aggregate_table(t->fields[i].set);
		if (find(set, first, first - t->keys - i) == NO_SLOT)
			lose(set, DP_LOST_FULL);
	}
}

/* The word that the hit is one more in, in place of the count */
static u32 sole_word(const struct dp_aggregate_entry *t, u64 value)
{
	const struct dp_aggregate_field *f = &t->fields[0];

	return f->at + (f->kind == DP_FIELD_HIST ?
				dp_hist_bucket(value, f->sign) :
				dp_lhist_bucket(f, value));
}

static u64 shard_of(const struct dp_aggregate_entry *t)
{
	u32 cpu = t->locked ? dp_port_cpu() : t->shards;

	return cpu < t->shards ? cpu : t->shards;
}

static bool can_put(void)
{
	const struct dp_arena_control *c = &dp_arena.control;

	return c->counts_alone && c->rseq_signature == DP_RSEQ_SIGNATURE;
}

void dp_aggregate_put(const struct dp_aggregate_entry *t, const u64 *first)
{
	u32 slot = find(t, first, NULL);
	struct dp_row_put p;

	if (slot == NO_SLOT) {
		lose(t, DP_LOST_FULL);
		return;
	}
	p.table = (u64)dp_table;
	p.row = (u64)dp_at(t->row_off) + (u64)slot * t->row_words * sizeof(u64);
	p.stride = t->shard_bytes;
	p.shards = t->shards;
	p.rseq = dp_arena.control.rseq_offset;
	p.sequence = (u64)dp_private.row_sequence;
	p.nr = 0;
	put_sets(t, first);
	if (t->sole)
		p.row += sole_word(t, value_at(t, first, 0)) * sizeof(u64);
	else
		fill(&p, t, first);
	if (!can_put() || !dp_row_put(&p))
		put_shared(&p, shard_of(t));
}

void dp_aggregate_lose(const struct dp_aggregate_entry *t)
{
	lose(t, DP_LOST_UNREADABLE);
}

#define WORD 8
#define LOWS 0x0101010101010101ull

/* Bytes of a word before its first 0; WORD: there is none */
static u32 length(u64 word)
{
	u64 ends = (word - LOWS) & ~word & LOWS << 7;

	return ends ? (u32)__builtin_ctzll(ends) / 8 : WORD;
}

/* At the end of a page: no byte behind the string's end is read. */
static bool load_slowly(u64 address, u64 *to)
{
	u64 byte = 1;
	u32 i;

	*to = 0;
	for (i = 0; i < WORD && byte; i++) {
		if (!dp_load_byte(address + i, &byte))
			return false;
		*to |= byte << 8 * i;
	}
	return true;
}

/* Words of the string whose address is at *@first */
static bool read_text(u64 *first, u32 words)
{
	struct dp_load word;
	u64 address = *first;
	u32 i, n = WORD;

	for (i = 0; i < words && n == WORD; i++, address += WORD) {
		if (address % DP_PAGE > DP_PAGE - WORD)
			word.ok = load_slowly(address, &word.value);
		else
			word = dp_load_word(address);
		if (!word.ok)
			return false;
		n = length(word.value);
		*(first - i) = n < WORD ? word.value & ((1ull << 8 * n) - 1) :
					  word.value;
	}
	for (; i < words; i++)
		*(first - i) = 0;
	return true;
}

void dp_aggregate_put_texts(const struct dp_aggregate_entry *t, u64 *first,
			    u64 texts)
{
	for (; texts; texts >>= 16)
		if (!read_text(first - (texts & 0xff), texts >> 8 & 0xff)) {
			dp_aggregate_lose(t);
			return;
		}
	dp_aggregate_put(t, first);
}
