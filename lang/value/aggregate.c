// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aggregate: "count(), hist(latency) by arg0, comm", taken apart. */
#include "lang/value/private.h"
#include <errno.h>
#include <string.h>

#define BOUNDS 3 /* of an lhist, behind its value */

static const struct {
	const char *word;
	int values; /* in its parentheses */
} words[] = {
	[DP_AGGREGATE_COUNT] = { "count", 0 },
	[DP_AGGREGATE_SUM] = { "sum", 1 },
	[DP_AGGREGATE_AVG] = { "avg", 1 },
	[DP_AGGREGATE_MIN] = { "min", 1 },
	[DP_AGGREGATE_MAX] = { "max", 1 },
	[DP_AGGREGATE_HIST] = { "hist", 1 },
	[DP_AGGREGATE_LHIST] = { "lhist", 1 + BOUNDS },
	[DP_AGGREGATE_FIRST] = { "first", 1 },
	[DP_AGGREGATE_LAST] = { "last", 1 },
	[DP_AGGREGATE_DISTINCT] = { "distinct", 1 },
};

static const char none_such[] =
	"what is kept is one of count() sum(v) avg(v) min(v) max(v) hist(v) lhist(v,LO,HI,STEP) first(v) last(v) distinct(v)";

static void take_word(struct dp_value_parser *p, struct dp_aggregate *a)
{
	int len;

	dp_value_skip(p);
	a->at = p->at;
	len = dp_value_word(p);
	while (a->op < DP_AGGREGATE_OPS &&
	       !dp_value_word_is(p, len, words[a->op].word))
		a->op++;
	if (a->op == DP_AGGREGATE_OPS)
		dp_value_bad(p, p->at, len ?: 1, -EINVAL, none_such);
	else
		p->at += len;
}

/* A number of the text, as it is; a constant that has a name is not known yet. */
static s64 take_bound(struct dp_value_parser *p)
{
	const struct dp_value *v;

	if (p->err)
		return 0;
	if (!dp_value_accept(p, ",")) {
		dp_value_bad(
			p, p->at, 1, -EINVAL,
			"lhist has four: the value, where it begins, where it ends, and the step: lhist(arg1, 0, 1000, 10)");
		return 0;
	}
	v = &p->out->v[dp_value_expression(p)];
	if (!p->err && v->op != DP_VALUE_NUMBER)
		dp_value_bad(p, v->at, v->span, -EINVAL,
			     "the bounds and the step of lhist are numbers");
	return (s64)v->number;
}

static void check_bounds(struct dp_value_parser *p,
			 const struct dp_aggregate *a)
{
	int span = p->at - a->at;
	s64 width;

	if (p->err)
		return;
	if (a->step <= 0 || a->high <= a->low ||
	    __builtin_sub_overflow(a->high, a->low, &width))
		dp_value_bad(
			p, a->at, span, -EINVAL,
			"of lhist(v, LO, HI, STEP), HI is above LO, by less than 2^63, and STEP above 0");
	else if ((width - 1) / a->step >= DP_AGGREGATE_STEPS)
		dp_value_bad(
			p, a->at, span, -EINVAL,
			"this lhist has more than 1000 steps: take a larger STEP");
}

static void take_values(struct dp_value_parser *p, struct dp_aggregate *a)
{
	if (!words[a->op].values)
		return;
	dp_value_skip(p);
	if (p->text[p->at] == ')')
		dp_value_bad(p, a->at, p->at + 1 - a->at, -EINVAL,
			     "it is a value's: sum(arg1), hist(latency)");
	if (!p->err)
		a->value = dp_value_expression(p);
	if (a->op != DP_AGGREGATE_LHIST)
		return;
	a->low = take_bound(p);
	a->high = take_bound(p);
	a->step = take_bound(p);
}

static void take_aggregate(struct dp_value_parser *p,
			   struct dp_aggregates *aggs)
{
	struct dp_aggregate a = { 0 };

	take_word(p, &a);
	if (!p->err && !dp_value_accept(p, "("))
		dp_value_bad(p, a.at, p->at - a.at, -EINVAL,
			     "parentheses follow: count(), sum(arg1)");
	if (p->err)
		return;
	take_values(p, &a);
	if (!p->err && !dp_value_accept(p, ")"))
		dp_value_bad(p, p->at, 1, -EINVAL,
			     words[a.op].values ?
				     "a ')' ends the value" :
				     "count() has no value: it counts hits");
	if (a.op == DP_AGGREGATE_LHIST)
		check_bounds(p, &a);
	a.span = p->at - a.at;
	if (!p->err && aggs->n == DP_AGGREGATES)
		dp_value_bad(p, a.at, a.span, -EINVAL,
			     "a spec keeps eight of them at most");
	if (!p->err)
		aggs->v[aggs->n++] = a;
}

/* "by", and the keys behind it. Return: false: it is not there */
static bool take_by(struct dp_value_parser *p)
{
	int len;

	dp_value_skip(p);
	len = dp_value_word(p);
	if (!dp_value_word_is(p, len, "by"))
		return false;
	p->at += len;
	do
		dp_value_take_item(p);
	while (!p->err && dp_value_accept(p, ","));
	return true;
}

int dp_value_aggregates(struct dp_values *values, struct dp_aggregates *aggs,
			const char *text, int column, struct dp_diag *diag)
{
	struct dp_value_parser p;
	bool by;

	dp_value_begin(&p, values, text, column, diag);
	aggs->n = 0;
	do
		take_aggregate(&p, aggs);
	while (!p.err && dp_value_accept(&p, ","));
	by = !p.err && take_by(&p);
	dp_value_expect_end(
		&p, by ? "keys are separated by commas" :
			 "behind what is kept, keys may follow: by KEY, …");
	return p.err;
}
