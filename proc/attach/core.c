// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * core: what the threads of a process are doing, copied while they are held.
 *
 * A pc in a copy of the program's code is translated to that code, in registers and in whatever
 * is on the stacks. A thread in the middle of the agent runs on first, for as long as other threads may
 * be held. A thread that is left asleep is not stopped: /proc tells where it sleeps.
 */
#include "agent/image.h"
#include "arch/uregs.h"
#include "engine/layout/arena.h"
#include "engine/site/view.h"
#include "engine/text/strategy.h"
#include "proc/attach/core.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/stop.h"
#include "sym/list.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define RED_ZONE 128
/* So much of a stack is copied while threads are held; the rest is read later. */
#define STACK_MOST (1u << 20)
#define XSTATE_MOST 65536

/* Is a pc in the agent, and stands for no instruction of the program's? */
static bool in_agent(const void *arg, u64 pc)
{
	const struct dp_view *view = arg;
	u64 to;

	return dp_view_owns(view, pc) && dp_view_original(view, pc, &to) &&
	       pc != view->arena->control.base + dp_agent_intercept_linger;
}

static u64 own(const struct dp_view *view, u64 addr)
{
	u64 to;

	return dp_view_owns(view, addr) && !dp_view_original(view, addr, &to) ?
		       to :
		       addr;
}

/* At a breakpoint of ours whose signal is on its way */
static bool has_trapped(const struct dp_process *proc,
			const struct dp_view *view, const struct dp_thread *t)
{
	const struct dp_sites sites = dp_view_sites(view);
	struct dp_status st;

	return dp_sites_find(&sites, dp_uregs_pc(&t->regs) - 1) &&
	       !dp_status_read(proc->pid, t->tid, &st) &&
	       st.pending >> (SIGTRAP - 1) & 1;
}

static void end_call(const struct dp_process *proc,
		     struct user_regs_struct *regs)
{
	u64 frame[8], above[3];

	if (!dp_process_read(proc, dp_uregs_sp(regs), frame, sizeof(frame)) &&
	    !dp_process_read(proc, dp_uregs_above_intercept(regs), above,
			     sizeof(above)))
		dp_uregs_end_intercept(regs, frame, above);
}

static void take_pc(const struct dp_process *proc, const struct dp_view *view,
		    const struct dp_thread *t, struct dp_core_thread *c)
{
	u64 pc;

	if (dp_uregs_pc(&c->regs) ==
	    view->arena->control.base + dp_agent_intercept_linger)
		end_call(proc, &c->regs);
	pc = own(view, dp_uregs_pc(&c->regs));
	if (t && has_trapped(proc, view, t))
		pc--;
	dp_uregs_set_pc(&c->regs, pc);
	c->inside = dp_view_owns(view, pc);
}

static void take_vectors(struct dp_core_thread *c)
{
	struct iovec fp = { &c->fpregs, sizeof(c->fpregs) };
	struct iovec all = { malloc(XSTATE_MOST), XSTATE_MOST };

	c->xstate = all.iov_base;
	c->fp = !ptrace(PTRACE_GETREGSET, c->tid, NT_PRFPREG, &fp);
	if (all.iov_base && c->fp &&
	    !ptrace(PTRACE_GETREGSET, c->tid, NT_X86_XSTATE, &all))
		c->xstate_size = all.iov_len;
}

/* Words of our copy, among them returns and pcs of signal frames */
static void translate(const struct dp_view *view, struct dp_core_thread *c)
{
	u64 at = -c->stack_at & 7, word;

	for (; at + 8 <= c->stack_size; at += 8) {
		memcpy(&word, c->stack + at, sizeof(word));
		if (!dp_view_owns(view, word))
			continue;
		word = own(view, word);
		memcpy(c->stack + at, &word, sizeof(word));
	}
}

