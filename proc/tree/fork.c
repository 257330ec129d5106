// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * fork: a fork child of a probed process becomes a probed process of its own.
 *
 * The child is stopped at its birth, with its parent's text, copies and agent. The tool
 * replaces each area that it shares with the parent by one of its own, with the same
 * contents, at the same address. The word that names the owner of the agent is written
 * last. If the tool ends before, the child leaves the probes as any fork child does.
 */
#include "engine/site/instances.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/layout/base.h"
#include "engine/plan/plan.h"
#include "engine/site/counts.h"
#include "engine/site/engine.h"
#include "arch/uregs.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/tree.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/stop.h"
#include "proc/tree/follow.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include "engine/site/internal.h"

static int build(struct dp_process *child, const struct dp_process *parent)
{
	const struct dp_mapping map = dp_mapping_of(child);
	int err;

	err = dp_engine_fork(parent->engine, &map, child, &child->engine);
	if (!err)
		dp_alive_enter(&dp_engine_arena(child->engine)->control);
	return err;
}

/* Return: @addr if a table of the parent's is mapped there in the child, too; else 0. */
static u64 place_of(const struct dp_process *child, u64 addr)
{
	const struct dp_map *map;
	struct dp_maps maps;
	u64 at = 0;

	if (dp_maps_read(child->pid, &maps))
		return 0;
	map = dp_maps_find(&maps, addr);
	if (map && map->start == addr && dp_path_is_ours(map->path))
		at = addr;
	dp_maps_free(&maps);
	return at;
}

static bool holds(void *child, u64 slot, u64 word)
{
	u64 is;

	return !dp_process_read(child, slot, &is, sizeof(is)) && is == word;
}

/* Tables of instances that the parent got while it was probed, and the contents of all. */
static long map_instances(struct dp_process *child,
			  const struct dp_process *parent, u32 maker)
{
	void *ours;
	u64 size;
	long at;
	u32 i;

	for (i = 1;
	     (size = dp_engine_instances_owed(child->engine, parent->engine));
	     i++) {
		at = dp_share_map(child,
				  place_of(child, dp_engine_instances_at(
							  parent->engine, i)),
				  0, size, &ours);
		if (dp_remote_failed(at))
			return at;
		dp_engine_instances_grow(child->engine, (u64)at, ours);
	}
	dp_engine_fork_instances(child->engine, parent->engine, maker,
				 child->ns_pid, holds, child);
	return 0;
}

/* Drop the state of the parent's other threads, and signals deferred for its threads. */
static int clean_private(const struct dp_process *child, u32 maker)
{
	struct dp_private *p = malloc(sizeof(*p));
	u64 at = child->base + DP_PRIVATE_OFFSET;
	u64 thread =
		dp_thread_id(dp_uregs_thread(&child->threads[0].regs), maker);
	int i, err = p && !dp_kill_point_fails("fork: memory") ?
			     dp_process_read(child, at, p, sizeof(*p)) :
			     -ENOMEM;

	if (err) {
		free(p);
		return err;
	}
	memset(p->deferred, 0, sizeof(p->deferred));
	for (i = 0; i < DP_CLONES; i++)
		if (p->clones[i].thread != thread)
			p->clones[i].thread = 0;
	p->unknowns = 0;
	for (i = 0; i < DP_MASKED_WAITS; i++)
		if ((p->masked_waits[i].thread & ~(u64)DP_MASK_BITS) != thread)
			p->masked_waits[i].thread = p->masked_waits[i].unknown =
				0;
		else
			p->unknowns += p->masked_waits[i].unknown;
	err = dp_process_write(child, at, p, sizeof(*p));
	free(p);
	return err;
}

static int take(struct dp_process *child, u32 maker)
{
	u64 words[DP_MAX_SHARDS];
	u32 n;
	int err = clean_private(child, maker);

	if (!err)
		err = dp_engine_catch_up(child->engine, &child->target);
	if (err)
		return err;
	dp_engine_fork_contexts(child->engine, &child->target, maker,
				child->ns_pid);
	if (dp_engine_table(child->engine, words, &n))
		err = dp_process_write(child, child->base + DP_TABLE_OFFSET,
				       words, n * sizeof(*words));
	dp_kill_point("fork: built");
	if (!err)
		err = dp_process_write(child, child->base + DP_WIPE_OFFSET,
				       &child->ns_pid, sizeof(child->ns_pid));
	return err;
}

static int settle_in(struct dp_process *child, const struct dp_process *parent,
		     u32 maker)
{
	s32 there[2];
	int files[2], err;
	long ret;

	err = dp_area_make(child, dp_engine_need(parent->engine), files);
	if (err)
		return err;
	err = dp_remote_begin(child, NULL);
	ret = err ? 0 : dp_area_pass(child, files, there);
	dp_area_drop(files);
	if (err)
		return err;
	if (!ret) {
		ret = build(child, parent);
		if (!ret)
			ret = dp_area_inherit(
				child, dp_engine_need(child->engine), there);
		if (!ret)
			ret = map_instances(child, parent, maker);
		dp_area_close(child, there);
	}
	if (!ret)
		ret = take(child, maker);
	dp_remote_end(child);
	dp_kill_point("fork: done");
	return (int)ret;
}

static struct dp_process *child_of(const struct dp_process *parent, pid_t pid)
{
	struct dp_process *child = dp_process_new();

	if (!child)
		return NULL;
	memcpy(child, parent, offsetof(struct dp_process, pid));
	child->pid = pid;
	return child;
}

int dp_process_fork(struct dp_tree *tree, const struct dp_tree_event *event,
		    struct dp_process **out, struct dp_diag *diag)
{
	const struct dp_process *parent = event->proc;
	struct dp_process *child = child_of(parent, event->pid);
	struct dp_status st;
	int err = child ? 0 : -ENOMEM;

	if (!err && dp_status_read(event->pid, event->pid, &st))
		err = -ESRCH;
	if (!err) {
		child->ns_pid = st.ns_pid;
		err = dp_process_open_mem(child, diag);
	}
	if (!err)
		err = dp_process_hold(child);
	if (!err &&
	    ptrace(PTRACE_SETOPTIONS, child->pid, 0, dp_trace_options(child)))
		err = -ESRCH;
	if (!err)
		err = settle_in(child, parent, event->maker_ns);
	if (!err)
		err = dp_tree_add(tree, child);
	if (err) {
		struct dp_engine *engine = child ? child->engine : NULL;

		dp_tree_fail(tree, event, child);
		dp_engine_destroy(engine);
		return dp_diag_set(
			diag, err,
			"the probes of process %d cannot be taken into its child %d: %s",
			parent->pid, event->pid, strerror(-err));
	}
	child->installed = true;
	*out = child;
	return 0;
}
