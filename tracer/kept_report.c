// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* kept_report: when what has been kept is collected and printed: for intervals, and at the end. */
#include "tracer/kept.h"
#include "tracer/output.h"
#include "tracer/session.h"

static struct dp_kept *kept_of(const struct dp_session *s, size_t spec)
{
	return s->kind->keeps ? (struct dp_kept *)s->own + spec : NULL;
}

static void say_failed(int err)
{
	if (err)
		dp_output_say(
			"out of memory: some of what was kept is not shown");
}

/* Hits that had to be kept, if all had. */
static u64 due(const struct dp_session *s, const struct dp_point *p)
{
	struct dp_source_count count;
	struct dp_account calls;

	if (p->spec->kind == DP_SPEC_RETURN) {
		s->ops->calls(s->source, p, &calls);
		return calls.returned;
	}
	s->ops->count(s->source, p, &count);
	return count.hits;
}

/* A row has a hit, or has it not; the hit has been counted before. */
static u64 cut_off(const struct dp_session *s, const struct dp_spec *spec,
		   const struct dp_kept_state *state)
{
	u64 all = 0, kept = 0, missed = 0;
	struct dp_source_count count;
	size_t i;

	for (i = 0; i < s->points.n && !spec->cond; i++) {
		if (s->points.v[i].refused || s->points.v[i].spec != spec)
			continue;
		s->ops->count(s->source, &s->points.v[i], &count);
		all += due(s, &s->points.v[i]);
		missed += count.missed;
	}
	for (i = 0; i < state->rows.n; i++)
		kept += state->rows.v[i].words[0];
	for (i = 0; i < DP_LOST_NR; i++)
		kept += state->lost[i];
	return all > kept + missed ? all - kept - missed : 0;
}

static int leave(struct dp_session *s, struct dp_kept *kept, size_t spec)
{
	struct dp_kept_state own = { .lost = { 0 } };
	int err = dp_kept_add(s, kept, spec, &own);

	if (!err && kept->made)
		own.cut = cut_off(s, &s->specs[spec], &own);
	err = err ?: dp_kept_merge(kept, &kept->ended, &own);
	dp_kept_clear(&own);
	return err;
}

/* A process has ended, or its probes have. */
void dp_kept_leave(struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		if (s->specs[i].aggs)
			say_failed(leave(s, kept_of(s, i), i));
}

static void print(const struct dp_session *s, const struct dp_kept *kept,
		  struct dp_kept_state *state, struct dp_modules *mods,
		  const char *when)
{
	const struct dp_tracer_options *opt = s->opt;
	size_t n;

	dp_kept_count(kept, state);
	n = dp_kept_sort(kept, &state->rows);
	if (opt->json)
		dp_kept_json(opt->out, kept, state, n, opt->top, mods, when);
	else
		dp_kept_print(opt->out, kept, state, n, opt->top, mods);
}

void dp_kept_report(struct dp_session *s, struct dp_modules *mods)
{
	struct dp_kept *kept;
	bool any = false;
	size_t i;

	for (i = 0; i < s->nr_specs; i++) {
		kept = kept_of(s, i);
		if (!s->specs[i].aggs || !kept->made)
			continue;
		if (!s->opt->json && (any || dp_kept_counted(s)))
			fputs("\n", s->opt->out);
		any = true;
		print(s, kept, &kept->ended, mods, "");
		if (!s->opt->json)
			dp_kept_lost(kept, &kept->ended);
	}
	fflush(s->opt->out);
}

static void look(const struct dp_session *s, struct dp_kept *kept, size_t spec,
		 struct dp_session **v, size_t n, const char *when)
{
	struct dp_kept_state now = { .lost = { 0 } }, come = { .lost = { 0 } };
	int err = dp_kept_merge(kept, &now, &kept->ended);
	size_t i;

	for (i = 0; i < n && !err; i++)
		err = dp_kept_add(v[i], kept, spec, &now);
	err = err ?: dp_kept_merge(kept, &come, &now);
	if (!err) {
		dp_kept_since(kept, &come, &kept->before);
		print(s, kept, &come, n == 1 ? v[0]->source->mods : NULL, when);
	}
	say_failed(err);
	dp_kept_clear(&come);
	dp_kept_clear(&kept->before);
	kept->before = now;
}

void dp_kept_look(const struct dp_session *s, struct dp_session **v, size_t n,
		  const char *when, const char *day)
{
	size_t i;

	for (i = 0; i < s->nr_specs; i++) {
		struct dp_kept *kept = kept_of(s, i);

		if (!s->specs[i].aggs || !kept->made)
			continue;
		if (!s->opt->json)
			dp_output_print(s->opt->out, "%s", day);
		look(s, kept, i, v, n, when);
	}
}
