// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * calls: what became of the calls of functions that were followed.
 *
 *     entered = returned + tail + unwound + abandoned + inside + missed + …
 *
 * The hit half notices that a call was left by longjmp when its place on the stack
 * is entered again. Those of which it did not are found here: the return address is
 * not there any more. Looked at while the probes are armed, a visit that is in the
 * table before and after its slot was read had not ended when it was; so if
 * something else is in the slot, it never will.
 *
 * A table that fills up gets another one beside it, here, while the probes are
 * armed.
 */
#include "tracer/session.h"
#include "proc/proc.h"
#include "tracer/output.h"
#include "engine/site/visits.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "resolve/points.h"

/* Return addresses that are read by one look; where there are more, the next look
 * goes on with them. */
#define LOOKS 16384

/**
 * struct dp_calls - by point
 * @stale: visits that were seen to be over, ascending by index
 * @from: index of the first one to be looked at; @left: so many more
 * @stuck: memory for a further table could not be had
 */
struct dp_calls {
	u64 *inside, *abandoned, *cut;
	struct dp_visit_copy *stale;
	size_t n, cap, next;
	u32 from;
	size_t left;
	bool stuck;
};

static bool is_followed(const struct dp_session *s, size_t point)
{
	return s->points.v[point].spec->kind == DP_SPEC_RETURN &&
	       !s->points.v[point].refused;
}

static void free_calls(struct dp_calls *c)
{
	free(c->inside);
	free(c->abandoned);
	free(c->cut);
	free(c->stale);
	free(c);
}

static struct dp_calls *new_calls(const struct dp_session *s)
{
	struct dp_calls *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->inside = calloc(s->points.n + 1, sizeof(*c->inside));
	c->abandoned = calloc(s->points.n + 1, sizeof(*c->abandoned));
	c->cut = calloc(s->points.n + 1, sizeof(*c->cut));
	if (c->inside && c->abandoned && c->cut)
		return c;
	free_calls(c);
	return NULL;
}

static bool follows_any(struct dp_session *s)
{
	size_t i;

	for (i = 0; i < s->points.n; i++)
		if (is_followed(s, i)) {
			if (!s->calls)
				s->calls = new_calls(s);
			return s->calls != NULL;
		}
	return false;
}

static void note_stale(struct dp_calls *c, const struct dp_visit_copy *v)
{
	size_t cap = c->cap ? 2 * c->cap : 64;
	struct dp_visit_copy *bigger;

	if (c->n == c->cap) {
		bigger = realloc(c->stale, cap * sizeof(*bigger));
		if (!bigger)
			return; /* it counts as inside */
		c->stale = bigger;
		c->cap = cap;
	}
	c->stale[c->n++] = *v;
}

static bool is_over(const struct dp_session *s, const struct dp_visit_copy *v)
{
	u64 is;

	return pread(dp_process_mem(s->proc), &is, sizeof(is),
		     (off_t)v->slot) == sizeof(is) &&
	       is != v->ret && dp_engine_visits_still(s->engine, v);
}

static void look(void *arg, const struct dp_visit_copy *v)
{
	struct dp_session *s = arg;
	struct dp_calls *c = s->calls;

	if (!v->ret || v->index < c->from || !c->left)
		return;
	if (!--c->left)
		c->from = v->index + 1;
	if (is_over(s, v))
		note_stale(c, v);
}

static void look_at(struct dp_session *s, size_t most)
{
	struct dp_calls *c = s->calls;

	c->n = 0;
	c->left = most;
	dp_engine_visits(s->engine, look, s);
	if (c->left)
		c->from = 0;
}

void dp_calls_look(struct dp_session *s)
{
	if (follows_any(s))
		look_at(s, LOOKS);
}

void dp_calls_grow(struct dp_session *s)
{
	struct dp_diag diag;
	u64 size, addr;
	void *ours;

	if (!follows_any(s) || s->calls->stuck)
		return;
	size = dp_engine_visits_want(s->engine);
	if (!size)
		return;
	dp_diag_clear(&diag);
	if (!dp_process_share(s->proc, size, &addr, &ours, &diag)) {
		dp_engine_visits_grow(s->engine, addr, ours);
		return;
	}
	/* Who has ended needs none. */
	if (dp_process_poll(s->proc, 0) != DP_PROCESS_RUNS)
		return;
	s->calls->stuck = true;
	dp_output_print(
		stderr,
		"dprobes: there is no room to follow more calls at once: %s\n",
		diag.text);
}

