// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * graph: print calls as trees, with the time that each took.
 *
 * A record comes when its call ends, so those that it has made have come before it:
 *
 *	thread ─► ended calls, by the time of their entry:  a  b{…}  c
 *	record of d, entered before b: its calls are b and c:  a  d{b{…} c}
 *
 * Whether a call has a caller that is still inside is not known before that ends. So trees are
 * printed at the end of the session, or when there are too many calls to keep.
 */
#include "tracer/traced.h"
#include "tracer/calltree.h"
#include "tracer/output.h"
#include "sym/list.h"
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Calls that are kept, at most, without the text of their values */
#define CALLS 400000
#define TEXT_MOST 65536 /* of the values of a call */
#define INDENT 2
#define INDENT_MOST 50 /* levels; deeper ones have their number */

/** struct thread - whose calls they are */
struct thread {
	struct dp_session *s;
	u32 pid, tid;
	char comm[24];
	struct dp_calltree tree;
};

/** struct run - @begun: probes are armed; @thread: whose tree was printed last; @early: trees that did not wait for a caller */
struct run {
	struct dp_traced **programs;
	struct dp_tracer_options opt;
	char **texts;
	struct thread **v;
	void *threads; /* the same, of tsearch(3) */
	size_t n, room, calls;
	u64 thread, early, objects;
	bool begun;
};

static int by_number(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return (x->s > y->s) - (x->s < y->s);
}

