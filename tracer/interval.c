// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * interval: print what was counted in each interval, while it goes on.
 *
 * A row says what has come since the last look at its probe; rows of nothing are left out. On a
 * terminal the table of an interval replaces the one before; the totals at the end do not.
 */
#include "tracer/interval.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* What a probe had counted at the last look */
struct dp_seen {
	u64 hits, missed;
};

/** struct row - of a table: what has come; @s: which session's */
struct row {
	const struct dp_session *s;
	const struct dp_point *point;
	const char *mode;
	u64 hits, missed;
};

struct table {
	struct row *rows;
	size_t n, cap;
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

static void look(struct dp_session *s, size_t i, struct table *t)
{
	const struct dp_point *p = &s->points.v[i];
	struct dp_source_count c;
	struct row row = { .s = s, .point = p };

	if (p->refused)
		return;
	s->ops->count(s->source, p, &c);
	row.hits = since(&s->seen[i].hits, dp_session_hits(s, p, &c));
	row.missed = since(&s->seen[i].missed, c.missed);
	row.mode = c.mode;
	if ((row.hits || row.missed) && t->n < t->cap)
		t->rows[t->n++] = row;
}

static int by_hits(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits < y->hits ? 1 : -1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void row_json(FILE *out, const struct row *row, double time, double span)
{
	dp_output_print(
		out, "{\"time\":%.6f,\"interval\":%.6f,\"probe\":", time, span);
	dp_json_string(out, row->point->name);
	if (row->s->opt->children)
		dp_output_print(out, ",\"pid\":%d", row->s->source->pid);
	dp_output_print(out, ",\"hits\":%lu,\"missed\":%lu,\"mode\":\"%s\"}\n",
			row->hits, row->missed, row->mode);
}

static void row_text(FILE *out, const struct row *row, const char *day)
{
	dp_output_print(out, "%-8s %12lu %8lu  %-4s  ", day, row->hits,
			row->missed, row->mode);
	if (row->s->opt->children)
		dp_output_print(out, "%7d  ", row->s->source->pid);
	dp_output_print(out, "%s\n", row->point->name);
}

static void title(FILE *out, struct dp_printed *printed, bool children)
{
	bool terminal = isatty(fileno(out));

	/* home, and all that follows is cleared */
	if (terminal)
		fputs("\033[H\033[J", out);
	if (terminal || !printed->interval_titled)
		dp_output_print(out, "%-8s %12s %8s  %-4s  %sPROBE\n", "TIME",
				"HITS", "MISSED", "MODE",
				children ? "    PID  " : "");
	printed->interval_titled = true;
}

static void print(const struct dp_session *s, const struct table *t,
		  double span)
{
	FILE *out = s->opt->out;
	struct timespec now;
	struct tm tm = { 0 };
	char day[16] = "";
	size_t i;

	clock_gettime(CLOCK_REALTIME, &now);
	localtime_r(&now.tv_sec, &tm);
	strftime(day, sizeof(day), "%H:%M:%S", &tm);
	if (!s->opt->json)
		title(out, s->printed, s->opt->children);
	for (i = 0; i < t->n; i++)
		if (s->opt->json)
			row_json(out, &t->rows[i],
				 (double)now.tv_sec + (double)now.tv_nsec / 1e9,
				 span);
		else
			row_text(out, &t->rows[i], day);
	if (!t->n && !s->opt->json)
		dp_output_print(out, "%-8s no hits\n", day);
	fflush(out);
}

static void print_interval(struct dp_session **v, size_t n, double span)
{
	struct table t = { 0 };
	size_t i, k;

	for (i = 0; i < n; i++)
		t.cap += v[i]->points.n;
	t.rows = calloc(t.cap + 1, sizeof(*t.rows));
	if (!t.rows)
		return;
	for (i = 0; i < n; i++)
		for (k = 0; reserve(v[i]) && k < v[i]->points.n; k++)
			look(v[i], k, &t);
	qsort(t.rows, t.n, sizeof(*t.rows), by_hits);
	print(v[0], &t, span);
	free(t.rows);
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
		if (n)
			print_interval(v, n, now - printed->since);
		printed->since = now;
		/* An interval that was missed is part of the one before. */
		while (printed->next <= now)
			printed->next += every;
	}
	return (printed->next - now) * 1000;
}
