/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arm: all sites of an engine, or none. */
#ifndef DP_SITE_ARM_H
#define DP_SITE_ARM_H

#include "port_types.h"

struct dp_engine;
struct dp_target;

/** enum dp_arming - how jumps get into text */
enum dp_arming {
	DP_ARM_INTERIOR, /* no thread is stopped */
	DP_ARM_QUIESCE, /* all threads are stopped for a moment */
	DP_ARM_TRAP, /* no jumps at all */
};

/** dp_engine_set_arming() - choose how jumps are written; before the layout */
void dp_engine_set_arming(struct dp_engine *engine, enum dp_arming arming);
#define DP_ARM_DEFAULT DP_ARM_INTERIOR

/**
 * dp_engine_arm_intercepts() - patch the intercepted system calls
 * Return: 0; -EBUSY the text is not what it was; a write error. Nothing stays
 * armed on failure.
 */
int dp_engine_arm_intercepts(struct dp_engine *engine,
			     struct dp_target *target);

/**
 * dp_engine_arm() - arm every site of the batch that was built last
 * @bad: on failure the address concerned, or NULL
 * Return: as above; on failure every site of the batch is disarmed again.
 */
int dp_engine_arm(struct dp_engine *engine, struct dp_target *target, u64 *bad);

/** dp_engine_want() - whether the site of a probe is to be armed. At first all are. */
void dp_engine_want(struct dp_engine *engine, u32 probe, bool wanted);

/**
 * dp_engine_apply() - arm the sites that are wanted, disarm the others
 *
 * All in one batch, after the first dp_engine_arm().
 * Return: as dp_engine_arm(), but sites already changed stay as they are.
 */
int dp_engine_apply(struct dp_engine *engine, struct dp_target *target,
		    u64 *bad);

/**
 * dp_engine_disturbed() - have uprobes put breakpoints where our jumps begin, or taken
 *    breakpoints away?
 *
 * Control polls this while threads run. A uprobe's breakpoint on a jump does no harm
 * while it stays, but its removal would.
 */
bool dp_engine_disturbed(const struct dp_engine *engine,
			 struct dp_target *target);
/**
 * dp_engine_cede() - cede to foreign breakpoints, and rearm sites that they have left
 * @tell: called for each site that has ceded, and for each that is armed again
 * Return: 0; an error of writing.
 */
int dp_engine_cede(struct dp_engine *engine, struct dp_target *target,
		   void (*tell)(void *arg, u64 addr, bool away), void *arg);

/** dp_engine_is_quiesced() - must all threads be stopped for dp_engine_arm()? */
bool dp_engine_is_quiesced(const struct dp_engine *engine);
/**
 * dp_engine_inside() - is an address inside what a jump will replace?
 * @to: where a thread at @addr goes on instead
 */
bool dp_engine_inside(const struct dp_engine *engine, u64 addr, u64 *to);

#endif
