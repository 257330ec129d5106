/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * source: where the hits of one process come from.
 *
 * A session knows specs, points and what is printed. Its source probes the points, counts
 * their hits and takes the probes out again, through this table:
 *
 *   open ─► resolve… ─► add ─► arm ─► wait, tend, records… ─► disarm ─► settle ─► close
 *
 * Counts can be read from add() to close(). @probe and @program of struct dp_point link a
 * point to its probe and program in the source; add() sets them.
 *
 * Context of every function: tool process, one thread at a time; may sleep. Errors are
 * negative errnos with words in @diag.
 */
#ifndef DP_TRACER_SOURCE_H
#define DP_TRACER_SOURCE_H

#include "engine/layout/aggregate.h"
#include "engine/layout/ring.h"
#include "engine/layout/site.h"
#include "engine/vm/program.h"
#include "proc/core.h"
#include "resolve/points.h"
#include "tracer/changes.h"
#include "tracer/request.h"
#include <sys/types.h>

#define DP_NO_PROGRAM 0xffffffffu

struct dp_diag;
struct stat;
struct dp_tree;
struct dp_tree_event;
struct dp_process;
struct dp_source;
struct dp_tracer_options;

/**
 * struct dp_source_ops - a way to probe
 * @libraries, @tree: NULL where the source cannot do that
 * @functions: programs can call functions that the process, or a module of the kernel, has registered for them
 * @everybody: hits are of all processes: the source has none of its own, and no modules
 * @slow: as how slow a hit by breakpoint is told, "ten" or "thousand" times
 *
 * open() - take hold of @opt->pid, or launch @opt->argv; nothing is touched yet
 *   @timed: programs or records will need the clock
 *   @source: set on failure too, if there is a process that has to be closed
 * ended() - has the process ended?
 * outdated() - does the process run another program than at open()? @failed: something
 *   failed, maybe because of an exec
 * lost() - words for a process that ended or executed too often. Return: -ESRCH; -EAGAIN.
 * modules() - what is mapped in the process now; the caller closes @mods
 * resolve() - append the points of a spec
 *   Return: as dp_points_resolve().
 * read() - Return: false: fewer than @size bytes can be read at @addr.
 * add() - add a probe at each point that is not refused
 * add_program() - Return: 0; -EINVAL with @why it is refused at @offset; -ENOMEM.
 * add_aggregate() - add a table, from struct dp_source_request's callbacks only. NULL: the source
 *   cannot. Return: 0; -ENOSPC, -EBUSY, -ENOMEM with @why.
 * aggregate() - its geometry; read_aggregate(), aggregate_lost() - see engine/site/aggregate.h
 * bind() - from struct dp_source_request's callback only
 * arm() - arm all probes or none
 * go() - a launched process runs, which has waited until now; NULL: the source launches none
 * wait() - wait for an event, @ms at most; a signal's handler ends the wait early
 * tend() - to be called at every turn of a loop around wait()
 *   @t: seconds (CLOCK_MONOTONIC). @foreign: called for each site that has been ceded
 *   to a foreign breakpoint (@away), or taken back.
 * records() - hand on the records that have come. @ended: no thread writes any more.
 *   Return: how many.
 * ticks() - the clock of records
 * thread() - the tool's id of the thread that the process knows as @tid; 0: gone
 * task() - who has hit. Its process may end before its record is in order, so this is called as the
 *   record comes. NULL: each is a thread of the source's process
 * symbol() - the address of a name that a program has. NULL: it is one of the module that is probed
 *   Return: 0; -ENOENT, -ENOTUNIQ, -EPERM with words.
 * unchanged() - of a point on a file: was that one as @since told when its probe had been added?
 * opcode() - the first byte of what is probed. NULL: it is in the process's memory
 * reason() - why the entry (@exit 0) or the @exit-th exit of a point is no jump; ""
 * variable() - a local variable of a program; a global one for DP_NO_PROGRAM
 * zero() - @n of them, from @first on, become 0. NULL: they are in the process's memory
 *   Return: 0; a negative errno.
 * calls() - the account of a point that is tracked, after settle()
 * enable() - arm the probes of some points, or disarm them, at once; counts stay. NULL: the
 *   source cannot. @which: of each point of @points: is it meant? One that is already as
 *   it is to be stays so.
 *   Return: 0; -EAGAIN a thread is inside; as arm(). On failure nothing has changed.
 * exchange() - probe the points that have come, behind the others, and take out for good those of
 *   @retire, both at one moment for all hits. NULL: the source cannot. @mods: the modules now, taken over
 *   Return: 0; -EAGAIN a thread is always inside a probe; as arm(). On failure the new points are not
 *   probed, and the others are as they were.
 * retire() - take some points out for good; their counts stay. NULL: the source cannot
 *   Return: as enable().
 * core(), halt() - see dp_process_core(), dp_process_halt(). NULL: the source cannot
 * stop() - stop the process, whose probes are out. Only a source without halt() has it. Return: 0; -ESRCH, -EPERM
 * core_end() - there will be none: thread @inside, which may wait for it, goes on
 * disarm() - take all probes out. @alive: the process's memory is still there
 *   Return: 0; -EAGAIN a thread is still inside; as arm().
 * settle() - close the account of calls; abandoned calls make records, if hits do
 * end() - how the process ended
 * kill() - end a launched process that has not run yet
 * close() - disarm if need be, and free everything. NULL is fine.
 */
