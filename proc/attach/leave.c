// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * leave: disarm and take the agent out without a trace.
 *
 * Works from an arena alone, so it also serves for the agent of a killed tool.
 */
#include "agent/image.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/site/view.h"
#include "arch/uregs.h"
#include "proc/attach/drain.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/linker.h"
#include "proc/semaphores.h"
#include "proc/tree.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/registers.h"
#include "proc/ptrace/remote.h"
#include "proc/seccomp/filters.h"
#include "proc/signals/masks.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define DISARM_TRIES 16
#define DRAIN_TRIES 2000
#define DRAIN_NAP_NS 500000
/* Threads that are in the agent nearly all the time are stopped for longer in later tries:
 * they are led out one by one. */
#define EASY_TRIES 32
#define MORE_PATIENCE_NS 1000000
#define MOST_PATIENCE_NS 100000000

/* The private pages have no name, so they go together with the arena behind them and
 * all its parts. No code leads to what is left of the agent without its arena. */
static void region_of(const struct dp_maps *maps, size_t arena, u64 *start,
		      u64 *end)
{
	size_t i = arena;

	*start = maps->v[arena].start - DP_ARENA_OFFSET;
	*end = maps->v[arena].end;
	while (++i < maps->n && maps->v[i].start == *end &&
	       dp_path_is_ours(maps->v[i].path))
		*end = maps->v[i].end;
}

static long unmap_one(struct dp_process *proc, u64 start, u64 end)
{
	long ret = dp_remote_call(proc, SYS_munmap, start, end - start);

	dp_kill_point("leave: unmapped");
	return ret;
}

/* @arenas: with what belongs to them; else all that is left */
static long unmap_all(struct dp_process *proc, bool arenas)
{
	struct dp_maps maps;
	long ret = dp_maps_read(proc->pid, &maps);
	u64 start, end;
	size_t i;

	if (ret)
		return ret;
	for (i = 0; i < maps.n && !ret; i++) {
		const struct dp_map *m = &maps.v[i];

		if (arenas ? !dp_map_is_arena(m) : !dp_path_is_ours(m->path))
			continue;
		start = m->start;
		end = m->end;
		if (arenas)
			region_of(&maps, i, &start, &end);
		ret = unmap_one(proc, start, end);
	}
	dp_maps_free(&maps);
	return ret;
}

int dp_unmap(struct dp_process *proc)
{
	long ret = unmap_all(proc, true) ?: unmap_all(proc, false);

	if (proc->unsettled >= 0 && dp_share_has(proc, proc->unsettled))
		dp_share_close(proc, &proc->unsettled, 1);
	proc->unsettled = -1;
	if (!ret)
		proc->base = 0;
	return (int)ret;
}

/* Restore the program's own action, unless the kernel has it already. */
static int return_action(struct dp_process *proc, u64 base, u32 k)
{
	u64 at = base + DP_PRIVATE_SCRATCH;
	u64 mine =
		base + DP_PRIVATE_AT(actions) + k * sizeof(struct dp_actions);
	struct dp_kernel_sigaction now;
	u32 current;
	int err = dp_masks_action(proc, dp_caught(k), 0, at);

	if (err || dp_process_read(proc, at, &now, sizeof(now)) ||
	    dp_process_read(proc, mine + offsetof(struct dp_actions, in_place),
			    &current, sizeof(current)))
		return err ?: -EIO;
	if (now.handler != base + dp_agent_trap_entry)
		return 0;
	return dp_masks_action(
		proc, dp_caught(k),
		mine + offsetof(struct dp_actions, ring[0].action) +
			current % DP_ACTION_RING *
				sizeof(struct dp_action_slot),
		0);
}

static int return_actions(struct dp_process *proc, const struct dp_view *view)
{
	const struct dp_arena_control *c = &view->arena->control;
	int err = 0;
	u32 k;

	for (k = 0; !err && k < dp_few(&c->nr_caught, DP_CAUGHT); k++)
		err = return_action(proc, c->base, k);
	return err;
}

static void drop_copies(struct dp_process *proc,
			const struct dp_arena_control *c)
{
	u32 i;

	for (i = 0; c->revertible && i < dp_few(&c->nr_patched, DP_MAX_PATCHED);
	     i++)
		if (dp_pages_clean(proc, &c->patched[i]))
			dp_remote_call(proc, SYS_madvise, c->patched[i].start,
				       c->patched[i].size, MADV_DONTNEED);
}

static int foreign_bytes(const struct dp_process *proc, int err, u64 bad,
			 struct dp_diag *diag)
{
	/* The process has ended, and its code with it. */
	if (dp_process_ended(proc))
		return -ESRCH;
	return dp_diag_set(
		diag, err == -EBUSY ? -EIO : err,
		"the code at 0x%llx of process %d was changed by someone else while it was probed; it is left as it is, and the agent stays, inert",
		(unsigned long long)bad, proc->pid);
}

