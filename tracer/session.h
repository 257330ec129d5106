/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* session: what one run of the tool has open. */
#ifndef DP_SESSION_H
#define DP_SESSION_H

#include "tracer/tracer.h"

/** enum dp_ending - what ended the counting */
enum dp_ending {
	DP_ENDING_EXIT, /* the target ended */
	DP_ENDING_EXEC, /* it replaced its image */
	DP_ENDING_INTERRUPT, /* ^C */
	DP_ENDING_DURATION,
};

/**
 * struct dp_session - everything is owned and given back by dp_session_close()
 * @probes: number of the engine's probe for each point, where not refused
 */
struct dp_session {
	const struct dp_tracer_options *opt;
	struct dp_spec *specs;
	size_t nr_specs;
	struct dp_process *proc;
	struct dp_modules *mods;
	struct dp_engine *engine;
	struct dp_points points;
	u32 *probes;
	enum dp_ending ending;
};

/** dp_session_parse() - the specs, before anything is started.
 *  Return: 0; -EINVAL or -EOPNOTSUPP with a caret under *@bad_spec. */
int dp_session_parse(struct dp_session *s, const struct dp_tracer_options *opt,
		     const char **bad_spec, struct dp_diag *diag);

/** dp_session_open() - the target and its points. A command that was launched
 *  for nothing is ended before it runs. Return: 0 or a negative errno. */
int dp_session_open(struct dp_session *s, const char **bad_spec,
		    struct dp_diag *diag);

void dp_session_close(struct dp_session *s);

/* report.c */
void dp_report_counts(const struct dp_session *s);
void dp_report_summary(const struct dp_session *s);
/** dp_report_refused() - tell about matches of globs that cannot be probed */
void dp_report_refused(const struct dp_session *s);

/* json.c */
void dp_json_string(FILE *out, const char *text);

#endif
