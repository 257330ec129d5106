/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* table: rows of counts, the probes with most hits first. */
#ifndef DP_TABLE_H
#define DP_TABLE_H

#include "port_types.h"
#include <stddef.h>
#include <stdio.h>

struct dp_point;
struct dp_session;
struct dp_tracer_options;

/** enum dp_table_by - what a row is of: a probe; one in a process; one in all processes of a program */
enum dp_table_by { DP_TABLE_PROBES, DP_TABLE_PROCESSES, DP_TABLE_PROGRAMS };

/**
 * struct dp_row - the counts of a point, of a whole run or of an interval
 * @s: the session that has the point
 * @name: of the probe; @program, @processes: of DP_TABLE_PROGRAMS, which has neither @s nor @point
 * @order: which row of its table it was before that was sorted
 * @mode: as in struct dp_source_count; NULL: the point is refused
 */
struct dp_row {
	const struct dp_session *s;
	const struct dp_point *point;
	const char *name, *program, *mode;
	u64 hits, missed, interior, processes;
	size_t order;
};

/**
 * struct dp_table - rows, in memory that dp_table_close() frees
 * @others: rows that --top has taken away, and their sums
 * @columns: of the terminal that it is printed on; 0: it is none
 * @hits_width, @missed_width: columns of these numbers; @program_width: of names of programs
 * @shortens: names are shortened to fit the terminal
 */
struct dp_table {
	struct dp_row *rows;
	size_t n;
	struct {
		u64 n, hits, missed;
	} others;
	enum dp_table_by by;
	size_t columns, program_width;
	int hits_width, missed_width;
	bool shortens;
};

/** dp_row_read() - the counts of a point of @s, of the whole run so far */
void dp_row_read(const struct dp_session *s, const struct dp_point *point,
		 struct dp_row *row);

/** dp_table_by() - what the rows of a run are of */
enum dp_table_by dp_table_by(const struct dp_tracer_options *opt);
/** dp_table_points() - how many points @n sessions have */
size_t dp_table_points(struct dp_session *const *v, size_t n);
/** dp_table_open() - a table without rows, with room for @cap of them.
 *  Return: 0, or -ENOMEM with words on stderr. */
int dp_table_open(struct dp_table *t, size_t cap, enum dp_table_by by);
void dp_table_add(struct dp_table *t, const struct dp_row *row);
/** dp_table_sort() - by hits, descending; rows with as many stay in their order
 *  @top: leave so many rows; 0: all */
void dp_table_sort(struct dp_table *t, u64 top);
/** dp_table_fit() - make it fit the terminal, if @out is one: before any of it is printed
 *  @shortens: nothing is to stand behind names, which are as short as they have to be */
void dp_table_fit(struct dp_table *t, FILE *out, bool shortens);
/** dp_table_like() - give two tables of which one stands below the other the same columns */
void dp_table_like(struct dp_table *a, struct dp_table *b);
void dp_table_close(struct dp_table *t);

/**
 * dp_table_title() - print the names of the columns, without the end of the line
 * dp_table_row() - print a row, likewise
 * dp_table_others() - print a row for those that --top has taken away, if there are any
 * @lead: what stands before: the time, and its name
 */
void dp_table_title(FILE *out, const struct dp_table *t, const char *lead);
void dp_table_row(FILE *out, const struct dp_table *t, const char *lead,
		  const struct dp_row *row);
void dp_table_others(FILE *out, const struct dp_table *t, const char *lead);
/** dp_table_others_json() - ",\"others\":12,\"hits\":…" likewise, an object of its own
 *  @lead: its first members, with a comma behind */
void dp_table_others_json(FILE *out, const struct dp_table *t,
			  const char *lead);

#endif
