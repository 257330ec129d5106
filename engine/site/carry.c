// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * carry: calls that are inside go over from one engine into another, which has as
 * many tables, with as many lines.
 *
 * So each visit has its place in both. What a line knows of keys that are elsewhere is
 * counted anew; and the room for what is logged may be another.
 */
#include "engine/site/visits.h"
#include "engine/layout/site.h"
#include "engine/layout/instance.h"
#include "engine/site/internal.h"

/* Of one visit: the way it goes. @line of table @table. */
struct spot {
	u32 table, line, way;
};

static struct dp_visit *visit_at(const struct dp_engine *e, struct spot at)
{
	const struct dp_visits *v = &e->visits;

	return (void *)(v->table[at.table].visits +
			((u64)at.line * DP_VISIT_WAYS + at.way) *
				v->visit_stride);
}

static u64 *key_at(const struct dp_engine *e, struct spot at)
{
	return &e->visits.table[at.table].line[at.line].key[at.way];
}

static u32 group_of(u64 key)
{
	return (u32)(key >> DP_VISIT_SLOT_BITS) - 1;
}

static void copy_visit(const struct dp_engine *e, const struct dp_engine *of,
		       struct spot at)
{
	u32 to = e->visits.visit_stride, from = of->visits.visit_stride, i;
	u8 *out = (u8 *)visit_at(e, at);
	const u8 *in = (const u8 *)visit_at(of, at);

	for (i = 0; i < to && i < from; i++)
		out[i] = in[i];
}

static void enter(struct dp_engine *e, struct spot at, u64 key)
{
	u32 lines = e->visits.table[at.table].lines;
	u32 home = dp_visit_hash(key) & (lines - 1);
	struct dp_visit_line *l = &e->visits.table[at.table].line[home];
	struct dp_visit *v = visit_at(e, at);
	u32 most = e->visits.visit_stride - (u32)sizeof(*v);

	if (v->len > most)
		v->len = (u16)most;
	l->strayed += home != at.line;
	l->tailed += v->tailed != 0;
	*key_at(e, at) = key;
}

/* Return: false if it has changed meanwhile. */
static bool take(struct dp_engine *e, const struct dp_engine *of,
		 struct spot at, u64 *key)
{
	*key = __atomic_load_n(key_at(of, at), __ATOMIC_ACQUIRE);
	if (!*key || group_of(*key) >= e->nr_probes ||
	    e->probes[group_of(*key)].kind != DP_KIND_ENTER)
		return false;
	copy_visit(e, of, at);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (__atomic_load_n(key_at(of, at), __ATOMIC_RELAXED) == *key &&
	    __atomic_load_n(&visit_at(of, at)->serial, __ATOMIC_RELAXED) ==
		    visit_at(e, at)->serial)
		return true;
	visit_at(e, at)->slot = 0;
	return false;
}

/* Each of those that both have room for. */
static bool next(const struct dp_engine *e, struct spot *at)
{
	if (++at->way < DP_VISIT_WAYS)
		return true;
	at->way = 0;
	if (++at->line < e->visits.table[at->table].lines)
		return true;
	at->line = 0;
	return ++at->table < e->visits.tables;
}

static bool same_tables(const struct dp_engine *e, const struct dp_engine *of)
{
	return e->visits.tables && e->visits.tables == of->visits.tables &&
	       e->visits.table[0].lines == of->visits.table[0].lines;
}

void dp_engine_visits_like(struct dp_engine *e, const struct dp_engine *of)
{
	e->visits.first = of->visits.tables ? of->visits.table[0].lines : 0;
}

void dp_visits_carry(struct dp_engine *e, const struct dp_engine *of)
{
	struct spot at = { 0 };
	u64 key;

	if (!same_tables(e, of))
		return;
	do
		if (take(e, of, at, &key))
			enter(e, at, key);
	while (next(e, &at));
}

void dp_engine_fork_visits(struct dp_engine *e, const struct dp_engine *of,
			   u32 was, u32 is,
			   bool (*holds)(void *arg, u64 slot, u64 word),
			   void *arg)
{
	struct spot at = { 0 };
	struct dp_visit *v;
	u64 key;

	if (!same_tables(e, of))
		return;
	do {
		if (!take(e, of, at, &key))
			continue;
		v = visit_at(e, at);
		if (v->slot != (key & DP_VISIT_SLOT) << 3 || v->ending ||
		    !holds(arg, v->slot, v->ret)) {
			v->slot = 0;
			continue;
		}
		if (v->tid == was)
			v->tid = is;
		e->view.states[group_of(key)].tally[DP_TALLY_BROUGHT]++;
		enter(e, at, key);
	} while (next(e, &at));
}
