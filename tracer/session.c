// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* session: specs, target and points of one run, opened and closed in order. */
#include "tracer/session.h"
#include "engine/control/control.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dp_session_parse(struct dp_session *s, const struct dp_tracer_options *opt,
		     const char **bad_spec, struct dp_diag *diag)
{
	size_t i;
	int err = 0;

	memset(s, 0, sizeof(*s));
	s->opt = opt;
	s->specs = calloc(opt->nr_specs + 1, sizeof(*s->specs));
	if (!s->specs)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < opt->nr_specs && !err; i++) {
		err = dp_spec_parse(opt->specs[i], &s->specs[i], diag);
		if (!err) {
			s->nr_specs++;
			err = dp_spec_supported(&s->specs[i], diag);
		}
		if (err)
			*bad_spec = opt->specs[i];
	}
	return err;
}

static int resolve(struct dp_session *s, const char **bad_spec,
		   struct dp_diag *diag)
{
	size_t i;
	int err = dp_modules_open(dp_process_pid(s->proc),
				  dp_process_mem(s->proc), &s->mods, diag);

	for (i = 0; i < s->nr_specs && !err; i++) {
		err = dp_points_resolve(s->proc, s->mods, &s->specs[i],
					&s->points, diag);
		if (err)
			*bad_spec = s->opt->specs[i];
	}
	return err;
}

int dp_session_open(struct dp_session *s, const char **bad_spec,
		    struct dp_diag *diag)
{
	int err = s->opt->pid ? dp_process_attach(s->opt->pid, &s->proc, diag) :
				dp_process_launch(s->opt->argv, &s->proc, diag);

	if (err)
		return err;
	err = resolve(s, bad_spec, diag);
	if (err)
		dp_process_kill_launched(s->proc);
	return err;
}

void dp_session_close(struct dp_session *s)
{
	size_t i;

	dp_process_close(s->proc);
	dp_modules_close(s->mods);
	dp_engine_destroy(s->engine);
	dp_points_free(&s->points);
	for (i = 0; i < s->nr_specs; i++)
		dp_spec_free(&s->specs[i]);
	free(s->specs);
	free(s->probes);
}
