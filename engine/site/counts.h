/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* counts: what became of probes and their sites. */
#ifndef DP_SITE_COUNTS_H
#define DP_SITE_COUNTS_H

#include "port_types.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"

struct dp_engine;
struct dp_target;

/** dp_engine_interior_arrivals() - how often somebody came to the middle of a jump: each
 *  time costs a trap */
u64 dp_engine_interior_arrivals(const struct dp_engine *engine);

/** dp_engine_gone() - sites whose code was not there any more when they were disarmed */
size_t dp_engine_gone(const struct dp_engine *engine);
/** dp_engine_is_gone() - is the site of a probe one of them? */
bool dp_engine_is_gone(const struct dp_engine *engine, u32 probe);

/** dp_engine_late() - how often libraries were in place and nobody looked in time */
u32 dp_engine_late(const struct dp_engine *engine);
/** dp_engine_of_children() - hits by others in the target's memory: vfork */
u64 dp_engine_of_children(const struct dp_engine *engine);

/** dp_engine_hits() - hits of a probe so far; readable while it runs */
u64 dp_engine_hits(const struct dp_engine *engine, u32 probe);
/** dp_engine_tally() - what became of the hits and records of a probe */
u64 dp_engine_tally(const struct dp_engine *engine, u32 probe,
		    enum dp_tally what);
/**
 * dp_engine_middle() - traps in the middle of a jump that are due to a probe's site
 *
 * Of a site that is inside another's jump: threads that came to it by a branch, which
 * are hits. Of one that begins a jump: threads that came to an instruction in it where
 * there is no site; these are none. Probes of one site have the same. Exact.
 */
u64 dp_engine_middle(const struct dp_engine *engine, u32 probe);
/** dp_engine_is_covered() - is its site inside the jump of another one? */
bool dp_engine_is_covered(const struct dp_engine *engine, u32 probe);

u64 dp_engine_missed(const struct dp_engine *engine, u32 probe);
/** dp_engine_mode() - "jump" or "trap"; dp_engine_reason() why not "jump" */
const char *dp_engine_mode(const struct dp_engine *engine, u32 probe);
const char *dp_engine_reason(const struct dp_engine *engine, u32 probe);
/** dp_engine_sites() - addresses probed, intercepts not counted */
size_t dp_engine_sites(const struct dp_engine *engine);
/** dp_engine_jumps() - those of them that are armed with a jump */
size_t dp_engine_jumps(const struct dp_engine *engine);

/* context: the contexts of hits, from outside. */

/**
 * dp_engine_settle() - discard records of threads that have ended before their
 *                      instruction completed
 * @target: where they were; @alive: is a thread still there?
 */
void dp_engine_settle(struct dp_engine *engine, struct dp_target *target,
		      bool (*alive)(void *arg, u32 tid), void *arg);
/** dp_engine_settle_all() - the process has ended, or is not probed any more: of all */
void dp_engine_settle_all(struct dp_engine *engine);

/**
 * dp_engine_fork_contexts() - a hit that the thread was in the middle of when it forked
 * goes on in the child; those of its parent's other threads do not
 * @target: the child, stopped
 */
void dp_engine_fork_contexts(struct dp_engine *child, struct dp_target *target,
			     u32 was, u32 is);

/* reader: the tool's end of the rings. */

/**
 * dp_engine_records() - take what is in the rings
 * @take: called for each record, in the order of its ring
 * @ended: nobody writes any more: what is half written is torn
 *
 * The target can write anything there; what does not make sense is dropped and
 * counted as torn.
 * Return: how many were taken.
 */
size_t dp_engine_records(struct dp_engine *engine,
			 void (*take)(void *arg,
				      const struct dp_record_copy *record),
			 void *arg, bool ended);
/** dp_engine_records_stuck() - does a ring wait for a record behind which a quarter of
 *  it has been taken? Whoever began it may have been taken away for good. */
bool dp_engine_records_stuck(const struct dp_engine *engine);
/** dp_engine_records_settled() - nobody is writing just now: what is half written is
 *  torn */
void dp_engine_records_settled(struct dp_engine *engine);
/** dp_engine_ticks() - the clock that records are stamped with, now */
u64 dp_engine_ticks(void);
/** dp_engine_torn() - records that were dropped so far */
u64 dp_engine_torn(const struct dp_engine *engine);

#endif