/* At the end of an intercept, which the tool can complete? */
static bool lingers(const struct dp_view *view, u64 pc)
{
	return pc == view->arena->control.base + dp_agent_intercept_linger;
}

static bool in_agent(const void *arg, u64 pc)
{
	const struct dp_view *view = arg;

	return dp_view_owns(view, pc) && !lingers(view, pc) &&
	       !dp_filter_install_waits(view->arena->control.base, pc);
}

static void end_intercept(const struct dp_process *proc, struct dp_thread *t)
{
	u64 frame[8], above[3];

	if (dp_process_read(proc, dp_uregs_sp(&t->regs), frame,
			    sizeof(frame)) ||
	    dp_process_read(proc, dp_uregs_above_intercept(&t->regs), above,
			    sizeof(above)))
		return;
	dp_uregs_end_intercept(&t->regs, frame, above);
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
}

/* Let threads run out of the agent, from the @from-th on. */
static void run_out(struct dp_process *proc, const struct dp_view *view,
		    size_t from)
{
	size_t i;

	dp_stop_run_out(proc, from, in_agent, view);
	for (i = from; !proc->held && i < proc->nr_threads; i++)
		if (lingers(view, dp_uregs_pc(&proc->threads[i].regs)))
			end_intercept(proc, &proc->threads[i]);
}

/*
 * Threads that were left asleep wake up, and pass through what of the agent is still in
 * their way. Return: 0; a negative errno: no thread is stopped any more.
 */
static int stop_woken(struct dp_process *proc, const struct dp_view *view,
		      struct dp_diag *diag)
{
	size_t had = proc->nr_threads;
	int err;

	if (proc->held)
		return 0;
	err = dp_stop_again(proc, diag);
	if (!err && (dp_asleep_inside(proc, view) ||
		     dp_masks_absent(proc, view->arena->control.base)))
		err = dp_stop_more(proc, diag);
	if (!err && proc->nr_threads > had)
		run_out(proc, view, had);
	return err;
}

static int give_back(struct dp_process *proc, struct dp_view *view,
		     struct dp_diag *diag)
{
	u64 bad = 0;
	int err = dp_remote_begin(proc, diag);

	if (err)
		return err;
	err = dp_masks_return_actions(proc, &view->arena->control);
	if (!err)
		err = return_actions(proc, view);
	dp_kill_point("leave: action");
	if (!err && dp_view_disarm(view, &proc->target, true, &bad))
		err = foreign_bytes(proc, -EBUSY, bad, diag);
	dp_kill_point("leave: intercepts");
	dp_remote_end(proc);
	return err;
}

static int unmap(struct dp_process *proc, const struct dp_view *view,
		 struct dp_diag *diag)
{
	int err = dp_remote_begin(proc, diag);

	if (err)
		return err;
	drop_copies(proc, &view->arena->control);
	err = dp_unmap(proc);
	dp_remote_end(proc);
	return err;
}

/* Stop threads that have come to the agent since the last look, and return all masks. */
static int return_masks(struct dp_process *proc, const struct dp_view *view,
			bool late, struct dp_diag *diag)
{
	int err = stop_woken(proc, view, diag);

	if (err)
		return err;
	err = dp_masks_return(proc, view, late);
	dp_kill_point("leave: masks");
	if (err == -ENOMEM)
		dp_diag_set(
			diag, err,
			"there is no memory to give process %d its signal masks back; the agent stays there, inert; the next dprobes on it tries again",
			proc->pid);
	if (err)
		return err;
	return dp_drain(proc, view) ? 0 : -EAGAIN;
}

/* In the reverse order of live.c, for the same reasons. */
static int switch_back(struct dp_process *proc, struct dp_view *view,
		       struct dp_diag *diag)
{
	int err;

	dp_masks_forget_noted(proc, view->arena->control.base);
	err = dp_masks_in_force(proc, view->arena->control.base, false);

	dp_kill_point("leave: in force no more");
	if (!err)
		err = return_masks(proc, view, false, diag);
	dp_kill_point("leave: drained");
	if (!err)
		err = give_back(proc, view, diag);
	proc->intercepts_out = !err;
	return err;
}

/* Once the intercepts are out no thread enters the agent any more. Threads that woke up
 * before that are let out of it. */
static int take_out(struct dp_process *proc, struct dp_view *view,
		    struct dp_diag *diag)
{
	int err = proc->intercepts_out ? 0 : switch_back(proc, view, diag);

	if (!err && !proc->held)
		err = return_masks(proc, view, true, diag);
	dp_kill_point("leave: out");
	if (!err)
		err = unmap(proc, view, diag);
	if (!err)
		proc->intercepts_out = false;
	return err;
}

/* One look at all threads. Return: 0 out, -EAGAIN not yet. */
static int try_leave(struct dp_process *proc, struct dp_view *view, bool again,
		     struct dp_diag *diag)
{
	u64 bad = 0;
	int err;

