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
/* Of DP_TABLE_PROGRAMS: number of processes, with a space before it; names, at a terminal */
#define PROCESSES_WIDTH 6
#define PROGRAM_LEAST 7
#define PROGRAM_USUAL 15 /* where it is no terminal, so that tables are alike */
#define PROGRAM_MOST 16
/* Spaces between columns, and the mode */
#define GAPS 9
#define NAME_LEAST 16

void dp_row_read(const struct dp_session *s, const struct dp_point *point,
		 struct dp_row *row)
{
	struct dp_source_count c;

	*row = (struct dp_row){ .s = s, .point = point, .name = point->name };
	if (point->refused)
		return;
	s->ops->count(s->source, point, &c);
	row->mode = c.mode;
	row->hits = dp_session_hits(s, point, &c);
	row->missed = c.missed;
	row->interior = c.interior;
}

enum dp_table_by dp_table_by(const struct dp_tracer_options *opt)
{
	if (!opt->children)
		return DP_TABLE_PROBES;
	return opt->verbose || opt->json ? DP_TABLE_PROCESSES :
					   DP_TABLE_PROGRAMS;
}

size_t dp_table_points(struct dp_session *const *v, size_t n)
{
	size_t i, all = 0;

	for (i = 0; i < n; i++)
		all += v[i]->points.n;
	return all;
}

int dp_table_open(struct dp_table *t, size_t cap, enum dp_table_by by)
{
	*t = (struct dp_table){ .rows = calloc(cap + 1, sizeof(*t->rows)),
				.by = by,
				.program_width = PROGRAM_LEAST,
				.hits_width = HITS_WIDTH,
				.missed_width = MISSED_WIDTH };
	if (t->rows)
		return 0;
	dp_output_say("out of memory: there is no room for the counts");
	return -ENOMEM;
}

void dp_table_add(struct dp_table *t, const struct dp_row *row)
{
	t->rows[t->n] = *row;
	t->rows[t->n].order = t->n;
	t->n++;
}

static int by_hits(const void *a, const void *b)
{
	const struct dp_row *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return x->order < y->order ? -1 : 1;
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

static void fit_programs(struct dp_table *t)
{
	size_t i, width;

	for (i = 0; t->by == DP_TABLE_PROGRAMS && i < t->n; i++) {
		width = dp_screen_width(t->rows[i].program);
		if (t->shortens && width > PROGRAM_MOST)
			width = PROGRAM_MOST;
		if (width > t->program_width)
			t->program_width = width;
	}
}

static void fit_numbers(struct dp_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		widen(&t->hits_width, t->rows[i].hits);
		widen(&t->missed_width, t->rows[i].missed);
	}
	widen(&t->hits_width, t->others.hits);
	widen(&t->missed_width, t->others.missed);
}

void dp_table_fit(struct dp_table *t, FILE *out, bool shortens)
{
	t->columns = dp_screen_columns(out);
	t->shortens = t->columns && shortens;
	if (t->columns)
		fit_numbers(t);
	else
		t->program_width = PROGRAM_USUAL;
	fit_programs(t);
}

void dp_table_like(struct dp_table *a, struct dp_table *b)
{
	if (a->hits_width < b->hits_width)
		a->hits_width = b->hits_width;
	if (a->missed_width < b->missed_width)
		a->missed_width = b->missed_width;
	if (a->program_width < b->program_width)
		a->program_width = b->program_width;
	b->hits_width = a->hits_width;
	b->missed_width = a->missed_width;
	b->program_width = a->program_width;
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

/* Columns between the mode and the name. */
static size_t middle(const struct dp_table *t)
{
	switch (t->by) {
	case DP_TABLE_PROCESSES:
		return PID_WIDTH;
	case DP_TABLE_PROGRAMS:
		return PROCESSES_WIDTH + t->program_width + 3;
	case DP_TABLE_PROBES:
		break;
	}
	return 0;
}

/* Columns that are left for a name. */
static size_t room(const struct dp_table *t, const char *lead)
{
	size_t before = strlen(lead) + (size_t)t->hits_width +
			(size_t)t->missed_width + GAPS + middle(t);

	return t->columns < before + NAME_LEAST ? NAME_LEAST :
						  t->columns - before;
}

static void print_program(FILE *out, const struct dp_table *t,
			  const char *processes, const char *program)
{
	size_t width = dp_screen_width(program);

	dp_output_print(out, "%*s  ", PROCESSES_WIDTH - 1, processes);
	if (t->shortens)
		dp_screen_name(out, program, t->program_width);
	else
		dp_output_print(out, "%s", program);
	width = width < t->program_width ? t->program_width - width : 0;
	dp_output_print(out, "%*s", (int)width + 2, "");
}

/* What stands between the mode and the name; @n: processes, or a process. */
static void print_middle(FILE *out, const struct dp_table *t, const char *n,
			 const char *program)
{
	if (t->by == DP_TABLE_PROCESSES)
		dp_output_print(out, "%7s  ", n);
	else if (t->by == DP_TABLE_PROGRAMS)
		print_program(out, t, n, program);
}

void dp_table_title(FILE *out, const struct dp_table *t, const char *lead)
{
	print_counts(out, t, lead, "HITS", "MISSED", "MODE");
	print_middle(out, t, t->by == DP_TABLE_PROGRAMS ? "PROCS" : "PID",
		     "PROGRAM");
	fputs("PROBE", out);
}

void dp_table_row(FILE *out, const struct dp_table *t, const char *lead,
		  const struct dp_row *row)
{
	char n[DP_SCREEN_NUMBER] = "";

	print_numbers(out, t, lead, row->hits, row->missed, row->mode);
	if (t->by == DP_TABLE_PROCESSES)
		dp_screen_number(n, (u64)row->s->source->pid, false);
	else if (t->by == DP_TABLE_PROGRAMS)
		dp_screen_number(n, row->processes, t->columns);
	print_middle(out, t, n, row->program);
	if (t->shortens)
		dp_screen_name(out, row->name, room(t, lead));
	else
		dp_output_print(out, "%s", row->name);
}

void dp_table_others(FILE *out, const struct dp_table *t, const char *lead)
{
	char n[DP_SCREEN_NUMBER];

	if (!t->others.n)
		return;
	print_numbers(out, t, lead, t->others.hits, t->others.missed, "-");
	print_middle(out, t, "-", "-");
	dp_screen_number(n, t->others.n, t->columns);
	dp_output_print(out, "(%s other%s)\n", n, t->others.n == 1 ? "" : "s");
}

void dp_table_others_json(FILE *out, const struct dp_table *t, const char *lead)
{
	if (t->others.n)
		dp_output_print(
			out, "{%s\"others\":%lu,\"hits\":%lu,\"missed\":%lu}\n",
			lead, t->others.n, t->others.hits, t->others.missed);
}
