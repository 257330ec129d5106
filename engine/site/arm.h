/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arm: bytes in text. */
#ifndef DP_SITE_ARM_H
#define DP_SITE_ARM_H

#include "port_types.h"
#include "engine/layout/base.h"

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
 * dp_engine_plan() - make copies, detours and islands for all that was added
 *
 * Nothing in the target leads there yet, so what growth ops map and put may wait until the
 * next dp_engine_commit().
 * Return: 0; -ENOMEM no memory in reach; -ENOSPC the tables have no room; -EBUSY a probe is
 * inside an intercepted call; an error of writing.
 */
int dp_engine_plan(struct dp_engine *engine);
/**
 * dp_engine_commit() - arm all that was added
 * @bad: on failure the address concerned, or 0
 * Return: as dp_engine_plan(); 0; -EBUSY the text is not what it was; -EOPNOTSUPP a probe of a
 * signal-free process would be a breakpoint; a write error. On failure what was added is still
 * to be retracted.
 */
int dp_engine_commit(struct dp_engine *engine, struct dp_target *target,
		     u64 *bad);

/** dp_engine_write_jumps() - write the jumps of these sites by dp_strategy_quiesce, while no
 *  thread runs and none is inside: for growth ops. @which: in the order of addresses
 *  Return: 0; -EBUSY foreign bytes; a write error. */
int dp_engine_write_jumps(struct dp_engine *engine, struct dp_target *target,
			  const u32 *which, u32 n);
/** dp_engine_restore() - take out those of these sites that are not wanted, while no thread
 *  runs: for growth ops. Return: 0; -EBUSY foreign bytes; a write error. */
int dp_engine_restore(struct dp_engine *engine, struct dp_target *target,
		      const u32 *which, u32 n);
/** dp_engine_unwritten() - the jump of the site at @addr, which dp_engine_write_jumps() took for written, could not be
 *  written: its breakpoint stays until dp_live_retry(). For growth ops with @traps_first. */
void dp_engine_unwritten(struct dp_engine *engine, u64 addr);
/** dp_engine_copies() - copies of a site's instruction that lead back to what is behind it. A thread in one may come into
 *  the bytes of the site's jump. For growth ops, where a site is at @addr */
#define DP_COPIES 2
void dp_engine_copies(const struct dp_engine *engine, u64 addr,
		      struct dp_span copies[DP_COPIES]);
/**
 * dp_engine_apply() - bring the bytes of all sites into the state that their probes want
 *
 * After dp_engine_commit(). Return: as that, but sites already changed stay as they are.
 */
int dp_engine_apply(struct dp_engine *engine, struct dp_target *target,
		    u64 *bad);

/**
 * dp_engine_step_back() - find jumps into which the program branches more often than it comes to
 *    them
 *
 * They are to be breakpoints, from the next dp_engine_apply() on. Return: are there any?
 */
bool dp_engine_step_back(struct dp_engine *engine);

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

#endif
