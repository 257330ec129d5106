/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agent: the source whose hits an agent in the process counts.
 *
 * Context: as of source.h.
 */
#ifndef DP_TRACER_AGENT_H
#define DP_TRACER_AGENT_H

#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include "engine/site/enable.h"
#include "tracer/agent/settings.h"
#include "tracer/instances/instances.h"
#include "tracer/source.h"
#include "tracer/watchpoint/watchpoint.h"

/**
 * struct dp_agent_data - probes on data, by their numbers, and their events while they are armed
 * @first: those from here on come with a program beside others, by @coming if by events
 * @out: of those that have been left out, which are behind the others in @probe
 * @go: of those before: it goes when these come; @swap: these have registers only then
 * @base: hits of each before its program was on, less those of events that have been closed: modulo 2^64
 * @coming: events of those that come, which are off as yet
 * @numbered: the engine has the number that traps bear; @left: and no program that began before that runs
 */
struct dp_agent_data {
	struct dp_watchpoint v[DP_WATCHPOINTS_BOTH];
	u32 probe[DP_WATCHPOINTS_BOTH];
	size_t n, first, out;
	u64 base[DP_WATCHPOINTS_BOTH];
	bool go[DP_WATCHPOINTS_BOTH], swap;
	struct dp_watch_armed armed;
	struct dp_watch_events coming;
	struct dp_watch_cost cost;
	bool numbered, left;
};

/**
 * struct dp_agent - a process that an agent probes
 * @logs: hits make records
 * @nr_points: points that have been added, and @last: number of their last probe
 * @off: the probes that the user has disabled
 * @calls: calls that have not ended; @stuck: there was no memory for a further table of them
 * @settled: when ended threads were last looked for, in seconds
 * @foreign: when foreign breakpoints are next looked for
 * @freed: when a stuck ring was last freed
 * @reclaim: when blocks may be reclaimed again, and @reclaimed: how many were
 */
struct dp_agent {
	struct dp_source source;
	struct dp_process *proc;
	struct dp_engine *engine;
	struct dp_calls *calls;
	bool stuck;
	struct dp_settings settings;
	bool logs;
	struct dp_agent_stacks *stacks; /* code that has been seen, or NULL */
	size_t nr_points;
	u32 last;
	struct dp_disabled off;
	struct dp_agent_data data;
	struct dp_points
		*points; /* the session's; NULL: none have been added here */
	double settled, foreign, freed, reclaim;
	u32 reclaimed;
	u64 arrivals; /* traps inside jumps, when last looked at */
};

static inline struct dp_agent *dp_agent_of(const struct dp_source *source)
{
	return (struct dp_agent *)source;
}

/* probes.c; see struct dp_source_ops */
int dp_agent_add(struct dp_source *source, const struct dp_source_request *want,
		 struct dp_diag *diag);
/** dp_agent_add_more() - add points that have come, behind the others, and move those whose
 *  libraries are there again. Modules are new. Return: as dp_agent_add(). */
int dp_agent_add_more(struct dp_agent *a, const struct dp_source_request *want,
		      struct dp_diag *diag);
/** dp_agent_watch() - watch for loader events, if libraries that matter may come or go;
 *  adds the last probe */
int dp_agent_watch(struct dp_agent *a, const struct dp_source_request *want,
		   struct dp_diag *diag);
extern const struct dp_source_libraries dp_agent_libraries;

/* stacks.c */
/** dp_agent_stacks_look() - code may have come or gone: see where it is. No thread goes on in it yet. */
void dp_agent_stacks_look(struct dp_agent *a);
/** dp_agent_stacks_fork() - find the names of a fork child's code, which is stopped */
void dp_agent_stacks_fork(struct dp_agent *child);
void dp_agent_stacks_close(struct dp_agent *a);

/* lack.c: watchpoints that cannot be, where the other points of their program are probed without them: a hold's */
/** dp_agent_data_lack() - @err: what has been added cannot be watched. Leave out the last, where a debug register is
 *  what lacks, or all. Return: true: that may be, and is done; @diag is clear, so try again; false: it is as it was. */
bool dp_agent_data_lack(struct dp_agent *a, int err, struct dp_diag *diag);
/** dp_agent_data_left_out() - put into @off, one byte a probe, that those left out are never on. Once, before
 *  others come. */
void dp_agent_data_left_out(struct dp_agent *a, u8 *off);
/** dp_agent_any_left() - is any of the points from @first on not refused? Return: 0: one is not, or there are no
 *  points; -EINVAL, with why the first is. */
int dp_agent_any_left(const struct dp_points *points, size_t first,
		      struct dp_diag *diag);

/* data.c: watchpoints of programs */
/** dp_agent_data_alone() - @p cannot be watched, by @err: is that a reason against this point alone? */
bool dp_agent_data_alone(const struct dp_agent *a, const struct dp_point *p,
			 int err);
/** dp_agent_add_data() - add the probe of a watchpoint: its number goes to @point.
 *  Return: 0; -ENOSPC, -EOPNOTSUPP, -ENOMEM with words. */
