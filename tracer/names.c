// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * names: whether a spec's values and condition can be computed.
 *
 * That is found out before anything is started; or, where only debug information may know a
 * name, at each of its points.
 */
#include "tracer/names.h"
#include "tracer/expr.h"
#include "tracer/prototype.h"
#include "tracer/session.h"
#include "tracer/values/words.h"
#include "engine/vm/vm.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* What every line has is no value; but a variable of the program may have that name. */
static bool may_be_named_so(const struct dp_spec *spec)
{
	static const char *const facts[] = { "comm", "time", "stack" };
	struct dp_words words = { .n = 0 };
	bool any = false;
	size_t i, k;

	if (dp_spec_is_glob(spec))
		return false;
	if (!dp_words_add(&words, spec->args) &&
	    !dp_words_add(&words, spec->aggs))
		dp_words_add(&words, spec->cond);
	for (i = 0; i < words.n; i++)
		for (k = 0; k < sizeof(facts) / sizeof(facts[0]); k++)
			any |= !strcmp(words.v[i].text, facts[k]);
	dp_words_free(&words);
	return any;
}

/* What its arguments are is told by notes, once there is a process. */
static int check_tracepoint(struct dp_spec *spec, struct dp_diag *diag)
{
	struct dp_values values;
	int err = 0;

	if (spec->args)
		err = dp_value_list(&values, spec->args, spec->args_col + 1,
				    diag);
	if (!err && spec->cond)
		err = dp_value_condition(&values, spec->cond, spec->cond_col,
					 diag);
	spec->asks = true;
	spec->log = DP_VM_LOG;
	return err;
}

int dp_names_check(const struct dp_session *s, struct dp_spec *spec,
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
	if (spec->aggs && !s->kind->keeps) {
		err = dp_diag_set(
			diag, -EINVAL,
			"what is kept of hits (in braces) is for dprobes stat");
		dp_diag_caret(diag, spec->aggs_col,
			      (int)strlen(spec->aggs) + 2);
		return err;
	}
	if (spec->kind == DP_SPEC_USDT && !spec->asks)
		return spec->args || spec->aggs || spec->cond ||
				       s->kind->arguments ?
			       check_tracepoint(spec, diag) :
			       0;
	if (!spec->asks &&
	    (spec->args || spec->aggs || spec->cond || s->kind->arguments))
		spec->prototype = spec->table = dp_prototype_of_spec(spec);
	err = spec->aggs ? dp_expr_aggregate(spec, &program, diag) :
			   dp_expr_trace(spec, &program, diag);
	if (!spec->asks &&
	    ((err == -EOPNOTSUPP && may_be_named_so(spec)) ||
	     (err == -ENODATA && dp_prototype_may_ask(spec, diag)))) {
		dp_diag_clear(diag);
		spec->asks = true;
		spec->log = DP_VM_LOG;
		return 0;
	}
	if (err)
		return err == -ENODATA ? -EINVAL : err;
	spec->ret = program.ret;
	spec->log = program.logmax;
	dp_expr_free(&program);
	return 0;
}

/* Arguments that a note has */
static int read_note(struct dp_session *s, struct dp_modules *mods,
		     struct dp_spec *spec, struct dp_point *p,
		     struct dp_diag *diag)
{
	int err = dp_prototype_ask(mods, spec, p);

	spec->prototype = err ? NULL : p->names;
	if (err)
		return dp_diag_set(diag, err,
				   "the file of %s cannot be read: %s", p->name,
				   strerror(-err));
	/* What is only listed needs no values. */
	if (!s->kind->bind && !spec->args && !spec->cond)
		return 0;
	return dp_names_check(s, spec, diag);
}

/* Names that debug information, or a note, has at one point */
static int ask_at(struct dp_session *s, struct dp_modules *mods,
		  struct dp_spec *spec, struct dp_point *p,
		  struct dp_diag *diag)
{
	const struct dp_prototype *table = dp_prototype_of_spec(spec);
	int err;

	if (spec->kind == DP_SPEC_USDT)
		return read_note(s, mods, spec, p, diag);
	err = dp_prototype_ask(mods, spec, p);
	spec->prototype = err ? table : p->names;
	if (err)
		return dp_prototype_refuse(spec, err, diag);
	err = dp_names_check(s, spec, diag);
	if (!err || !table)
		return err;
	/* Not known to either: the names of the table are the usual ones. */
	spec->prototype = table;
	return dp_prototype_refuse(spec, 0, diag);
}

static void refuse_point(struct dp_point *p, int err,
			 const struct dp_diag *diag)
{
	p->refused = err;
	snprintf(p->reason, sizeof(p->reason), "%.*s",
		 (int)sizeof(p->reason) - 1, diag->text);
}

int dp_names_ask(struct dp_session *s, struct dp_modules *mods,
		 struct dp_spec *spec, size_t first, struct dp_diag *diag)
{
	bool any = false;
	size_t i;
	int err = 0, bad;

	for (i = first; i < s->points.n; i++) {
		struct dp_point *p = &s->points.v[i];

		if (p->refused)
			continue;
		bad = ask_at(s, mods, spec, p, diag);
		if (bad == -ENOMEM)
			return bad;
		any |= !bad;
		err = err ?: bad;
		if (bad)
			refuse_point(p, bad, diag);
		if (bad && i + 1 < s->points.n)
			dp_diag_clear(diag);
	}
	/* Of several places, some have the names; a process that is followed goes on without. */
	return any || s->tree ? 0 : err;
}
