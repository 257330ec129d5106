// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * leaks: what a program has taken, and not given back.
 *
 *	r:malloc(retval, size)   a record: 0x5000, 24, stack 7 ─► taken: 0x5000
 *	until:free(ptr)          a record: 0x5000              ─► taken: nothing
 *
 * Records come in the order of time: what is given back is noted before it is, what is taken
 * afterwards. So two threads that have the same number one after the other are told apart.
 */
#include "tracer/leaks.h"
#include "sym/list.h"
#include "tracer/output.h"
#include "tracer/traced.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNTIL "until:"
#define TAKEN_MOST (16u << 20) /* by a process */

/* Memory of the C library, and so of most programs. What realloc() is given is free before it returns. */
static const char *const memory[] = {
	"r:libc.so.6:malloc(retval, size) if retval != 0",
	"r:libc.so.6:calloc(retval, nmemb * size) if retval != 0",
	"r:libc.so.6:realloc(retval, size) if retval != 0",
	"r:libc.so.6:memalign(retval, size) if retval != 0",
	"r:libc.so.6:aligned_alloc(retval, size) if retval != 0",
	UNTIL "libc.so.6:realloc(ptr)",
	UNTIL "libc.so.6:free(ptr)",
};

static bool is_until(const struct dp_leaks *run, const struct dp_spec *spec,
		     const struct dp_session *s)
{
	return run->until[spec - s->specs];
}

size_t dp_leaks_find(const struct dp_leaks *run, const struct dp_session *s)
{
	size_t i = 0;

	while (i < run->n && run->v[i].s != s)
		i++;
	return i;
}

/* Of the process whose records come */
static struct dp_leaks_owner *owner_of(struct dp_leaks *run,
				       const struct dp_session *s)
{
	struct dp_leaks_owner owner = { .s = s };
	size_t i;

	if (run->last < run->n && run->v[run->last].s == s)
		return &run->v[run->last];
	i = dp_leaks_find(run, s);
	if (i == run->n && dp_list_push(run, &owner))
		return NULL;
	run->last = i;
	return &run->v[i];
}

/* The values of a record */

static bool take_number(const struct dp_shown *shown, u32 place, u64 *number)
{
	const struct dp_item *item = &shown->is[place].item;

	if (!shown->as[place] || item->token != DP_ITEM_ELEMENTS ||
	    item->count != 1 || item->size < sizeof(*number))
		return false;
	memcpy(number, item->payload, sizeof(*number));
	return true;
}

/* A number that is returned is in each record, and among no values. */
static bool is_logged(const struct dp_trace_program *p, u32 place)
{
	size_t i;

	for (i = 0; i < p->nr_items; i++)
		if (p->items[i].place == place)
			return true;
	return false;
}

static bool take_entry(const struct dp_trace_program *p,
		       const struct dp_shown *shown,
		       const struct dp_leaving *leaving, bool amount,
		       struct dp_taken_entry *e)
{
	u64 *to[] = { &e->key, &e->amount };
	u32 i;

	for (i = 0; i < 1u + amount; i++) {
		if (is_logged(p, i)) {
			if (!take_number(shown, i, to[i]))
				return false;
		} else if (leaving) {
			*to[i] = leaving->value;
		}
	}
	return true;
}

/* What has been taken is taken again: its end has not been seen, as that of a descriptor after dup2(2). */
static void take(struct dp_leaks *run, struct dp_taken *taken,
		 const struct dp_taken_entry *is)
{
	struct dp_taken_entry *e = dp_taken_add(taken, is->key, TAKEN_MOST);

	if (!e) {
		run->untracked++;
		return;
	}
	*e = *is;
	run->taken++;
}

static void give(struct dp_leaks *run, struct dp_taken *taken, u64 key)
{
	struct dp_taken_entry *e = dp_taken_find(taken, key);

	if (!e)
		return;
	dp_taken_drop(taken, e);
	run->given++;
}

static void record(struct dp_session *s, const struct dp_record_copy *r)
{
	const struct dp_point *p = dp_record_point(s, r->head.probe);
	struct dp_leaks *run = s->own;
	struct dp_leaks_owner *owner = owner_of(run, s);
	const struct dp_trace_program *program;
	bool returns = p->spec->kind == DP_SPEC_RETURN;
	struct dp_taken_entry e = { .count = 1 };
	struct dp_record_copy rest;
	struct dp_leaving leaving;
	struct dp_shown shown;

	memcpy(&rest, r, offsetof(struct dp_record_copy, data) + r->head.len);
	if (returns && (!dp_leaving_take(&rest, &leaving) ||
			leaving.how != DP_CALL_RETURNED))
		return;
	program = dp_traced_find(run->programs, s, p);
	dp_shown_take(&shown, program, &rest, returns ? &leaving : NULL);
	e.spec = (u32)(p->spec - s->specs);
	e.stack = shown.stack;
	if (!owner || !take_entry(program, &shown, returns ? &leaving : NULL,
				  run->amounts[e.spec], &e))
		run->untracked++;
	else if (is_until(run, p->spec, s))
		give(run, &owner->taken, e.key);
	else
		take(run, &owner->taken, &e);
}

/* The programs of the probes */

static int bad_values(const struct dp_spec *spec, const char *why,
		      struct dp_diag *diag)
{
	dp_diag_set(diag, -EINVAL, "%s", why);
	if (spec->args)
		dp_diag_caret(diag, spec->args_col + 1,
			      (int)strlen(spec->args) ?: 1);
	else
		dp_diag_caret(diag, 0, (int)strlen(spec->text));
	return -EINVAL;
}

