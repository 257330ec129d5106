// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dispatch: run the probes of one site for one hit. */
#include "engine/hit/call.h"
#include "engine/hit/hit.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/hit/program.h"
#include "engine/hit/thread.h"
#include "engine/instance/exits.h"
#include "engine/instance/stubbed.h"
#include "port.h"

void dp_hit_count(u32 counter)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 nr = (dp_hit_cpu() & c->shard_mask) + c->shard_mask + 1;
	u64 shard = nr * c->shard_stride;
	u64 *hits = dp_at(c->counter_off + shard);

	/* The thread may have moved to another CPU, so the lock keeps the shard exact.
	 * The line nearly always belongs to this CPU. Detours count in other shards,
	 * without a lock. */
	__atomic_fetch_add(&hits[counter], 1, __ATOMIC_RELAXED);
}

/* The tool has ended: no reader is left. */
static void let_pass(const struct dp_site_entry *site)
{
	u32 i;

	for (i = site->first_probe; i; i = dp_probe(i - 1)->next)
		if (!dp_kind_is_hidden(dp_probe(i - 1)->kind))
			dp_tally(i - 1, DP_TALLY_TOOL_GONE);
}

/* Return: true if the probe has a program that is still to be run. */
static bool begin(const struct dp_probe_entry *p, u32 probe,
		  const struct dp_site_entry *site, const struct dp_hit *hit)
{
	if (dp_probe_is_handler(p))
		return false;
	switch (p->kind) {
	case DP_KIND_ENTER:
		dp_exit_instance_begin(probe, site, hit);
		return false;
	case DP_KIND_EXIT:
		dp_exit_instance_end(probe, site, hit);
		return false;
	case DP_KIND_UNWIND:
		dp_exit_instance_unwind(probe, hit);
		return false;
	case DP_KIND_STUB:
		if (DP_PORT_STUBS)
			dp_stub_begin(probe, site, hit);
		return false;
	case DP_KIND_LINKER:
		dp_linker_tell(hit);
		return false;
	default:
		return p->program;
	}
}

/* Return: true if a record waits. */
static bool each(const struct dp_site_entry *site, const struct dp_hit *hit)
{
	bool waits = false;
	u64 serial = 0; /* 0: nothing has needed it */
	u32 generation =
		__atomic_load_n(&dp_arena.control.generation, __ATOMIC_ACQUIRE);
	u32 i;

	for (i = site->first_probe; i; i = dp_probe(i - 1)->next) {
		const struct dp_probe_entry *probe = dp_probe(i - 1);

		if (!dp_enabled_in(probe->enabled, generation) ||
		    !begin(probe, i - 1, site, hit) || hit->left)
			continue;
		waits |= dp_program_run(i - 1, site, hit, &serial);
	}
	return waits;
}

enum dp_goes dp_dispatch_site(const struct dp_site_entry *site,
			      struct dp_hit *hit, bool counted)
{
	if (__atomic_load_n(&dp_arena.control.tool_futex, __ATOMIC_RELAXED) &
	    DP_TOOL_DIED) {
		let_pass(site);
		return DP_GOES_ON;
	}
	if (site->counts && !counted)
		dp_hit_count(dp_site_index(site));
	hit->waits = site->runs && each(site, hit);
	if (dp_hit_is_apart(hit))
		return DP_GOES_AS_TOLD;
	if (!site->calls)
		return DP_GOES_ON;
	return dp_arena.control.nr_upcalls ? dp_upcall_site(site, hit) :
					     dp_call_site(site, hit);
}
