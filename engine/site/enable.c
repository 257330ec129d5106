// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * enable: probes of an armed engine that are switched off and on.
 *
 * Exits are on with their entry. The exits of tail targets and the unwinders are
 * on while any entry is.
 *
 * An entry is the last that is switched on and the first that is switched off: an instance
 * begins only while its exits are armed.
 */
#include "engine/site/enable.h"
#include "engine/layout/site.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

static bool is_listed(const struct dp_disabled *off, u32 probe)
{
	return probe < off->n && off->v[probe];
}

static bool any_entry(const struct dp_engine *e, const struct dp_disabled *off)
{
	u32 i;

	for (i = 0; i < e->nr_probes; i++)
		if (e->probes[i].kind == DP_KIND_ENTER && !is_listed(off, i))
			return true;
	return false;
}

static bool is_on(const struct dp_engine *e, const struct dp_disabled *off,
		  u32 i, bool entries)
{
	switch (e->probes[i].kind) {
	case DP_KIND_EXIT:
		return e->probes[i].group == DP_NO_GROUP ?
			       entries :
			       !is_listed(off, e->probes[i].group);
	case DP_KIND_UNWIND:
		return entries;
	default:
		return !is_listed(off, i);
	}
}

/* Only control writes this table. */
static struct dp_probe_entry *entry_of(const struct dp_engine *e, u32 i)
{
	return (struct dp_probe_entry *)&e->view.probes[i];
}

static void set(const struct dp_engine *e, u32 i, bool on)
{
	__atomic_store_n(&entry_of(e, i)->enabled, on, __ATOMIC_RELEASE);
}

void dp_engine_turn(struct dp_engine *e, u32 probe, bool on)
{
	e->probes[probe].enabled = on;
	if (!on || e->probes[probe].kind != DP_KIND_ENTER)
		set(e, probe, on);
	if (on)
		dp_hits_begin(e, probe);
	else
		dp_hits_end(e, probe);
}

void dp_engine_choose(struct dp_engine *e, const struct dp_disabled *off)
{
	bool entries = any_entry(e, off), on;
	u32 i;

	for (i = 0; i < e->nr_probes; i++) {
		on = is_on(e, off, i, entries);
		entry_of(e, i)->disabled = is_listed(off, i);
		dp_engine_turn(e, i, on);
	}
}

/** struct way - a place in the tables of instances: the @i-th key of a table */
struct way {
	u32 table, i;
};

static struct dp_instance_line *line_of(const struct dp_engine *e,
					struct way at)
{
	return &e->instances.table[at.table].line[at.i / DP_INSTANCE_WAYS];
}

static u64 *key_of(const struct dp_engine *e, struct way at)
{
	return &line_of(e, at)->key[at.i % DP_INSTANCE_WAYS];
}

/* @key: as it was checked */
static void forget(const struct dp_engine *e, struct way at, u64 key)
{
	struct dp_instance_line *line = line_of(e, at), *home;
	u32 lines = e->instances.table[at.table].lines;
	struct dp_exit_instance *v =
		(void *)(e->instances.table[at.table].instances +
			 (u64)at.i * e->instances.instance_stride);
	struct dp_probe_state *state = &e->view.states[dp_instance_group(key)];

	home = &e->instances.table[at.table]
			.line[dp_instance_hash(key) & (lines - 1)];
	home->displaced -= home != line;
	/* Whether the beginning or end of the others was counted is not known. */
	state->tally[v->slot && !v->ending ? DP_TALLY_INSIDE : DP_TALLY_CUT]++;
	v->slot = 0;
	*key_of(e, at) = 0;
}

/* The target can write the table: a key counts if it names an entry that is off. */
static bool is_disabled(const struct dp_engine *e,
			const struct dp_disabled *off, u64 key)
{
	u32 group = dp_instance_group(key);

	return key && group < e->nr_probes &&
	       e->probes[group].kind == DP_KIND_ENTER && is_listed(off, group);
}

/* The next instance of a disabled probe, from @at on. Return: its key; 0: there is none. */
static u64 find(const struct dp_engine *e, const struct dp_disabled *off,
		struct way *at)
{
	u64 key;

	for (; at->table < e->instances.tables; at->table++, at->i = 0)
		for (; at->i <
		       e->instances.table[at->table].lines * DP_INSTANCE_WAYS;
		     at->i++) {
			key = __atomic_load_n(key_of(e, *at), __ATOMIC_RELAXED);
			if (is_disabled(e, off, key))
				return key;
		}
	return 0;
}

bool dp_engine_any_disabled(const struct dp_engine *e,
			    const struct dp_disabled *off)
{
	struct way at = { 0 };

	return find(e, off, &at);
}

void dp_engine_forget_disabled(struct dp_engine *e,
			       const struct dp_disabled *off)
{
	struct way at = { 0 };
	u64 key;

	for (; (key = find(e, off, &at)); at.i++)
		forget(e, at, key);
}
