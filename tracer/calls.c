// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calls: the account of calls of tracked functions.
 *
 *     entered = returned + tail + unwound + abandoned + inside + missed + …
 */
#include "tracer/output.h"
#include "tracer/session.h"

/* Return: false: the point is not tracked. */
static bool get(const struct dp_session *s, size_t point, struct dp_account *n)
{
	const struct dp_point *p = &s->points.v[point];

	if (!s->source->tracks || p->spec->kind != DP_SPEC_RETURN || p->refused)
		return false;
	s->ops->calls(s->source, p, n);
	return true;
}

/* All members are 64-bit numbers. */
static void add(struct dp_account *sum, const struct dp_account *n)
{
	const u64 *from = (const u64 *)n;
	u64 *to = (u64 *)sum;
	size_t i;

	for (i = 0; i < sizeof(*n) / sizeof(*from); i++)
		to[i] += from[i];
}

bool dp_calls_total(const struct dp_session *s, struct dp_account *total)
{
	struct dp_account n;
	size_t i;

	*total = (struct dp_account){ 0 };
	for (i = 0; i < s->points.n; i++)
		if (get(s, i, &n))
			add(total, &n);
	return s->source->tracks;
}

/* Calls may be lost when the process ends with threads inside hits, or when a signal
 * handler leaves a hit for good, which @cut counts. */
static bool balances(const struct dp_session *s, const struct dp_account *n)
{
	bool ended = s->ending == DP_ENDING_EXIT || s->ending == DP_ENDING_EXEC;

	return n->lost >= 0 && (ended || (u64)n->lost <= n->cut);
}

void dp_calls_complain(const struct dp_session *s)
{
	struct dp_account n;
	bool told = false;
	size_t i;

	for (i = 0; i < s->points.n; i++) {
		const struct dp_point *p = &s->points.v[i];

		if (!get(s, i, &n))
			continue;
		if (n.damaged && !told)
			dp_output_print(
				stderr,
				"kretprobe BUG!: Processing kretprobe %s @ 0x%lx\n",
				p->name, p->addr);
		told |= n.damaged != 0;
		if (!balances(s, &n))
			dp_output_say(
				"%s: the account does not balance: %ld of %lu calls",
				p->name, n.lost, n.entered);
	}
}