int dp_agent_add_data(struct dp_agent *a, struct dp_point *point,
		      struct dp_diag *diag);
/** dp_agent_data_begin() - the agent is there: let the traps come. Return: 0; as
 *  dp_watch_events_open(). */
int dp_agent_data_begin(struct dp_agent *a, struct dp_diag *diag);
/** dp_agent_data_leave() - which of them go when others come: those whose points @retire has. What could not be taken
 *  away before is tried again. */
void dp_agent_data_leave(struct dp_agent *a, const struct dp_points *points,
			 const bool *retire, size_t n);
/** dp_agent_data_room() - have the watchpoints of @want, from point @first on, room beside the others, or can they
 *  be left out? Return: 0; -ENOSPC, with words. */
int dp_agent_data_room(const struct dp_agent *a,
		       const struct dp_source_request *want, size_t first,
		       struct dp_diag *diag);
/** dp_agent_data_come() - set what has been added since, beside the others; its programs wait. Where there is no
 *  register before others go, dp_agent_data_swap() sets it. Return: as dp_agent_data_begin(); then dp_agent_data_give_up(). */
int dp_agent_data_come(struct dp_agent *a, struct dp_diag *diag);
/** dp_agent_data_swap() - give what comes the registers of what goes, if it has none yet. All threads are stopped.
 *  Return: 0; as dp_agent_data_begin(): then what was there is there again. */
int dp_agent_data_swap(struct dp_agent *a, struct dp_diag *diag);
/** dp_agent_data_now() - programs of what has come are on from here. Threads are stopped. */
void dp_agent_data_now(struct dp_agent *a);
/** dp_agent_data_give_up() - what has been added is not to be: take it away. Its probes are off. */
void dp_agent_data_give_up(struct dp_agent *a);
/** dp_agent_data_go() - take away the watchpoints whose probes @off has as retired */
void dp_agent_data_go(struct dp_agent *a);
/** dp_agent_data_tend() - say once what frequent hits cost. @t: now */
void dp_agent_data_tend(struct dp_agent *a, double t);
/** dp_agent_data_wait() - where the tool takes the traps, wait for them, @ms at most. Return: false: it
 *  has waited, and the process is as it was. */
bool dp_agent_data_wait(struct dp_agent *a, int ms);
/** dp_agent_data_end() - no more traps begin. One may be on its way. */
void dp_agent_data_end(struct dp_agent *a);
/** dp_agent_data_tell() - say how many hits have run no program, and why */
void dp_agent_data_tell(const struct dp_agent *a);
/** dp_agent_data_close() - behind dp_agent_data_end() and dp_process_close() */
void dp_agent_data_close(struct dp_agent *a);
/** dp_agent_data_count() - put the kernel's count in place of the agent's, if the probe is on data */
void dp_agent_data_count(const struct dp_agent *a, u32 probe,
			 struct dp_source_count *count);

/** dp_agent_semaphores() - raise the semaphores of the tracepoints among @points that are armed, and
 *  no others. What cannot be raised is told. */
void dp_agent_semaphores(struct dp_agent *a, const struct dp_points *points);

/* counts.c; see struct dp_source_ops */
void dp_agent_count(const struct dp_source *source,
		    const struct dp_point *point,
		    struct dp_source_count *count);
const char *dp_agent_reason(const struct dp_source *source,
			    const struct dp_point *point, size_t exit);
void dp_agent_totals(const struct dp_source *source,
		     struct dp_source_totals *totals);
size_t dp_agent_records(struct dp_source *source, dp_source_take take,
			void *arg, bool ended);

/* enable.c: probes that are switched off and on */
int dp_agent_enable(struct dp_source *source, const struct dp_points *points,
		    const bool *which, bool on, struct dp_diag *diag);
/** dp_agent_exchange() - see struct dp_source_ops: exchange.c */
int dp_agent_exchange(struct dp_source *source, struct dp_modules *mods,
		      const struct dp_source_request *want, const bool *retire,
		      struct dp_diag *diag);
/** dp_agent_retire() - see struct dp_source_ops: exchange.c */
int dp_agent_retire(struct dp_source *source, const struct dp_points *points,
		    const bool *which, struct dp_diag *diag);
/** dp_agent_apply() - make a choice of probes that are off true in the text. @off: the agent's from
 *  now on; freed. Return: as dp_agent_enable(), and then the choice before is made again. */
int dp_agent_apply(struct dp_agent *a, u8 *off, struct dp_diag *diag);
/** dp_agent_keep() - the same of a choice that hits see already: text that cannot be written stays
 *  as it is, and does nothing */
void dp_agent_keep(struct dp_agent *a, u8 *off);
/** dp_agent_fork_disabled() - a fork child has the probes off that its parent has.
 *  Return: 0 or -ENOMEM. */
int dp_agent_fork_disabled(struct dp_agent *child,
			   const struct dp_agent *parent);

#endif
