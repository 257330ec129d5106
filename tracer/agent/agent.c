// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* agent: the agent source, from taking hold of a process to closing it. */
#include "tracer/agent/agent.h"
#include "engine/site/aggregate.h"
#include "engine/site/counts.h"
#include "engine/site/program.h"
#include "engine/site/instances.h"
#include "proc/tree.h"
#include "proc/linker.h"
#include "proc/halt.h"
#include "proc/proc.h"
#include "sym/sym.h"
#include "tracer/output.h"
#include "tracer/stacks.h"
#include "tracer/semaphores.h"
#include "tracer/tracer.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTLE_SECONDS 1
/* The search for foreign breakpoints takes a system call a site, and may take a hundredth
 * of the time at most. */
#define LEAST_SECONDS 0.1
#define SECONDS_A_SITE 5e-5
/* Longest time between tend() calls: with tracked calls, and without. */
/* Blocks that are given back: again after so many seconds, or later if they were few */
#define RECLAIM_SECONDS 0.1
#define RECLAIM_SELDOM 10.0
#define RECLAIM_FEW 256
#define GROW_MS 10
#define IDLE_MS 200

static void fill(struct dp_agent *a, struct dp_process *proc)
{
	a->proc = proc;
	a->settled = dp_source_now();
	dp_settings_read(&a->settings, NULL);
	a->source = (struct dp_source){
		.ops = &dp_agent_source,
		.pid = dp_process_pid(proc),
		.inside = dp_process_inside(proc),
		.exe = dp_process_exe(proc),
		.launched = dp_process_launched(proc),
		.proc = proc,
	};
}

/* Out of memory the process goes on unprobed. */
static int give(struct dp_process *proc, struct dp_source **source,
		struct dp_diag *diag)
{
	struct dp_agent *a = calloc(1, sizeof(*a));

	*source = a ? &a->source : NULL;
	if (a)
		fill(a, proc);
	else
		dp_process_close(proc);
	return a ? 0 : dp_diag_set(diag, -ENOMEM, "out of memory");
}

static int open_process(const struct dp_tracer_options *opt, bool timed,
			struct dp_source **source, struct dp_diag *diag)
{
	struct dp_process *proc;
	struct dp_settings settings;
	int err = dp_settings_read(&settings, diag);

	if (!err)
		err = opt->pid ? dp_process_attach(opt->pid, &proc, diag) :
				 dp_process_launch(opt->argv, &proc, diag);
	if (!err)
		err = give(proc, source, diag);
	if (err || !timed || dp_process_permits(proc).clock)
		return err;
	return dp_diag_set(
		diag, -EOPNOTSUPP,
		"process %d runs in seccomp's strict mode, which forbids it to read the clock; use dprobes stat without conditions",
		(*source)->pid);
}

static bool ended(const struct dp_source *source)
{
	return dp_process_ended(dp_agent_of(source)->proc);
}

static bool outdated(const struct dp_source *source, bool failed)
{
	const struct dp_process *proc = dp_agent_of(source)->proc;

	return failed ? dp_process_executes(proc) : dp_process_replaced(proc);
}

static int lost(const struct dp_source *source, struct dp_diag *diag)
{
	return dp_process_lost(source->pid, diag);
}

static void mend(void *engine, u64 addr, u8 *bytes, size_t len)
{
	dp_engine_originals(engine, addr, bytes, len);
}

static int modules(const struct dp_source *source, struct dp_modules **mods,
		   struct dp_diag *diag)
{
	const struct dp_agent *a = dp_agent_of(source);
	int err = dp_modules_open(source->pid, dp_process_mem(a->proc), mods,
				  diag);

	if (!err && a->engine)
		dp_modules_set_mend(*mods, mend, a->engine);
	return err;
}

static int resolve(struct dp_source *source, struct dp_modules *mods,
		   const struct dp_spec *spec, struct dp_points *points,
		   struct dp_diag *diag)
{
	struct dp_process *proc = dp_agent_of(source)->proc;

	if (spec->kind == DP_SPEC_WATCH)
		return dp_watch_place(proc, mods, spec, points, diag);
	return dp_points_resolve(proc, mods, spec, points, diag);
}

static bool read_memory(const struct dp_source *source, u64 addr, void *to,
			size_t size)
{
	return pread(dp_process_mem(dp_agent_of(source)->proc), to, size,
		     (off_t)addr) == (ssize_t)size;
}

