// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * inject: have calls return values without being executed, or change their arguments.
 *
 *   "malloc if size > 9 = 0, errno ENOMEM"     "read: count = 1"
 *    spec  ────────────   │        │                  │
 *    becomes  malloc(0) if size > 9 │          read(count = 1)     and is a spec as any other
 */
#include "tracer/expr.h"
#include "tracer/items.h"
#include "tracer/output.h"
#include "tracer/prototype.h"
#include "tracer/recorder.h"
#include "tracer/session.h"
#include "engine/vm/vm.h"
#include "sym/failure.h"
#include "sym/prototypes.h"
#include "sym/sym.h"
#include "sym/types.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Memory for the list of what was injected */
#define KEPT (1 << 20)
#define ERRNO_MOST 4095

/** struct injected - of a spec: @text as the session has it, malloc()ed */
struct injected {
	char *text;
	struct dp_injection how;
	char names[DP_TRACE_ITEMS][DP_TRACE_NAME];
};

struct run {
	struct dp_tracer_options opt;
	struct injected *v;
	const char **specs;
	u64 done, failed;
	const char *bad; /* the text that a caret of bind() is in; or NULL */
};

/* Text */

/** struct parts - of what the user has written: where each begins, and how long it is; NULL: not there */
struct parts {
	const char *point, *values, *err, *cond;
	int point_len, values_len, err_len, cond_len;
	bool replaces;
};

static int refuse(struct dp_diag *diag, const char *text, const char *at,
		  int span, const char *why)
{
	dp_diag_set(diag, -EINVAL, "%s", why);
	dp_diag_caret(diag, (int)(at - text), span);
	return -EINVAL;
}

/* Is @at in quotes or parentheses that began behind @text? */
static bool is_inside(const char *text, const char *at)
{
	bool quoted = false;
	int depth = 0;

	for (; text < at; text++) {
		if (*text == '"' || *text == '\'')
			quoted = !quoted;
		else if (!quoted)
			depth += (*text == '(') - (*text == ')');
	}
	return quoted || depth > 0;
}

/* The first @word of @text that is in no quotes; or NULL */
static const char *find_word(const char *text, const char *word)
{
	const char *at = strstr(text, word);

	while (at && is_inside(text, at))
		at = strstr(at + 1, word);
	return at;
}

/* One that assigns */
static const char *find_equals(const char *text)
{
	const char *at;

	for (at = text; (at = find_word(at, "=")); at += 1 + (at[1] == '='))
		if (at[1] != '=' && (at == text || !strchr("=!<>", at[-1])) &&
		    !is_inside(text, at))
			return at;
	return NULL;
}

static void trim(const char **at, int *len)
{
	while (*len && isspace((unsigned char)**at)) {
		++*at;
		--*len;
	}
	while (*len && isspace((unsigned char)(*at)[*len - 1]))
		--*len;
}

/* Take " if COND" off the end of a part, if it has one. Return: false: there are two. */
static bool take_condition(struct parts *p, const char *part, int *len)
{
	const char *at = find_word(part, " if ");

	if (!at || at >= part + *len)
		return true;
	if (p->cond)
		return false;
	p->cond = at + 4;
	p->cond_len = (int)(part + *len - p->cond);
	*len = (int)(at - part);
	return true;
}

/* ", errno E" */
static void take_errno(struct parts *p)
{
	const char *at = find_word(p->values, ", errno ");

	if (!at || at >= p->values + p->values_len)
		return;
	p->err = at + 8;
	p->err_len = (int)(p->values + p->values_len - p->err);
	p->values_len = (int)(at - p->values);
	trim(&p->err, &p->err_len);
}

static int split(const char *text, struct parts *p, struct dp_diag *diag)
{
	const char *at = find_word(text, ": "), *paren;

	*p = (struct parts){ .point = text, .replaces = !at };
	at = at ?: find_equals(text);
	if (!at)
		return refuse(
			diag, text, text + strlen(text), 1,
			"what is to be injected? Write SPEC = VALUE, or SPEC: ARGUMENT = VALUE");
	p->point_len = (int)(at - text);
	p->values = at + 1;
	p->values_len = (int)strlen(p->values);
	if (!take_condition(p, p->point, &p->point_len) ||
	    !take_condition(p, p->values, &p->values_len))
		return refuse(diag, text, find_word(p->values, " if ") + 1, 2,
			      "there is a condition already");
	if (p->replaces)
		take_errno(p);
	trim(&p->point, &p->point_len);
	trim(&p->values, &p->values_len);
	if (!p->values_len)
		return refuse(diag, text, p->values, 1,
			      "here is to be a value");
	paren = find_word(p->point, "(");
	if (paren && paren < p->point + p->point_len)
		return refuse(
			diag, text, paren, 1,
			"values in parentheses are for dprobes trace; here they stand behind =");
	return 0;
}

