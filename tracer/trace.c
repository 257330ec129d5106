// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* trace: print a line for every hit, with arguments. */
#include "tracer/interval.h"
#include "tracer/recorder.h"
#include "tracer/session.h"
#include "tracer/stacks.h"
#include "tracer/watched.h"
#include "tracer/traced.h"
#include "tracer/output.h"
#include "engine/layout/instance.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** struct run - @programs: of each spec */
struct run {
	struct dp_traced **programs;
	struct dp_tracer_options opt;
	const char **specs;
};

static struct dp_traced **programs_of(const struct dp_session *s)
{
	const struct run *run = s->own;

	return run->programs;
}

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_trace_program *p =
		dp_traced_make(programs_of(s), s, &s->points.v[point], diag);
	int err = p && p->stack ? dp_stacks_walk(s, diag) : 0;

	if (err)
		return err;
	return p ? dp_session_bind(s, point, p, 0, diag) : -EINVAL;
}

static void put_text(FILE *out, const char *text, char behind)
{
	dp_output_write(out, text, strlen(text));
	putc_unlocked(behind, out);
}

static void put_number(FILE *out, u32 value)
{
	dp_output_decimal(out, value);
	putc_unlocked(' ', out);
}

static void print_values(FILE *out, const struct dp_shown *v,
			 struct dp_modules *mods)
{
	if (v->cut || v->n)
		putc_unlocked(' ', out);
	dp_shown_print(out, v, mods, " ");
}

/* " = 42 <0.000001234>", the time in seconds */
static void print_leaving(FILE *out, const struct dp_point *p,
			  const struct dp_leaving *l, u64 ns, int err)
{
	if (l->how == DP_CALL_RETURNED)
		dp_returned_text(out, p, l->value, err);
	else
		dp_output_print(out, " = %s", dp_leaving_names[l->how]);
	if (l->how == DP_CALL_RETURNED || l->how == DP_CALL_TAIL_CALLED)
		dp_output_print(out, " <%lu.%09lu>", ns / 1000000000,
				ns % 1000000000);
}

static void json_leaving(FILE *out, struct dp_type type,
			 const struct dp_leaving *l, u64 ns, int err)
{
	if (l->how == DP_CALL_RETURNED)
		dp_returned_json(out, type, l->value);
	if (err)
		dp_output_print(out, ",\"errno\":%d", err);
	/* The time at which a call was abandoned is not known. */
	if (l->how != DP_CALL_ABANDONED)
		dp_output_print(out, ",\"latency_ns\":%lu", ns);
	dp_output_print(out, ",\"exit\":\"%s\"", dp_leaving_names[l->how]);
}

static void print_record(struct dp_session *s, const struct dp_record_copy *r,
			 const struct dp_leaving *leaving)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	u64 ns = leaving ? dp_rate_ns(s, leaving->entered, r->head.ticks) : 0;
	const struct dp_trace_program *program =
		dp_traced_find(programs_of(s), s, p);
	FILE *out = s->opt->out;
	struct dp_stamp stamp;
	struct dp_shown v;

	dp_shown_take(&v, program, r, leaving);
	dp_record_stamp(s, r, &stamp);
	if (s->opt->json) {
		putc('{', out);
		dp_json_stamp(out, &stamp, p->name);
		dp_shown_json(out, &v, s->source->mods);
		if (leaving)
			json_leaving(out, p->ret, leaving, ns, v.err);
		if (v.has_stack)
			dp_json_stack(out, s, v.stack);
		putc('}', out);
	} else {
		put_text(out, stamp.time, ' ');
		put_number(out, stamp.pid);
		put_number(out, stamp.tid);
		put_text(out, stamp.comm, ' ');
		dp_output_write(out, p->name, strlen(p->name));
		print_values(out, &v, s->source->mods);
		if (leaving)
			print_leaving(out, p, leaving, ns, v.err);
	}
	putc('\n', out);
	if (v.has_stack && !s->opt->json)
		dp_stacks_print(out, s, v.stack);
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	struct dp_record_copy rest;
	struct dp_leaving leaving;

	if (p->spec->kind == DP_SPEC_WATCH) {
		dp_watched_print(s, r);
		return;
	}
	if (p->spec->kind != DP_SPEC_RETURN) {
		print_record(s, r, NULL);
		return;
	}
	memcpy(&rest, r, offsetof(struct dp_record_copy, data) + r->head.len);
	if (dp_leaving_take(&rest, &leaving))
		print_record(s, &rest, &leaving);
}

/* What has come of --until, if it has not come as the last line */
static void tell_until(const struct dp_session *s, u64 lines)
{
	bool kept = s->opt->keep && lines;
	const char *until = s->opt->until;
	u64 hit = s->printed->until;

	if (!until || s->opt->quiet || (hit && hit != ~0ull) ||
	    ferror(s->opt->behind))
		return;
	if (hit)
		dp_output_say(
			"--until %s has hit, and there was no room for its record; --buffer SIZE gives records more",
			until);
	else
		dp_output_say("--until %s has not hit%s", until,
			      kept ? "; what has been kept is printed" : "");
}

static void write_kept(struct dp_session *s)
{
	struct dp_recorder *r = s->opt->recorder;

	if (r)
		tell_until(s, dp_recorder_write(r));
}

/* With -f, of one process of many */
static void report(struct dp_session *s)
{
	fflush(s->opt->out);
	if (!s->opt->children)
		write_kept(s);
}

/* --until SPEC is one spec more; what is kept goes to memory first. */
static int begin(struct run *run, const struct dp_tracer_options *opt,
		 struct dp_diag *diag)
{
	struct dp_tracer_options *own = &run->opt;

	*own = *opt;
	run->programs = calloc(opt->nr_specs + 2, sizeof(*run->programs));
	run->specs = calloc(opt->nr_specs + 1, sizeof(*run->specs));
	if (!run->programs || !run->specs)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	memcpy(run->specs, opt->specs, opt->nr_specs * sizeof(*run->specs));
	own->specs = run->specs;
	if (opt->until)
		run->specs[own->nr_specs++] = opt->until;
	if (!opt->until && !opt->keep)
		return 0;
	own->behind = opt->out;
	if (dp_recorder_open(&own->recorder, opt->keep, opt->out, &own->out))
		return dp_diag_set(diag, -ENOMEM,
				   "there is no memory for --keep");
	return 0;
}

static void end(struct run *run)
{
	dp_traced_free(run->programs, run->opt.nr_specs);
	free(run->specs);
	if (run->opt.recorder)
		dp_recorder_close(run->opt.recorder);
}

int dp_tracer_trace(const struct dp_tracer_options *opt, const char **bad_spec,
		    int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.arguments = true,
		.inlines = true,
		.system = true,
		.waits = true,
		.bind = bind,
		.record = record,
		.report = report,
		.finish = write_kept,
	};
	struct run run = { 0 };
	int err = begin(&run, opt, diag);

	if (!err)
		err = dp_session_do(&run.opt, &kind, &run, bad_spec, died_of,
				    diag);
	end(&run);
	return err;
}