static bool is_number(const struct dp_value_type *type)
{
	return type->stars ||
	       (!type->count && type->bits <= 64 &&
		type->kind != DP_VALUE_STRING && type->kind != DP_VALUE_STACK &&
		type->kind != DP_VALUE_STRUCT && type->kind != DP_VALUE_FLOAT);
}

/* What a spec's values are for is told by their order: what is taken, and how much it is. */
static int check_count(struct dp_leaks *run, const struct dp_session *s,
		       const struct dp_spec *spec, struct dp_diag *diag)
{
	bool until = is_until(run, spec, s);
	struct dp_values values;
	int err;

	if (!spec->args)
		return bad_values(
			spec,
			until ? "what is given back is to be in parentheses behind it, as in until:free(ptr)" :
				"what is taken is to be in parentheses behind it, as in r:malloc(retval, size)",
			diag);
	err = dp_value_list(&values, spec->args, spec->args_col + 1, diag);
	if (err)
		return err;
	if (until && values.nr_items != 1)
		return bad_values(
			spec, "until: has one value, what is given back", diag);
	if (!values.nr_items || values.nr_items > 2)
		return bad_values(
			spec,
			"there is one value, what is taken, or a second one, how much it is",
			diag);
	run->amounts[spec - s->specs] = values.nr_items == 2;
	return 0;
}

static int check(struct dp_leaks *run, const struct dp_session *s,
		 const struct dp_spec *spec, const struct dp_trace_program *p,
		 struct dp_diag *diag)
{
	size_t i;

	for (i = 0; i < p->nr_items; i++)
		if (!is_number(&p->items[i].type))
			return bad_values(
				spec,
				"what is taken, and how much it is, are numbers",
				diag);
	for (i = 0; i < p->nr_items; i++)
		if (p->items[i].place == run->amounts[spec - s->specs])
			snprintf(run->names[spec - s->specs], DP_TRACE_NAME,
				 "%s", p->items[i].name);
	return 0;
}

static int bind(struct dp_session *s, size_t point, struct dp_diag *diag)
{
	const struct dp_point *p = &s->points.v[point];
	struct dp_spec *spec = &s->specs[p->spec - s->specs];
	const struct dp_trace_program *program;
	struct dp_leaks *run = s->own;
	int err = check_count(run, s, spec, diag);

	spec->stack = !is_until(run, spec, s);
	program = err ? NULL : dp_traced_make(run->programs, s, p, diag);
	if (!program || check(run, s, spec, program, diag)) {
		run->bad = run->texts[spec - s->specs];
		return -EINVAL;
	}
	if (spec->stack)
		err = dp_stacks_walk(s, diag);
	return err ?: dp_session_bind(s, point, program, 0, diag);
}

/* The run */

static int begin(struct dp_leaks *run, struct dp_diag *diag)
{
	const struct dp_tracer_options *opt = &run->opt;
	size_t i, n = opt->nr_specs + 1;

	run->programs = calloc(n, sizeof(*run->programs));
	run->texts = calloc(n, sizeof(*run->texts));
	run->names = calloc(n, sizeof(*run->names));
	run->until = calloc(n, sizeof(*run->until));
	run->amounts = calloc(n, sizeof(*run->amounts));
	if (!run->programs || !run->texts || !run->names || !run->until ||
	    !run->amounts)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	for (i = 0; i < opt->nr_specs; i++) {
		run->until[i] = !strncmp(opt->specs[i], UNTIL, strlen(UNTIL));
		run->texts[i] =
			opt->specs[i] + (run->until[i] ? strlen(UNTIL) : 0);
	}
	run->opt.specs = run->texts;
	return 0;
}

static void end(struct dp_leaks *run)
{
	size_t i;

	for (i = 0; i < run->n; i++)
		dp_taken_free(&run->v[i].taken);
	dp_traced_free(run->programs, run->opt.nr_specs);
	dp_taken_free(&run->sums);
	dp_walked_free(&run->walked);
	free(run->texts);
	free(run->names);
	free(run->until);
	free(run->amounts);
	free(run->v);
}

static int show(const struct dp_tracer_options *opt)
{
	size_t i;

	for (i = 0; i < opt->nr_specs; i++)
		dp_output_print(opt->out, "%s\n", opt->specs[i]);
	return 0;
}

int dp_tracer_leaks(const struct dp_tracer_options *opt, const char **bad_spec,
		    int *died_of, struct dp_diag *diag)
{
	static const struct dp_session_kind kind = {
		.arguments = true,
		.inlines = true,
		.waits = true,
		.collects = true,
		.walks = true,
		.bind = bind,
		.record = record,
		.report = dp_leaks_report,
		.finish = dp_leaks_finish,
	};
	struct dp_leaks run = { .opt = *opt };
	int err;

	if (!opt->nr_specs) {
		run.opt.specs = memory;
		run.opt.nr_specs = sizeof(memory) / sizeof(memory[0]);
	}
	if (opt->show)
		return show(&run.opt);
	err = begin(&run, diag);
	if (!err)
		err = dp_session_do(&run.opt, &kind, &run, bad_spec, died_of,
				    diag);
	if (err < 0 && run.bad && !*bad_spec)
		*bad_spec = run.bad;
	end(&run);
	return err;
}
