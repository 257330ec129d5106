// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * exits: guests at the exits of functions, behind those at their entries.
 *
 * An exit names its entry by the number that the process has given it. So exits are asked for
 * when entries have their numbers.
 */
#include "engine/layout/probe.h"
#include "engine/site/instances.h"
#include "resolve/exits.h"
#include "sym/list.h"
#include "sym/unwinds.h"
#include "tracer/host/host.h"
#include <dprobes/diag.h>
#include <errno.h>

static int add_guest(struct dp_host_source *h, u32 kind, u32 way, u32 group,
		     u64 addr)
{
	const struct dp_guest g = {
		.kind = kind, .way = way, .group = group, .addr = addr
	};

	return dp_list_add(&h->guests, &h->n, &h->room, &g, sizeof(g));
}

static int add_exits(struct dp_host_source *h, const struct dp_points *points,
		     const struct dp_point *p, u32 group)
{
	size_t k;
	int err = 0;

	for (k = 0; k < p->nr_exits && !err; k++)
		err = add_guest(h, DP_KIND_EXIT,
				dp_tail_targets_way(points, p, &p->exits[k]),
				group, p->exits[k].addr);
	return err;
}

/* Calls that were tail-called end at the exits of tail targets. */
static int add_tail_targets(struct dp_host_source *h,
			    const struct dp_points *points)
{
	const struct dp_tail_targets *o = points->tail_targets;
	size_t i;
	int err = 0;

	for (i = 0; o && i < o->n && !err; i++)
		if (!o->v[i].refused)
			err = add_exits(h, points, &o->v[i], DP_NO_GROUP);
	return err;
}

/* Calls end in unwinders without an exit, and else count as abandoned. */
static int add_unwinds(struct dp_host_source *h)
{
	struct dp_unwind list[DP_UNWINDS_MAX];
	size_t n = dp_unwinds_find(h->source.mods, list), i;
	int err = 0;

	for (i = 0; i < n && !err; i++)
		err = add_guest(h, DP_KIND_UNWIND,
				list[i].until == DP_UNWIND_CX ?
					DP_WAY_UNTIL_CX :
					DP_WAY_UNTIL_DI,
				DP_NO_GROUP, list[i].addr);
	return err;
}

static int add_all(struct dp_host_source *h, const struct dp_points *points)
{
	size_t i;
	int err = 0;

	for (i = 0; i < points->n && !err; i++) {
		const struct dp_point *p = &points->v[i];

		if (!p->refused && p->spec->kind == DP_SPEC_RETURN)
			err = add_exits(h, points, p,
					h->guests[p->probe].probe);
	}
	if (!err)
		err = add_tail_targets(h, points);
	return err ? err : add_unwinds(h);
}

/* Of the point whose exit was refused: a match of a glob is left out. */
static int refuse_point(struct dp_host_source *h, struct dp_points *points,
			const struct dp_guest *g, struct dp_diag *diag)
{
	char words[DP_GUEST_WHY + 1];
	int err = dp_host_refusal(g, words);
	size_t i;

	for (i = 0; i < points->n; i++) {
		struct dp_point *p = &points->v[i];

		if (p->refused || h->guests[p->probe].probe != g->group)
			continue;
		if (!p->several)
			return dp_diag_set(
				diag, err,
				"%s cannot be probed: its exit at 0x%llx: %s",
				p->name, (unsigned long long)g->addr, words);
		dp_point_refuse(p, err, "its exit at 0x%llx: %s",
				(unsigned long long)g->addr, words);
	}
	return 0;
}

static int refuse(struct dp_host_source *h, struct dp_points *points,
		  const struct dp_guest *g, struct dp_diag *diag)
{
	char words[DP_GUEST_WHY + 1];
	int err;

	if (g->kind == DP_KIND_UNWIND)
		return 0;
	if (g->group != DP_NO_GROUP)
		return refuse_point(h, points, g, diag);
	err = dp_host_refusal(g, words);
	return dp_diag_set(
		diag, err,
		"the exit at 0x%llx, which a followed function has by a tail jump, cannot be probed: %s",
		(unsigned long long)g->addr, words);
}

/* Those that have no number are left out; @asked: so many have been asked for. */
static int sort_out(struct dp_host_source *h, struct dp_points *points,
		    size_t asked, struct dp_diag *diag)
{
	size_t i, n = h->nr_entries;
	int err = 0;

	for (i = n; i < asked; i++)
		if (!h->guests[i].err)
			h->guests[n++] = h->guests[i];
		else if (!err)
			err = refuse(h, points, &h->guests[i], diag);
	h->n = n;
	return err;
}

int dp_host_add_exits(struct dp_host_source *h, struct dp_points *points,
		      struct dp_diag *diag)
{
	size_t done = h->nr_entries;
	int err = dp_tail_targets_cover(points) || add_all(h, points) ?
			  dp_diag_set(diag, -ENOMEM, "out of memory") :
			  0;
	int bad;

	if (!err)
		err = dp_host_ask_all(h, DP_SERVICE_PROBE, &done, h->n,
				      DP_HOST_PATIENCE, diag);
	bad = sort_out(h, points, done, err ? NULL : diag);
	return err ? err : bad;
}

/* The guests at the exits of an entry, one by one. Return: false: no more. */
static bool next_exit(const struct dp_host_source *h, u32 entry, size_t *i)
{
	while (*i < h->n && (h->guests[*i].kind != DP_KIND_EXIT ||
			     h->guests[*i].group != h->guests[entry].probe))
		++*i;
	return *i < h->n;
}

bool dp_host_exit(const struct dp_host_source *h, u32 entry, size_t k,
		  u32 *probe)
{
	size_t i = h->nr_entries;

	while (next_exit(h, entry, &i) && k--)
		i++;
	if (i < h->n)
		*probe = h->guests[i].probe;
	return i < h->n;
}

void dp_host_calls(const struct dp_source *source, const struct dp_point *p,
		   struct dp_account *n)
{
	const struct dp_host_source *h = dp_host_of(source);
	u32 entry = h->guests[p->probe].probe;
	size_t i;

	dp_account_begin(h->engine, entry, n);
	for (i = h->nr_entries; next_exit(h, p->probe, &i); i++)
		dp_account_exit(h->engine, h->guests[i].probe, n);
	dp_calls_count(h->calls, entry, n);
	/* Counts are of the last look; what has not ended is of the end. */
	if (h->ended && n->lost > 0)
		n->inside += (u64)n->lost;
	if (h->ended)
		n->lost = 0;
}

void dp_host_settle(struct dp_source *source, dp_source_take take, void *arg)
{
	struct dp_host_source *h = dp_host_of(source);
	struct dp_host_taking t = { h, take, arg };

	dp_calls_settle(h->calls, dp_host_translate, &t);
}
