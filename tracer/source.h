/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * source: where the hits of one process come from.
 *
 * A session knows specs, points and what is printed. How points are probed, counted
 * and left again is the source's matter, of which a session knows this table:
 *
 *   open ─► resolve… ─► add ─► arm ─► wait, tend, records… ─► disarm ─► settle ─► close
 *
 * Counts can be read from add() to close(). Between points and what the source has
 * made of them @probe and @program of struct dp_point are the link; add() sets them.
 *
 * Context of every function: tool process, one thread at a time; may sleep. Errors are
 * negative errnos with words in @diag.
 */
#ifndef DP_TRACER_SOURCE_H
#define DP_TRACER_SOURCE_H

#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/vm/program.h"
#include "resolve/points.h"
#include <sys/types.h>

#define DP_NO_PROGRAM 0xffffffffu

struct dp_diag;
struct dp_tree;
struct dp_tree_event;
struct dp_process;
struct dp_source;
struct dp_tracer_options;

/**
 * struct dp_source_request - the probes that a session wants
 * @points: belong to the session; add() refuses matches of globs in them that it finds
 *          it cannot probe, and sets @probe and @program
 * @specs: whose they are; @pending: does each wait for its library? @coming: some did at
 *         first, so it is no error if nothing can be probed now
 * @logs: hits make records
 * @listed: nothing will be armed; but how each probe would be is decided
 * @bind: called for each point, when its probe is there: its program; NULL: none has one
 */
struct dp_source_request {
	struct dp_points *points;
	const struct dp_spec *specs;
	const bool *pending;
	size_t nr_specs;
	bool coming, logs, listed;
	int (*bind)(void *arg, size_t point, struct dp_diag *diag);
	void *arg;
};

/**
 * struct dp_source_count - of one point
 * @interior: traps in the middle of a jump that are due to it, or to its exits
 * @covered: it is inside the jump of another probe
 * @mode: "jump" or "trap"
 */
struct dp_source_count {
	u64 hits, missed, interior;
	u64 tally[DP_TALLY_NR];
	bool covered;
	const char *mode;
};

/**
 * struct dp_source_totals - of all points
 * @interior: traps in the middle of any jump; @torn: records that made no sense
 * @gone: sites whose code is not there any more
 * @late: times that libraries came and nobody looked; @vforked: hits by vfork children
 * @globals: variables of all programs
 * @impossible: changes of a site that were refused, since the tool began
 */
struct dp_source_totals {
	size_t sites, jumps;
	u64 interior, torn, gone, late, vforked, impossible;
	u32 globals;
};

/** struct dp_source_end - @status of wait(2), if @known; @trap: a trap of ours killed it;
 *  @execed: the path of what it executed, or "" */
struct dp_source_end {
	bool known, trap;
	int status;
	const char *execed;
};

enum dp_source_state {
	DP_SOURCE_RUNS,
	DP_SOURCE_EXECED, /* its probes are gone with its image */
	DP_SOURCE_EXITED,
};

/**
 * struct dp_source_news - what has to be seen to
 * @asked: a thread waits with new libraries in place: struct dp_source_libraries
 * @filter_refused: why a filter that it is about to install ends the probes; NULL: none does
 * @most: ms until tend() wants to be called again, at most
 */
struct dp_source_news {
	bool asked;
	const char *filter_refused;
	double most;
};

typedef void (*dp_source_take)(void *arg, const struct dp_record_copy *record);

/**
 * struct dp_source_libraries - libraries that come and go while others are probed
 *
 * unheard() - why it would not be heard of them; NULL: it would
 * hear(), answer() - who has asked so far goes on
 * look() - find out what has lost its code: is_gone()
 * hold() - take the probes out and hold the process, for replace() or let_on()
 *   @mods: what was found in it. @stale: other libraries are there by now
 *   @births: called so that children which still have the old probes are taken in
 * replace() - probe other points in its place, and go on counting; the process runs
 *   @mods: taken over. On failure counts are those from before.
 * let_on() - it runs on after all
 */
struct dp_source_libraries {
	const char *(*unheard)(const struct dp_source *source);
	u32 (*hear)(struct dp_source *source);
	void (*answer)(struct dp_source *source, u32 heard);
	void (*look)(struct dp_source *source);
	bool (*is_gone)(const struct dp_source *source,
			const struct dp_point *point);
	int (*hold)(struct dp_source *source, const struct dp_modules *mods,
		    void (*births)(void *arg), void *arg, bool *stale,
		    struct dp_diag *diag);
	int (*replace)(struct dp_source *source, struct dp_modules *mods,
		       const struct dp_source_request *want,
		       struct dp_diag *diag);
	void (*let_on)(struct dp_source *source);
};

/**
 * struct dp_source_tree - processes that others make (proc/tree.h)
 *
 * fork() - that of a fork child, with its parent's probes armed; it waits for
 *   dp_tree_begin()
 * renew() - that of a process that has executed, as open() leaves one that is launched
 */
struct dp_source_tree {
	int (*fork)(struct dp_source *parent, struct dp_tree *tree,
		    const struct dp_tree_event *event, struct dp_source **child,
		    struct dp_diag *diag);
	int (*renew)(struct dp_tree *tree, const struct dp_tree_event *event,
		     struct dp_source **source, struct dp_diag *diag);
};