static int read_errno(const char *text, const struct parts *p, u32 *err,
		      struct dp_diag *diag)
{
	char *end;
	long n = strtol(p->err, &end, 10);
	const char *name;
	u32 i;

	if (end == p->err + p->err_len && p->err_len && n > 0 &&
	    n <= ERRNO_MOST) {
		*err = (u32)n;
		return 0;
	}
	for (i = 1; i <= ERRNO_MOST; i++) {
		name = strerrorname_np((int)i);
		if (name && (int)strlen(name) == p->err_len &&
		    !memcmp(name, p->err, (size_t)p->err_len)) {
			*err = i;
			return 0;
		}
	}
	return refuse(diag, text, p->err, p->err_len,
		      "this is no errno: a name as ENOMEM, or a number");
}

/* Only a function's entry is a place from which its caller can be gone back to. */
static int check_place(const char *text, struct dp_diag *diag)
{
	struct dp_spec spec;
	int err = dp_spec_parse(text, &spec, diag);

	if (err)
		return err;
	if (spec.kind != DP_SPEC_PROBE)
		err = refuse(
			diag, text, text, (int)strcspn(text, ":"),
			"calls are changed at a function's entry; write the function alone");
	else if (spec.form != DP_POINT_SYMBOL || spec.offset)
		err = refuse(
			diag, text, text + spec.point_col,
			(int)strcspn(text + spec.point_col, "("),
			"this is in the middle of a function, which can be left, or given arguments, at its entry only");
	dp_spec_free(&spec);
	return err;
}

static void how_often(struct dp_injection *how,
		      const struct dp_tracer_options *opt)
{
	u64 n = opt->nth ?: opt->every;

	if (n) {
		how->when = opt->nth ? DP_INJECT_NTH : DP_INJECT_EVERY;
		how->n = n;
	} else if (opt->prob > 0 && opt->prob < 1) {
		how->when = DP_INJECT_DRAWN;
		how->seed = opt->seed;
		how->below = (u64)(opt->prob * 0x1p64);
	}
}

/* @bad: the text that the caret is in */
static int parse(struct injected *in, const struct dp_tracer_options *opt,
		 const char *text, const char **bad, struct dp_diag *diag)
{
	struct parts p;
	int err = split(text, &p, diag);

	*bad = text;
	if (!err && p.err) {
		in->how.sets_errno = true;
		err = read_errno(text, &p, &in->how.err, diag);
	}
	if (err)
		return err;
	in->how.replaces = p.replaces;
	how_often(&in->how, opt);
	if (asprintf(&in->text, "%.*s(%.*s)%s%.*s", p.point_len, p.point,
		     p.values_len, p.values, p.cond ? " if " : "", p.cond_len,
		     p.cond ?: "") < 0) {
		in->text = NULL;
		*bad = NULL;
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	*bad = in->text;
	return check_place(in->text, diag);
}

/* Types */

static const char *unfit(const struct dp_prototype_type *t)
{
	switch (t->kind) {
	case DP_PROTOTYPE_VOID:
		return "nothing (void), so there is no value that it could return: write SPEC: ARGUMENT = VALUE";
	case DP_PROTOTYPE_FLOAT:
	case DP_PROTOTYPE_COMPLEX:
		return "a floating-point number, in a vector register, which cannot be changed";
	case DP_PROTOTYPE_STRUCT:
	case DP_PROTOTYPE_ARRAY:
		return "a struct, of which one value would be a part only";
	default:
		return NULL;
	}
}

/* A table of prototypes tells what a function returns, or debug information. Neither may. */
static int check_type(struct dp_session *s, const struct dp_point *p,
		      struct dp_diag *diag)
{
	const struct dp_prototype *f = dp_prototype_of(p->module, p->symbol);
	const struct dp_module *m = dp_module_at(s->source->mods, p->addr);
	struct dp_prototype *asked = NULL;
	const char *why = NULL;

	if (!f && m && !dp_types_prototype(s->source->mods, m, p->addr, &asked))
		f = asked;
	if (f && f->returns)
		why = unfit(f->returns);
	free(asked);
	return why ? dp_diag_set(diag, -EINVAL, "%s returns %s", p->name, why) :
		     0;
}

static int check_point(struct dp_session *s, const struct dp_point *p,
		       const struct injected *in, struct dp_diag *diag)
{
	u64 word;
	s64 offset;

	if (s->ops == &dp_host_source)
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d probes itself; its calls can be changed by its own jprobes and kprobes (register_kprobe(3)), not from outside",
			s->source->pid);
	if (p->offset || p->bare)
		return dp_diag_set(
			diag, -EINVAL,
			"%s is in the middle of a function, which can be left at its entry only",
			p->name);
	if (in->how.sets_errno &&
	    !dp_failure_errno(s->source->mods, &word, &offset))
		return dp_diag_set(
			diag, -EOPNOTSUPP,
			"where process %d has errno is not known, for its libc has no __errno_location() that could be read; write a value alone",
			s->source->pid);
	return in->how.replaces ? check_type(s, p, diag) : 0;
}

