// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * interval: print what was counted in each interval, while it goes on.
 *
 * A row says what has come since the last look at its probe; rows of nothing are left out. On a
 * terminal the table of an interval replaces the one before; the totals at the end do not.
 */
#include "tracer/interval.h"
#include "tracer/kept.h"
#include "tracer/output.h"
#include "tracer/screen.h"
#include "tracer/session.h"
#include "tracer/table.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WHEN 80

/* What a probe had counted at the last look */
struct dp_seen {
	u64 hits, missed;
};

/* Points come, with libraries; they never go. */
static bool reserve(struct dp_session *s)
{
	struct dp_seen *more;

	if (s->points.n <= s->nr_seen)
		return true;
	more = realloc(s->seen, s->points.n * sizeof(*more));
	if (!more)
		return false;
	memset(more + s->nr_seen, 0,
	       (s->points.n - s->nr_seen) * sizeof(*more));
	s->seen = more;
	s->nr_seen = s->points.n;
	return true;
}

/* A count of a probe that has moved may be less for a moment. */
static u64 since(u64 *then, u64 now)
{
	u64 come = now > *then ? now - *then : 0;

	*then = now;
	return come;
}

/* What a probe has counted since the last look at it. Return: false: there is nothing to show. */
static bool look(struct dp_session *s, size_t i, struct dp_row *row)
{
	dp_row_read(s, &s->points.v[i], row);
	row->hits = since(&s->seen[i].hits, row->hits);
	row->missed = since(&s->seen[i].missed, row->missed);
	return !row->point->refused && !row->point->spec->aggs &&
	       (row->hits || row->missed || s->opt->all);
}

static void look_at_all(struct dp_session *s, struct dp_table *t)
{
	struct dp_row row;
	size_t i;

	for (i = 0; reserve(s) && i < s->points.n; i++)
		if (look(s, i, &row))
			dp_table_add(t, &row);
}

static void group(struct dp_session *s, struct dp_groups *g)
{
	struct dp_row row;
	size_t i;

	dp_groups_session(g);
	for (i = 0; reserve(s) && i < s->points.n; i++)
		if (look(s, i, &row))
			dp_groups_add(g, &row);
}

void dp_interval_leave(struct dp_session *s)
{
	if (s->opt->interval && dp_table_by(s->opt) == DP_TABLE_PROGRAMS)
		group(s, &s->printed->come);
}

static void row_json(FILE *out, const struct dp_row *row, const char *when)
{
	dp_output_print(out, "{%s\"probe\":", when);
	dp_json_string(out, row->point->name);
	dp_json_process(out, row->s);
	dp_output_print(out, ",\"hits\":%lu,\"missed\":%lu,\"mode\":\"%s\"}\n",
			row->hits, row->missed, row->mode);
}

static void stamp(char when[WHEN], const struct timespec *now, double span)
{
	snprintf(when, WHEN, "\"time\":%.6f,\"interval\":%.6f,",
		 (double)now->tv_sec + (double)now->tv_nsec / 1e9, span);
}

static void print_json(FILE *out, const struct dp_table *t,
		       const struct timespec *now, double span)
{
	char when[WHEN];
	size_t i;

	stamp(when, now, span);
	for (i = 0; i < t->n; i++)
		row_json(out, &t->rows[i], when);
	dp_table_others_json(out, t, when);
}

static void title(FILE *out, const struct dp_table *t,
		  struct dp_printed *printed)
{
	/* home, and all that follows is cleared */
	if (t->columns)
		fputs("\033[H\033[J", out);
	if (t->columns || !printed->interval_titled) {
		dp_table_title(out, t, "TIME     ");
		putc('\n', out);
	}
	printed->interval_titled = true;
}

static void name_time(char day[WHEN], const struct timespec *now)
{
	struct tm tm = { 0 };

	localtime_r(&now->tv_sec, &tm);
	if (!strftime(day, WHEN, "%H:%M:%S ", &tm))
		*day = '\0';
}

/* What specs keep of their hits. @first: no table stands above it */
static void keep(const struct dp_session *s, struct dp_session **v, size_t n,
		 const struct timespec *now, double span, bool first)
{
	char when[WHEN], day[WHEN];

	if (!s->kind->keeps)
		return;
	stamp(when, now, span);
	name_time(day, now);
	/* home, and all that follows is cleared */
	if (first && !s->opt->json && dp_screen_columns(s->opt->out))
		fputs("\033[H\033[J", s->opt->out);
	dp_kept_look(s, v, n, when, day);
}

static void print_text(const struct dp_session *s, struct dp_table *t,
		       const struct timespec *now)
{
	FILE *out = s->opt->out;
	char day[WHEN];
	size_t i;

	name_time(day, now);
	dp_table_fit(t, out, true);
	title(out, t, s->printed);
	for (i = 0; i < t->n; i++) {
		dp_table_row(out, t, day, &t->rows[i]);
		putc('\n', out);
	}
	dp_table_others(out, t, day);
	if (!t->n)
		dp_output_print(out, "%sno hits\n", day);
}

/* Return: 0, or -ENOMEM. */
static int fill(const struct dp_session *s, struct dp_session **v, size_t n,
		struct dp_table *t)
{
	struct dp_groups *come = &s->printed->come;
	bool programs = dp_table_by(s->opt) == DP_TABLE_PROGRAMS;
	size_t i;
	int err;

	for (i = 0; programs && i < n; i++)
		group(v[i], come);
	err = dp_table_open(t, programs ? come->n : dp_table_points(v, n),
			    dp_table_by(s->opt));
	if (err)
		return err;
	for (i = 0; !programs && i < n; i++)
		look_at_all(v[i], t);
	dp_groups_rows(come, t);
	dp_table_sort(t, s->opt->top);
	return 0;
}

static void print_interval(const struct dp_session *s, struct dp_session **v,
			   size_t n, double span)
{
	const struct dp_tracer_options *opt = s->opt;
	struct timespec now;
	struct dp_table t;

	if (fill(s, v, n, &t))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	if (opt->json)
		print_json(opt->out, &t, &now, span);
	else if (dp_kept_counted(s))
		print_text(s, &t, &now);
	keep(s, v, n, &now, span, !dp_kept_counted(s));
	fflush(opt->out);
	dp_table_close(&t);
	dp_groups_free(&s->printed->come);
}

double dp_interval_look(const struct dp_session *s, struct dp_session **v,
			size_t n)
{
	struct dp_printed *printed = s->printed;
	double every = s->opt->interval, now = dp_source_now();

	if (!every)
		return 1e9;
	if (!printed->next) {
		printed->since = now;
		printed->next = now + every;
	}
	if (now >= printed->next) {
		/* Where no process has probes, nothing is counted, but by those that have ended. */
		if (n || printed->come.n)
			print_interval(s, v, n, now - printed->since);
		printed->since = now;
		/* An interval that was missed is part of the one before. */
		while (printed->next <= now)
			printed->next += every;
	}
	return (printed->next - now) * 1000;
}
