// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* table: see table.h. */
#include "tracer/table.h"
#include "tracer/output.h"
#include "tracer/screen.h"
#include "tracer/session.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HITS_WIDTH 12
#define MISSED_WIDTH 8
#define PID_WIDTH 9
/* Spaces between columns, and the mode */
#define GAPS 9
#define NAME_LEAST 16

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
	*t = (struct dp_table){ .rows = calloc(cap, sizeof(*t->rows)),
				.hits_width = HITS_WIDTH,
				.missed_width = MISSED_WIDTH };
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

static void widen(int *width, u64 number)
{
	char text[DP_SCREEN_NUMBER];

	dp_screen_number(text, number, true);
	if ((int)strlen(text) > *width)
		*width = (int)strlen(text);
}

void dp_table_fit(struct dp_table *t, FILE *out, bool shortens)
{
	size_t i;

	t->columns = dp_screen_columns(out);
	if (!t->columns)
		return;
	t->shortens = shortens;
	for (i = 0; i < t->n; i++) {
		widen(&t->hits_width, t->rows[i].hits);
		widen(&t->missed_width, t->rows[i].missed);
	}
	widen(&t->hits_width, t->others.hits);
	widen(&t->missed_width, t->others.missed);
}

void dp_table_close(struct dp_table *t)
{
	free(t->rows);
}

/* What stands before the name. */
static void print_counts(FILE *out, const struct dp_table *t, const char *lead,
			 const char *hits, const char *missed, const char *mode)
{
	dp_output_print(out, "%s%*s %*s  %-4s  ", lead, t->hits_width, hits,
			t->missed_width, missed, mode);
}

static void print_numbers(FILE *out, const struct dp_table *t, const char *lead,
			  u64 hits, u64 missed, const char *mode)
{
	char h[DP_SCREEN_NUMBER], m[DP_SCREEN_NUMBER];

	dp_screen_number(h, hits, t->columns);
	dp_screen_number(m, missed, t->columns);
	print_counts(out, t, lead, h, m, mode);
}

/* Columns that are left for a name. */
static size_t room(const struct dp_table *t, const char *lead, bool children)
{
	size_t before = strlen(lead) + (size_t)t->hits_width +
			(size_t)t->missed_width + GAPS +
			(children ? PID_WIDTH : 0);

	return t->columns < before + NAME_LEAST ? NAME_LEAST :
						  t->columns - before;
}

void dp_table_title(FILE *out, const struct dp_table *t, const char *lead,
		    bool children)
{
	print_counts(out, t, lead, "HITS", "MISSED", "MODE");
	dp_output_print(out, "%sPROBE", children ? "    PID  " : "");
}

void dp_table_row(FILE *out, const struct dp_table *t, const char *lead,
		  const struct dp_row *row)
{
	bool children = row->s->opt->children;

	print_numbers(out, t, lead, row->hits, row->missed, row->mode);
	if (children)
		dp_output_print(out, "%7d  ", row->s->source->pid);
	if (t->shortens)
		dp_screen_name(out, row->point->name, room(t, lead, children));
	else
		dp_output_print(out, "%s", row->point->name);
}

void dp_table_others(FILE *out, const struct dp_table *t, const char *lead,
		     bool children)
{
	char n[DP_SCREEN_NUMBER];

	if (!t->others.n)
		return;
	print_numbers(out, t, lead, t->others.hits, t->others.missed, "-");
	dp_screen_number(n, t->others.n, t->columns);
	dp_output_print(out, "%s(%s other%s)\n", children ? "      -  " : "", n,
			t->others.n == 1 ? "" : "s");
}

void dp_table_others_json(FILE *out, const struct dp_table *t, const char *lead)
{
	if (t->others.n)
		dp_output_print(
			out, "{%s\"others\":%lu,\"hits\":%lu,\"missed\":%lu}\n",
			lead, t->others.n, t->others.hits, t->others.missed);
}
