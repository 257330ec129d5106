// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* stat: count hits, or hits for which a condition holds. */
#include "tracer/session.h"
#include "tracer/expr.h"

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[point];
	struct dp_spec *spec = &s->specs[p->spec - s->specs];
	struct dp_trace_program program;
	int err;

	if (!spec->cond)
		return 0;
	if (p->names)
		spec->prototype = p->names;
	err = dp_expr_count(spec, &program, diag);
	if (err)
		return err;
	err = dp_session_bind(s, point, &program, 1, diag);
	dp_expr_free(&program);
	return err;
}

int dp_tracer_stat(const struct dp_tracer_options *opt, const char **bad_spec,
		   int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.inlines = true,
		.waits = true,
		.counts = true,
		.bind = bind,
		.report = dp_report_counts,
	};

	return dp_session_do(opt, &kind, NULL, bad_spec, died_of, diag);
}
