// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* calls: what code does at sites where calls begin and end. */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/block.h"
#include "engine/layout/instance.h"
#include "engine/layout/probe.h"
#include "engine/plan/call.h"
#include "engine/site/calls.h"
#include "engine/site/engine.h"
#include "engine/site/internal.h"
#include "engine/site/site.h"

/* The only probe that hits of the site find, or DP_NO_GROUP */
static u32 only_linked(const struct dp_engine *e, const struct dp_site *s)
{
	u32 only = DP_NO_GROUP, p;

	for (p = s->first_probe; p; p = e->probes[p - 1].next) {
		if (!e->probes[p - 1].linked)
			continue;
		if (only != DP_NO_GROUP)
			return DP_NO_GROUP;
		only = p - 1;
	}
	return only;
}

static u32 counter_of(const struct dp_engine *e, u32 probe)
{
	return (e->view.probe_counters + probe) * (u32)sizeof(u64);
}

static struct dp_call_entry entry_of(const struct dp_engine *e, u32 probe,
				     enum dp_call_way way)
{
	u32 group = e->probes[probe].group + 1;
	u32 exit = DP_CALL_EXIT |
		   (e->probes[probe].way & DP_WAY_SHARED ? DP_CALL_SHARED : 0);

	switch (way) {
	case DP_CALL_BEGINS:
	case DP_CALL_BEGINS_TIMED:
		return (struct dp_call_entry){
			counter_of(e, probe) | DP_CALL_ENTER, probe + 1
		};
	case DP_CALL_FINISHES:
		return (struct dp_call_entry){ counter_of(e, probe) | exit,
					       group };
	case DP_CALL_FINISHES_TIMED:
		return (struct dp_call_entry){ probe << DP_CALL_SHIFT | exit,
					       group };
	default:
		return (struct dp_call_entry){ 0 };
	}
}

static void put(struct dp_engine *e, u32 i, struct dp_call_entry entry)
{
	__atomic_store_n(&e->instances.calls[i],
			 (u64)entry.group << 32 | entry.counter,
			 __ATOMIC_RELEASE);
}

void dp_calls_note(struct dp_engine *e, u32 i)
{
	const struct dp_call_entry none = { 0 };
	u32 probe = only_linked(e, &e->sites[i]), place = e->sites[i].place;
	enum dp_call_way way = DP_CALL_HITS;
	struct dp_call_entry entry;
	bool timed;

	if (!e->instances.calls || !place)
		return;
	if (probe != DP_NO_GROUP && e->view.probes[probe].enabled)
		way = dp_call_way_of(e, probe);
	timed = way == DP_CALL_BEGINS_TIMED || way == DP_CALL_FINISHES_TIMED;
	entry = way == DP_CALL_HITS ? none : entry_of(e, probe, way);
	put(e, place - 1, timed ? none : entry);
	put(e, place - 1 + e->instances.max_calls, timed ? entry : none);
}