static struct injected *injected_of(const struct dp_session *s,
				    const struct dp_point *p)
{
	const struct run *run = s->own;

	return &run->v[p->spec - s->specs];
}

/* A name that is written to is no value, so debug information has not been asked about it yet. */
static int compile_asked(struct dp_session *s, const struct dp_point *p,
			 struct dp_spec *spec, struct injected *in,
			 struct dp_trace_program *program, struct dp_diag *diag)
{
	const struct dp_module *m = dp_module_at(s->source->mods, p->addr);
	const struct dp_prototype *known = spec->prototype;
	struct dp_prototype *asked = NULL;
	int err = -EINVAL;

	if (!m || dp_types_prototype(s->source->mods, m, p->addr, &asked))
		return err;
	dp_diag_clear(diag);
	spec->prototype = asked;
	err = dp_expr_inject(spec, &in->how, program, diag);
	spec->prototype = known;
	free(asked);
	return err;
}

static int compile(struct dp_session *s, const struct dp_point *p,
		   struct dp_spec *spec, struct injected *in,
		   struct dp_trace_program *program, struct dp_diag *diag)
{
	struct run *run = s->own;
	int err;

	if (p->names)
		spec->prototype = p->names;
	err = dp_expr_inject(spec, &in->how, program, diag);
	if (err == -EINVAL && !in->how.replaces)
		err = compile_asked(s, p, spec, in, program, diag);
	run->bad = err && err != -ENOMEM ? in->text : NULL;
	return err;
}

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[point];
	struct dp_spec *spec = &s->specs[p->spec - s->specs];
	struct injected *in = injected_of(s, p);
	struct dp_trace_program program;
	size_t i;
	int err = check_point(s, p, in, diag) ?:
			  compile(s, p, spec, in, &program, diag);

	if (err)
		return err;
	for (i = 0; i < program.nr_items; i++)
		memcpy(in->names[i], program.items[i].name, DP_TRACE_NAME);
	err = dp_session_bind(s, point, &program, DP_INJECT_VARIABLES, diag);
	dp_expr_free(&program);
	return err;
}

/* The call's number, and the values */
static void rooms(const struct dp_session *s, struct dp_source_request *want)
{
	u32 most = (DP_ITEM_PREFIX + sizeof(u64)) * (1 + DP_TRACE_ITEMS);

	if (want->longest < most)
		want->longest = most;
}

/* What was injected */

static bool take(const struct dp_record_copy *r, u32 *at, u64 *value)
{
	struct dp_item item;

	if (!dp_item_next(r, at, &item) || item.token != DP_ITEM_ELEMENTS ||
	    item.size < sizeof(*value))
		return false;
	memcpy(value, item.payload, sizeof(*value));
	return true;
}

/* An address is one that no small number, positive or negative, has. */
static void put_value(FILE *out, u64 value, bool json)
{
	const char *quote = json ? "\"" : "";
	s64 number = (s64)value;

	if (number == (s32)number || (json && value < 1ull << 53))
		dp_output_print(out, "%ld", number);
	else
		dp_output_print(out, "%s0x%lx%s", quote, value, quote);
}

static void put_values(FILE *out, const struct injected *in,
		       const struct dp_record_copy *r, u32 at)
{
	u64 value;
	u32 i;

	for (i = 0; i < DP_TRACE_ITEMS && take(r, &at, &value); i++) {
		dp_output_print(
			out, in->how.replaces ? " = " : " %s=", in->names[i]);
		put_value(out, value, false);
	}
	if (in->how.sets_errno)
		dp_output_print(out, " errno=%u", in->how.err);
}