	/* Its threads may have ended, and wait for their tracer to take notice. */
	if (proc->tree)
		dp_tree_pass(proc->tree);
	if (proc->exited || proc->execed[0])
		return -ESRCH;
	err = dp_stop_alone(proc, diag);
	if (err)
		return err;
	/* Then the stopped threads run another program. */
	if (dp_memory_gone(proc)) {
		dp_stop_release(proc);
		return -ESRCH;
	}
	dp_kill_point("leave: stopped");
	dp_patched_gone(proc, view);
	if (again && dp_view_presume(view))
		err = dp_view_disarm(view, &proc->target, false, &bad);
	if (!err && dp_asleep_inside(proc, view) && dp_stop_more(proc, diag))
		return -EAGAIN;
	if (!err)
		run_out(proc, view, 0);
	if (!err)
		err = dp_filter_install_home(proc, view->arena->control.base);
	/* The intercepts stay until no thread is inside, so that the virtual masks and
	 * the kernel's become the same in one moment. */
	if (err && err != -ESRCH)
		err = foreign_bytes(proc, err, bad, diag);
	else if (!err && !dp_drained(proc, view))
		err = -EAGAIN;
	if (!err && dp_masks_absent(proc, view->arena->control.base)) {
		if (dp_stop_more(proc, diag))
			return -EAGAIN;
		err = dp_drained(proc, view) ? 0 : -EAGAIN;
	}
	/* A signal deferred for a thread must not come behind the one that ends its
	 * masked wait. */
	if (!err && dp_masks_waking(proc, view->arena->control.base))
		err = -EAGAIN;
	if (!err)
		err = take_out(proc, view, diag);
	dp_masks_settle(proc);
	dp_stop_release(proc);
	return err;
}

/* Without loader events a library may go at any moment; its sites then need nothing. */
static int disarm(struct dp_process *proc, struct dp_view *view, u64 *bad)
{
	int err, tries = 0;

	dp_linker_hold(proc);
	dp_patched_gone(proc, view);
	do
		err = dp_view_disarm(view, &proc->target, false, bad);
	while (err && ++tries < DISARM_TRIES && !dp_process_ended(proc) &&
	       (dp_patched_gone(proc, view) || err == -EFAULT));
	dp_linker_release(proc);
	return err;
}

static void linger(const struct dp_process *proc, const struct dp_view *view,
		   u64 leaving)
{
	dp_process_write(proc,
			 view->arena->control.base + DP_PRIVATE_AT(leaving),
			 &leaving, sizeof(leaving));
}

static int leave(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct dp_view *view = arg;
	int err, tries;
	/* Its fork children can say so, too, so the text is compared. */
	bool left = view->arena->hit.text_left &&
		    dp_view_is_reverted(view, &proc->target);
	bool again = !left && dp_view_presume(view);
	u64 bad = 0;

	dp_semaphores_lower(proc, view->arena->control.base);
	err = dp_registers_return(proc, &view->arena->control, diag);
	if (err)
		return err;
	/* A filter that allows no breakpoints on the way: write while no thread runs. */
	if (view->arena->control.signal_free)
		err = dp_stop_alone(proc, diag);
	else
		err = dp_sync_begin(proc, diag);
	if (err)
		return err;
	/* The process has disarmed by itself, and breakpoints on the way may kill it by
	 * now. */
	if (left)
		dp_view_disown(view);
	else
		err = disarm(proc, view, &bad);
	dp_sync_end(proc);
	dp_stop_release(proc);
	dp_kill_point("leave: disarmed");
	if (err)
		return foreign_bytes(proc, err, bad, diag);
	linger(proc, view, true);
	for (tries = 0; tries < DRAIN_TRIES; tries++) {
		/* A thread may have come to the linker's probe just before it went. */
		dp_process_answer(proc);
		/* A dispatched call did nothing; at another stop the selector may permit it. */
		proc->refuses = false;
		err = try_leave(proc, view, again, diag);
		if (err == -EPERM && proc->refuses)
			err = -EAGAIN;
		if (err != -EAGAIN)
			break;
		if (tries > EASY_TRIES && proc->patience < MOST_PATIENCE_NS)
			proc->patience = 2 * proc->patience + MORE_PATIENCE_NS;
		dp_nap(DRAIN_NAP_NS);
	}
	proc->patience = 0;
	if (err)
		linger(proc, view, false);
	if (err != -EAGAIN)
		return err;
	return dp_diag_set(
		diag, err,
		"a thread of process %d is still inside the agent, which stays there, inert; the next dprobes on it tries again",
		proc->pid);
}

int dp_leave(struct dp_process *proc, struct dp_view *view,
	     struct dp_diag *diag)
{
	return dp_tracer_child(proc, leave, view, diag);
}