struct dp_source_ops {
	const char *name, *slow;
	bool functions, everybody;
	const struct dp_source_libraries *libraries;
	const struct dp_source_tree *tree;
	const struct dp_source_stacks *stacks; /* stacks.h; or NULL */
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
	int (*add_aggregate)(struct dp_source *source,
			     const struct dp_aggregate_shape *shape, u32 *table,
			     const char **why);
	const struct dp_aggregate_entry *(*aggregate)(
		const struct dp_source *source, u32 table);
	int (*read_aggregate)(const struct dp_source *source, u32 table,
			      void (*take)(void *arg, const u64 *key,
					   const u64 *row),
			      void *arg);
	void (*aggregate_lost)(const struct dp_source *source, u32 table,
			       u64 lost[DP_LOST_NR]);
	void (*bind)(struct dp_source *source, const struct dp_point *point,
		     const struct dp_binding *binding);
	int (*arm)(struct dp_source *source, struct dp_diag *diag);
	void (*go)(struct dp_source *source);
	enum dp_source_state (*wait)(struct dp_source *source, int ms);
	void (*tend)(struct dp_source *source, double t,
		     void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		     struct dp_source_news *news);
	size_t (*records)(struct dp_source *source, dp_source_take take,
			  void *arg, bool ended);
	u64 (*ticks)(void);
	u32 (*thread)(const struct dp_source *source, u32 tid);
	void (*task)(const struct dp_source *source,
		     struct dp_source_task *task);
	int (*symbol)(const struct dp_source *source, const char *name,
		      u64 *addr, struct dp_diag *diag);
	int (*also)(struct dp_source *source, const struct dp_point *point,
		    u64 offset, bool onward, u8 *opcode, struct dp_diag *diag);
	bool (*unchanged)(const struct dp_source *source,
			  const struct dp_point *point,
			  const struct stat *since);
	bool (*opcode)(const struct dp_source *source,
		       const struct dp_point *point, u8 *byte);
	void (*count)(const struct dp_source *source,
		      const struct dp_point *point,
		      struct dp_source_count *count);
	const char *(*reason)(const struct dp_source *source,
			      const struct dp_point *point, size_t exit);
	void (*totals)(const struct dp_source *source,
		       struct dp_source_totals *totals);
	u64 (*variable)(const struct dp_source *source, u32 program, u32 index);
	int (*zero)(struct dp_source *source, u32 program, u32 first, u32 n);
	void (*calls)(const struct dp_source *source,
		      const struct dp_point *point, struct dp_account *counts);
	int (*enable)(struct dp_source *source, const struct dp_points *points,
		      const bool *which, bool on, struct dp_diag *diag);
	int (*exchange)(struct dp_source *source, struct dp_modules *mods,
			const struct dp_source_request *want,
			const bool *retire, struct dp_diag *diag);
	int (*retire)(struct dp_source *source, const struct dp_points *points,
		      const bool *which, struct dp_diag *diag);
	int (*core)(struct dp_source *source,
		    const struct dp_core_request *want,
		    struct dp_core_result *result, struct dp_diag *diag);
	void (*core_end)(struct dp_source *source, u32 inside);
	int (*halt)(struct dp_source *source, u32 tid, u32 inside, bool *there,
		    struct dp_diag *diag);
	int (*stop)(struct dp_source *source);
	int (*disarm)(struct dp_source *source, bool alive,
		      struct dp_diag *diag);
	void (*settle)(struct dp_source *source, dp_source_take take,
		       void *arg);
	void (*end)(const struct dp_source *source, struct dp_source_end *end);
	void (*kill)(struct dp_source *source);
	void (*close)(struct dp_source *source);
};

/**
 * struct dp_source - one probed process; the struct of each source begins with it
 * @pid, @exe: of the process, as it was at open()
 * @inside: its process id in its own namespace
 * @launched: the tool has started the process
 * @tracks: calls are tracked to their exits
 * @watches: loader events are watched; @missed: some may have been missed
 * @mods: where its points were found; the source's. NULL: a fork child's, or not yet
 * @proc: names the process in events of its process tree; NULL: it is in none
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
extern const struct dp_source_ops dp_host_source;
extern const struct dp_source_ops dp_watch_source;

/** dp_agent_detach() - take out what a killed tool has left; dp_host_detach() - in a process that
 *  probes itself.
 *  Return: 1 done; 0 there was nothing; a negative errno with words. */
int dp_agent_detach(pid_t pid, struct dp_diag *diag);
int dp_host_detach(pid_t pid, struct dp_diag *diag);

#endif
