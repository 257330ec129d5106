/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * view: checked access to an arena that another process may have written.
 *
 * The only way to look into an arena that this run did not make, or that a target could
 * write to. dp_view_open() checks every offset and count once; after that the tables can
 * be walked. The target may still write: sizes are kept here, or read once and bounded.
 */
#ifndef DP_VIEW_H
#define DP_VIEW_H

#include "engine/text/target.h"
#include "engine/layout/arena.h"
#include "engine/layout/site.h"
#include "engine/layout/ring.h"

struct dp_sites;

/**
 * struct dp_view - checked pointers into an arena
 *
 * They point into the memory given to dp_view_open() and live as long as it does.
 */
struct dp_view {
	const struct dp_arena *arena;
	struct dp_site_entry *sites;
	struct dp_jump *jumps;
	const struct dp_probe_entry *probes;
	struct dp_probe_state *states;
	const struct dp_program_entry *programs;
	u64 *gv;
	u32 nr_sites, nr_jumps, nr_probes, nr_programs, nr_gv;
	const char *counters;
	u64 shard_stride;
	u32 nr_shards, probe_counters, met_counters;
	bool begun; /* see struct dp_sites */
};

/**
 * dp_view_open() - check an arena
 * @mem: its bytes, aligned to 8
 * @size: how many
 * Return: 0; -EBADMSG if an offset points outside or a value makes no sense.
 */
int dp_view_open(struct dp_view *view, void *mem, size_t size);

/** dp_view_hits() - sum of a counter over all CPUs */
u64 dp_view_hits(const struct dp_view *view, u64 counter);
/** dp_view_site_hits() - hits of the @site-th site so far, wherever they are counted; dp_view_met() -
 *  of those, the hits at which its program was met */
u64 dp_view_site_hits(const struct dp_view *view, u32 site);
u64 dp_view_met(const struct dp_view *view, u32 site);
/** dp_view_probe_met() - the same of a probe, if its detour runs its program */
u64 dp_view_probe_met(const struct dp_view *view, u32 probe);
/** dp_view_local_met() - what detours have counted of a program's variable, over its memory */
u64 dp_view_local_met(const struct dp_view *view, u32 program, u32 index);
/** dp_view_forget_hits() - a counter that nothing counts in begins anew */
void dp_view_forget_hits(const struct dp_view *view, u32 counter);
/** dp_view_probe_hits() - hits of a probe so far */
u64 dp_view_probe_hits(const struct dp_view *view, u32 probe);

/** dp_view_site_of() - the site of a probe, or NULL */
const struct dp_site_entry *dp_view_site_of(const struct dp_view *view,
					    u32 probe);
/** dp_view_middle() - traps in the middle of a jump that are due to a probe's site: see
 *  dp_engine_middle() */
u64 dp_view_middle(const struct dp_view *view, u32 probe);

/** dp_view_jump() - the jump of a site; without one, or in a foreign arena that makes no
 *  sense, the empty one */
const struct dp_jump *dp_view_jump(const struct dp_view *view,
				   const struct dp_site_entry *site);

/** dp_view_sites() - all sites, as the strategies take them */
struct dp_sites dp_view_sites(const struct dp_view *view);

/** dp_view_is_jump() - is the site armed with a jump, its own or one that covers it? */
bool dp_view_is_jump(const struct dp_view *view,
		     const struct dp_site_entry *site);

/** dp_view_reason() - why a site is a breakpoint: DP_REASON_SIZE bytes, or "" */
void dp_view_reason(const struct dp_view *view,
		    const struct dp_site_entry *site, char *text);

/** dp_view_owns() - is @addr in the agent's text or in a pool? */
bool dp_view_owns(const struct dp_view *view, u64 addr);

/**
 * dp_view_original() - the program's own pc of a thread inside a copy
 * @addr: a pc in a pool
 * @orig: the pc in the program's own text that means the same
 * Return: 0; -EAGAIN it is between two instructions of a copy that act as one, and the
 * thread has to run on; -ENOENT no copy is there.
 */
int dp_view_original(const struct dp_view *view, u64 addr, u64 *orig);

/** dp_view_jump_at() - the jump in whose detour or island a pc is, or NULL */
const struct dp_jump *dp_view_jump_at(const struct dp_view *view, u64 pc);

/** dp_view_intercepts() - does a pc in a pool stand for an intercepted system call, or for
 *  the instructions that lead to it? */
bool dp_view_intercepts(const struct dp_view *view, u64 addr);

/**
 * dp_view_disarm() - put the original bytes back at every armed site
 * @intercepts: disarm the intercepts, while no thread runs; else the probes
 * @bad: address of a site with foreign bytes, or NULL
 *
 * A site with foreign bytes is left as it is. Goes on past failures. The site of loader
 * events is the last.
 * Return: 0; -EBUSY for foreign bytes; a write error.
 */
int dp_view_disarm(struct dp_view *view, struct dp_target *target,
		   bool intercepts, u64 *bad);

/** dp_view_is_linkers() - is it the site of loader events, where a thread waits for the
 *  tool? */
bool dp_view_is_linkers(const struct dp_view *view,
			const struct dp_site_entry *site);

/**
 * dp_view_presume() - take sites for armed that an earlier tool disarmed
 *
 * For a process that the agent could not leave then: a debugger may since have put our
 * breakpoints back. Return: true if there are any.
 */
bool dp_view_presume(struct dp_view *view);

/** dp_view_is_reverted() - do all armed sites have their original bytes? Unreadable sites
 *  do not count. */
bool dp_view_is_reverted(const struct dp_view *view, struct dp_target *target);

/** dp_view_disown() - mark all sites as not armed: the process has given its text back */
void dp_view_disown(struct dp_view *view);

#endif
