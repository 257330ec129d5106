// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* trace: print a line for every hit, with arguments. */
#include "tracer/interval.h"
#include "tracer/recorder.h"
#include "tracer/session.h"
#include "tracer/stacks.h"
#include "tracer/watched.h"
#include "tracer/expr.h"
#include "tracer/values/show.h"
#include "tracer/output.h"
#include "engine/layout/instance.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A spec's points share its program, where its names are the same. */
struct traced {
	struct traced *next;
	const struct dp_prototype *names;
	struct dp_trace_program program;
};

/** struct run - @programs: of each spec */
struct run {
	struct traced **programs;
	struct dp_tracer_options opt;
	const char **specs;
};

static struct traced *find_program(const struct dp_session *s,
				   const struct dp_point *p)
{
	const struct run *run = s->own;
	struct traced *t = run->programs[p->spec - s->specs];

	while (t && t->names != p->names)
		t = t->next;
	return t;
}

static const struct dp_trace_program *program_for(struct dp_session *s,
						  const struct dp_point *p,
						  struct dp_diag *diag)
{
	struct traced *t = find_program(s, p), **all;
	struct run *run = s->own;
	struct dp_spec *spec = &s->specs[p->spec - s->specs];

	if (t)
		return &t->program;
	t = calloc(1, sizeof(*t));
	if (!t) {
		dp_diag_set(diag, -ENOMEM, "out of memory");
		return NULL;
	}
	if (p->names)
		spec->prototype = p->names;
	spec->stack = s->opt->stack;
	if (dp_expr_trace(spec, &t->program, diag)) {
		free(t);
		return NULL;
	}
	t->names = p->names;
	all = &run->programs[spec - s->specs];
	t->next = *all;
	*all = t;
	return &t->program;
}

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_trace_program *p =
		program_for(s, &s->points.v[point], diag);
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

/** struct shown - the values of a record, by their places in the spec; @n of them are there
 *  @cut: others should be; @err: errno, or 0; @stack: its number, if @has_stack */
struct shown {
	const struct dp_trace_item *as[DP_TRACE_ITEMS];
	struct dp_logged is[DP_TRACE_ITEMS];
	bool cut, has_stack;
	int err;
	u32 stack;
};

/* What is logged at the return comes behind what is logged at the entry. */
static void take_part(struct shown *v, const struct dp_trace_program *p,
		      const struct dp_record_copy *r, u32 *at, bool at_return)
{
	size_t i;

	for (i = 0; i < p->nr_items && !v->cut; i++) {
		const struct dp_trace_item *item = &p->items[i];

		if (item->at_return != at_return)
			continue;
		if (dp_value_take(item, r, at, &v->is[item->place]))
			v->as[item->place] = item;
		else
			v->cut = true;
	}
}

static int take_errno(const struct dp_trace_program *p,
		      const struct dp_record_copy *r, u32 *at)
{
	struct dp_item item;
	u32 err = 0;

	if (p->errno_at && dp_item_next(r, at, &item) &&
	    item.token == DP_ITEM_ELEMENTS && item.size >= sizeof(err))
		memcpy(&err, item.payload, sizeof(err));
	return (int)err;
}

static void take_stack(struct shown *v, const struct dp_trace_program *p,
		       const struct dp_record_copy *r, u32 *at)
{
	struct dp_item item;

	if (!p->stack || !dp_item_next(r, at, &item) ||
	    item.token != DP_ITEM_ELEMENTS || item.size < sizeof(v->stack))
		return;
	memcpy(&v->stack, item.payload, sizeof(v->stack));
	v->has_stack = true;
}

/* A call that has not returned has no value of its return. */
static void take_values(struct shown *v, const struct dp_trace_program *p,
			const struct dp_record_copy *r,
			const struct dp_leaving *leaving)
{
	u32 at = 0;

	memset(v, 0, sizeof(*v));
	take_stack(v, p, r, &at);
	take_part(v, p, r, &at, false);
	if (!leaving || leaving->how != DP_CALL_RETURNED)
		return;
	take_part(v, p, r, &at, true);
	v->err = take_errno(p, r, &at);
}

static void print_args(FILE *out, const struct shown *v,
		       struct dp_modules *mods)
{
	size_t i;

