// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* table: see table.h. */
#include "tracer/table.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <errno.h>
#include <stdlib.h>

void dp_row_read(const struct dp_session *s, const struct dp_point *point,
		 struct dp_row *row)
{
	struct dp_source_count c;

	*row = (struct dp_row){ .s = s, .point = point };
	if (point->refused)
		return;
	s->ops->count(s->source, point, &c);
	row->mode = c.mode;
	row->hits = dp_session_hits(s, point, &c);
	row->missed = c.missed;
	row->interior = c.interior;
}

int dp_table_open(struct dp_table *t, struct dp_session *const *v, size_t n)
{
	size_t i, cap = 1;

	for (i = 0; i < n; i++)
		cap += v[i]->points.n;
	*t = (struct dp_table){ .rows = calloc(cap, sizeof(*t->rows)) };
	if (t->rows)
		return 0;
	dp_output_say("out of memory: there is no room for the counts");
	return -ENOMEM;
}

void dp_table_add(struct dp_table *t, const struct dp_row *row)
{
	t->rows[t->n++] = *row;
}

/* Rows of one session are in the order of its points. */
static int by_hits(const void *a, const void *b)
{
	const struct dp_row *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void cut(struct dp_table *t, size_t top)
{
	while (t->n > top) {
		const struct dp_row *row = &t->rows[--t->n];

		t->others.n++;
		t->others.hits += row->hits;
		t->others.missed += row->missed;
	}
}

void dp_table_sort(struct dp_table *t, u64 top)
{
	qsort(t->rows, t->n, sizeof(*t->rows), by_hits);
	if (top)
		cut(t, top);
}

void dp_table_close(struct dp_table *t)
{
	free(t->rows);
}

void dp_table_title(FILE *out, const char *lead, bool children)
{
	dp_output_print(out, "%s%12s %8s  %-4s  %sPROBE", lead, "HITS",
			"MISSED", "MODE", children ? "    PID  " : "");
}

/* What stands before the name. */
static void print_counts(FILE *out, const char *lead, u64 hits, u64 missed,
			 const char *mode)
{
	dp_output_print(out, "%s%12lu %8lu  %-4s  ", lead, hits, missed, mode);
}

void dp_table_row(FILE *out, const char *lead, const struct dp_row *row)
{
	print_counts(out, lead, row->hits, row->missed, row->mode);
	if (row->s->opt->children)
		dp_output_print(out, "%7d  ", row->s->source->pid);
	dp_output_print(out, "%s", row->point->name);
}

void dp_table_others(FILE *out, const struct dp_table *t, const char *lead,
		     bool children)
{
	if (!t->others.n)
		return;
	print_counts(out, lead, t->others.hits, t->others.missed, "-");
	dp_output_print(out, "%s(%lu other%s)\n", children ? "      -  " : "",
			t->others.n, t->others.n == 1 ? "" : "s");
}

void dp_table_others_json(FILE *out, const struct dp_table *t, const char *lead)
{
	if (t->others.n)
		dp_output_print(
			out, "{%s\"others\":%lu,\"hits\":%lu,\"missed\":%lu}\n",
			lead, t->others.n, t->others.hits, t->others.missed);
}
