// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* leaks_report: what has been taken and not given back, by who has taken it. */
#include "tracer/leaks.h"
#include "tracer/output.h"
#include "tracer/stacks.h"
#include <stdlib.h>

#define SUMS_MOST (1u << 20)

static u64 key_of(u32 spec, u32 stack)
{
	return (u64)spec << 32 | stack;
}

/* Return: false: there is no room. */
static bool add(struct dp_taken *sums, const struct dp_taken_entry *e,
		u32 stack)
{
	struct dp_taken_entry *sum =
		dp_taken_add(sums, key_of(e->spec, stack), SUMS_MOST);

	if (!sum)
		return false;
	sum->spec = e->spec;
	sum->stack = stack;
	sum->count += e->count;
	sum->amount += e->amount;
	return true;
}

/* By the stacks' numbers first: what they stand for is asked once for each. */
static void add_numbers(struct dp_leaks *run, const struct dp_taken *taken,
			struct dp_taken *sums)
{
	size_t i;

	for (i = 0; i < taken->size; i++)
		if (taken->v[i].count &&
		    !add(sums, &taken->v[i], taken->v[i].stack))
			run->untracked += taken->v[i].count;
}

static void add_stacks(struct dp_leaks *run, const struct dp_session *s,
		       const struct dp_taken *sums)
{
	u32 place;
	size_t i;

	dp_walked_begin();
	for (i = 0; i < sums->size; i++)
		if (sums->v[i].count &&
		    (dp_walked_find(&run->walked, s, sums->v[i].stack,
				    &place) ||
		     !add(&run->sums, &sums->v[i], place)))
			run->untracked += sums->v[i].count;
	dp_walked_end();
}

static u64 lost_records(struct dp_session *s)
{
	struct dp_source_count c;
	u64 lost = 0;
	size_t i;

	for (i = 0; i < s->points.n; i++) {
		if (s->points.v[i].refused)
			continue;
		s->ops->count(s->source, &s->points.v[i], &c);
		lost += c.tally[DP_TALLY_LOST];
	}
	return lost;
}

static void leave(struct dp_leaks *run, struct dp_session *s)
{
	struct dp_taken sums = { 0 };
	size_t i;

	run->lost += lost_records(s);
	i = dp_leaks_find(run, s);
	if (i == run->n)
		return;
	add_numbers(run, &run->v[i].taken, &sums);
	add_stacks(run, s, &sums);
	dp_taken_free(&sums);
	dp_taken_free(&run->v[i].taken);
	run->v[i] = run->v[--run->n];
}

/* Output */

/* Most first */
static int compare(const void *a, const void *b, void *arg)
{
	const struct dp_taken_entry *x = *(struct dp_taken_entry *const *)a;
	const struct dp_taken_entry *y = *(struct dp_taken_entry *const *)b;
	const struct dp_leaks *run = arg;

	if (x->amount != y->amount)
		return x->amount < y->amount ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->spec != y->spec)
		return x->spec < y->spec ? -1 : 1;
	return dp_walked_compare(&run->walked, x->stack, y->stack);
}

static void print_one(const struct dp_leaks *run, const struct dp_session *s,
		      const struct dp_taken_entry *e)
{
	FILE *out = run->opt.out;

	dp_output_print(out, "%lu", e->count);
	if (run->amounts[e->spec])
		dp_output_print(out, "  sum(%s)=%lu", run->names[e->spec],
				e->amount);
	dp_output_print(out, "  %s\n", s->specs[e->spec].text);
	dp_walked_print(out, &run->walked, e->stack);
}

static void print_json(const struct dp_leaks *run, const struct dp_session *s,
		       const struct dp_taken_entry *e)
{
	const struct dp_walked_stack *stack =
		dp_walked_get(&run->walked, e->stack);
	FILE *out = run->opt.out;

	fputs("{\"probe\":", out);
	dp_json_string(out, s->specs[e->spec].text);
	dp_output_print(out, ",\"count\":%lu", e->count);
	if (run->amounts[e->spec])
		dp_output_print(out, ",\"sum\":%lu", e->amount);
	if (stack) {
		putc(',', out);
		dp_json_frames(out, "stack", stack->frames, stack->n,
			       stack->end);
	}
	fputs("}\n", out);
}

static void print_rest(const struct dp_leaks *run,
		       struct dp_taken_entry *const *rows, size_t from,
		       size_t n)
{
	u64 count = 0, amount = 0;
	size_t i;

	for (i = from; i < n; i++) {
		count += rows[i]->count;
		amount += rows[i]->amount;
	}
	if (from < n && !run->opt.json)
		dp_output_print(
			run->opt.out,
			"and %lu more of %zu other stacks, %lu in all\n", count,
			n - from, amount);
}

static void print_rows(struct dp_leaks *run, const struct dp_session *s,
		       struct dp_taken_entry **rows, size_t n)
{
	u64 top = run->opt.top;
	size_t i, shown = top && top < n ? (size_t)top : n;

	qsort_r(rows, n, sizeof(*rows), compare, run);
	for (i = 0; i < shown; i++) {
		if (run->opt.json) {
			print_json(run, s, rows[i]);
			continue;
		}
		if (i)
			putc('\n', run->opt.out);
		print_one(run, s, rows[i]);
	}
	print_rest(run, rows, shown, n);
}

static void print(struct dp_leaks *run, const struct dp_session *s)
{
	struct dp_taken_entry **rows =
		calloc(run->sums.n + 1, sizeof(struct dp_taken_entry *));
	size_t i, n = 0;

	if (!rows) {
		dp_output_say("out of memory: nothing is shown");
		return;
	}
	for (i = 0; i < run->sums.size; i++)
		if (run->sums.v[i].count)
			rows[n++] = &run->sums.v[i];
	print_rows(run, s, rows, n);
	free(rows);
	fflush(run->opt.out);
}

static void tell(const struct dp_leaks *run)
{
	if (run->untracked)
		dp_output_say(
			"%lu hits are not in this: there was no memory for them, or their values could not be read",
			run->untracked);
	if (run->lost)
		dp_output_say(
			"%lu records were lost, so some of this may have been given back; with --block none is",
			run->lost);
	if (!run->opt.quiet)
		dp_output_say("%lu taken, %lu of them given back", run->taken,
			      run->given);
}

void dp_leaks_finish(struct dp_session *s)
{
	struct dp_leaks *run = s->own;

	print(run, s);
	tell(run);
}

void dp_leaks_report(struct dp_session *s)
{
	leave(s->own, s);
	if (!s->opt->children)
		dp_leaks_finish(s);
}