	for (i = 0; i < DP_TRACE_ITEMS; i++) {
		if (!v->as[i])
			continue;
		putc_unlocked(' ', out);
		put_text(out, v->as[i]->name, '=');
		dp_value_show(out, v->as[i], &v->is[i], mods, false);
	}
	if (v->cut)
		fputs(" <cut>", out);
}

/* A name that occurs twice, with two types, becomes "arg0" and "arg0_2". */
static void json_name(FILE *out, const struct shown *v, size_t i)
{
	const char *name = v->as[i]->name;
	char again[DP_TRACE_NAME + 12];
	int nr = 1;
	size_t k;

	for (k = 0; k < i; k++)
		nr += v->as[k] && !strcmp(v->as[k]->name, name);
	if (nr > 1)
		snprintf(again, sizeof(again), "%s_%d", name, nr);
	dp_json_string(out, nr > 1 ? again : name);
	putc_unlocked(':', out);
}

/* ,"args":{…}, and ,"truncated":true if a value is cut or missing */
static void json_args(FILE *out, const struct shown *v, struct dp_modules *mods)
{
	bool cut = v->cut;
	size_t i, n = 0;

	fputs(",\"args\":{", out);
	for (i = 0; i < DP_TRACE_ITEMS; i++) {
		if (!v->as[i])
			continue;
		if (n++)
			putc(',', out);
		json_name(out, v, i);
		cut |= dp_value_show(out, v->as[i], &v->is[i], mods, true);
	}
	putc('}', out);
	if (cut)
		fputs(",\"truncated\":true", out);
}

static const char *const leavings[] = {
	[DP_CALL_RETURNED] = "return",
	[DP_CALL_TAIL_CALLED] = "tail",
	[DP_CALL_ABANDONED] = "abandoned",
	[DP_CALL_UNWOUND] = "unwound",
};

/* A tracked call's record begins with how the call ended. Return: false: it does not. */
static bool take_leaving(struct dp_record_copy *r, struct dp_leaving *leaving)
{
	if (r->head.len < sizeof(*leaving))
		return false;
	memcpy(leaving, r->data, sizeof(*leaving));
	r->head.len -= sizeof(*leaving);
	memmove(r->data, r->data + sizeof(*leaving), r->head.len);
	return leaving->how <= DP_CALL_TAIL_CALLED && leavings[leaving->how];
}

/* " = 42 <0.000001234>", the time in seconds */
static void print_leaving(FILE *out, const struct dp_point *p,
			  const struct dp_leaving *l, u64 ns, int err)
{
	if (l->how == DP_CALL_RETURNED)
		dp_returned_text(out, p, l->value, err);
	else
		dp_output_print(out, " = %s", leavings[l->how]);
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
	dp_output_print(out, ",\"exit\":\"%s\"", leavings[l->how]);
}

static void print_record(struct dp_session *s, const struct dp_record_copy *r,
			 const struct dp_leaving *leaving)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	u64 ns = leaving ? dp_record_ns(s, leaving->entered, r->head.ticks) : 0;
	const struct dp_trace_program *program = &find_program(s, p)->program;
	FILE *out = s->opt->out;
	struct dp_stamp stamp;
	struct shown v;

	take_values(&v, program, r, leaving);
	dp_record_stamp(s, r, &stamp);
	if (s->opt->json) {
		putc('{', out);
		dp_json_stamp(out, &stamp, p->name);
		json_args(out, &v, s->source->mods);
		if (leaving)
			json_leaving(out, p->ret, leaving, ns, v.err);
		if (v.has_stack)
			dp_stacks_json(out, s, v.stack);
		putc('}', out);
	} else {
		put_text(out, stamp.time, ' ');
		put_number(out, stamp.pid);
		put_number(out, stamp.tid);
		put_text(out, stamp.comm, ' ');
		dp_output_write(out, p->name, strlen(p->name));
		print_args(out, &v, s->source->mods);
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
	if (take_leaving(&rest, &leaving))
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
	struct traced *t;
	size_t i;

	for (i = 0; run->programs && i < run->opt.nr_specs; i++)
		while ((t = run->programs[i])) {
			run->programs[i] = t->next;
			dp_expr_free(&t->program);
			free(t);
		}
	free(run->programs);
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
