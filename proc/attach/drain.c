// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * drain: find out whether any thread is in the agent, or will come back to it.
 *
 * The text is the program's own again, so no thread enters any more. A thread can still be
 * inside: its pc is there, or a breakpoint's signal is on its way. Or a signal handler of
 * the program interrupted it there, and the frame leads back. A pc, live or in a frame,
 * that stands for an instruction of the program is moved to it. Any other has to run on.
 *
 * dp_threads_move() moves threads as struct dp_moves says. Here that is home to the
 * program; in arm.c, out of the bytes of a jump into its copies; in quiesce.c, out of the
 * copy of one instruction into the detour.
 *
 * In the middle of an operation a pc stands for no instruction of the program. Then the
 * thread runs on by itself (stop.c), as does a handler that has interrupted the agent. A
 * thread that waits for the tool in a signal handler returns from it (linker.c,
 * filter_install.c).
 */
#include "arch/arch.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/site/exchange.h"
#include "engine/site/view.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "proc/attach/drain.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/remote.h"
#include "proc/ptrace/process.h"
#include "sym/list.h"
#include "sym/sym.h"
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>

/* how many stacks of a thread are scanned */
#define STACKS 8

/* Is there a signal frame at @frame? @sp: of the thread that might return through it */
static bool read_frame(const struct dp_process *proc, u64 frame, u64 sp,
		       struct dp_sigframe *f)
{
	u8 code[DP_RESTORER_MAX];

	return dp_frame_read(proc, frame, sp, f) &&
	       !dp_process_read(proc, f->restorer, code, sizeof(code)) &&
	       dp_restorer_length(code, sizeof(code));
}

static bool is_agents(const struct dp_moves *moves, u64 addr)
{
	return moves->trapped && addr - moves->agent < DP_AGENT_TEXT;
}

static bool may_stay(const struct dp_moves *moves, u64 pc)
{
	return moves->late && moves->late(moves->arg, pc);
}

/* Of another thread, whose stack lies behind this one: its handler, one of the agent's, has
 * ended. While the handler does so its thread is in the agent, which counts as well. */
static bool has_ended(const struct dp_moves *moves, const struct dp_sigframe *f)
{
	return f->info.signo == DP_SIGINFO_ENDED &&
	       moves->from(moves->arg, f->restorer);
}

/* Move the frame that has @pc at @at. @live: the thread's own pc */
static bool frame_moved(const struct dp_process *proc,
			const struct dp_moves *moves, u64 sp, u64 at, u64 pc,
			u64 live)
{
	struct dp_sigframe f;
	u64 to;

	if (!read_frame(proc, at - DP_UFRAME_PC, sp, &f))
		return true;
	if (is_agents(moves, f.restorer) && is_agents(moves, live))
		return false;
	if (is_agents(moves, f.restorer) && moves->trapped(moves->arg, pc))
		return true;
	if (!moves->to || !moves->to(moves->arg, pc, &to))
		return has_ended(moves, &f);
	return may_stay(moves, pc) ||
	       !dp_process_write(proc, at, &to, sizeof(to));
}

/* If the frame at @at interrupted code on another stack, return the stack pointer
 * there; else 0. */
static u64 left_stack(const struct dp_process *proc,
		      const struct dp_stack_scan *stack, u64 at)
{
	struct dp_sigframe f;

	if (!read_frame(proc, at, stack->at, &f) ||
	    dp_mcontext_sp(&f.uc.mc) - stack->at <=
		    stack->n * sizeof(*stack->v))
		return 0;
	return dp_mcontext_sp(&f.uc.mc);
}

/* Handlers interrupt handlers; @depth limits how many other stacks are followed. */
static bool stack_moved(const struct dp_process *proc,
			const struct dp_moves *moves,
			const struct dp_maps *maps, u64 sp, u64 pc, int depth)
{
	struct dp_stack_scan stack;
	bool clean = true;
	u64 other;
	size_t i;
	int err = dp_stack_scan_read(proc, maps, sp, &stack);

	if (err)
		return err == -ENOENT;
	for (i = 0; clean && i < stack.n; i++) {
		u64 at = stack.at + i * 8;

		if (moves->from(moves->arg, stack.v[i]))
			clean = frame_moved(proc, moves, stack.at, at,
					    stack.v[i], pc);
		if (!dp_restorer_known(proc, stack.v[i]) || !depth)
			continue;
		other = left_stack(proc, &stack, at);
		if (clean && other)
			clean = stack_moved(proc, moves, maps, other, pc,
					    depth - 1);
	}
	free(stack.v);
	return clean;
}

