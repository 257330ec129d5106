// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* session: specs, target and points of one run, opened and closed in order. */
#include "tracer/session.h"
#include "tracer/expr.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "engine/site/program.h"
#include "engine/site/arm.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "resolve/ground.h"
#include "resolve/points.h"

/* What a spec says in ARGS and COND, looked at before anything is started. */
static int check_expressions(const struct dp_session *s, struct dp_spec *spec,
			     struct dp_diag *diag)
{
	struct dp_trace_program program;
	int err;

	if (spec->args && !s->kind->arguments) {
		err = dp_diag_set(
			diag, -EINVAL,
			"arguments (in parentheses) are for dprobes trace, which shows them");
		dp_diag_caret(diag, spec->args_col,
			      (int)strlen(spec->args) + 2);
		return err;
	}
	err = dp_expr_trace(spec, &program, diag);
	if (err)
		return err;
	spec->ret = program.ret;
	dp_expr_free(&program);
	return 0;
}

/* For tests, and for whoever doubts: how jumps are written. */
static int choose_arming(struct dp_session *s, struct dp_diag *diag)
{
	static const char *const names[] = { [DP_ARM_INTERIOR] = "interior",
					     [DP_ARM_QUIESCE] = "quiesce",
					     [DP_ARM_TRAP] = "trap" };
	const char *name = secure_getenv("DPROBES_ARM");
	size_t i;

	s->arming = DP_ARM_DEFAULT;
	if (!name || !*name)
		return 0;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i])) {
			s->arming = (enum dp_arming)i;
			return 0;
		}
	return dp_diag_set(
		diag, -EINVAL,
		"DPROBES_ARM is \"%s\"; it can be interior, quiesce or trap",
		name);
}

int dp_session_parse(struct dp_session *s, const struct dp_tracer_options *opt,
		     const struct dp_session_kind *kind, const char **bad_spec,
		     struct dp_diag *diag)
{
	size_t i;
	int err;

	memset(s, 0, sizeof(*s));
	s->opt = opt;
	s->kind = kind;
	err = choose_arming(s, diag);
	s->specs = calloc(opt->nr_specs + 1, sizeof(*s->specs));
	s->pending = calloc(opt->nr_specs + 1, sizeof(*s->pending));
	if (!s->specs || !s->pending)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < opt->nr_specs && !err; i++) {
		err = dp_spec_parse(opt->specs[i], &s->specs[i], diag);
		if (!err) {
			s->nr_specs++;
			err = dp_spec_supported(&s->specs[i], diag);
		}
		if (!err)
			err = check_expressions(s, &s->specs[i], diag);
		if (err)
			*bad_spec = opt->specs[i];
	}
	return err;
}

int dp_session_bind(struct dp_session *s, size_t point,
		    const struct dp_trace_program *program, u32 nr_lv,
		    struct dp_diag *diag)
{
	u32 start = 0, offset;
	const struct dp_program_spec spec = {
		.name = s->points.v[point].module,
		.code = program->code,
		.code_len = program->len,
		.starts = &start,
		.nr_starts = 1,
		.nr_lv = nr_lv,
		.jmpmax = 2 * DP_TRACE_ITEMS + 1,
		.logmax = program->logmax,
		.stack = 32,
	};
	/* A line is shown for every hit, whatever becomes of it. */
	struct dp_binding binding = { .maxhits = 0xffffffff,
				      .logonfault = true };
	const char *why;
	int err = dp_engine_add_program(s->engine, &spec, &binding.program,
					&offset, &why);

	if (err)
		return dp_diag_set(diag, err,
				   "%s: %s at byte %u of its program",
				   s->points.v[point].name, why, offset);
	dp_engine_bind(s->engine, s->probes[point], &binding);
	s->programs[point] = binding.program;
	return 0;
}

u64 dp_session_hits(const struct dp_session *s, size_t point)
{
	if (s->points.v[point].spec->cond && !s->kind->record)
		return dp_engine_local(s->engine, s->programs[point], 0);
	return dp_engine_hits(s->engine, s->probes[point]);
}

int dp_session_resolve(struct dp_session *s, const char **bad_spec,
		       struct dp_diag *diag)
{
	size_t i;
	int err = dp_modules_open(dp_process_pid(s->proc),
				  dp_process_mem(s->proc), &s->mods, diag);