static int add_program(struct dp_source *source,
		       const struct dp_program_spec *spec, u32 *program,
		       u32 *offset, const char **why)
{
	return dp_engine_add_program(dp_agent_of(source)->engine, spec, program,
				     offset, why);
}

static int add_aggregate(struct dp_source *source,
			 const struct dp_aggregate_shape *shape, u32 *table,
			 const char **why)
{
	return dp_engine_add_aggregate(dp_agent_of(source)->engine, shape,
				       table, why);
}

static const struct dp_aggregate_entry *
aggregate(const struct dp_source *source, u32 table)
{
	return dp_engine_aggregate(dp_agent_of(source)->engine, table);
}

static int read_aggregate(const struct dp_source *source, u32 table,
			  void (*take)(void *arg, const u64 *key,
				       const u64 *row),
			  void *arg)
{
	return dp_engine_read_aggregate(dp_agent_of(source)->engine, table,
					take, arg);
}

static void aggregate_lost(const struct dp_source *source, u32 table,
			   u64 lost[DP_LOST_NR])
{
	dp_engine_aggregate_lost(dp_agent_of(source)->engine, table, lost);
}

static void bind(struct dp_source *source, const struct dp_point *point,
		 const struct dp_binding *binding)
{
	dp_engine_bind(dp_agent_of(source)->engine, point->probe, binding);
}

static u64 variable(const struct dp_source *source, u32 program, u32 index)
{
	const struct dp_engine *e = dp_agent_of(source)->engine;

	return program == DP_NO_PROGRAM ? dp_engine_global(e, index) :
					  dp_engine_local(e, program, index);
}

/* Without its watchpoints the agent has nothing to do there. */
static int give_back(struct dp_agent *a, int err)
{
	if (err && !dp_process_ended(a->proc)) {
		dp_process_detach(a->proc, NULL);
		dp_process_let_go(a->proc);
	}
	return err;
}

static bool is_on(const void *agent, const struct dp_point *p)
{
	const struct dp_disabled *off = &((const struct dp_agent *)agent)->off;

	return p->probe >= off->n || !off->v[p->probe];
}

void dp_agent_semaphores(struct dp_agent *a, const struct dp_points *points)
{
	dp_points_raise(a->proc, dp_process_base(a->proc), points, is_on, a);
}

/* Probes of watchpoints that cannot be are off from now on. */
static int leave_out(struct dp_agent *a, struct dp_diag *diag)
{
	u8 *off;
	int err;

	if (!a->data.out)
		return 0;
	err = dp_agent_any_left(a->points, 0, diag);
	if (err)
		return err;
	off = calloc(dp_engine_probes(a->engine) + 1, 1);
	if (!off)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	dp_agent_data_left_out(a, off);
	return dp_agent_apply(a, off, diag);
}

static int arm(struct dp_source *source, struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	int err = dp_process_install(a->proc, a->engine, diag);

	if (!err)
		err = give_back(a, dp_agent_data_begin(a, diag) ?:
					   leave_out(a, diag));
	if (!err)
		dp_agent_semaphores(a, a->points);
	a->settled = dp_source_now();
	return err;
}

static void go(struct dp_source *source)
{
	dp_process_let_go(dp_agent_of(source)->proc);
}

static enum dp_source_state wait_for(struct dp_source *source, int ms)
{
	struct dp_agent *a = dp_agent_of(source);

	if (!dp_agent_data_wait(a, ms))
		return DP_SOURCE_RUNS;
	switch (dp_process_poll(a->proc, ms)) {
	case DP_PROCESS_EXITED:
		return DP_SOURCE_EXITED;
	case DP_PROCESS_EXECED:
		return DP_SOURCE_EXECED;
	default:
		return DP_SOURCE_RUNS;
	}
}

static u32 thread(const struct dp_source *source, u32 tid)
{
	return dp_process_thread(dp_agent_of(source)->proc, tid);
}

static bool has_thread(void *arg, u32 tid)
{
	return dp_process_thread(arg, tid);
}

/* Discard unfinished records of threads that have ended. Look for calls that were left by
 * longjmp or an exception: they cannot be seen once the process has ended. */
static void settle(struct dp_agent *a, double t)
{
	a->settled = t;
	if (a->logs)
		dp_engine_settle(a->engine, dp_process_target(a->proc),
				 has_thread, a->proc);
	dp_calls_look(a->calls, false);
}

