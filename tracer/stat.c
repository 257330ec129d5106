// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stat: count hits, or hits for which a condition holds; or keep values of them in tables. */
#include "tracer/flame.h"
#include "tracer/interval.h"
#include "tracer/kept.h"
#include "tracer/output.h"
#include "tracer/session.h"
#include "tracer/stacks.h"
#include "tracer/expr.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>

static struct dp_kept *kept_of(const struct dp_session *s, size_t spec)
{
	return (struct dp_kept *)s->own + spec;
}

static int compile(const struct dp_spec *spec, struct dp_trace_program *program,
		   struct dp_diag *diag)
{
	return spec->aggs ? dp_expr_aggregate(spec, program, diag) :
			    dp_expr_count(spec, program, diag);
}

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[point];
	size_t i = (size_t)(p->spec - s->specs);
	struct dp_spec *spec = &s->specs[i];
	struct dp_trace_program program;
	int err;

	if (!spec->cond && !spec->aggs)
		return 0;
	if (p->names)
		spec->prototype = p->names;
	err = compile(spec, &program, diag);
	if (err)
		return err;
	if (program.stack)
		err = dp_stacks_walk(s, diag);
	if (spec->aggs && !err)
		err = dp_kept_table(s, kept_of(s, i), i, &program, diag);
	err = err ?: dp_session_bind(s, point, &program, !spec->aggs, diag);
	dp_expr_free(&program);
	return err;
}

/* A spec whose library is not there yet has its table from the beginning, if it is known what that
 * will have. */
static int prepare(struct dp_session *s, struct dp_diag *diag)
{
	struct dp_trace_program program;
	size_t i;
	int err = 0;

	for (i = 0; i < s->nr_specs && !err; i++) {
		kept_of(s, i)->spec = &s->specs[i];
		if (!s->specs[i].aggs || s->specs[i].asks)
			continue;
		err = compile(&s->specs[i], &program, diag) ?:
			      dp_kept_table(s, kept_of(s, i), i, &program,
					    diag);
		if (!err)
			dp_expr_free(&program);
	}
	return err;
}

static void report(struct dp_session *s)
{
	dp_kept_leave(s);
	dp_report_counts(s);
	if (!s->opt->children)
		dp_kept_report(s, s->source->mods);
}

static void finish(struct dp_session *s)
{
	dp_kept_report(s, NULL);
}

static void report_stacks(struct dp_session *s)
{
	dp_kept_leave(s);
	if (!s->opt->children)
		dp_flame_report(s);
}

static int run(const struct dp_session_kind *kind,
	       const struct dp_tracer_options *opt, const char **bad_spec,
	       int *died_of, struct dp_diag *diag)
{
	struct dp_kept *kept = calloc(opt->nr_specs + 1, sizeof(*kept));
	size_t i;
	int status;

	if (!kept)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	status = dp_session_do(opt, kind, kept, bad_spec, died_of, diag);
	for (i = 0; i < opt->nr_specs; i++)
		dp_kept_free(&kept[i]);
	free(kept);
	return status;
}

int dp_tracer_stat(const struct dp_tracer_options *opt, const char **bad_spec,
		   int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.inlines = true,
		.waits = true,
		.counts = true,
		.keeps = true,
		.system = true,
		.prepare = prepare,
		.bind = bind,
		.report = report,
		.finish = finish,
	};

	return run(&kind, opt, bad_spec, died_of, diag);
}

int dp_tracer_stacks(const struct dp_tracer_options *opt, const char **bad_spec,
		     int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.inlines = true,
		.waits = true,
		.keeps = true,
		.keep = "count() by comm, stack",
		.walks = true,
		.system = true,
		.prepare = prepare,
		.bind = bind,
		.report = report_stacks,
		.finish = dp_flame_report,
	};

	return run(&kind, opt, bad_spec, died_of, diag);
}