	for (i = 0; i < s->nr_specs && !err; i++) {
		err = dp_points_resolve(s->proc, s->mods, &s->specs[i],
					&s->points, diag);
		s->specs[i].found |= !err;
		/* Another program that it becomes may have it. */
		if (err == -ENOENT &&
		    (dp_pending_take(s, i, diag) || s->opt->children))
			err = 0;
		if (err)
			*bad_spec = s->opt->specs[i];
		else
			dp_diag_clear(diag);
	}
	return err;
}

static void *copy_of(const void *from, size_t bytes)
{
	void *to = malloc(bytes ? bytes : 1);

	return to ? memcpy(to, from, bytes) : NULL;
}

int dp_session_own_points(struct dp_session *s, const struct dp_session *of)
{
	size_t n = of->nr_points;

	s->points = (struct dp_points){ 0 };
	s->grounds = (struct dp_grounds){ 0 };
	s->mods = NULL;
	s->probes = copy_of(of->probes, n * sizeof(*s->probes));
	s->programs = copy_of(of->programs, n * sizeof(*s->programs));
	s->point_of =
		copy_of(of->point_of, of->nr_probes * sizeof(*s->point_of));
	return s->probes && s->programs && s->point_of ?
		       dp_points_copy(&s->points, &of->points) :
		       -ENOMEM;
}

/* Programs run, and records are made, by the clock. */
static int check_clock(const struct dp_session *s, struct dp_diag *diag)
{
	bool needed = s->kind->record != NULL;
	size_t i;

	for (i = 0; i < s->nr_specs; i++)
		needed |= s->specs[i].cond != NULL;
	if (!needed || !dp_process_timeless(s->proc))
		return 0;
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"process %d runs in seccomp's strict mode, which forbids it to read the clock; use dprobes stat without conditions",
		dp_process_pid(s->proc));
}

static int open_once(struct dp_session *s, const char **bad_spec,
		     struct dp_diag *diag)
{
	int err = s->opt->pid ? dp_process_attach(s->opt->pid, &s->proc, diag) :
				dp_process_launch(s->opt->argv, &s->proc, diag);

	if (err)
		return err;
	err = check_clock(s, diag);
	if (!err)
		err = dp_session_resolve(s, bad_spec, diag);
	if (err)
		dp_process_kill_launched(s->proc);
	return err;
}

/* What was found is of a program that the process does not run any more. */
static bool is_outdated(const struct dp_session *s, int err)
{
	if (!s->opt->pid || !s->proc)
		return false;
	return err ? dp_process_executes(s->proc) :
		     dp_process_replaced(s->proc);
}

static void forget(struct dp_session *s)
{
	size_t i;

	dp_process_close(s->proc);
	dp_modules_close(s->mods);
	dp_points_free(&s->points);
	s->proc = NULL;
	s->mods = NULL;
	s->points = (struct dp_points){ 0 };
	for (i = 0; i < s->nr_specs; i++)
		s->specs[i].found = s->pending[i] = false;
	s->nr_coming = 0;
	s->watches = false;
}

int dp_session_open(struct dp_session *s, const char **bad_spec,
		    struct dp_diag *diag)
{
	double deadline = dp_watch_now() + DP_EXECS_NS / 1e9;
	int err = open_once(s, bad_spec, diag);

	while (is_outdated(s, err)) {
		if (dp_watch_now() > deadline) {
			*bad_spec = NULL;
			return dp_process_lost(s->opt->pid, diag);
		}
		forget(s);
		*bad_spec = NULL;
		err = open_once(s, bad_spec, diag);
	}
	/* What could not be read was not there any more. */
	if (err && s->opt->pid && s->proc && dp_process_ended(s->proc)) {
		*bad_spec = NULL;
		return dp_process_lost(s->opt->pid, diag);
	}
	return err;
}

void dp_session_close(struct dp_session *s)
{
	size_t i;

	dp_process_close(s->proc);
	dp_records_close(s);
	dp_calls_free(s);
	dp_modules_close(s->mods);
	dp_engine_destroy(s->engine);
	dp_points_free(&s->points);
	for (i = 0; i < s->nr_specs; i++)
		dp_spec_free(&s->specs[i]);
	free(s->specs);
	free(s->pending);
	free(s->probes);
	free(s->programs);
	free(s->point_of);
	dp_grounds_close(&s->grounds);
}
