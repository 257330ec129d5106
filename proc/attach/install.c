// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * install: map the agent into a process and arm the sites.
 *
 *   memfd; plan of copies, detours, islands         by a first look
 *   stop ─ areas, pools ─ go on                     nothing refers to them
 *   their code
 *   stop ─ intercepts, actions, masks ─ go on       the handler knows every site (live.c)
 *   breakpoints and jumps                           no thread has to stop (arm.c)
 *
 * Where the program has mapped something since the first look, the plan is made again while its
 * threads are held. So is the plan of what is added later. The agent and all that is armed stay
 * as they are.
 *
 * If the tool ends between any two steps, the target runs on correctly, and the next tool
 * can clean up (recover.c).
 */
#include "agent/image.h"
#include "port.h"
#include "port_calls.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/attach/pools.h"
#include "proc/code/intercepts.h"
#include "proc/tree.h"
#include "proc/facts.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/plan/plan.h"
#include "engine/site/live.h"
#include "engine/site/engine.h"
#include "engine/site/arm.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/site/internal.h"

#define FOR_CHILDREN                                                  \
	(dp_own_bit(SYS_madvise) | dp_own_bit(SYS_process_vm_readv) | \
	 dp_own_bit(SYS_rt_sigaction))

static u32 counter_shards(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	u32 shards = 1;

	while (shards < DP_MAX_SHARDS && (long)shards < cpus)
		shards *= 2;
	return shards;
}

struct rseq {
	bool used;
	s32 offset;
	u32 signature;
};

/** struct agent - one that is not there yet
 * @need: its size; @files: its memory, mapped here; @there: their descriptors in the target
 * @map: what is known before it is mapped there
 * @rseq: what threads have registered, as long as none is held a guess
 * @planned: by this guess, for an agent at @map.base
 */
struct agent {
	const struct dp_layout_need *need;
	struct dp_mapping map;
	int files[2];
	s32 there[2];
	struct rseq rseq;
	bool planned;
};

static const struct dp_growth_ops ops = { dp_pools_add,	  dp_pools_put,
					  dp_pools_holes, dp_arm_stopped,
					  dp_arm_hold,	  NULL,
					  false };

static void locate(const struct dp_process *proc, struct dp_mapping *map,
		   u64 base)
{
	map->file = proc->file;
	map->base = base;
	map->intercept_entry = base + dp_agent_intercept_entry;
	map->entries = dp_agent_entries(base);
	/* Not the entry with the shortcut for a process's own handlers. */
	if (proc->attached_other)
		map->entries.hit = map->entries.tracked;
}

static int no_room(const struct dp_process *proc, struct dp_diag *diag)
{
	return dp_diag_set(
		diag, -ENOMEM,
		"process %d has no room within 2 GB of the probed code",
		proc->pid);
}

static int begin_tables(struct dp_process *proc, const struct agent *a)
{
	if (a->rseq.used)
		dp_engine_set_rseq(proc->engine, a->rseq.offset,
				   a->rseq.signature);
	return dp_engine_build(
		proc->engine, &a->map,
		proc->attached_other ? &dp_attach_other_ops : &ops, proc);
}

static int plan(struct dp_process *proc, const struct agent *a,
		struct dp_diag *diag)
{
	int err;

	dp_pools_collect(proc);
	err = a ? begin_tables(proc, a) : 0;

	if (!err)
		err = dp_engine_plan(proc->engine);
	if (err == -ENOMEM)
		no_room(proc, diag);
	if (err == -ENOSPC)
		dp_diag_set(
			diag, err,
			"there is no room for so many more probes in process %d",
			proc->pid);
	return err;
}

static int cannot_map(const struct dp_process *proc, long ret,
		      struct dp_diag *diag)
{
	char why[DP_LIMITS_TEXT];

