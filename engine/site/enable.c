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
#include "engine/site/calls.h"
#include "engine/site/counts.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

static u8 how_off(const struct dp_disabled *off, u32 probe)
{
	return probe < off->n ? off->v[probe] : 0;
}

static bool is_listed(const struct dp_disabled *off, u32 probe)
{
	return how_off(off, probe);
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

/* What a generation has decided stays: a hit of the one before may still be looking. */
static void set(struct dp_engine *e, u32 i, bool on)
{
	struct dp_probe_entry *p = entry_of(e, i);

	if (dp_enabled_in(p->enabled, e->arena->control.generation) != on)
		__atomic_store_n(&p->enabled, on, __ATOMIC_RELEASE);
	dp_calls_note(e, e->probes[i].site);
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
		entry_of(e, i)->disabled = how_off(off, i);
		dp_engine_turn(e, i, on);
	}
}
