/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * arena: the memory that control has prepared, as the hit half sees it.
 *
 * The link script places it at known distances from the text (layout.h). Everything in
 * it is found by offsets from its beginning.
 */
#ifndef DP_HIT_ARENA_H
#define DP_HIT_ARENA_H

#include "port_types.h"
#include "engine/layout/tally.h"
#include "engine/layout/arena.h"
#include "engine/layout/probe.h"
#include "engine/layout/site.h"

#pragma GCC visibility push(hidden)

/* Placed by the link script at their distances from the text (layout.h). */
extern struct dp_wipe dp_wipe;
extern u64 dp_table[DP_TABLE_WORDS];
extern struct dp_private dp_private;
extern struct dp_arena dp_arena;

/* What lies behind struct dp_arena; the compiler is not to know that it does. */
static inline void *dp_at(u64 offset)
{
	char *arena = (char *)&dp_arena;

	__asm__("" : "+r"(arena));
	return arena + offset;
}

static inline struct dp_probe_state *dp_probe_state(u32 probe)
{
	struct dp_probe_state *states = dp_at(dp_arena.control.state_off);

	return &states[probe];
}

static inline const struct dp_probe_entry *dp_probe(u32 probe)
{
	const struct dp_probe_entry *probes = dp_at(dp_arena.control.probe_off);

	return &probes[probe];
}

static inline u32 dp_site_index(const struct dp_site_entry *site)
{
	const struct dp_site_entry *sites = dp_at(dp_arena.control.site_off);

	return (u32)(site - sites);
}

static inline const struct dp_site_entry *dp_site_at(u32 index)
{
	const struct dp_site_entry *sites = dp_at(dp_arena.control.site_off);

	return &sites[index];
}

static inline void dp_tally(u32 probe, enum dp_tally what)
{
	__atomic_fetch_add(&dp_probe_state(probe)->tally[what], 1,
			   __ATOMIC_RELAXED);
}

#pragma GCC visibility pop

#endif