	if (diag && diag->text[0])
		return (int)ret;
	if (ret == -ENOTSOCK || ret == -EBADF || ret == -EBUSY)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d, or another one with the same descriptors, closed or replaced those by which dprobes maps the agent; try again",
			proc->pid);
	return dp_diag_set(diag, (int)ret,
			   "cannot map the agent into process %d: %s",
			   proc->pid,
			   dp_share_why(proc, (int)ret, proc->file_size, why));
}

/* The target is not what it was taken for. */
static void forget_plan(struct dp_process *proc, struct agent *a)
{
	dp_pools_drop(proc);
	dp_engine_unbuild(proc->engine);
	proc->outdated = true;
	a->planned = false;
}

static long map_agent(struct dp_process *proc, struct agent *a)
{
	long ret = dp_area_pass(proc, a->files, a->there);

	if (ret)
		return ret;
	ret = dp_kill_point_fails("install: agent") ?
		      -EEXIST :
		      dp_area_map(proc, a->need, a->there,
				  a->planned ? a->map.base : 0);
	if (ret == -EEXIST && a->planned) {
		forget_plan(proc, a);
		ret = dp_area_map(proc, a->need, a->there, 0);
	}
	locate(proc, &a->map, proc->base);
	if (ret)
		dp_area_close(proc, a->there);
	return ret;
}

/* By a plan that is there, and if that does not fit any more by one that is made now. */
static long map_pools(struct dp_process *proc, struct agent *a,
		      struct dp_diag *diag)
{
	long ret = -EEXIST;

	if (a->planned && !dp_kill_point_fails("install: pools"))
		ret = dp_pools_map(proc, a->there[0]);
	if (ret == -EEXIST && a->planned)
		forget_plan(proc, a);
	if (!a->planned)
		ret = plan(proc, a, diag) ?: dp_pools_map(proc, a->there[0]);
	dp_area_close(proc, a->there);
	return ret;
}

/* @a: an agent that is not there yet, or NULL */
static long map_remotely(struct dp_process *proc, struct agent *a,
			 struct dp_diag *diag)
{
	long ret;

	if (!a)
		return plan(proc, NULL, diag) ?: dp_pools_share(proc);
	ret = map_agent(proc, a) ?: map_pools(proc, a, diag);
	if (ret && ret != -ESRCH)
		dp_unmap(proc);
	return ret;
}

static bool is_same(const struct rseq *a, const struct rseq *b)
{
	return a->used == b->used &&
	       (!a->used ||
		(a->offset == b->offset && a->signature == b->signature));
}

static void see_rseq(struct dp_process *proc, struct agent *a)
{
	const struct rseq guess = a->rseq;
	struct rseq *r = &a->rseq;

	r->used = dp_rseq_common(proc, &r->offset, &r->signature);
	if (a->planned &&
	    (!is_same(r, &guess) || dp_kill_point_fails("install: rseq")))
		forget_plan(proc, a);
}

/* @agent: struct agent, or NULL */
static int map_stopped(struct dp_process *proc, void *agent,
		       struct dp_diag *diag)
{
	long ret;
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	dp_kill_point("install: stopped");
	if (agent)
		see_rseq(proc, agent);
	err = dp_remote_begin(proc, diag);
	if (!err) {
		ret = map_remotely(proc, agent, diag);
		dp_remote_end(proc);
		dp_kill_point("install: mapped");
		err = ret ? cannot_map(proc, ret, diag) : 0;
	}
	dp_stop_release(proc);
	return err;
}

static int map_all(struct dp_process *proc, struct agent *agent,
		   struct dp_diag *diag)
{
	int err = dp_tracer_child(proc, map_stopped, agent, diag);

	if (err && diag && !diag->text[0])
		dp_diag_set(diag, err,
			    "cannot map the agent into process %d: %s",
			    proc->pid, strerror(-err));
	return err;
}

/* No thread has to be held for a plan. It is for the mappings and the libc that the target
 * seems to have. */
static int plan_first(struct dp_process *proc, struct agent *a,
		      struct dp_diag *diag)
{
	const struct dp_maps *maps = proc->held ? NULL : dp_last_maps(proc);
	u64 at;
	int err;

