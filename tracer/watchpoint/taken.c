// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * taken: hits that the tool takes, while their threads are stopped: values, conditions and records.
 *
 * The tool does here what values.c has the kernel do: read the value, swap it for the one
 * before, judge the condition, and keep a record. As the tool takes one hit after the other,
 * each value that was new in one record is old in exactly one other.
 */
#include "proc/proc.h"
#include "resolve/points.h"
#include "tracer/watchpoint/code.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define RECORDS 1024 /* more than the hits of one turn */

struct dp_watch_taken {
	const struct dp_process *proc;
	const struct dp_watchpoint *v;
	size_t n;
	bool logs;
	u64 last[DP_WATCHPOINTS], held[DP_WATCHPOINTS];
	struct dp_watch_code *code[DP_WATCHPOINTS];
	struct dp_watch_record records[RECORDS];
	size_t nr_records;
};

static void read_value(struct dp_watch_taken *t, u32 watch,
		       struct dp_watch_record *r)
{
	const struct dp_watchpoint *w = &t->v[watch];

	if (w->access == DP_WATCH_EXECUTE ||
	    dp_process_read(t->proc, w->addr, &r->now, w->len))
		return;
	r->before = t->last[watch];
	t->last[watch] = r->now;
	r->known = 1;
}

/* A hit whose value could not be read has no condition that fails. An execution has no value. */
static bool holds(const struct dp_watch_taken *t, u32 watch,
		  const struct dp_watch_record *r)
{
	if (!t->code[watch])
		return true;
	if (!r->known && t->v[watch].access != DP_WATCH_EXECUTE)
		return true;
	return dp_watch_judge(t->code[watch], r);
}

static void take_one(struct dp_watch_taken *t, u32 watch,
		     const struct dp_watch_hit *hit)
{
	struct dp_watch_record r = { .pc = hit->pc,
				     .watch = watch,
				     .tid = hit->tid };
	struct timespec now;

	read_value(t, watch, &r);
	if (!holds(t, watch, &r))
		return;
	t->held[watch]++;
	if (!t->logs || t->nr_records == RECORDS)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	r.ticks = (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
	t->records[t->nr_records++] = r;
}

static bool take(void *arg, const struct dp_watch_hit *hit)
{
	struct dp_watch_taken *t = arg;
	u32 i;

	for (i = 0; i < t->n; i++)
		if (hit->which >> i & 1)
			take_one(t, i, hit);
	return t->nr_records + DP_WATCHPOINTS > RECORDS;
}

static int compile(struct dp_watch_taken *t, struct dp_diag *diag)
{
	int err = 0;
	size_t i;

	for (i = 0; i < t->n && !err; i++) {
		if (!t->v[i].spec->cond)
			continue;
		t->code[i] = calloc(1, sizeof(*t->code[i]));
		err = t->code[i] ? dp_watch_condition(t->code[i], t->v[i].spec,
						      t->v[i].len, diag) :
				   dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	return err;
}

int dp_watch_taken_open(struct dp_watch_taken **taken,
			const struct dp_process *proc,
			const struct dp_watchpoint *watches, size_t n,
			bool logs, struct dp_diag *diag)
{
	struct dp_watch_taken *t = calloc(1, sizeof(*t));
	size_t i;

	*taken = t;
	if (!t)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	t->proc = proc;
	t->v = watches;
	t->n = n;
	t->logs = logs;
	for (i = 0; i < n; i++)
		if (watches[i].access != DP_WATCH_EXECUTE)
			dp_process_read(proc, watches[i].addr, &t->last[i],
					watches[i].len);
	return compile(t, diag);
}

struct dp_watch_taker dp_watch_taken_taker(struct dp_watch_taken *taken)
{
	return (struct dp_watch_taker){ take, taken };
}

u64 dp_watch_taken_held(const struct dp_watch_taken *taken, u32 watch)
{
	return taken->held[watch];
}

size_t dp_watch_taken_read(
	struct dp_watch_taken *t,
	void (*hand_on)(void *arg, const struct dp_watch_record *record),
	void *arg)
{
	size_t i, n = t->nr_records;

	for (i = 0; i < n; i++)
		hand_on(arg, &t->records[i]);
	t->nr_records = 0;
	return n;
}

void dp_watch_taken_close(struct dp_watch_taken *taken)
{
	size_t i;

	for (i = 0; taken && i < DP_WATCHPOINTS; i++)
		free(taken->code[i]);
	free(taken);
}
