/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* kept: what the hits of specs have kept in tables, of all processes of a run. */
#ifndef DP_KEPT_H
#define DP_KEPT_H

#include "tracer/expr.h"
#include "tracer/session.h"
#include "tracer/walked.h"
#include <stddef.h>
#include <stdio.h>

struct dp_diag;
struct dp_modules;
struct dp_spec;

#define DP_NO_TABLE 0xffffffffu
/** dp_kept_number() - the table in which a spec's hits are kept. DP_NO_TABLE: there is none */
static inline u32 dp_kept_number(const struct dp_session *s, size_t spec)
{
	while (!s->tables && s->origin)
		s = s->origin;
	return s->tables && s->tables[spec] ? s->tables[spec] - 1 : DP_NO_TABLE;
}

/** struct dp_kept_row - a key, and what is kept for it
 *  @words: as a row of the table has them, the hits first; @distinct: of each field that is a set */
struct dp_kept_row {
	u64 *key, *words;
	u64 distinct[DP_AGGREGATE_FIELDS];
};

/**
 * struct dp_kept_rows - rows by their keys; begins as zeros
 * @places: a hash table of numbers of rows plus one; @size: a power of two
 * @keys, @row_words: words of each key, and of each row
 * @failed: there was no memory for some of it
 */
struct dp_kept_rows {
	struct dp_kept_row *v;
	size_t n, room;
	u32 *places;
	size_t size;
	u32 keys, row_words;
	bool failed;
};

/**
 * struct dp_kept_state - what has been kept of a spec up to a moment
 * @sets: of each field that is a set, its keys
 * @lost: hits that are in no row, by enum dp_aggregate_lost; @cut: those that a signal's handler has
 *        left by siglongjmp; @missing: of each set, values for which there was no room
 */
struct dp_kept_state {
	struct dp_kept_rows rows, sets[DP_AGGREGATE_FIELDS];
	u64 lost[DP_LOST_NR], cut, missing[DP_AGGREGATE_FIELDS];
};

/**
 * struct dp_kept - a spec's
 * @made: @program says what its keys and values are, and @table where a row has them
 * @ended: of processes that have ended; @before: all of it, when an interval ended
 * @walked: the stacks that are keys; a key has the place of its stack there, whatever process it is of
 */
struct dp_kept {
	const struct dp_spec *spec;
	bool made;
	struct dp_trace_program program;
	struct dp_aggregate_entry table;
	struct dp_kept_state ended, before;
	struct dp_walked walked;
};

/** dp_kept_table() - have a table for a spec in a session, if there is none yet
 *  @program: of one of its points. Return: 0; a negative errno with words. */
int dp_kept_table(struct dp_session *s, struct dp_kept *kept, size_t spec,
		  const struct dp_trace_program *program, struct dp_diag *diag);

/** dp_kept_add() - add what a session has kept of a spec so far. Return: 0; -ENOMEM */
int dp_kept_add(const struct dp_session *s, struct dp_kept *kept, size_t spec,
		struct dp_kept_state *to);
/** dp_kept_merge() - add @from to @to */
int dp_kept_merge(const struct dp_kept *kept, struct dp_kept_state *to,
		  const struct dp_kept_state *from);
/** dp_kept_since() - take from the counts of @now those of @before; rows without any are left with 0 hits */
void dp_kept_since(const struct dp_kept *kept, struct dp_kept_state *now,
		   const struct dp_kept_state *before);
/** dp_kept_count() - count the keys of the sets for their rows */
void dp_kept_count(const struct dp_kept *kept, struct dp_kept_state *state);
/** dp_kept_sort() - by hits, descending, then by key. Return: rows that have any */
size_t dp_kept_sort(const struct dp_kept *kept, struct dp_kept_rows *rows);
void dp_kept_clear(struct dp_kept_state *state);
/** dp_kept_free() - free all that a spec has kept */
void dp_kept_free(struct dp_kept *kept);
/** dp_kept_is_stack() - is a key a stack? */
static inline bool dp_kept_is_stack(const struct dp_trace_item *item)
{
	return item->type.kind == DP_VALUE_STACK && !item->type.stars;
}

/**
 * dp_kept_print() - print rows that have been sorted
 * @n: how many have hits; @top: print as many, 0: all; @when: what each JSON object begins with
 * @mods: of the process, for names; NULL: of several
 */
void dp_kept_print(FILE *out, const struct dp_kept *kept,
		   const struct dp_kept_state *state, size_t n, u64 top,
		   struct dp_modules *mods);
void dp_kept_json(FILE *out, const struct dp_kept *kept,
		  const struct dp_kept_state *state, size_t n, u64 top,
		  struct dp_modules *mods, const char *when);
/** dp_kept_lost() - say how many hits are in no row, and why */
void dp_kept_lost(const struct dp_kept *kept,
		  const struct dp_kept_state *state);

/* report: when it is printed. */

/** dp_kept_leave() - a session ends: what it has kept is of the run
 *  dp_kept_report() - print what the run has kept; @mods: as for dp_kept_print() */
void dp_kept_leave(struct dp_session *s);
void dp_kept_report(struct dp_session *s, struct dp_modules *mods);
/** dp_kept_look() - print what has been kept since the last look, by all of @v
 *  @when: what JSON objects begin with; @day: what stands before each table */
void dp_kept_look(const struct dp_session *s, struct dp_session **v, size_t n,
		  const char *when, const char *day);
/** dp_kept_counted() - are there specs of which hits are only counted? */
bool dp_kept_counted(const struct dp_session *s);

/* histogram: counts by ranges of values. */

/** dp_histogram_print() - a line a range, from the first to the last that has any */
void dp_histogram_print(FILE *out, const struct dp_aggregate_field *f,
			const u64 *buckets, bool time);
/** dp_histogram_json() - "[{"min":2,"max":3,"count":1},…]" */
void dp_histogram_json(FILE *out, const struct dp_aggregate_field *f,
		       const u64 *buckets);

#endif