static void take_stack(const struct dp_process *proc,
		       const struct dp_maps *maps, const struct dp_view *view,
		       struct dp_core_thread *c)
{
	u64 sp = dp_uregs_sp(&c->regs), size;
	const struct dp_map *m = dp_maps_find(maps, sp);

	if (!m)
		return;
	c->stack_at = sp - m->start > RED_ZONE ? sp - RED_ZONE : m->start;
	size = m->end - c->stack_at;
	size = size < STACK_MOST ? size : STACK_MOST;
	c->stack = malloc(size);
	if (!c->stack || dp_process_read(proc, c->stack_at, c->stack, size))
		return;
	c->stack_size = size;
	translate(view, c);
}

static int add(struct dp_core *core, const struct dp_core_thread *c)
{
	core->result->asleep += c->asleep;
	core->result->inside += c->inside;
	core->result->threads++;
	return dp_list_push(&core->threads, c);
}

static bool waits_for(const struct dp_core *core)
{
	const struct dp_arena *a = dp_process_probed(core->proc);

	return a && core->want->inside &&
	       __atomic_load_n(&a->hit.core_tid, __ATOMIC_ACQUIRE) ==
		       core->want->inside;
}

/* Does the thread wait for this core file? Its registers are where it has left them; the process
 * can write there, and they are only shown. */
static bool take_waiting(struct dp_core *core, const struct dp_arena_hit *h,
			 struct dp_core_thread *c)
{
	struct dp_regs r = h->core_regs;
	u64 fpstate = h->core_fpstate;

	if ((u32)c->tid != core->want->tid || !waits_for(core))
		return false;
	dp_uregs_from(&c->regs, &r);
	core->result->held = true;
	if (!fpstate) {
		take_vectors(c);
		return true;
	}
	c->fp = !dp_process_read(core->proc, fpstate, &c->fpregs,
				 sizeof(c->fpregs));
	return true;
}

static int take_held(struct dp_core *core, const struct dp_maps *maps,
		     const struct dp_view *view)
{
	const struct dp_process *proc = core->proc;
	int err = 0;
	size_t i;

	for (i = 0; i < proc->nr_threads && !err; i++) {
		struct dp_core_thread c = { .tid = proc->threads[i].tid,
					    .regs = proc->threads[i].regs };

		if (!take_waiting(core, &view->arena->hit, &c)) {
			take_pc(proc, view, &proc->threads[i], &c);
			take_vectors(&c);
		}
		take_stack(proc, maps, view, &c);
		err = add(core, &c);
	}
	return err;
}

/* Not one of the registers that the kernel does not tell */
static void regs_asleep(const struct dp_thread_state *s,
			struct user_regs_struct *r)
{
	*r = (struct user_regs_struct){
		.orig_rax = (u64)s->nr,
		.rdi = s->args[0],
		.rsi = s->args[1],
		.rdx = s->args[2],
		.r10 = s->args[3],
		.r8 = s->args[4],
		.r9 = s->args[5],
		.rsp = s->sp,
		.rip = s->pc,
		.rcx = s->pc,
	};
}

static int take_asleep(struct dp_core *core, const struct dp_maps *maps,
		       const struct dp_view *view)
{
	const struct dp_process *proc = core->proc;
	struct dp_thread_state state;
	pid_t *tids;
	size_t i, n;
	int err = dp_tasks_list(proc->pid, &tids, &n);

	if (err)
		return err;
	for (i = 0; i < n && !err; i++) {
		struct dp_core_thread c = { .tid = tids[i], .asleep = true };

		if (dp_stop_held(proc, tids[i]) ||
		    !dp_thread_state_read(proc->pid, tids[i], &state))
			continue;
		regs_asleep(&state, &c.regs);
		take_pc(proc, view, NULL, &c);
		take_stack(proc, maps, view, &c);
		err = add(core, &c);
	}
	free(tids);
	return err;
}

