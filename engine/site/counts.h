/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counts: what became of probes and their sites. */
#ifndef DP_SITE_COUNTS_H
#define DP_SITE_COUNTS_H

#include "port_types.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"

struct dp_engine;
struct dp_target;

/** dp_engine_interior_arrivals() - interior arrivals so far; each costs a trap */
u64 dp_engine_interior_arrivals(const struct dp_engine *engine);

/** dp_engine_gone() - sites whose code was no longer mapped when they were disarmed */
size_t dp_engine_gone(const struct dp_engine *engine);
/** dp_engine_is_gone() - is the site of a probe gone? */
bool dp_engine_is_gone(const struct dp_engine *engine, u32 probe);

/** dp_engine_late() - loader events that the tool did not answer in time */
u32 dp_engine_late(const struct dp_engine *engine);
/** dp_engine_of_children() - hits by CLONE_VM children of the target */
u64 dp_engine_of_children(const struct dp_engine *engine);

/** dp_engine_hits() - hits of a probe so far; readable while the target runs */
u64 dp_engine_hits(const struct dp_engine *engine, u32 probe);
/** dp_hits_begin() - from now on the hits of its site are a probe's; dp_hits_end() - no more */
void dp_hits_begin(struct dp_engine *engine, u32 probe);
void dp_hits_end(struct dp_engine *engine, u32 probe);
/** dp_engine_tally() - what became of the hits and records of a probe */
u64 dp_engine_tally(const struct dp_engine *engine, u32 probe,
		    enum dp_tally what);
/** dp_engine_state() - enum dp_status_bit of a probe, and the executions of a program with limits,
 *  from minus passcount on */
void dp_engine_state(const struct dp_engine *engine, u32 probe, u32 *status,
		     s64 *count);
/**
 * dp_engine_middle() - traps in the middle of a jump that are due to a probe's site
 *
 * A site inside another's jump: threads that came to it by a branch, which are hits. A
 * site that begins a jump: interior arrivals where no site is, which are no hits. All
 * probes of a site have the same count. Exact.
 */
u64 dp_engine_middle(const struct dp_engine *engine, u32 probe);
/** dp_engine_has_settled() - has a jump stepped back, the probe's or one that covered its site, so
 *  that there are no such traps any more? See dp_engine_step_back() */
bool dp_engine_has_settled(const struct dp_engine *engine, u32 probe);
/** dp_engine_is_covered() - is a probe's site inside the jump of another site? */
bool dp_engine_is_covered(const struct dp_engine *engine, u32 probe);

u64 dp_engine_missed(const struct dp_engine *engine, u32 probe);
/** dp_engine_mode() - "jump", "trap" or "watch"; dp_engine_reason() why not "jump" */
const char *dp_engine_mode(const struct dp_engine *engine, u32 probe);
const char *dp_engine_reason(const struct dp_engine *engine, u32 probe);
/** dp_engine_site_of() - number of a probe's site: probes at one address have the same */
u32 dp_engine_site_of(const struct dp_engine *engine, u32 probe);
/** dp_engine_sites() - addresses probed, without intercepts and data */
size_t dp_engine_sites(const struct dp_engine *engine);
/** dp_engine_watches() - probes on data, see dp_engine_add_watch() */
size_t dp_engine_watches(const struct dp_engine *engine);
/** dp_engine_runs() - is the probe armed with a jump whose detour runs its program, or begins it? */
bool dp_engine_runs(const struct dp_engine *engine, u32 probe);
/** dp_engine_met() - hits for which detours of the probe have counted its program's variable */
u64 dp_engine_met(const struct dp_engine *engine, u32 probe);
/** dp_engine_jumps() - probed addresses that are armed with a jump */
size_t dp_engine_jumps(const struct dp_engine *engine);

/* context: the contexts of hits, as control sees them. */

/**
 * dp_engine_settle() - discard records of threads that have ended before their
 *   instruction completed
 * @target: the process of those threads; @alive: does a thread still exist?
 */
void dp_engine_settle(struct dp_engine *engine, struct dp_target *target,
		      bool (*alive)(void *arg, u32 tid), void *arg);
/** dp_engine_waiting() - how many records wait for their instruction */
u64 dp_engine_waiting(const struct dp_engine *engine);
/** dp_engine_settle_all() - discard all waiting records: the process has ended, or is no
 *  longer probed */
void dp_engine_settle_all(struct dp_engine *engine);

/**
 * dp_engine_fork_contexts() - complete in the child the hit in which the thread forked
 *
 * Hits of the parent's other threads are dropped.
 * @target: the child, stopped
 * @was, @is: the id of the thread that forked, and its id in the child
 */
void dp_engine_fork_contexts(struct dp_engine *child, struct dp_target *target,
			     u32 was, u32 is);

/* reader: the tool's end of the rings. */

/**
 * dp_engine_records() - take the records from the rings
 * @take: called for each record, in the order of its ring
 * @ended: no thread writes any more: half-written records are torn
 *
 * The target can write anything there: records that make no sense are dropped and counted
 * as torn.
 * Return: how many were taken.
 */
size_t dp_engine_records(struct dp_engine *engine,
			 void (*take)(void *arg,
				      const struct dp_record_copy *record),
			 void *arg, bool ended);
/** dp_engine_records_stuck() - does an unfinished record hold up a quarter of its ring?
 *  The thread that began the record may never finish it. */
bool dp_engine_records_stuck(const struct dp_engine *engine);
/** dp_engine_records_settled() - no thread is writing now: half-written records are torn */
void dp_engine_records_settled(struct dp_engine *engine);
/** dp_engine_ticks() - the present time of the clock that stamps records */
u64 dp_engine_ticks(void);
/** dp_engine_torn() - records that were dropped so far */
u64 dp_engine_torn(const struct dp_engine *engine);

#endif
