// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * graph: print calls as trees, with the time that each took.
 *
 * A record comes when its call ends, so before that of its caller. Trees are made of all calls of a thread, and
 * printed, at the end of the session, or when there are too many calls to keep.
 */
#include "tracer/graph.h"
#include "tracer/output.h"
#include "sym/list.h"
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Calls that are kept, at most, without the text of their values */
#define CALLS 400000
#define TEXT_MOST 65536 /* of the values of a call */

/** struct run - @print: how they are; @begun: probes are armed; @early: trees that did not wait for a caller */
struct run {
	struct dp_traced **programs;
	struct dp_tracer_options opt;
	char **texts;
	struct dp_graph_thread **v;
	void *threads; /* the same, of tsearch(3) */
	size_t n, room, calls;
	u64 early;
	struct dp_graph_out print;
	bool begun;
};

static int by_number(const void *a, const void *b)
{
	const struct dp_graph_thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->s > y->s) - (x->s < y->s);
}

static struct dp_graph_thread *add_thread(struct run *run,
					  const struct dp_graph_thread *is)
{
	struct dp_graph_thread *t = malloc(sizeof(*t));

	if (!t)
		return NULL;
	*t = *is;
	if (!tsearch(t, &run->threads, by_number)) {
		free(t);
		return NULL;
	}
	if (!dp_list_push(run, &t))
		return t;
	tdelete(t, &run->threads, by_number);
	free(t);
	return NULL;
}

static struct dp_graph_thread *
find_thread(struct run *run, struct dp_session *s, const struct dp_stamp *stamp)
{
	struct dp_graph_thread want = { .s = s,
					.pid = stamp->pid,
					.tid = stamp->tid };
	struct dp_graph_thread **found = tfind(&want, &run->threads, by_number);

	if (found)
		return *found;
	snprintf(want.comm, sizeof(want.comm), "%s", stamp->comm);
	return add_thread(run, &want);
}

static bool is_brief(const struct run *run, const struct dp_call *c)
{
	return c->ns < run->opt.least_ns && c->how != DP_CALL_ABANDONED;
}

static struct dp_call *make_call(struct dp_session *s, const struct dp_point *p,
				 const struct dp_record_copy *r,
				 const struct dp_leaving *l,
				 const struct dp_stamp *stamp)
{
	struct dp_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->point = p;
	c->entered = l->entered - l->waited;
	c->left = r->head.ticks - l->waited;
	c->slot = l->slot;
	c->how = l->how;
	c->ns = dp_rate_ns(s, l->entered, r->head.ticks);
	c->seconds = stamp->seconds -
		     (double)dp_rate_ns(s, c->entered, r->head.ticks) / 1e9;
	return c;
}

/* "a=1, b=2", a NUL, " = 3": of a spec with values */
static void put_values(struct dp_session *s, struct dp_call *c,
		       const struct dp_shown *shown, u64 value)
{
	size_t size = 0;
	FILE *f;

	f = open_memstream(&c->text, &size);
	if (!f)
		return;
	if (s->opt->json)
		dp_shown_json(f, shown, s->source->mods);
	else
		dp_shown_print(f, shown, s->source->mods, ", ");
	putc('\0', f);
	if (c->how == DP_CALL_RETURNED) {
		if (s->opt->json)
			dp_returned_json(f, c->point->ret, value);
		else
			dp_returned_text(f, c->point, value, shown->err);
	}
	if (fclose(f) || size > TEXT_MOST) {
		free(c->text);
		c->text = NULL;
	}
}

/* An exception has left a call some time before that was found. */
static void time_again(const struct dp_graph_thread *t)
{
	size_t i;

	for (i = 0; i < t->tree.n; i++) {
		struct dp_call *c = t->tree.v[i];

		if (c->how == DP_CALL_UNWOUND)
			c->ns = dp_rate_ns(t->s, c->entered, c->left);
	}
}

/* The first half of a thread's trees, or all. Where there is no memory for them, its calls are lost. */
static size_t print_trees(struct run *run, struct dp_graph_thread *t, bool all)
{
	long trees = dp_calltree_make(&t->tree);
	size_t n;

	if (trees < 0) {
		n = dp_calltree_drop(&t->tree, SIZE_MAX);
		t->s->dropped += n;
		run->calls -= n;
		return 0;
	}
	time_again(t);
	n = all ? (size_t)trees : ((size_t)trees + 1) / 2;
	dp_graph_print(&run->print, t, n);
	run->calls -= dp_calltree_drop(&t->tree, n);
	return n;
}
/* There are too many: half of the trees of each thread are printed, which may still have callers. */
static void make_room(struct run *run)
{
	size_t i;

	for (i = 0; i < run->n; i++)
		run->early += print_trees(run, run->v[i], false);
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	struct run *run = s->own;
	struct dp_record_copy rest;
	struct dp_leaving leaving;
	struct dp_shown shown;
	struct dp_stamp stamp;
	struct dp_graph_thread *t;
	struct dp_call *c;

	memcpy(&rest, r, offsetof(struct dp_record_copy, data) + r->head.len);
	if (!dp_leaving_take(&rest, &leaving))
		return;
	dp_shown_take(&shown, dp_traced_find(run->programs, s, p), &rest,
		      &leaving);
	dp_record_stamp(s, r, &stamp);
	t = find_thread(run, s, &stamp);
	c = make_call(s, p, r, &leaving, &stamp);
	if (c && is_brief(run, c)) {
		free(c);
		return;
	}
	if (!t || !c || dp_calltree_add(&t->tree, c)) {
		free(c);
		s->dropped++;
		return;
	}
	if (p->spec->args && run->opt.format == DP_FORMAT_TEXT)
		put_values(s, c, &shown, leaving.value);
	if (++run->calls >= CALLS)
		make_room(run);
}

