// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * groups: see groups.h.
 *
 * A shell script makes a process for each command, and a build thousands. What is asked then is
 * how often each program was at a probe; a row for each process is there with -v and in JSON.
 */
#include "tracer/groups.h"
#include "tracer/interval.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "tracer/table.h"
#include "sym/list.h"
#include <stdlib.h>
#include <string.h>

#define FIRST_PLACES 256
#define ALL "(all)"

void dp_groups_session(struct dp_groups *g)
{
	g->sessions++;
}

/* FNV-1a, over both names */
static u64 hash(const char *program, const char *name)
{
	u64 h = 0xcbf29ce484222325;

	while (*program)
		h = (h ^ (unsigned char)*program++) * 0x100000001b3;
	while (*name)
		h = (h ^ (unsigned char)*name++) * 0x100000001b3;
	return h ^ h >> 32;
}

static bool is_of(const struct dp_group *have, const struct dp_group *like)
{
	return have->nth == like->nth && have->spec == like->spec &&
	       !strcmp(have->name, like->name) &&
	       !strcmp(have->program, like->program);
}

/* Where the number of the group is, or belongs. */
static u32 *place_of(const struct dp_groups *g, const struct dp_group *like)
{
	size_t i = hash(like->program, like->name) & (g->size - 1);

	while (g->places[i] && !is_of(&g->v[g->places[i] - 1], like))
		i = (i + 1) & (g->size - 1);
	return &g->places[i];
}

/* Half of the places are free. */
static bool widen(struct dp_groups *g)
{
	size_t i, size = g->size ? g->size * 2 : FIRST_PLACES;
	u32 *places;

	if (g->n * 2 < g->size)
		return true;
	places = calloc(size, sizeof(*places));
	if (!places)
		return false;
	free(g->places);
	g->places = places;
	g->size = size;
	for (i = 0; i < g->n; i++)
		*place_of(g, &g->v[i]) = (u32)i + 1;
	return true;
}

static struct dp_group *new_group(struct dp_groups *g,
				  const struct dp_group *like)
{
	struct dp_group one = {
		.program = strdup(like->program),
		.name = strdup(like->name),
		.spec = like->spec,
		.mode = like->mode,
		.nth = like->nth,
	};

	if (one.program && one.name && widen(g) && !dp_list_push(g, &one)) {
		*place_of(g, like) = (u32)g->n;
		return &g->v[g->n - 1];
	}
	free(one.program);
	free(one.name);
	return NULL;
}

static struct dp_group *find(const struct dp_groups *g,
			     const struct dp_group *like)
{
	u32 number = g->size ? *place_of(g, like) : 0;

	return number ? &g->v[number - 1] : NULL;
}

/* Its group. A process may have several probes of the same name: each has one of its own. */
static struct dp_group *group_of(struct dp_groups *g, struct dp_group *like)
{
	struct dp_group *have = find(g, like);

	while (have && have->last == g->sessions) {
		like->nth++;
		have = find(g, like);
	}
	return have ? have : new_group(g, like);
}

static void add(struct dp_group *to, const struct dp_group *part)
{
	to->hits += part->hits;
	to->missed += part->missed;
	to->processes += part->processes;
	to->parts++;
	if (strcmp(to->mode, part->mode))
		to->mode = "both";
}

void dp_groups_add(struct dp_groups *g, const struct dp_row *row)
{
	struct dp_group one = {
		.program = (char *)dp_report_program(row->s),
		.name = row->point->name,
		.spec = row->point->spec,
		.mode = row->mode,
		.hits = row->hits,
		.missed = row->missed,
		.processes = 1,
	};
	struct dp_group *to = group_of(g, &one);

	if (!to) {
		g->lost = true;
		return;
	}
	add(to, &one);
	to->last = g->sessions;
}

void dp_groups_count(struct dp_groups *g, const struct dp_session *s)
{
	struct dp_row row;
	size_t i;

	dp_groups_session(g);
	for (i = 0; i < s->points.n; i++) {
		dp_row_read(s, &s->points.v[i], &row);
		if (!row.point->refused && !row.point->spec->aggs)
			dp_groups_add(g, &row);
	}
}

void dp_groups_total(const struct dp_groups *g, struct dp_groups *total)
{
	struct dp_group one, *to;
	size_t i;

	for (i = 0; i < g->n; i++) {
		one = g->v[i];
		one.program = (char *)ALL;
		to = find(total, &one);
		if (!to)
			to = new_group(total, &one);
		if (to)
			add(to, &g->v[i]);
		else
			total->lost = true;
	}
}

static void add_row(const struct dp_group *g, struct dp_table *t)
{
	const struct dp_row row = {
		.name = g->name,
		.program = g->program,
		.mode = g->mode,
		.hits = g->hits,
		.missed = g->missed,
		.processes = g->processes,
	};

	dp_table_add(t, &row);
}

void dp_groups_rows(const struct dp_groups *g, struct dp_table *t)
{
	size_t i;

	for (i = 0; i < g->n; i++)
		add_row(&g->v[i], t);
}

static bool is_dull(const struct dp_group *g)
{
	return !g->hits && !g->missed && dp_spec_is_glob(g->spec);
}

/* Rows of groups; of totals only those that are a sum. */
static int fill(const struct dp_groups *g, const struct dp_tracer_options *opt,
		u32 least, struct dp_table *t, u64 *dull)
{
	size_t i;

	if (dp_table_open(t, g->n, DP_TABLE_PROGRAMS))
		return -1;
	for (i = 0; i < g->n; i++)
		if (!opt->all && is_dull(&g->v[i]))
			(*dull)++;
		else if (g->v[i].parts >= least)
			add_row(&g->v[i], t);
	dp_table_sort(t, opt->top);
	return 0;
}

static void print(FILE *out, const struct dp_table *t)
{
	size_t i;

	for (i = 0; i < t->n; i++) {
		dp_table_row(out, t, "", &t->rows[i]);
		putc('\n', out);
	}
	dp_table_others(out, t, "");
}

static void print_both(const struct dp_session *s, const struct dp_groups *g,
		       const struct dp_groups *total)
{
	FILE *out = s->opt->out;
	struct dp_table rows, sums;
	u64 again = 0;

	if (fill(g, s->opt, 1, &rows, &s->printed->dull))
		return;
	if (!fill(total, s->opt, 2, &sums, &again)) {
		dp_table_fit(&rows, out, true);
		dp_table_fit(&sums, out, true);
		dp_table_like(&rows, &sums);
		dp_table_title(out, &rows, "");
		putc('\n', out);
		print(out, &rows);
		print(out, &sums);
		dp_table_close(&sums);
	}
	dp_table_close(&rows);
}

void dp_groups_report(const struct dp_session *s)
{
	const struct dp_groups *g = &s->printed->groups;
	struct dp_groups total = { 0 };

	if (!g->sessions)
		return;
	dp_groups_total(g, &total);
	dp_output_begin(s->opt->out);
	print_both(s, g, &total);
	fflush(s->opt->out);
	if (g->lost || total.lost)
		dp_output_say(
			"out of memory: there was no room for some of the counts");
	dp_groups_free(&total);
}

void dp_groups_free(struct dp_groups *g)
{
	size_t i;

	for (i = 0; i < g->n; i++) {
		free(g->v[i].program);
		free(g->v[i].name);
	}
	free(g->v);
	free(g->places);
	*g = (struct dp_groups){ 0 };
}