/**
 * struct dp_source_ops - a way to probe
 * @libraries, @tree: NULL where it cannot do that
 *
 * open() - take hold of @opt->pid, or launch @opt->argv; nothing is touched yet
 *   @timed: programs will run, or records be made, by the clock
 *   @source: set on failure too, if there is a process that has to be closed
 * ended() - has it?
 * outdated() - does it run another program than at open()? @failed: something failed, and
 *   that may be why
 * lost() - words for a process that ended or executed too often. Return: -ESRCH; -EAGAIN.
 * modules() - what is mapped in it now; the caller's to close
 * resolve() - append the points of a spec
 *   Return: as dp_points_resolve().
 * read() - Return: false: there are not so many bytes at @addr
 * add() - a probe at each point that is not refused
 * add_program() - Return: 0; -EINVAL with @why it is refused at @offset; -ENOMEM
 * bind() - from struct dp_source_request's callback only
 * arm() - all probes or none. A launched process then runs.
 * wait() - for something to happen, for @ms at most; a signal's handler ends it early
 * tend() - to be called at every turn of a loop around wait()
 *   @t: seconds (CLOCK_MONOTONIC). @foreign: called for places that another tool's
 *   breakpoint has taken (@away), or given back.
 * records() - hand on what has come. @ended: nobody writes any more. Return: how many.
 * ticks() - the clock of records
 * thread() - the id by which we know a thread that the process knows as @tid; 0: gone
 * reason() - why the entry (@exit 0) or the @exit-th exit of a point is no jump; ""
 * variable() - of a program; of all, DP_NO_PROGRAM
 * calls() - of a point that is followed, after settle()
 * disarm() - leave nothing. @alive: its memory is still there
 *   Return: 0; -EAGAIN a thread is still inside; as arm().
 * settle() - close the account of calls; those that were left make records, if any do
 * end() - what became of it
 * kill() - end one that was launched and has not run yet
 * close() - give back all that there is; disarms first if need be. NULL is fine.
 */
struct dp_source_ops {
	const char *name;
	const struct dp_source_libraries *libraries;
	const struct dp_source_tree *tree;
	int (*open)(const struct dp_tracer_options *opt, bool timed,
		    struct dp_source **source, struct dp_diag *diag);
	bool (*ended)(const struct dp_source *source);
	bool (*outdated)(const struct dp_source *source, bool failed);
	int (*lost)(const struct dp_source *source, struct dp_diag *diag);
	int (*modules)(const struct dp_source *source, struct dp_modules **mods,
		       struct dp_diag *diag);
	int (*resolve)(struct dp_source *source, struct dp_modules *mods,
		       const struct dp_spec *spec, struct dp_points *points,
		       struct dp_diag *diag);
	bool (*read)(const struct dp_source *source, u64 addr, void *to,
		     size_t size);
	int (*add)(struct dp_source *source,
		   const struct dp_source_request *want, struct dp_diag *diag);
	int (*add_program)(struct dp_source *source,
			   const struct dp_program_spec *spec, u32 *program,
			   u32 *offset, const char **why);
	void (*bind)(struct dp_source *source, const struct dp_point *point,
		     const struct dp_binding *binding);
	int (*arm)(struct dp_source *source, struct dp_diag *diag);
	enum dp_source_state (*wait)(struct dp_source *source, int ms);
	void (*tend)(struct dp_source *source, double t,
		     void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		     struct dp_source_news *news);
	size_t (*records)(struct dp_source *source, dp_source_take take,
			  void *arg, bool ended);
	u64 (*ticks)(void);
	u32 (*thread)(const struct dp_source *source, u32 tid);
	void (*count)(const struct dp_source *source,
		      const struct dp_point *point,
		      struct dp_source_count *count);
	const char *(*reason)(const struct dp_source *source,
			      const struct dp_point *point, size_t exit);
	void (*totals)(const struct dp_source *source,
		       struct dp_source_totals *totals);
	u64 (*variable)(const struct dp_source *source, u32 program, u32 index);
	void (*calls)(const struct dp_source *source,
		      const struct dp_point *point, struct dp_account *counts);
	int (*disarm)(struct dp_source *source, bool alive,
		      struct dp_diag *diag);
	void (*settle)(struct dp_source *source, dp_source_take take,
		       void *arg);
	void (*end)(const struct dp_source *source, struct dp_source_end *end);
	void (*kill)(struct dp_source *source);
	void (*close)(struct dp_source *source);
};

/**
 * struct dp_source - one process that is probed; the beginning of each source's own
 * @pid, @exe: of the process, as it was at open()
 * @inside: its id in its own namespace
 * @launched: we have started it
 * @tracks: calls are followed to their exits
 * @watches: libraries() tell of what comes and goes; @missed: some may have come untold
 * @mods: where its points were found; the source's. NULL: a fork child's, or not yet
 * @proc: by which a process tree's events name it; NULL: they do not
 */
struct dp_source {
	const struct dp_source_ops *ops;
	pid_t pid;
	u32 inside;
	const char *exe;
	bool launched, tracks, watches, missed;
	struct dp_modules *mods;
	struct dp_process *proc;
};

extern const struct dp_source_ops dp_agent_source;

#endif