/* A table that fills up gets another table beside it. */
static void grow_calls(struct dp_agent *a)
{
	struct dp_diag diag = { .text = "" };
	u64 size, addr;
	void *ours;

	if (!a->calls || a->stuck)
		return;
	size = dp_engine_instances_want(a->engine);
	if (!size)
		return;
	if (!dp_process_share(a->proc, size, &addr, &ours, &diag)) {
		dp_engine_instances_grow(a->engine, addr, ours);
		return;
	}
	/* A process that has ended needs no table. */
	if (dp_process_poll(a->proc, 0) != DP_PROCESS_RUNS)
		return;
	a->stuck = true;
	dp_output_say("there is no room to follow more calls at once: %s",
		      diag.text);
}

static void reclaim_now(void *agent)
{
	struct dp_agent *a = agent;

	a->reclaimed = dp_engine_blocks_reclaim(a->engine);
}

/* Give back the blocks of stacks that have gone. All threads are stopped for that: seldom, where
 * hardly any have. */
static void reclaim_blocks(struct dp_agent *a, double t)
{
	if (!a->calls || t < a->reclaim || !dp_engine_blocks_crowded(a->engine))
		return;
	a->reclaimed = 0;
	if (dp_process_outside(a->proc, reclaim_now, a) == -EAGAIN)
		return;
	a->reclaim = t + (a->reclaimed < RECLAIM_FEW ? RECLAIM_SELDOM :
						       RECLAIM_SECONDS);
}

/* While threads trap inside jumps, that is looked at often. */
static bool arrives(struct dp_agent *a)
{
	u64 n = dp_engine_interior_arrivals(a->engine);
	bool more = n != a->arrivals;

	a->arrivals = n;
	return more;
}

static void tend(struct dp_source *source, double t,
		 void (*foreign)(void *arg, u64 addr, bool away), void *arg,
		 struct dp_source_news *news)
{
	struct dp_agent *a = dp_agent_of(source);
	size_t sites = dp_engine_sites(a->engine);

	if (t - a->settled >= SETTLE_SECONDS)
		settle(a, t);
	if (t >= a->foreign) {
		a->foreign = t + LEAST_SECONDS + (double)sites * SECONDS_A_SITE;
		if (sites)
			dp_process_cede(a->proc, foreign, arg);
	}
	dp_agent_data_tend(a, t);
	grow_calls(a);
	reclaim_blocks(a, t);
	if (dp_engine_step_back(a->engine))
		dp_process_apply(a->proc, NULL);
	news->most = a->calls || arrives(a) ? GROW_MS : IDLE_MS;
	news->asked = dp_process_asked(a->proc);
	news->filter_refused = dp_process_filter_installed(a->proc);
}

static int core(struct dp_source *source, const struct dp_core_request *want,
		struct dp_core_result *result, struct dp_diag *diag)
{
	return dp_process_core(dp_agent_of(source)->proc, want, result, diag);
}

static void core_end(struct dp_source *source, u32 inside)
{
	dp_process_core_end(dp_agent_of(source)->proc, inside);
}

static int halt(struct dp_source *source, u32 tid, u32 inside, bool *there,
		struct dp_diag *diag)
{
	return dp_process_halt(dp_agent_of(source)->proc, tid, inside, there,
			       diag);
}

static int disarm(struct dp_source *source, bool alive, struct dp_diag *diag)
{
	struct dp_agent *a = dp_agent_of(source);
	int err;

	dp_engine_admit(a->engine, false);
	dp_agent_data_end(a);
	/* Without memory the finds of the last look still hold. */
	if (alive)
		dp_calls_look(a->calls, true);
	err = dp_process_detach(a->proc, diag);
	dp_agent_data_tell(a);
	if (!err && a->logs)
		dp_engine_settle_all(a->engine);
	return err;
}

static void settle_calls(struct dp_source *source, dp_source_take take,
			 void *arg)
{
	dp_calls_settle(dp_agent_of(source)->calls, take, arg);
}

static void count_calls(const struct dp_source *source,
			const struct dp_point *p, struct dp_account *n)
{
	const struct dp_agent *a = dp_agent_of(source);

	dp_engine_account(a->engine, p->probe, n);
	dp_calls_count(a->calls, p->probe, n);
}

