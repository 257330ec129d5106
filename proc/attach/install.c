// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * install: map the agent into a process and arm the sites.
 *
 *   stop ─ memfd, areas, pools ─ go on              nothing refers to them
 *   copies and tables, through the tool's mapping
 *   stop ─ intercepts, actions, masks ─ go on       the handler knows every site (live.c)
 *   breakpoints, one byte each                      no thread has to stop (arm.c)
 *
 * Later batches of sites get pools of their own, and go through the first two steps and the
 * last. The agent and all that is armed stay as they are.
 *
 * If the tool ends between any two steps, the target runs on correctly, and the next tool
 * can clean up (recover.c).
 */
#include "agent/image.h"
#include "port.h"
#include "port_calls.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/attach/drain.h"
#include "proc/code/intercepts.h"
#include "proc/tree.h"
#include "proc/facts.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/plan/plan.h"
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

static long map_agent(struct dp_process *proc,
		      const struct dp_layout_need *need)
{
	s32 there[2];
	long ret = dp_area_open(proc, need, there);

	if (ret)
		return ret;
	ret = dp_area_map(proc, need, there);
	dp_area_close(proc, there);
	if (ret && ret != -ESRCH)
		dp_unmap(proc);
	return ret;
}

static int map_remotely(struct dp_process *proc,
			const struct dp_layout_need *need, struct dp_diag *diag)
{
	char why[DP_LIMITS_TEXT];
	long ret;
	int err = dp_remote_begin(proc, diag);

	if (err)
		return err;
	ret = proc->base ? dp_area_add(proc, need, proc->engine->batch.pool) :
			   map_agent(proc, need);
	dp_remote_end(proc);
	dp_kill_point("install: mapped");
	if (ret == -ENOTSOCK || ret == -EBADF || ret == -EBUSY)
		return dp_diag_set(
			diag, -EBUSY,
			"process %d, or another one with the same descriptors, closed or replaced those by which dprobes maps the agent; try again",
			proc->pid);
	if (ret)
		return dp_diag_set(
			diag, (int)ret,
			"cannot map the agent into process %d: %s", proc->pid,
			dp_share_why(proc, (int)ret, need->file_size, why));
	return 0;
}

/* @need: struct dp_layout_need */
static int map_stopped(struct dp_process *proc, void *need,
		       struct dp_diag *diag)
{
	const struct dp_maps *maps;
	struct dp_hole *holes = NULL;
	u32 signature;
	s32 offset;
	size_t n;
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	dp_kill_point("install: stopped");
	if (!proc->base && dp_rseq_common(proc, &offset, &signature))
		dp_engine_set_rseq(proc->engine, offset, signature);
	maps = dp_stop_maps(proc);
	err = maps ? dp_holes_among(proc->pid, maps, 0, &holes, &n) : -ESRCH;
	if (!err)
		err = dp_engine_place(proc->engine, holes, n);
	dp_port_free(holes);
	if (err == -ENOMEM)
		dp_diag_set(
			diag, err,
			"process %d has no room within 2 GB of the probed code",
			proc->pid);
	if (!err)
		err = map_remotely(proc, need, diag);
	dp_stop_release(proc);
	return err;
}

static int map_all(struct dp_process *proc, struct dp_layout_need *need,
		   struct dp_diag *diag)
{
	int err = dp_tracer_child(proc, map_stopped, need, diag);

	if (err && diag && !diag->text[0])
		dp_diag_set(diag, err,
			    "cannot map the agent into process %d: %s",
			    proc->pid, strerror(-err));
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

	return (struct dp_mapping){
		.file = proc->file,
		.base = proc->base,
		.intercept_entry = proc->base + dp_agent_intercept_entry,
		.entries = dp_agent_entries(proc->base),
		.owner = proc->ns_pid,
		.tool = (u32)tool,
		.tool_start = dp_tool_start(tool),
		.small_stacks = proc->go,
		.fsgsbase = dp_has_fsgsbase(),
		.forbidden = proc->forbidden,
	};
}

