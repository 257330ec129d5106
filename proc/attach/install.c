// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * install: map the agent into a process and arm the sites.
 *
 *   stop ─ memfd, region, pools ─ go on        nothing refers to them
 *   copies and tables, through our own mapping
 *   stop ─ hooks, actions, masks ─ go on        the handler knows every site
 *   breakpoints, one byte each                  nobody has to stop
 *
 * At every moment between two steps the target would run on correctly if we
 * were gone, and the next tool can clean up (recover.c).
 */
#include "agent/image.h"
#include "arch/calls.h"
#include "arch/uregs.h"
#include "arch/arch.h"
#include "port.h"
#include "port_calls.h"
#include "proc/attach/attach.h"
#include "proc/attach/drain.h"
#include "proc/attach/region.h"
#include "proc/code/hooks.h"
#include "proc/family.h"
#include "proc/facts.h"
#include "engine/site/visits.h"
#include "engine/layout/base.h"
#include "engine/layout/arena.h"
#include "engine/layout/private.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/text/arm.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/signals/masks.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <unistd.h>
#include "engine/site/internal.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#define FOR_CHILDREN                                                  \
	(dp_own_bit(SYS_madvise) | dp_own_bit(SYS_process_vm_readv) | \
	 dp_own_bit(SYS_rt_sigaction))
#define REWIND_TRIES 100
#define QUIET_TRIES 200
static u32 counter_shards(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	u32 shards = 1;

	while (shards < DP_MAX_SHARDS && (long)shards < cpus)
		shards *= 2;
	return shards;
}

static bool failed(long ret)
{
	return ret < 0 && ret > -4096;
}

