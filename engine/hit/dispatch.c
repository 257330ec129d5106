// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* dispatch: run the probes of one site for one hit. */
#include "engine/hit/hit.h"
#include "port_hit.h"

static void count(u32 probe)
{
	const struct dp_arena_control *c = &dp_arena.control;
	u64 shard = (u64)(dp_port_cpu() & c->shard_mask) * c->shard_stride;
	u64 *hits = (u64 *)((char *)&dp_arena + c->counter_off + shard);

	/* The thread may have moved to another CPU since: the lock keeps the
	 * shard exact, and it is this CPU's own line nearly always. */
	__atomic_fetch_add(&hits[probe], 1, __ATOMIC_RELAXED);
}

void dp_dispatch_site(const struct dp_site_entry *site)
{
	const struct dp_probe_entry *probes =
		(const void *)((char *)&dp_arena + dp_arena.control.probe_off);
	u32 i;

	for (i = site->first_probe; i; i = probes[i - 1].next)
		if (probes[i - 1].enabled)
			count(i - 1);
}