static struct thread *add_thread(struct run *run, const struct thread *is)
{
	struct thread *t = malloc(sizeof(*t));

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

static struct thread *find_thread(struct run *run, struct dp_session *s,
				  const struct dp_stamp *stamp)
{
	struct thread want = { .s = s, .pid = stamp->pid, .tid = stamp->tid };
	struct thread **found = tfind(&want, &run->threads, by_number);

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
	c->entered = l->entered;
	c->left = r->head.ticks;
	c->slot = l->slot;
	c->how = l->how;
	c->ns = dp_rate_ns(s, l->entered, r->head.ticks);
	c->seconds = stamp->seconds - (double)c->ns / 1e9;
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

/* Output */

/* With the largest unit of which it is one, but us for what is less */
static void print_time(FILE *out, u64 ns)
{
	static const struct {
		u64 ns;
		const char *name;
	} units[] = { { 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" } };
	size_t i = 0;

	while (i < 2 && ns < units[i].ns)
		i++;
	dp_output_print(out, "%4lu.%03lu %-2s", ns / units[i].ns,
			ns % units[i].ns * 1000 / units[i].ns, units[i].name);
}

static void begin_line(FILE *out, const struct thread *t,
		       const struct dp_call *c, u32 depth)
{
	if (c && c->how != DP_CALL_ABANDONED)
		print_time(out, c->ns);
	else
		dp_output_print(out, "%11s", "");
	dp_output_print(
		out, " [%7u] | %*s", t->tid,
		(int)(depth < INDENT_MOST ? depth : INDENT_MOST) * INDENT, "");
	if (depth > INDENT_MOST)
		dp_output_print(out, "%u: ", depth);
}

static const char *returned(const struct dp_call *c)
{
	return c->text ? c->text + strlen(c->text) + 1 : "";
}

/* "r:prog:f" is "f" in the program itself, and "libc.so.6:f" elsewhere. */
static const char *name_of(const struct thread *t, const struct dp_call *c)
{
	const char *name = c->point->name, *program = dp_report_program(t->s);
	size_t len = strlen(program);

	name += strncmp(name, "r:", 2) ? 0 : 2;
	return strncmp(name, program, len) || name[len] != ':' ? name :
								 name + len + 1;
}

static void print_name(FILE *out, const struct thread *t,
		       const struct dp_call *c)
{
	const char *name = name_of(t, c);

	dp_output_write(out, name, strlen(name));
}

/* What it returned, or how else it ended */
static void print_end(FILE *out, const struct dp_call *c)
{
	if (c->how == DP_CALL_RETURNED)
		dp_output_print(out, "%s", returned(c));
	else
		dp_output_print(out, " = %s", dp_leaving_names[c->how]);
}

static bool is_leaf(const struct run *run, const struct dp_call *c, u32 depth)
{
	return !c->first || (run->opt.depth && depth + 1 >= run->opt.depth);
}

static void open_text(struct run *run, const struct thread *t,
		      const struct dp_call *c, u32 depth)
{
	bool leaf = is_leaf(run, c, depth);
	FILE *out = run->opt.out;

	begin_line(out, t, leaf ? c : NULL, depth);
	print_name(out, t, c);
	dp_output_print(out, "(%s)", c->text ? c->text : "");
	if (!leaf) {
		fputs(" {\n", out);
		return;
	}
	print_end(out, c);
	fputs(";\n", out);
}

static void close_text(struct run *run, const struct thread *t,
		       const struct dp_call *c, u32 depth)
{
	FILE *out = run->opt.out;

	begin_line(out, t, c, depth);
	fputs("} /* ", out);
	print_name(out, t, c);
	fputs(" */", out);
	print_end(out, c);
	putc('\n', out);
}

static void open_json(struct run *run, const struct thread *t,
		      const struct dp_call *c, u32 depth)
{
	struct dp_stamp stamp = { .seconds = c->seconds,
				  .pid = t->pid,
				  .tid = t->tid,
				  .comm = t->comm };
	u64 us = (u64)(c->seconds * 1e6);
	FILE *out = run->opt.out;

	snprintf(stamp.time, sizeof(stamp.time), ".%06lu", us % 1000000);
	putc('{', out);
	dp_json_stamp(out, &stamp, c->point->name);
	dp_output_print(out, ",\"depth\":%u", depth);
	if (c->how != DP_CALL_ABANDONED)
		dp_output_print(out, ",\"latency_ns\":%lu", c->ns);
	dp_output_print(out, ",\"exit\":\"%s\"", dp_leaving_names[c->how]);
	if (c->text)
		dp_output_print(out, "%s%s", c->text, returned(c));
	fputs("}\n", out);
}

/* An event of Chrome's trace format, which Perfetto reads, too. Its times are microseconds. */
static void open_event(struct run *run, const struct thread *t,
		       const struct dp_call *c, u32 depth)
{
	FILE *out = run->opt.out;

	if (run->objects++)
		fputs(",\n", out);
	else
		fputs("{\"traceEvents\":[\n", out);
	fputs("{\"name\":", out);
	dp_json_string(out, name_of(t, c));
	dp_output_print(out, ",\"ph\":\"%s\",\"ts\":%.3f,\"pid\":%u,\"tid\":%u",
			c->how == DP_CALL_ABANDONED ? "I" : "X",
			c->seconds * 1e6, t->pid, t->tid);
	if (c->how == DP_CALL_ABANDONED)
		fputs(",\"s\":\"t\"", out);
	else
		dp_output_print(out, ",\"dur\":%lu.%03lu", c->ns / 1000,
				c->ns % 1000);
	dp_output_print(out, ",\"args\":{\"exit\":\"%s\"}}",
			dp_leaving_names[c->how]);
}

/** struct form - how a call is written: @open before its own calls, @close, or NULL, behind them */
struct form {
	void (*open)(struct run *run, const struct thread *t,
		     const struct dp_call *c, u32 depth);
	void (*close)(struct run *run, const struct thread *t,
		      const struct dp_call *c, u32 depth);
};

static void print_calls(struct run *run, const struct thread *t,
			const struct dp_call *tree, const struct form *form)
{
	const struct dp_call *c = tree;
	u32 depth = 0;

	for (;; c = c->next) {
		for (form->open(run, t, c, depth); !is_leaf(run, c, depth);
		     form->open(run, t, c, depth)) {
			c = c->first;
			depth++;
		}
		while (c != tree && !c->next) {
			c = c->caller;
			depth--;
			if (form->close)
				form->close(run, t, c, depth);
		}
		if (c == tree)
			return;
	}
}

static void print_thread(struct run *run, const struct thread *t)
{
	u64 id = (u64)t->pid << 32 | t->tid;

	if (run->thread == id)
		return;
	if (!run->thread)
		fputs("   DURATION       TID    FUNCTION\n", run->opt.out);
	dp_output_print(run->opt.out, "# %s %u, thread %u\n", t->comm, t->pid,
			t->tid);
	run->thread = id;
}

static void print_tree(struct run *run, const struct thread *t,
		       const struct dp_call *tree)
{
	static const struct form text = { open_text, close_text },
				 json = { open_json, NULL },
				 event = { open_event, NULL };

	dp_output_begin(run->opt.out);
	if (run->opt.format == DP_FORMAT_CHROME) {
		print_calls(run, t, tree, &event);
	} else if (run->opt.json) {
		print_calls(run, t, tree, &json);
	} else {
		print_thread(run, t);
		print_calls(run, t, tree, &text);
	}
	dp_output_whole(run->opt.out);
}

/* The first @n trees */
static void print_trees(struct run *run, struct thread *t, size_t n)
{
	while (n--) {
		print_tree(run, t, t->tree.top.first);
		run->calls -= dp_calltree_drop(&t->tree, t->tree.top.first);
	}
}

/* There are too many: half of the trees of each thread are printed, which may still have callers. */
static void make_room(struct run *run)
{
	size_t i, n;

	for (i = 0; i < run->n; i++) {
		n = (run->v[i]->tree.n + 1) / 2;
		print_trees(run, run->v[i], n);
		run->early += n;
	}
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	struct run *run = s->own;
	struct dp_record_copy rest;
	struct dp_leaving leaving;
	struct dp_shown shown;
	struct dp_stamp stamp;
	struct thread *t;
	struct dp_call *c;

	memcpy(&rest, r, offsetof(struct dp_record_copy, data) + r->head.len);
	if (!dp_leaving_take(&rest, &leaving))
		return;
	dp_shown_take(&shown, dp_traced_find(run->programs, s, p), &rest,
		      &leaving);
	dp_record_stamp(s, r, &stamp);
	t = find_thread(run, s, &stamp);
	c = make_call(s, p, r, &leaving, &stamp);
	if (!t || !c) {
		free(c);
		s->dropped++;
		return;
	}
	run->calls++;
	if (p->spec->args && run->opt.format == DP_FORMAT_TEXT)
		put_values(s, c, &shown, leaving.value);
	dp_calltree_place(&t->tree, c);
	if (is_brief(run, c))
		run->calls -= dp_calltree_drop(&t->tree, c);
	if (run->calls >= CALLS)
		make_room(run);
}

/* Of one process, whose points go with it */
static void report(struct dp_session *s)
{
	struct run *run = s->own;
	size_t i, kept = 0;

	for (i = 0; i < run->n; i++) {
		struct thread *t = run->v[i];

		if (t->s != s) {
			run->v[kept++] = t;
			continue;
		}
		print_trees(run, t, t->tree.n);
		tdelete(t, &run->threads, by_number);
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

	if (run->objects)
		fputs("\n]}\n", run->opt.out);
	else if (run->opt.format == DP_FORMAT_CHROME && run->begun)
		fputs("{\"traceEvents\":[]}\n", run->opt.out);
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