static int map_remotely(struct dp_process *proc,
			const struct dp_layout_need *need, struct dp_diag *diag)
{
	char why[DP_LIMITS_TEXT];
	struct dp_remote *rem;
	s32 there[2];
	long ret;
	int err = dp_remote_begin(proc, &rem, diag);

	if (err)
		return err;
	ret = dp_region_open(proc, rem, need, there);
	if (!ret) {
		ret = dp_region_map(proc, rem, need, there);
		dp_region_close(proc, rem, there);
		if (ret && ret != -ESRCH)
			dp_unmap(proc, rem);
	}
	dp_remote_end(rem);
	dp_step("install: mapped");
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

/** struct mapping_work - arguments of map_stopped() */
struct mapping_work {
	struct dp_process *proc;
	struct dp_layout_need *need;
	struct dp_diag *diag;
};

static int map_stopped(void *arg)
{
	const struct mapping_work *work = arg;
	struct dp_process *proc = work->proc;
	struct dp_diag *diag = work->diag;
	const struct dp_maps *maps;
	struct dp_hole *holes = NULL;
	u32 signature;
	s32 offset;
	size_t n;
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	dp_step("install: stopped");
	if (dp_rseq_common(proc, &offset, &signature))
		dp_engine_set_rseq(proc->engine, offset, signature);
	maps = dp_stop_maps(proc);
	err = maps ? dp_holes_among(maps, 0, &holes, &n) : -ESRCH;
	if (!err)
		err = dp_engine_place(proc->engine, holes, n);
	dp_port_free(holes);
	if (err)
		dp_diag_set(
			diag, err,
			"process %d has no room within 2 GB of the probed code",
			proc->pid);
	else
		err = map_remotely(proc, work->need, diag);
	dp_stop_release(proc);
	return err;
}

static int map_all(struct dp_process *proc, struct dp_layout_need *need,
		   struct dp_diag *diag)
{
	struct mapping_work work = { proc, need, diag };
	int err = dp_errand(proc, map_stopped, &work);

	if (err && diag && !diag->text[0])
		dp_diag_set(diag, err,
			    "cannot map the agent into process %d: %s",
			    proc->pid, strerror(-err));
	return err;
}

/* From here on detours can count by themselves. */
static int fill_table(struct dp_process *proc)
{
	u64 words[DP_MAX_SHARDS];
	u32 n;

	if (!dp_engine_table(proc->engine, words, &n))
		return 0;
	return dp_process_write(proc, proc->base + DP_TABLE_OFFSET, words,
				n * sizeof(*words));
}

/* Tables of the engine whose place this one takes. */
static int grow_alike(struct dp_process *proc, struct dp_remote *rem)
{
	void *ours;
	long at;
	u64 size;

	while ((size = dp_engine_visits_owed(proc->engine, proc->heir_of))) {
		at = dp_share_map(proc, rem, 0, size, &ours);
		if (failed(at))
			return (int)at;
		dp_engine_visits_grow(proc->engine, (u64)at, ours);
	}
	return 0;
}

static int inherit(struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_remote *rem;
	int err = 0;

	if (dp_engine_visits_owed(proc->engine, proc->heir_of)) {
		err = dp_stop_alone(proc, diag);
		if (err)
			return err;
		err = dp_remote_begin(proc, &rem, diag);
		if (!err) {
			err = grow_alike(proc, rem);
			dp_remote_end(rem);
		}
		dp_stop_release(proc);
	}
	if (err)
		return dp_diag_set(diag, err,
				   "cannot map the agent into process %d: %s",
				   proc->pid, strerror(-err));
	dp_engine_inherit(proc->engine, proc->heir_of);
	return 0;
}

struct dp_mapping dp_mapping_of(const struct dp_process *proc)
{
	pid_t tool = proc->resident ? proc->pid : dp_tool_of(proc);

	return (struct dp_mapping){
		.file = proc->file,
		.base = proc->base,
		.hook_entry = proc->base + dp_agent_hook_entry,
		.detour_entry = proc->base + dp_agent_detour_entry,
		.owner = proc->ns_pid,
		.tool = (u32)tool,
		.tool_start = dp_tool_start(tool),
		.small_stacks = proc->go,
		.fsgsbase = dp_has_fsgsbase(),
		.forbidden = proc->forbidden,
	};
}

static int build(struct dp_process *proc, struct dp_diag *diag)
{
	const struct dp_mapping map = dp_mapping_of(proc);
	int err;

	err = dp_engine_build(proc->engine, &map);
	if (err)
		return dp_diag_set(
			diag, err,
			"the copies of the probed instructions cannot be placed within their reach");
	if (proc->heir_of)
		err = inherit(proc, diag);
	/* Nothing leads there yet, and nobody is held for it. */
	if (!err)
		err = dp_region_write(proc, dp_engine_need(proc->engine));
	if (err)
		return err;
	/* A lodger has a keeper of its own: see engine/hit/ask.c. */
	if (!proc->resident && !proc->lodged)
		dp_alive_enter(&dp_engine_arena(proc->engine)->control);
	dp_texts_note(proc);
	/* A child that may not make them cannot give its text back either. */
	if (proc->forbidden & FOR_CHILDREN)
		dp_engine_arena(proc->engine)->control.revertible = 0;
	err = dp_process_write(proc, proc->base + DP_WIPE_OFFSET, &proc->ns_pid,
			       sizeof(proc->ns_pid));
	if (!err)
		err = fill_table(proc);
	dp_step("install: built");
	return err;
}

/* Where the hit half finds what the program's action is. */
static u64 place_of_action(const struct dp_process *proc, u32 k)
{
	return proc->base + DP_PRIVATE_OFFSET +
	       offsetof(struct dp_private, actions[0].ring[0].action) +
	       k * sizeof(struct dp_actions);
}

static int note_actions(struct dp_process *proc, struct dp_remote *rem)
{
	int err = 0;
	u32 k;

	for (k = 0; !err && k < dp_engine_caught(proc->engine); k++)
		err = (int)dp_remote_call(rem, SYS_rt_sigaction, dp_caught(k),
					  0, place_of_action(proc, k), 8, 0, 0);
	return err;
}

/* And noted again in the same step: one that was asleep may have set another. */
static int take_actions(struct dp_process *proc, struct dp_remote *rem)
{
	struct dp_kernel_sigaction ours = {
		.handler = proc->base + dp_agent_trap_entry,
		.flags = DP_TRAP_FLAGS,
		.restorer = proc->base + dp_agent_trap_restorer,
		.mask = DP_TRAP_MASK(dp_engine_caught(proc->engine)),
	};
	u64 at = proc->base + DP_PRIVATE_OFFSET + sizeof(struct dp_private);
	int err = dp_process_write(proc, at, &ours, sizeof(ours));
	u32 k;

	for (k = 0; !err && k < dp_engine_caught(proc->engine); k++)
		err = (int)dp_remote_call(rem, SYS_rt_sigaction, dp_caught(k),
					  at, place_of_action(proc, k), 8, 0,
					  0);
	return err;
}

/* At the call itself, with a number that is of no interest, or that sleeps.c looks
 * at? */
static bool is_dull_call(const struct dp_hooked *h,
			 const struct user_regs_struct *r)
{
	return h->nr == DP_PLAIN_CALL &&
	       dp_uregs_pc(r) == h->addr + h->len - DP_SYSCALL_SIZE &&
	       (!dp_hooks_wanted((u32)dp_uregs_number(r)) ||
		dp_hooks_sleeps((u32)dp_uregs_number(r)));
}

/* Threads between the beginning of a call that will be hooked and the call itself
 * go back to the beginning; but see masks.c. Return: 0; -EAGAIN one cannot. */
static int rewind_calls(struct dp_process *proc)
{
	size_t i, k;

	for (i = 0; i < proc->nr_threads; i++)
		for (k = 0; k < proc->nr_hooks; k++) {
			struct user_regs_struct *r = &proc->threads[i].regs;
			const struct dp_hooked *h = &proc->hooks[k];

			if (dp_points_between(proc, dp_uregs_pc(r),
					      dp_uregs_sp(r)))
				return -EAGAIN;
			if (dp_uregs_pc(r) <= h->addr ||
			    dp_uregs_pc(r) >= h->addr + h->len ||
			    h->nr == DP_ANY_CALL || dp_call_sleeps(h->nr) ||
			    is_dull_call(h, r))
				continue;
			if (!h->again)
				return -EAGAIN;
			dp_uregs_set_pc(r, h->addr);
			ptrace(PTRACE_SETREGS, proc->threads[i].tid, 0, r);
		}
	return 0;
}

/* Everybody, at a moment when nobody is in the middle of what will change. Those
 * last who have to be woken: let go again, one with a mask of his own gets signals
 * that it blocks. */
static int stop_outside(struct dp_process *proc, struct dp_diag *diag)
{
	int err, tries = 0;

	do {
		err = dp_stop_alone(proc, diag);
		if (err)
			return err;
		err = rewind_calls(proc);
		if (!err && dp_stop_more(proc, true, diag))
			return -EAGAIN;
		if (!err)
			err = rewind_calls(proc);
		if (err)
			dp_stop_release(proc);
	} while (err && ++tries < REWIND_TRIES);
	return err ? dp_diag_set(
			     diag, err,
			     "process %d is always in a system call; try again",
			     proc->pid) :
		     0;
}

/*
 * The hooks go first. They pass everything on for each signal of which the action is not
 * ours yet; from then on what the kernel has and what the tables say add up, so that it
 * does not matter where in between a tool ends.
 */
static int switch_over(struct dp_process *proc, struct dp_remote *rem)
{
	int err = note_actions(proc, rem);

	if (!err)
		err = dp_masks_note(proc);
	if (!err)
		err = dp_engine_arm_hooks(proc->engine, &proc->target);
	dp_step("install: hooks");
	if (!err)
		err = take_actions(proc, rem);
	dp_step("install: action");
	if (!err)
		err = dp_masks_take_actions(proc, rem);
	return err ? err : (int)dp_region_settle(proc, rem);
}

/* In what leads to a call that is hooked now, or in the agent for it? */
static bool before_call(const void *arg, u64 pc)
{
	const struct dp_process *proc = arg;
	const struct dp_points *p = &proc->points;
	size_t i;

	for (i = 0; i < proc->nr_hooks; i++)
		if (pc > proc->hooks[i].addr &&
		    pc < proc->hooks[i].addr + proc->hooks[i].len)
			return true;
	return pc - proc->base < DP_AGENT_TEXT ||
	       (p->enter && pc - p->maker < p->maker_len);
}

/*
 * One that was left asleep may have woken up since, and blocked a signal before it became
 * ours. From here on nobody does.
 */
static int take_late(struct dp_process *proc, struct dp_diag *diag)
{
	size_t had = proc->nr_threads;
	int err = dp_stop_again(proc, diag);

	if (!err)
		err = dp_stop_more(proc, true, diag);
	if (err || proc->nr_threads == had)
		return err;
	dp_stop_run_out(proc, had, before_call, proc);
	return dp_masks_take(proc, had);
}

/* All threads' masks, and the word that says so. */
static int take_masks(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_masks_take(proc, 0);

	dp_step("install: masks");
	if (!err)
		err = dp_masks_in_force(proc, proc->base, true);
	dp_step("install: in force");
	return err ? err : take_late(proc, diag);
}

/** struct work - arguments of go_live_stopped() */
struct work {
	struct dp_process *proc;
	struct dp_diag *diag;
};

static int go_live_stopped(void *arg)
{
	const struct work *work = arg;
	struct dp_process *proc = work->proc;
	struct dp_diag *diag = work->diag;
	struct dp_remote *rem;
	int err = stop_outside(proc, diag);

	if (err)
		return err;
	/* From here on it is seen by its hooks. */
	if (dp_process_filters_came(proc, 0)) {
		dp_stop_release(proc);
		return dp_diag_set(
			diag, -EAGAIN,
			"process %d has just installed a seccomp filter; try again",
			proc->pid);
	}
	if (dp_dispatch_any(proc)) {
		dp_stop_release(proc);
		return dp_diag_set(
			diag, -EAGAIN,
			"process %d has just begun to dispatch its system calls (prctl PR_SET_SYSCALL_USER_DISPATCH); try again",
			proc->pid);
	}
	proc->vetted = true;
	err = dp_remote_begin(proc, &rem, diag);
	proc->vetted = false;
	if (!err) {
		err = switch_over(proc, rem);
		dp_remote_end(rem);
		if (!err)
			err = take_masks(proc, diag);
		if (err && diag && !diag->text[0])
			dp_diag_set(diag, err, "cannot prepare process %d: %s",
				    proc->pid, strerror(-err));
	}
	dp_stop_release(proc);
	proc->passed = !err;
	return err;
}

/* Without hooks. */
static int settle_stopped(void *arg)
{
	const struct work *work = arg;
	struct dp_process *proc = work->proc;
	struct dp_remote *rem;
	int err = dp_stop_alone(proc, work->diag);

	if (err)
		return err;
	err = dp_remote_begin(proc, &rem, work->diag);
	if (!err) {
		err = (int)dp_region_settle(proc, rem);
		dp_remote_end(rem);
	}
	dp_stop_release(proc);
	return err;
}

static int go_live(struct dp_process *proc, struct dp_diag *diag)
{
	struct work work = { proc, diag };

	if (!proc->silent)
		return dp_errand(proc, go_live_stopped, &work);
	return proc->resident ? dp_errand(proc, settle_stopped, &work) : 0;
}

/* dp_engine_arm() or dp_engine_apply() */
typedef int write_fn(struct dp_engine *engine, struct dp_target *target,
		     u64 *bad);

static bool is_inside(const void *engine, u64 pc)
{
	u64 to;

	return dp_engine_inside(engine, pc, &to);
}

static bool to_copy(const void *engine, u64 pc, u64 *to)
{
	return dp_engine_inside(engine, pc, to);
}

/** struct arming - arguments of the two ways */
struct arming {
	struct dp_process *proc;
	write_fn *write;
	u64 *bad;
	struct dp_diag *diag;
};

/* Nobody runs, and nobody is inside what a jump replaces. */
static int write_stopped(void *arg)
{
	const struct arming *a = arg;

	dp_texts_compare(a->proc);
	return a->write(a->proc->engine, &a->proc->target, a->bad);
}

static int arm_stopped(void *arg)
{
	const struct arming *a = arg;
	struct dp_process *proc = a->proc;
	const struct dp_moves moves = { .arg = proc->engine,
					.from = is_inside,
					.to = to_copy };
	int err = 1, tries;

	/* One that was just being made, or woke up, is asleep or stopped the
	 * next time. */
	for (tries = 0; err > 0 && tries < QUIET_TRIES; tries++)
		err = dp_threads_clear(proc, &moves, write_stopped, arg,
				       a->diag);
	if (err <= 0)
		return err;
	return dp_diag_set(
		a->diag, -EAGAIN,
		"a thread of process %d is where a jump has to be written and cannot be moved; try again, or without DPROBES_ARM=quiesce",
		proc->pid);
}

static int arm_quiet(struct dp_process *proc, write_fn *write, u64 *bad,
		     struct dp_diag *diag)
{
	struct arming a = { proc, write, bad, diag };

	return dp_errand(proc, arm_stopped, &a);
}

/* What is mapped now stays until we have done. */
static int write_held(const struct arming *a)
{
	struct dp_process *proc = a->proc;
	int err;

	dp_linker_hold(proc);
	dp_texts_compare(proc);
	err = a->write(proc->engine, &proc->target, a->bad);
	dp_linker_release(proc);
	return err;
}

static int arm_synced(void *arg)
{
	const struct arming *a = arg;
	struct dp_process *proc = a->proc;
	int err = dp_sync_begin(proc, a->diag);

	if (err)
		return err;
	if (a->write == dp_engine_arm)
		err = dp_engine_arm_linker(proc->engine, &proc->target, a->bad);
	if (!err)
		err = write_held(a);
	dp_sync_end(proc);
	return err;
}

static int arm_running(struct dp_process *proc, write_fn *write, u64 *bad,
		       struct dp_diag *diag)
{
	struct arming a = { proc, write, bad, diag };

	return dp_errand(proc, arm_synced, &a);
}

static int write_text(struct dp_process *proc, write_fn *write,
		      struct dp_diag *diag)
{
	u64 bad = 0;
	int err = dp_engine_is_quiesced(proc->engine) ?
			  arm_quiet(proc, write, &bad, diag) :
			  arm_running(proc, write, &bad, diag);

	if (!err || !bad)
		return err;
	if (err == -EOPNOTSUPP)
		return dp_diag_set(
			diag, err,
			"the probe at 0x%llx of process %d would have to be a breakpoint, because of another one, and its seccomp filter allows none; leave one of them out",
			(unsigned long long)bad, proc->pid);
	return dp_diag_set(
		diag, err,
		err == -EBUSY ?
			"the code at 0x%llx of process %d has been changed by someone else" :
			"cannot write to the code at 0x%llx of process %d",
		(unsigned long long)bad, proc->pid);
}

int dp_process_apply(struct dp_process *proc, struct dp_diag *diag)
{
	return write_text(proc, dp_engine_apply, diag);
}

/** struct yielding - arguments of yield() */
struct yielding {
	struct dp_process *proc;
	void (*tell)(void *arg, u64 addr, bool away);
	void *arg;
};

static int yield(void *arg)
{
	const struct yielding *y = arg;
	int err = dp_sync_begin(y->proc, NULL);

	if (err)
		return err;
	dp_linker_hold(y->proc);
	dp_process_note_gone(y->proc);
	err = dp_engine_yield(y->proc->engine, &y->proc->target, y->tell,
			      y->arg);
	dp_linker_release(y->proc);
	dp_sync_end(y->proc);
	return err;
}

int dp_process_yield(struct dp_process *proc,
		     void (*tell)(void *arg, u64 addr, bool away), void *arg)
{
	struct yielding y = { proc, tell, arg };

	/* There may be no breakpoint on the way. */
	if (proc->silent || !dp_engine_disturbed(proc->engine, &proc->target))
		return 0;
	dp_process_note_gone(proc);
	if (!dp_engine_disturbed(proc->engine, &proc->target))
		return 0;
	return dp_errand(proc, yield, &y);
}

/* Made where they stand: they return twice, or sleep. */
static bool is_watched(u32 nr)
{
	return nr == SYS_fork || nr == SYS_vfork || nr == SYS_clone ||
	       nr == SYS_clone3 || dp_call_is_any(nr) || dp_call_sleeps(nr);
}

static int add_hook(struct dp_process *proc, const struct dp_hooked *h)
{
	u32 nr = h->nr;

	if (dp_call_goes_through(nr) && nr & DP_CALL_ENTERS &&
	    dp_points_touched(proc, h))
		nr |= DP_CALL_TOUCHED;
	return dp_engine_add_hook(proc->engine, h->addr, h->code, nr,
				  is_watched(nr));
}

static int prepare(struct dp_process *proc, struct dp_layout_need **need,
		   struct dp_diag *diag)
{
	int err = 0;
	size_t i;

	for (i = 0; i < proc->nr_hooks && !proc->unhooked && !err; i++)
		err = add_hook(proc, &proc->hooks[i]);
	if (proc->heir_of)
		dp_engine_visits_like(proc->engine, proc->heir_of);
	*need = err ? NULL : dp_engine_layout(proc->engine, counter_shards());
	if (*need)
		return 0;
	return dp_diag_set(
		diag, -ENOMEM,
		"there are too many probes, or they lie too far apart");
}

/* Why nothing could be read, or written, or stopped any more. */
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

/* Children that were made meanwhile are known as such when nobody is in the middle of
 * making one. */
static void finish(struct dp_process *proc, bool installed)
{
	bool stopped = proc->family && !dp_stop_all(proc, NULL);

	if (proc->family)
		dp_family_pass(proc->family);
	proc->installed = installed;
	proc->changing = proc->passed = false;
	if (stopped)
		dp_stop_release(proc);
}

void dp_process_found_in(struct dp_process *proc, struct dp_modules *mods)
{
	proc->found = mods;
}

/* From the first probe on there are hits. One that has ended, or executed another program, since then has
 * been probed until then. */
static int arm(struct dp_process *proc, struct dp_diag *diag)
{
	int err = write_text(proc, dp_engine_arm, diag);

	if (!err || proc->launched || proc->family || !dp_process_ended(proc))
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
	dp_errands_begin(proc);
	err = prepare(proc, &need, diag);
	if (!err)
		err = map_all(proc, need, diag);
	if (!err)
		err = build(proc, diag);
	if (!err)
		err = go_live(proc, diag);
	if (!err)
		err = arm(proc, diag);
	dp_step("install: armed");
	finish(proc, !err);
	if (err && proc->base && !proc->exited)
		dp_process_detach(proc, NULL);
	proc->found = NULL;
	dp_process_let_go(proc);
	dp_errands_end(proc);
	return err ? has_failed(proc, err, diag) : 0;
}