void dp_calls_stop(struct dp_session *s)
{
	dp_engine_admit(s->engine, false);
	/* Its memory is gone, or another program's; what was seen is still so. */
	if (s->ending == DP_ENDING_EXIT || s->ending == DP_ENDING_EXEC ||
	    !follows_any(s))
		return;
	s->calls->from = 0;
	look_at(s, SIZE_MAX);
}

static void tell_stale(struct dp_session *s, const struct dp_visit_copy *v)
{
	struct dp_record_copy record;

	if (!s->kind->record)
		return;
	dp_engine_visit_record(s->engine, v, &record);
	s->kind->record(s, &record);
	s->written++;
}

static void close_one(void *arg, const struct dp_visit_copy *v)
{
	struct dp_session *s = arg;
	struct dp_calls *c = s->calls;
	size_t point = s->point_of[v->probe];

	while (c->next < c->n && c->stale[c->next].index < v->index)
		c->next++;
	if (!v->whole) {
		c->cut[point]++;
	} else if (c->next < c->n && c->stale[c->next].index == v->index &&
		   c->stale[c->next].serial == v->serial) {
		c->abandoned[point]++;
		tell_stale(s, v);
	} else {
		c->inside[point]++;
	}
}

void dp_calls_close_books(struct dp_session *s)
{
	if (follows_any(s))
		dp_engine_visits(s->engine, close_one, s);
}

void dp_calls_get(const struct dp_session *s, size_t point,
		  struct dp_call_counts *n)
{
	const struct dp_engine *e = s->engine;
	u32 probe = s->probes[point];
	struct dp_account a;

	dp_engine_account(e, probe, &a);
	*n = (struct dp_call_counts){
		.entered = dp_engine_hits(e, probe) +
			   dp_engine_tally(e, probe, DP_TALLY_BROUGHT),
		.returned = a.returned,
		.tail = a.tail,
		.unwound = a.unwound,
		.abandoned = a.abandoned + s->calls->abandoned[point],
		.inside = s->calls->inside[point],
		.missed = a.missed,
		.damaged = a.damaged,
		.unmet = dp_engine_tally(e, probe, DP_TALLY_UNMET),
		.unseen = dp_engine_tally(e, probe, DP_TALLY_UNSEEN),
		.cut = a.cut + s->calls->cut[point],
	};
	n->lost =
		(s64)(n->entered - n->returned - n->tail - n->unwound -
		      n->abandoned - n->inside - n->missed - n->damaged -
		      n->unmet - dp_engine_tally(e, probe, DP_TALLY_DISABLED));
}

static void add(struct dp_call_counts *sum, const struct dp_call_counts *n)
{
	sum->entered += n->entered;
	sum->returned += n->returned;
	sum->tail += n->tail;
	sum->unwound += n->unwound;
	sum->abandoned += n->abandoned;
	sum->inside += n->inside;
	sum->missed += n->missed;
	sum->damaged += n->damaged;
	sum->unmet += n->unmet;
	sum->unseen += n->unseen;
	sum->cut += n->cut;
	sum->lost += n->lost;
}

bool dp_calls_total(const struct dp_session *s, struct dp_call_counts *total)
{
	struct dp_call_counts n;
	size_t i;

	*total = (struct dp_call_counts){ 0 };
	for (i = 0; s->calls && i < s->points.n; i++)
		if (is_followed(s, i)) {
			dp_calls_get(s, i, &n);
			add(total, &n);
		}
	return s->calls != NULL;
}

/* A process that ends takes its threads away wherever they are, in a hit too. So
 * does a signal's handler that does not come back, and then that is seen. */
static bool balances(const struct dp_session *s, const struct dp_call_counts *n)
{
	bool ended = s->ending == DP_ENDING_EXIT || s->ending == DP_ENDING_EXEC;

	return n->lost >= 0 && (ended || (u64)n->lost <= n->cut);
}

void dp_calls_complain(const struct dp_session *s)
{
	struct dp_call_counts n;
	bool told = false;
	size_t i;

	for (i = 0; s->calls && i < s->points.n; i++) {
		const struct dp_point *p = &s->points.v[i];

		if (!is_followed(s, i))
			continue;
		dp_calls_get(s, i, &n);
		if (n.damaged && !told)
			dp_output_print(
				stderr,
				"kretprobe BUG!: Processing kretprobe %s @ 0x%llx\n",
				p->name, (unsigned long long)p->addr);
		told |= n.damaged != 0;
		if (!balances(s, &n))
			dp_output_print(
				stderr,
				"dprobes: %s: the account does not balance: %lld of %llu calls\n",
				p->name, (long long)n.lost,
				(unsigned long long)n.entered);
	}
}

void dp_calls_free(struct dp_session *s)
{
	if (!s->calls)
		return;
	free_calls(s->calls);
	s->calls = NULL;
}