/* Copies and tables. No code leads there yet, so no thread is held. */
static int fill(struct dp_process *proc, struct dp_diag *diag)
{
	const struct dp_mapping map = dp_mapping_of(proc);
	int err = dp_engine_build(proc->engine, &map);

	if (err)
		return dp_diag_set(
			diag, err,
			"the copies of the probed instructions cannot be placed within their reach");
	err = dp_area_write(proc, dp_engine_need(proc->engine));
	dp_engine_built(proc->engine);
	if (err)
		return err;
	dp_patched_note(proc);
	/* A child that may not make these calls cannot restore its text either. */
	if (proc->forbidden & FOR_CHILDREN)
		dp_engine_arena(proc->engine)->control.revertible = 0;
	return 0;
}

static int build(struct dp_process *proc, struct dp_diag *diag)
{
	int err = fill(proc, diag);

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
	int err = dp_arm_write(proc, dp_engine_arm, diag);

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
	proc->missed = false;
	dp_tracer_children_begin(proc);
	err = prepare(proc, &need, diag);
	if (!err)
		err = map_all(proc, need, diag);
	if (!err)
		err = build(proc, diag);
	if (!err)
		err = dp_live_go(proc, diag);
	if (!err)
		err = arm(proc, diag);
	dp_kill_point("install: armed");
	finish(proc, !err);
	if (err && proc->base && !proc->exited)
		dp_process_detach(proc, NULL);
	proc->found = NULL;
	dp_process_let_go(proc);
	dp_tracer_children_end(proc);
	return err ? has_failed(proc, err, diag) : 0;
}

static bool in_dead(const void *engine, u64 pc)
{
	return dp_engine_in_dead(engine, pc);
}

/** struct unmapping - arguments of unmap_pool() */
struct unmapping {
	struct dp_process *proc;
	struct dp_maps maps;
};

/* The program may have mapped memory of its own there. */
static int unmap_pool(void *arg, u64 addr, u64 size)
{
	const struct unmapping *u = arg;
	const struct dp_map *m = dp_maps_find(&u->maps, addr);

	if (!m || !dp_path_is_ours(m->path) || m->end < addr + size)
		return 0;
	return (int)dp_remote_call(u->proc, SYS_munmap, addr, size);
}

static int reclaim_cleared(struct dp_process *proc, void *arg,
			   struct dp_diag *diag)
{
	struct unmapping u = { .proc = proc };
	int err = dp_maps_read(proc->pid, &u.maps);

	if (err)
		return err;
	err = dp_remote_begin(proc, diag);
	if (!err) {
		err = dp_engine_reclaim(proc->engine, unmap_pool, &u);
		dp_remote_end(proc);
	}
	dp_maps_free(&u.maps);
	return err;
}

/* Take back what libraries have left. A thread inside leaves it for the next time. */
static int reclaim(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	const struct dp_moves moves = { .arg = proc->engine, .from = in_dead };

	return dp_threads_clear(proc, &moves, reclaim_cleared, arg, diag);
}

/* On failure the probes that were added count as gone. */
int dp_process_extend(struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_layout_need *need;
	bool mapped = false;
	int err = 0;

	if (dp_engine_is_crowded(proc->engine))
		dp_tracer_child(proc, reclaim, NULL, NULL);
	dp_kill_point("extend: reclaimed");
	need = dp_engine_layout(proc->engine, 0);
	if (!need)
		err = dp_diag_set(
			diag, -ENOSPC,
			"there is no room for so many more probes in process %d",
			proc->pid);
	dp_tracer_children_begin(proc);
	if (!err && need->nr_pools > proc->engine->batch.pool)
		err = map_all(proc, need, diag);
	mapped = !err;
	if (!err)
		err = fill(proc, diag);
	dp_kill_point("extend: built");
	if (!err)
		err = arm(proc, diag);
	dp_kill_point("extend: armed");
	if (err)
		dp_engine_retract(proc->engine, mapped);
	proc->passed = false;
	proc->found = NULL;
	dp_tracer_children_end(proc);
	return err ? has_failed(proc, err, diag) : 0;
}