static void put_values_json(FILE *out, const struct injected *in,
			    const struct dp_record_copy *r, u32 at)
{
	u64 value;
	u32 i;

	dp_output_print(out, ",\"%s", in->how.replaces ? "ret\":" : "args\":{");
	for (i = 0; i < DP_TRACE_ITEMS && take(r, &at, &value); i++) {
		if (i)
			putc(',', out);
		if (!in->how.replaces) {
			dp_json_string(out, in->names[i]);
			putc(':', out);
		}
		put_value(out, value, true);
	}
	if (!in->how.replaces)
		putc('}', out);
	if (in->how.sets_errno)
		dp_output_print(out, ",\"errno\":%u", in->how.err);
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	const struct injected *in = injected_of(s, p);
	FILE *out = s->opt->out;
	struct dp_stamp stamp;
	u64 call;
	u32 at = 0;

	if (!take(r, &at, &call)) {
		s->torn++;
		return;
	}
	dp_record_stamp(s, r, &stamp);
	if (s->opt->json) {
		putc('{', out);
		dp_json_stamp(out, &stamp, p->name);
		dp_output_print(out, ",\"call\":%lu", call + 1);
		put_values_json(out, in, r, at);
		fputs("}\n", out);
		return;
	}
	dp_output_print(out, "%s %u %u %s %s call=%lu", stamp.time, stamp.pid,
			stamp.tid, stamp.comm, p->name, call + 1);
	put_values(out, in, r, at);
	putc('\n', out);
}

static void tell(const struct run *run)
{
	dp_output_begin(stderr);
	dp_output_print(stderr, "dprobes: injected %lu time%s", run->done,
			run->done == 1 ? "" : "s");
	if (run->failed)
		dp_output_print(
			stderr,
			", not %lu time%s: memory was not there, or too many threads have made such calls",
			run->failed, run->failed == 1 ? "" : "s");
	if (run->opt.prob > 0 && run->opt.prob < 1)
		dp_output_print(stderr, "; --seed %lu repeats it",
				run->opt.seed);
	putc('\n', stderr);
}

static void report(struct dp_session *s)
{
	struct run *run = s->own;
	size_t i;

	for (i = 0; i < s->points.n; i++) {
		const struct dp_point *p = &s->points.v[i];

		if (p->refused || p->program == DP_NO_PROGRAM)
			continue;
		run->done +=
			s->ops->variable(s->source, p->program, DP_INJECT_DONE);
		run->failed += s->ops->variable(s->source, p->program,
						DP_INJECT_FAILED);
	}
	dp_recorder_write(s->opt->recorder);
	if (!s->opt->quiet)
		tell(run);
}

/* A run */

static int begin(struct run *run, const struct dp_tracer_options *opt,
		 const char **bad, struct dp_diag *diag)
{
	size_t i;
	int err = 0;

	run->opt = *opt;
	run->v = calloc(opt->nr_specs, sizeof(*run->v));
	run->specs = calloc(opt->nr_specs, sizeof(*run->specs));
	if (!run->v || !run->specs)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	if (!opt->seed && getrandom(&run->opt.seed, sizeof(u32), 0) < 0)
		run->opt.seed = 1;
	for (i = 0; i < opt->nr_specs && !err; i++) {
		err = parse(&run->v[i], &run->opt, opt->specs[i], bad, diag);
		run->specs[i] = run->v[i].text;
	}
	if (err)
		return err;
	*bad = NULL;
	run->opt.specs = run->specs;
	run->opt.behind = opt->out;
	if (dp_recorder_open(&run->opt.recorder, KEPT, opt->out, &run->opt.out))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	return 0;
}

static void end(struct run *run, const char **bad_spec)
{
	size_t i;

	for (i = 0; run->v && i < run->opt.nr_specs; i++)
		if (run->v[i].text != *bad_spec)
			free(run->v[i].text);
	free(run->v);
	free(run->specs);
	if (run->opt.recorder)
		dp_recorder_close(run->opt.recorder);
}

int dp_tracer_inject(const struct dp_tracer_options *opt, const char **bad_spec,
		     int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.arguments = true,
		.waits = true,
		.rooms = rooms,
		.bind = bind,
		.record = record,
		.report = report,
	};
	struct run run = { 0 };
	int err = begin(&run, opt, bad_spec, diag);

	if (!err)
		err = dp_session_do(&run.opt, &kind, &run, bad_spec, died_of,
				    diag);
	if (err < 0 && run.bad && !*bad_spec)
		*bad_spec = run.bad;
	/* The text that a caret is in lives as long as the tool. */
	end(&run, bad_spec);
	return err;
}
