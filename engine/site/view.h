/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view: an arena as somebody else may have left it.
 *
 * The one way to look into an arena that this run did not make, or that a
 * target has had a chance to write to. Every offset and count is checked once,
 * by dp_view_open(); after that the tables can be walked. A target may go on writing to
 * it: what says how large something is, is kept here or read once and bounded.
 */
#ifndef DP_VIEW_H
#define DP_VIEW_H

#include "engine/text/target.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/ring.h"

/**
 * struct dp_view - checked pointers into an arena
 *
 * Point into the memory given to dp_view_open() and live as long as it does.
 */
struct dp_view {
	const struct dp_arena *arena;
	struct dp_site_entry *sites;
	const struct dp_probe_entry *probes;
	struct dp_probe_state *states;
	const struct dp_program_entry *programs;
	u64 *gv;
	u32 nr_sites, nr_probes, nr_programs, nr_gv;
	const char *counters;
	u64 shard_stride;
	u32 nr_shards;
	bool begun; /* see struct dp_sites */
};

/**
 * dp_view_open() - check an arena
 * @mem: its bytes, aligned to 8
 * @size: how many
 * Return: 0; -EBADMSG if anything points outside or makes no sense.
 */
int dp_view_open(struct dp_view *view, void *mem, size_t size);

/** dp_view_hits() - sum of a counter over all CPUs */
u64 dp_view_hits(const struct dp_view *view, u32 counter);
/** dp_view_counter() - where a probe is counted: under its own number, or, where a
 *  process probes itself, with the others at its site */
u32 dp_view_counter(const struct dp_view *view, u32 probe);

/** dp_view_site_of() - the site of a probe, or NULL */
const struct dp_site_entry *dp_view_site_of(const struct dp_view *view,
					    u32 probe);
/** dp_view_middle() - traps in the middle of a jump that are due to the site of a probe:
 *  see dp_engine_middle() */
u64 dp_view_middle(const struct dp_view *view, u32 probe);

/** dp_view_reason() - why a site is a breakpoint: DP_REASON_SIZE bytes, or "" */
void dp_view_reason(const struct dp_view *view,
		    const struct dp_site_entry *site, char *text);

/** dp_view_owns() - is @addr in the agent's text or in a pool? */
bool dp_view_owns(const struct dp_view *view, u64 addr);

/**
 * dp_view_original() - where a thread inside a copy really is
 * @addr: a pc in a pool
 * @orig: the pc in the program's own text that means the same
 * Return: 0; -EAGAIN it is between two instructions of a copy that do one
 * thing together, and has to run on; -ENOENT no copy is there.
 */
int dp_view_original(const struct dp_view *view, u64 addr, u64 *orig);

/** dp_view_intercepts() - does a pc in a pool stand for a system call that passes through
 *  the agent, or for what leads to it? */
bool dp_view_intercepts(const struct dp_view *view, u64 addr);

/**
 * dp_view_disarm() - put the original bytes back at every armed site
 * @intercepts: of the agent's own intercepts, while nobody runs; else of probes
 * @bad: address of a site whose bytes somebody else has changed, or NULL
 *
 * Such a site is left as it is. Goes on past failures. The one where libraries come and go
 * is the last.
 * Return: 0; -EBUSY for foreign bytes; a write error.
 */
int dp_view_disarm(struct dp_view *view, struct dp_target *target,
		   bool intercepts, u64 *bad);

/** dp_view_is_linkers() - is it where whoever changes the list of libraries waits for the
 *  tool? */
bool dp_view_is_linkers(const struct dp_view *view,
			const struct dp_site_entry *site);

/** dp_view_has_hit() - does a pc in a copy stand for a site whose probes have been told
 *  of this hit already? */
bool dp_view_has_hit(const struct dp_view *view, u64 addr);
/** dp_view_after_hit() - where a thread goes on that has hit a site, and stands before
 *  its instruction. Return: 0: there is no site. */
u64 dp_view_after_hit(const struct dp_view *view, u64 site);

/**
 * dp_view_presume() - take sites for armed that an earlier tool disarmed
 *
 * For a process that the agent could not leave then: meanwhile a debugger may
 * have put our breakpoints back. Return: true if there are any.
 */
bool dp_view_presume(struct dp_view *view);

/** dp_view_is_reverted() - does no armed site have a byte of ours any more? What cannot be
 *  read has none. */
bool dp_view_is_reverted(const struct dp_view *view, struct dp_target *target);

/** dp_view_disown() - take all sites for not armed: the process has given its text back */
void dp_view_disown(struct dp_view *view);

#endif