static void end(const struct dp_source *source, struct dp_source_end *end)
{
	const struct dp_process *proc = dp_agent_of(source)->proc;

	end->status = 0;
	end->known = dp_process_status(proc, &end->status);
	end->trap = dp_process_trap_death(proc);
	end->execed = dp_process_execed(proc);
}

static void kill_launched(struct dp_source *source)
{
	dp_process_kill_launched(dp_agent_of(source)->proc);
}

static void close_agent(struct dp_source *source)
{
	struct dp_agent *a = dp_agent_of(source);

	if (!a)
		return;
	dp_agent_data_end(a);
	dp_process_close(a->proc);
	dp_agent_data_close(a);
	dp_calls_close(a->calls);
	dp_engine_destroy(a->engine);
	dp_modules_close(source->mods);
	dp_agent_stacks_close(a);
	free((void *)a->off.v);
	free(a);
}

/* The parent's other thread may be about to raise a loader event. In the child the library
 * is mapped as well, but no thread of the child raises the event. */
static bool may_have_missed(const struct dp_agent *parent)
{
	return parent->source.watches && (dp_process_asked(parent->proc) ||
					  dp_process_is_threaded(parent->proc));
}

static int fork_agent(struct dp_source *source, struct dp_tree *tree,
		      const struct dp_tree_event *event,
		      struct dp_source **child, struct dp_diag *diag)
{
	const struct dp_agent *parent = dp_agent_of(source);
	struct dp_agent *a = calloc(1, sizeof(*a));
	struct dp_process *proc;
	int err;

	if (!a) {
		dp_tree_let_go(tree, event);
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	}
	err = dp_process_fork(tree, event, &proc, diag);
	if (err) {
		free(a);
		return err;
	}
	fill(a, proc);
	a->engine = dp_process_engine(proc);
	a->logs = parent->logs;
	a->nr_points = parent->nr_points;
	a->last = parent->last;
	a->source.tracks = source->tracks;
	a->source.watches = source->watches;
	a->source.missed = may_have_missed(parent);
	*child = &a->source;
	dp_agent_stacks_fork(a);
	return dp_agent_fork_disabled(a, parent) ||
			       (source->tracks &&
				dp_calls_open(&a->calls, a->engine, a->proc,
					      a->logs)) ?
		       dp_diag_set(diag, -ENOMEM, "out of memory") :
		       0;
}

static int renew(struct dp_tree *tree, const struct dp_tree_event *event,
		 struct dp_source **source, struct dp_diag *diag)
{
	struct dp_process *proc;
	int err = dp_process_renew(tree, event, &proc, diag);

	return err ? err : give(proc, source, diag);
}

static int part(struct dp_source *source, struct dp_tree *tree,
		struct dp_diag *diag)
{
	return dp_tree_part(tree, dp_agent_of(source)->proc, diag);
}

int dp_agent_detach(pid_t pid, struct dp_diag *diag)
{
	return dp_process_clean(pid, diag);
}

static const struct dp_source_tree tree_ops = {
	.fork = fork_agent,
	.renew = renew,
	.part = part,
};

const struct dp_source_ops dp_agent_source = {
	.name = "agent",
	.libraries = &dp_agent_libraries,
	.tree = &tree_ops,
	.open = open_process,
	.ended = ended,
	.outdated = outdated,
	.lost = lost,
	.modules = modules,
	.resolve = resolve,
	.read = read_memory,
	.add = dp_agent_add,
	.add_program = add_program,
	.add_aggregate = add_aggregate,
	.aggregate = aggregate,
	.read_aggregate = read_aggregate,
	.aggregate_lost = aggregate_lost,
	.stacks = &dp_agent_stacks,
	.bind = bind,
	.arm = arm,
	.go = go,
	.wait = wait_for,
	.tend = tend,
	.records = dp_agent_records,
	.ticks = dp_engine_ticks,
	.thread = thread,
	.count = dp_agent_count,
	.reason = dp_agent_reason,
	.totals = dp_agent_totals,
	.variable = variable,
	.calls = count_calls,
	.enable = dp_agent_enable,
	.exchange = dp_agent_exchange,
	.retire = dp_agent_retire,
	.core = core,
	.core_end = core_end,
	.halt = halt,
	.disarm = disarm,
	.settle = settle_calls,
	.end = end,
	.kill = kill_launched,
	.close = close_agent,
};