/* Of one process, whose points go with it */
static void report(struct dp_session *s)
{
	struct run *run = s->own;
	size_t i, kept = 0;

	for (i = 0; i < run->n; i++) {
		struct dp_graph_thread *t = run->v[i];

		if (t->s != s) {
			run->v[kept++] = t;
			continue;
		}
		print_trees(run, t, true);
		tdelete(t, &run->threads, by_number);
		free(t->tree.v);
		free(t);
	}
	run->n = kept;
	fflush(run->opt.out);
}

/* The run */

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[point];
	struct dp_spec *spec = &s->specs[p->spec - s->specs];
	const struct dp_trace_program *program;
	struct run *run = s->own;

	/* Values only where they are asked for */
	spec->bare |= !spec->args;
	program = dp_traced_make(run->programs, s, p, diag);
	return program ? dp_session_bind(s, point, program, 0, diag) : -EINVAL;
}

static void begun(struct dp_session *s)
{
	struct run *run = s->own;

	run->begun = true;
}

/* "f" is "r:f": its calls are tracked. */
static int make_spec(struct run *run, size_t i, const char *text,
		     const char **bad, struct dp_diag *diag)
{
	static const char *const others[] = { "p:", "j:", "w:", "usdt:",
					      "hook:" };
	size_t k, len;

	for (k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
		len = strlen(others[k]);
		if (strncmp(text, others[k], len))
			continue;
		*bad = text;
		dp_diag_set(diag, -EINVAL,
			    "graph shows calls of functions: write %s",
			    text + len);
		dp_diag_caret(diag, 0, (int)len);
		return -EINVAL;
	}
	if (asprintf(&run->texts[i], "%s%s", strncmp(text, "r:", 2) ? "r:" : "",
		     text) >= 0)
		return 0;
	run->texts[i] = NULL;
	return dp_diag_set(diag, -ENOMEM, "out of memory");
}

static int begin(struct run *run, const struct dp_tracer_options *opt,
		 const char **bad, struct dp_diag *diag)
{
	size_t i;
	int err = 0;

	run->opt = *opt;
	run->print.opt = &run->opt;
	run->programs = calloc(opt->nr_specs + 1, sizeof(*run->programs));
	run->texts = calloc(opt->nr_specs + 1, sizeof(*run->texts));
	if (!run->programs || !run->texts)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < opt->nr_specs && !err; i++)
		err = make_spec(run, i, opt->specs[i], bad, diag);
	run->opt.specs = (const char *const *)run->texts;
	return err;
}

/* What is wrong is shown in the user's own text. */
static void give_back(const struct run *run,
		      const struct dp_tracer_options *opt, const char **bad,
		      struct dp_diag *diag)
{
	int more;
	size_t i;

	for (i = 0; run->texts && i < opt->nr_specs; i++) {
		if (!run->texts[i] || *bad != run->texts[i])
			continue;
		*bad = opt->specs[i];
		more = (int)(strlen(run->texts[i]) - strlen(opt->specs[i]));
		diag->column -= diag->column > more ? more : diag->column;
	}
}

static void end(struct run *run)
{
	size_t i;

	if (run->begun)
		dp_graph_print_end(&run->print);
	for (i = 0; run->texts && i < run->opt.nr_specs; i++)
		free(run->texts[i]);
	dp_traced_free(run->programs, run->opt.nr_specs);
	free(run->texts);
	free(run->v);
}

int dp_tracer_graph(const struct dp_tracer_options *opt, const char **bad_spec,
		    int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.arguments = true,
		.inlines = true,
		.waits = true,
		.collects = true,
		.bind = bind,
		.begun = begun,
		.record = record,
		.report = report,
	};
	struct run run = { 0 };
	int err = begin(&run, opt, bad_spec, diag);

	if (!err)
		err = dp_session_do(&run.opt, &kind, &run, bad_spec, died_of,
				    diag);
	if (err < 0)
		give_back(&run, opt, bad_spec, diag);
	if (run.early && !opt->quiet)
		dp_output_say(
			"%lu trees were printed before the end, to make room: their callers, if they have any, are shown without them",
			run.early);
	end(&run);
	return err;
}