bool dp_in_signal_handler(const struct dp_process *proc,
			  const struct dp_maps *maps, u64 sp)
{
	struct dp_stack_scan stack;
	struct dp_sigframe f;
	bool in = false;
	size_t i;

	if (dp_stack_scan_read(proc, maps, sp, &stack))
		return true;
	for (i = 0; !in && i < stack.n; i++)
		in = dp_restorer_known(proc, stack.v[i]) &&
		     read_frame(proc, stack.at + i * 8, stack.at, &f);
	free(stack.v);
	return in;
}

/* Is a signal of mask @caught pending, and not blocked? */
static bool is_coming(const struct dp_process *proc, pid_t tid, u64 caught)
{
	struct dp_status st;

	return !dp_status_read(proc->pid, tid, &st) &&
	       ((st.pending | st.shared_pending) & ~st.blocked & caught);
}

/* The thread is about to get a frame, which says where the breakpoint was. */
static bool has_trapped(const struct dp_process *proc,
			const struct dp_moves *moves, const struct dp_thread *t)
{
	struct dp_status st;

	return moves->trapped &&
	       moves->trapped(moves->arg, dp_uregs_pc(&t->regs)) &&
	       !dp_status_read(proc->pid, t->tid, &st) &&
	       st.pending >> (SIGTRAP - 1) & 1;
}

static bool pc_moved(const struct dp_process *proc,
		     const struct dp_moves *moves, struct dp_thread *t)
{
	u64 to;

	if (!moves->from(moves->arg, dp_uregs_pc(&t->regs)) ||
	    has_trapped(proc, moves, t))
		return true;
	if (!moves->to || !moves->to(moves->arg, dp_uregs_pc(&t->regs), &to))
		return false;
	if (may_stay(moves, dp_uregs_pc(&t->regs)))
		return true;
	dp_uregs_set_pc(&t->regs, to);
	/* At once: what the pc points to may be gone before the thread is released. */
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	return true;
}

/* Threads that were left asleep are not stopped: /proc shows where they sleep. If that cannot
 * be read, any of them may be inside. */
static bool asleep_moved(const struct dp_process *proc,
			 const struct dp_moves *moves,
			 const struct dp_maps *maps)
{
	bool clean = true;
	pid_t *tids;
	size_t n, i;
	u64 sp, pc;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return dp_memory_gone(proc);
	for (i = 0; i < n && clean; i++) {
		if (dp_stop_held(proc, tids[i]))
			continue;
		if (dp_thread_state_asleep(proc->pid, tids[i], &sp, &pc))
			clean = !moves->from(moves->arg, pc) &&
				stack_moved(proc, moves, maps, sp, pc, STACKS);
		else
			clean = false;
	}
	free(tids);
	return clean;
}

bool dp_threads_move(struct dp_process *proc, const struct dp_moves *moves)
{
	struct dp_maps maps;
	bool clean = true;
	size_t i;

	if ((moves->ready && !moves->ready(proc, moves->arg)) ||
	    dp_maps_read(proc->pid, &maps))
		return false;
	for (i = 0; i < proc->nr_threads; i++) {
		struct dp_thread *t = &proc->threads[i];

		if (!pc_moved(proc, moves, t) ||
		    !stack_moved(proc, moves, &maps, dp_uregs_sp(&t->regs),
				 dp_uregs_pc(&t->regs), STACKS))
			clean = false;
	}
	clean = clean && (proc->held || asleep_moved(proc, moves, &maps));
	dp_maps_free(&maps);
	return clean;
}

int dp_threads_clear(struct dp_process *proc, const struct dp_moves *moves,
		     dp_work_fn *then, void *arg, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = dp_threads_move(proc, moves) ? then(proc, arg, diag) : 1;
	dp_stop_release(proc);
	return err;
}

static bool in_agent(const void *view, u64 pc)
{
	return dp_view_owns(view, pc);
}

static bool to_original(const void *view, u64 pc, u64 *to)
{
	return !dp_view_original(view, pc, to);
}

bool dp_asleep_inside(const struct dp_process *proc, const struct dp_view *view)
{
	u64 sp, pc;
	pid_t tid;

	dp_each_task(tid, proc->pid)
		if (!dp_stop_held(proc, tid) &&
		    dp_thread_state_asleep(proc->pid, tid, &sp, &pc) &&
		    dp_view_owns(view, pc))
			return true;
	return false;
}

static bool in_intercept(const void *view, u64 pc)
{
	return dp_view_intercepts(view, pc);
}

static struct dp_moves home(const struct dp_view *view)
{
	return (struct dp_moves){ .arg = view,
				  .from = in_agent,
				  .to = to_original };
}

