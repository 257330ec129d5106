/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* aggregate: tables of an engine in which hits keep values, and their reader. */
#ifndef DP_SITE_AGGREGATE_H
#define DP_SITE_AGGREGATE_H

#include "port_types.h"
#include "engine/layout/aggregate.h"

struct dp_engine;

/**
 * dp_engine_add_aggregate() - add a table, empty
 * @table: its number, for the programs
 * @why: on failure, a static phrase
 *
 * Context: before the first dp_engine_layout(); later, as many as it was told to expect, with memory of their own.
 * Return: 0; -ENOSPC; -EBUSY the tables are there; -ENOMEM.
 */
int dp_engine_add_aggregate(struct dp_engine *e,
			    const struct dp_aggregate_shape *shape, u32 *table,
			    const char **why);

/** dp_engine_aggregate() - the table, with its geometry. NULL: there is none of this number */
const struct dp_aggregate_entry *dp_engine_aggregate(const struct dp_engine *e,
						     u32 table);

/**
 * dp_engine_read_aggregate() - read a table that hits may change meanwhile
 * @take: called with each key that has hits, and its row: the count, and the fields where the
 *        geometry says. Two keys may be the same. The rows of a set are empty.
 *
 * What a row says is true of one moment for each CPU. The target may have written anything: that
 * is what @take gets then. Bounded.
 * Return: 0; -ENOMEM.
 */
int dp_engine_read_aggregate(const struct dp_engine *e, u32 table,
			     void (*take)(void *arg, const u64 *key,
					  const u64 *row),
			     void *arg);

/**
 * dp_engine_read_slots() - the same, from slot *@first on, until @take was called @most times
 * @first: set to where it goes on. Return: 1: there may be more; 0; -ENOMEM.
 */
int dp_engine_read_slots(
	const struct dp_engine *e, u32 table, u64 *first, u32 most,
	void (*take)(void *arg, const u64 *key, const u64 *row), void *arg);

/** dp_engine_remove_aggregate() - one that came after the arena, and what it has of distinct values: their numbers are
 *  others' from here on. Context: no hit uses them, and no program has them. */
void dp_engine_remove_aggregate(struct dp_engine *e, u32 table);

/** dp_engine_aggregate_lost() - hits that are in no row, by enum dp_aggregate_lost */
void dp_engine_aggregate_lost(const struct dp_engine *e, u32 table,
			      u64 lost[DP_LOST_NR]);

/** dp_aggregates_place() - find their places for so many CPUs. dp_aggregates_fill() - write the
 *  geometry where the hit half finds it. dp_aggregates_words() - words of a hit, of each table */
void dp_aggregates_place(struct dp_engine *e, u32 shards);
void dp_aggregates_fill(struct dp_engine *e);
void dp_aggregates_free(struct dp_engine *e);
void dp_aggregates_words(const struct dp_engine *e,
			 u8 words[DP_AGGREGATE_TABLES]);

#endif
