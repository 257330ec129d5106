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

static struct dp_call_entry entry_of(const struct dp_engine *e, u32 probe)
{
	struct dp_call_entry entry = {
		.counter = (e->arena->control.probe_counters + probe) *
			   (u32)sizeof(u64),
	};

	switch (dp_call_way_of(e, probe)) {
	case DP_CALL_BEGINS:
		entry.group = probe + 1;
		entry.counter |= DP_CALL_ENTER;
		return entry;
	case DP_CALL_FINISHES:
		entry.group = e->probes[probe].group + 1;
		entry.counter |= DP_CALL_EXIT;
		return entry;
	default:
		return (struct dp_call_entry){ 0 };
	}
}

void dp_calls_note(struct dp_engine *e, u32 i)
{
	const struct dp_arena_control *c = &e->arena->control;
	struct dp_call_entry *table = (void *)((char *)e->arena + c->call_off);
	struct dp_call_entry entry = { 0 };
	u32 probe = only_linked(e, &e->sites[i]);

	if (!c->block_mask || !e->sites[i].place)
		return;
	if (probe != DP_NO_GROUP && e->view.probes[probe].enabled)
		entry = entry_of(e, probe);
	__atomic_store_n((u64 *)&table[e->sites[i].place - 1],
			 (u64)entry.group << 32 | entry.counter,
			 __ATOMIC_RELEASE);
}