/* A trap of watched data for which a thread has the signal blocked, asleep perhaps: without the agent
 * it would kill the thread that lets it come. */
static bool waits_late(const struct dp_process *proc,
		       const struct dp_view *view)
{
	struct dp_status st;
	pid_t tid;

	if (!view->arena->control.watch_number &&
	    !view->arena->control.register_traps)
		return false;
	dp_each_task(tid, proc->pid)
		if (!dp_status_read(proc->pid, tid, &st) &&
		    st.pending >> (SIGTRAP - 1) & 1)
			return true;
	return false;
}

/* A system call that is to pass through the agent must not bypass it while the virtual
 * masks still count. */
bool dp_drained(struct dp_process *proc, const struct dp_view *view)
{
	u64 caught = dp_caught_mask(
		dp_few(&view->arena->control.nr_caught, DP_CAUGHT));
	struct dp_moves moves = home(view);
	bool clean = true;
	size_t i;

	moves.late = in_intercept;
	for (i = 0; i < proc->nr_threads; i++)
		clean = clean && !is_coming(proc, proc->threads[i].tid, caught);
	return dp_threads_move(proc, &moves) && clean &&
	       !waits_late(proc, view);
}

bool dp_drain(struct dp_process *proc, const struct dp_view *view)
{
	const struct dp_moves moves = home(view);

	return dp_threads_move(proc, &moves);
}

static bool in_text(const void *proc, u64 pc)
{
	return pc - ((const struct dp_process *)proc)->base < DP_AGENT_TEXT;
}

/** struct outside - arguments of find_outside(); @all: sleeping threads are to be stopped, too */
struct outside {
	bool all;
	void (*then)(void *arg);
	void *arg;
};

static int do_then(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	const struct outside *o = arg;
	int err = o->all ? dp_stop_rest(proc, diag) : 0;

	if (!err)
		o->then(o->arg);
	return err;
}

static int find_outside(struct dp_process *proc, void *arg,
			struct dp_diag *diag)
{
	const struct dp_moves moves = { .arg = proc, .from = in_text };
	int err = dp_threads_clear(proc, &moves, do_then, arg, diag);

	return err > 0 ? -EAGAIN : err;
}

int dp_process_outside(struct dp_process *proc, void (*then)(void *arg),
		       void *arg)
{
	struct outside o = { false, then, arg };

	return dp_tracer_child(proc, find_outside, &o, NULL);
}

static bool is_seen(const struct dp_seen *seen, pid_t tid)
{
	size_t i = 0;

	while (i < seen->n && seen->v[i] != tid)
		i++;
	return i < seen->n;
}

static int see(struct dp_seen *seen, pid_t tid)
{
	return is_seen(seen, tid) ? 0 :
				    dp_list_add(&seen->v, &seen->n, &seen->cap,
						&tid, sizeof(tid));
}

/* One that does not run now is not stopped by all tracers. */
static bool sleeps_outside(const struct dp_process *proc, pid_t tid)
{
	u64 sp, pc;

	return !dp_stop_held(proc, tid) &&
	       dp_thread_state_asleep(proc->pid, tid, &sp, &pc) &&
	       !in_text(proc, pc);
}

static int see_all(struct dp_process *proc, struct dp_seen *seen)
{
	int err = 0, inside = 0;
	size_t i;
	pid_t tid;

	for (i = 0; i < proc->nr_threads && !err; i++)
		if (!in_text(proc, dp_uregs_pc(&proc->threads[i].regs)))
			err = see(seen, proc->threads[i].tid);
	dp_each_task(tid, proc->pid)
		inside += !is_seen(seen, tid) && !sleeps_outside(proc, tid);
	return err ?: inside ? -EAGAIN : 0;
}

static int find_seen(struct dp_process *proc, void *seen, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = see_all(proc, seen);
	dp_stop_release(proc);
	return err;
}

int dp_process_left(struct dp_process *proc, struct dp_seen *seen)
{
	return dp_tracer_child(proc, find_seen, seen, NULL);
}

static bool in_exchange(const void *engine, u64 pc)
{
	return dp_exchange_inside(engine, pc);
}

/* No thread comes to these detours any more. */
static int find_exchange(struct dp_process *proc, void *arg,
			 struct dp_diag *diag)
{
	const struct dp_moves moves = { .arg = proc->engine,
					.from = in_exchange };
	int err = dp_threads_clear(proc, &moves, do_then, arg, diag);

	return err > 0 ? -EAGAIN : err;
}

int dp_process_exchange(struct dp_process *proc, bool all,
			void (*then)(void *arg), void *arg)
{
	struct outside o = { all, then, arg };

	return dp_tracer_child(proc, find_exchange, &o, NULL);
}