	if (!maps)
		return 0;
	at = dp_holes_highest(maps, proc->file_size);
	if (!at)
		return no_room(proc, diag);
	locate(proc, &a->map, at);
	a->rseq.used = dp_rseq_likely(&a->rseq.offset, &a->rseq.signature);
	err = plan(proc, a, diag);
	a->planned = !err;
	return err;
}

static int map_first(struct dp_process *proc, const struct dp_layout_need *need,
		     struct dp_diag *diag)
{
	struct agent a = { .need = need };
	int err = dp_area_make(proc, need, a.files);

	if (err)
		return cannot_map(proc, err, diag);
	a.map = dp_mapping_of(proc);
	err = plan_first(proc, &a, diag);
	if (!err)
		err = map_all(proc, &a, diag);
	dp_area_drop(a.files);
	return err;
}

/* With the table in place detours count by themselves. */
static int fill_table(struct dp_process *proc)
{
	u64 words[DP_MAX_SHARDS];
	u32 n;

	if (!dp_engine_table(proc->engine, words, &n))
		return 0;
	return dp_process_write(proc, proc->base + DP_TABLE_OFFSET, words,
				n * sizeof(*words));
}

struct dp_mapping dp_mapping_of(const struct dp_process *proc)
{
	pid_t tool = proc->own_process ? proc->pid : dp_tool_of(proc);
	struct dp_mapping map = {
		.owner = proc->ns_pid,
		.tool = (u32)tool,
		.tool_start = dp_tool_start(tool),
		.small_stacks = proc->go,
		.fsgsbase = dp_has_fsgsbase(),
		.forbidden = proc->forbidden,
	};

	locate(proc, &map, proc->base);
	return map;
}

/* Copies and detours. No code leads there yet, so no thread is held. */
static int fill(struct dp_process *proc)
{
	int err = dp_pools_write(proc);

	if (err)
		return err;
	dp_patched_note(proc);
	/* A child that may not make these calls cannot restore its text either. */
	if (proc->forbidden & FOR_CHILDREN)
		dp_engine_arena(proc->engine)->control.revertible = 0;
	return 0;
}

static int build(struct dp_process *proc)
{
	int err = fill(proc);

	if (!err)
		err = dp_process_write(proc, proc->base, dp_agent_image,
				       dp_agent_image_size);
	if (err)
		return err;
	/* A library's agent has an owner of its own: see engine/hit/upcall.c. */
	if (!proc->own_process && !proc->attached_other)
		dp_alive_enter(&dp_engine_arena(proc->engine)->control);
	err = dp_process_write(proc, proc->base + DP_WIPE_OFFSET, &proc->ns_pid,
			       sizeof(proc->ns_pid));
	if (!err)
		err = fill_table(proc);
	dp_kill_point("install: built");
	return err;
}

/* These calls are made in place: they return twice, or sleep. */
static bool is_observed(u32 nr)
{
	return nr == SYS_fork || nr == SYS_vfork || nr == SYS_clone ||
	       nr == SYS_clone3 || dp_call_is_any(nr) ||
	       dp_call_is_masked_wait(nr);
}

static int add_intercept(struct dp_process *proc, const struct dp_intercept *h)
{
	u32 nr = h->nr;

	if (dp_call_goes_through(nr) && nr & DP_CALL_ENTERS &&
	    dp_points_touched(proc, h))
		nr |= DP_CALL_TOUCHED;
	return dp_engine_add_intercept(proc->engine, h->addr, h->code, nr,
				       is_observed(nr));
}

static int prepare(struct dp_process *proc, struct dp_layout_need **need,
		   struct dp_diag *diag)
{
	int err = 0;
	size_t i;

	for (i = 0; i < proc->nr_intercepts && !proc->no_intercepts && !err;
	     i++)
		err = add_intercept(proc, &proc->intercepts[i]);
	*need = err ? NULL : dp_engine_layout(proc->engine, counter_shards());
	if (*need)
		return 0;
	return dp_diag_set(
		diag, -ENOMEM,
		"there are too many probes, or they lie too far apart, or dprobes has too little memory");
}