/* The wanted thread comes first, then the process's first one, as elsewhere. */
static void put_first(struct dp_core *core, pid_t tid)
{
	struct dp_core_thread first;
	size_t i;

	for (i = 0; i < core->threads.n; i++)
		if (core->threads.v[i].tid == tid) {
			first = core->threads.v[i];
			memmove(core->threads.v + 1, core->threads.v,
				i * sizeof(first));
			core->threads.v[0] = first;
			return;
		}
}

/* It stays in the agent. Return: how many such threads come first */
static size_t waiting_first(struct dp_core *core)
{
	struct dp_process *proc = core->proc;
	struct dp_thread first;
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if ((u32)proc->threads[i].tid == core->want->tid) {
			first = proc->threads[0];
			proc->threads[0] = proc->threads[i];
			proc->threads[i] = first;
			return waits_for(core);
		}
	return 0;
}

static int copy(struct dp_core *core)
{
	struct dp_process *proc = core->proc;
	struct dp_maps maps;
	struct dp_view view;
	int err;

	if (dp_memory_gone(proc) || !dp_process_view(proc, &view))
		return -ESRCH;
	dp_stop_run_out(proc, waiting_first(core), in_agent, &view);
	err = dp_maps_read(proc->pid, &maps);
	if (err)
		return err;
	err = take_held(core, &maps, &view);
	if (!err)
		err = take_asleep(core, &maps, &view);
	dp_maps_free(&maps);
	return err;
}

static int hold(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct dp_core *core = arg;
	struct timespec t;
	int err = dp_stop_all(proc, diag);
	s64 since = dp_now_ns();

	if (err) {
		dp_process_core_end(proc, core->want->inside);
		return err;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	core->held_at = t.tv_sec * 1000000000ll + t.tv_nsec;
	err = copy(core);
	dp_process_core_end(proc, core->want->inside);
	dp_stop_release(proc);
	core->result->held_ns = (u64)(dp_now_ns() - since);
	put_first(core, proc->pid);
	put_first(core, (pid_t)core->want->tid);
	return err;
}

int dp_core_hold(struct dp_core *core, struct dp_diag *diag)
{
	return dp_tracer_child(core->proc, hold, core, diag);
}

bool dp_core_is_ours(const struct dp_process *proc, const struct dp_view *view,
		     u64 start, const char *path)
{
	return dp_path_is_ours(path) || dp_view_owns(view, start) ||
	       (proc->base && start - proc->base < DP_ARENA_OFFSET);
}

void dp_process_core_end(struct dp_process *proc, u32 inside)
{
	struct dp_arena *a = dp_process_probed(proc);

	if (!a ||
	    !__atomic_compare_exchange_n(&a->hit.core_tid, &inside, 0, false,
					 __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		return;
	__atomic_add_fetch(&a->control.core_served, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &a->control.core_served, FUTEX_WAKE, INT_MAX, NULL,
		NULL, 0);
}

static void clean(struct dp_core *core)
{
	size_t i;

	for (i = 0; i < core->threads.n; i++) {
		free(core->threads.v[i].xstate);
		free(core->threads.v[i].stack);
	}
	for (i = 0; i < core->maps.n; i++)
		free(core->maps.v[i].path);
	free(core->threads.v);
	free(core->maps.v);
	free(core->segments.v);
}

int dp_process_core(struct dp_process *proc, const struct dp_core_request *want,
		    struct dp_core_result *result, struct dp_diag *diag)
{
	struct dp_core core = { .proc = proc, .want = want, .result = result };
	int err;

	*result = (struct dp_core_result){ 0 };
	err = dp_core_hold(&core, diag);
	if (!err)
		err = dp_core_maps(&core);
	if (!err)
		err = dp_core_memory(&core);
	if (!err)
		err = dp_core_finish(&core);
	result->size = core.at;
	clean(&core);
	if (err && diag && !diag->text[0])
		dp_diag_set(
			diag, err, "%s",
			err == -ESRCH ?
				"the process has ended, or executed another program" :
				strerror(-err));
	return err;
}
