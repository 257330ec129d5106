/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * enable: probes of an armed engine that are switched off and on.
 *
 * The caller keeps which are off, and applies a choice in three steps:
 *
 *     dp_engine_choose() ─► dp_engine_apply() ─► dp_engine_admit_chosen()
 *
 * Not for engines whose probes come and go: live.h has theirs.
 * Context: control half, one thread at a time per engine.
 */
#ifndef DP_SITE_ENABLE_H
#define DP_SITE_ENABLE_H

#include "port_types.h"

struct dp_engine;

/** struct dp_disabled - which probes are off
 *  @v: by number; @n: how many are in it, the others are on. Exits follow their entries. */
struct dp_disabled {
	const u8 *v;
	u32 n;
};

/**
 * dp_engine_choose() - decide which sites are wanted
 * @bad: on failure the probe concerned
 *
 * From here on no disabled probe begins an instance, and none that is called out for
 * counts.
 * Return: 0; -EBUSY: a disabled probe is inside a jump that another one needs, whose detour
 * counts both. Then an earlier choice has to be made again.
 */
int dp_engine_choose(struct dp_engine *engine, const struct dp_disabled *off,
		     u32 *bad);
/** dp_engine_admit_chosen() - let instances of enabled probes begin: their exits are armed */
void dp_engine_admit_chosen(struct dp_engine *engine,
			    const struct dp_disabled *off);

/** dp_engine_any_disabled() - has any disabled probe an instance? */
bool dp_engine_any_disabled(const struct dp_engine *engine,
			    const struct dp_disabled *off);
/**
 * dp_engine_forget_disabled() - end the instances of disabled probes: DP_TALLY_INSIDE
 *
 * Their exits are not armed, so a later call at the same slot would be taken for them.
 * Context: no thread of the target is in the agent.
 */
void dp_engine_forget_disabled(struct dp_engine *engine,
			       const struct dp_disabled *off);

#endif