/* Explain why the process could not be read, written or stopped any more. */
static int has_failed(const struct dp_process *proc, int err,
		      struct dp_diag *diag)
{
	if (!proc->launched && dp_process_ended(proc))
		return dp_process_lost(proc->pid, diag);
	if (proc->refuses)
		return dp_dispatch_refuse(proc, diag);
	if (diag && !diag->text[0])
		dp_diag_set(diag, err, "cannot prepare process %d: %s",
			    proc->pid, strerror(-err));
	return err;
}

/* Children made during the change are marked so before it ends. Meanwhile no thread may
 * be in the middle of making one. */
static void finish(struct dp_process *proc, bool installed)
{
	bool stopped = proc->tree && !dp_stop_all(proc, NULL);

	if (proc->tree)
		dp_tree_pass(proc->tree);
	proc->installed = installed;
	proc->changing = proc->passed = false;
	if (stopped)
		dp_stop_release(proc);
}

void dp_process_found_in(struct dp_process *proc, struct dp_modules *mods)
{
	proc->found = mods;
}

/* Hits begin with the first probe. A process that ended or executed another program
 * since then counts as probed. */
static int arm(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_arm_write(proc, dp_engine_commit, diag);

	if (!err || proc->launched || proc->tree || !dp_process_ended(proc))
		return err;
	dp_diag_clear(diag);
	return 0;
}

int dp_process_install(struct dp_process *proc, struct dp_engine *engine,
		       struct dp_diag *diag)
{
	struct dp_layout_need *need;
	int err;

	proc->engine = engine;
	/* Tracer children have other ids. */
	proc->tool = dp_tool_of(proc);
	proc->missed = false;
	dp_tracer_children_begin(proc);
	err = prepare(proc, &need, diag);
	if (!err)
		err = map_first(proc, need, diag);
	if (!err)
		err = build(proc);
	if (!err)
		err = dp_live_go(proc, diag);
	if (!err)
		err = arm(proc, diag);
	dp_kill_point("install: armed");
	finish(proc, !err);
	dp_pools_drop(proc);
	if (err && proc->base && !proc->exited)
		dp_process_detach(proc, NULL);
	proc->found = NULL;
	if (err)
		dp_process_let_go(proc);
	dp_tracer_children_end(proc);
	return err ? has_failed(proc, err, diag) : 0;
}

int dp_process_apply(struct dp_process *proc, struct dp_diag *diag)
{
	int err;

	/* What was disabled so far may have no jump yet, and no room for one. */
	proc->wants_pool = false;
	err = dp_engine_plan(proc->engine);
	if (!err && proc->wants_pool)
		err = map_all(proc, NULL, diag) ?: dp_pools_write(proc);
	dp_pools_drop(proc);
	return err ? err : dp_arm_write(proc, dp_engine_apply, diag);
}

/* On failure the probes that were added count as gone. */
int dp_process_extend(struct dp_process *proc, struct dp_diag *diag)
{
	u32 had = dp_engine_need(proc->engine)->nr_pools, mapped = had;
	int err;

	dp_tracer_children_begin(proc);
	err = map_all(proc, NULL, diag);
	if (!err) {
		mapped = dp_engine_need(proc->engine)->nr_pools;
		err = fill(proc);
	}
	dp_kill_point("extend: built");
	if (!err)
		err = arm(proc, diag);
	dp_kill_point("extend: armed");
	dp_pools_drop(proc);
	if (err)
		dp_arm_retract(proc, mapped);
	proc->passed = false;
	proc->found = NULL;
	dp_tracer_children_end(proc);
	return err ? has_failed(proc, err, diag) : 0;
}

void dp_process_retract(struct dp_process *proc)
{
	dp_arm_retract(proc, dp_engine_need(proc->engine)->nr_pools);
}
