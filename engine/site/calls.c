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

static void put(struct dp_engine *e, u32 i, struct dp_call_entry entry)
{
	__atomic_store_n(&e->instances.calls[i], dp_call_value(entry),
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
	entry = way == DP_CALL_HITS ? none : dp_call_entry(e, probe, way);
	put(e, place - 1, timed ? none : entry);
	put(e, place - 1 + e->instances.max_calls, timed ? entry : none);
}
