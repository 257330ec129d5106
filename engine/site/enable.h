/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * enable: probes of an armed engine that are switched off and on.
 *
 * The caller keeps which are off, and applies a choice in three steps:
 *
 *     dp_engine_choose() ─► dp_engine_apply() ─► dp_engine_admit()
 *
 * Not for engines whose probes come and go: live.h has theirs.
 * Context: control half, one thread at a time per engine.
 */
#ifndef DP_SITE_ENABLE_H
#define DP_SITE_ENABLE_H

#include "port_types.h"

struct dp_engine;

/** enum dp_off - DP_OFF_RETIRED: for good, and no listing shows it */
enum dp_off {
	DP_OFF_DISABLED = 1,
	DP_OFF_RETIRED,
};

/** struct dp_disabled - which probes are off
 *  @v: by number: 0, or how it is off; @n: how many are in it, the others are on. Exits follow their
 *  entries. */
struct dp_disabled {
	const u8 *v;
	u32 n;
};

/** dp_engine_turn() - turn one probe on or off, for dp_engine_apply(). An entry that is turned
 *  on begins instances after dp_engine_admit(). */
void dp_engine_turn(struct dp_engine *engine, u32 probe, bool on);
/** dp_engine_choose() - decide which probes are on. From here on no disabled probe begins an
 *  instance or counts. */
void dp_engine_choose(struct dp_engine *engine, const struct dp_disabled *off);
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
