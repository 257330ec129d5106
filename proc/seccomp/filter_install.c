// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filter_install: a thread waits in the agent because it is about to install a seccomp filter,
 * or to have its system calls dispatched to a handler of its own.
 *
 * The thread's registers say what filter (port/user/signals/filter_install.c). If the filter
 * permits what probes need, the tool answers the thread. Otherwise the probes have to go
 * first: the tool stops the thread in its wait and sends it back to before its call. Released
 * while the intercepts are still in, the thread asks again; later it makes the call itself.
 *
 * The filter is in the target's memory, which may change after the tool has read it: that
 * can only end the target. A filter that the kernel would reject does not count.
 */
#include "arch/arch.h"
#include "engine/layout/private.h"
#include "agent/image.h"
#include "arch/calls.h"
#include "arch/uframe.h"
#include "arch/uregs.h"
#include "port_calls.h"
#include "proc/linker.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/seccomp/filters.h"
#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DISPATCH_EXCLUSIVE 1 /* linux/prctl.h; the other is Linux 6.17's */
#define DISPATCH_INCLUSIVE 2

/** struct wanted - what a thread is about to install
 *  @strict: seccomp's strict mode; @dispatch: Syscall User Dispatch; else a filter of @n
 *  instructions @code; @n is 0: nothing that the kernel would take */
struct wanted {
	bool strict, dispatch;
	size_t n;
	struct sock_filter code[BPF_MAXINSNS];
};

static u64 asked(const struct dp_arena *a)
{
	u64 ask = __atomic_load_n(&a->hit.filter_ask, __ATOMIC_ACQUIRE);

	return dp_filter_answered(ask, a->control.filter_answered) ? 0 : ask;
}

static bool is_late(const struct dp_arena *a)
{
	return __atomic_load_n(&a->hit.filter_late, __ATOMIC_ACQUIRE);
}

bool dp_process_installs_filter(const struct dp_process *proc)
{
	const struct dp_arena *a = dp_process_probed(proc);

	return a && (asked(a) || is_late(a));
}

static void answer(struct dp_arena *a, u64 ask)
{
	__atomic_store_n(&a->control.filter_answered, ask, __ATOMIC_RELEASE);
	syscall(SYS_futex, (u32 *)&a->control.filter_answered + 1, FUTEX_WAKE,
		INT_MAX, NULL, NULL, 0);
}

/* As far as entry.S has filled them in, but for rsp, rip and the segments. */
static int read_regs(const struct dp_process *proc, u64 addr,
		     struct dp_mcontext *regs)
{
	return dp_process_read(proc, addr, regs,
			       offsetof(struct dp_mcontext, cs));
}

static void read_filter(const struct dp_process *proc, u64 addr,
			struct wanted *w)
{
	struct {
		u16 len, pad[3];
		u64 code;
	} prog;

	if (dp_process_read(proc, addr, &prog, sizeof(prog)) || !prog.len ||
	    prog.len > BPF_MAXINSNS ||
	    dp_process_read(proc, prog.code, w->code,
			    prog.len * sizeof(*w->code)))
		return;
	w->n = prog.len;
}

/* Will the kernel accept this PR_SET_SYSCALL_USER_DISPATCH? */
static bool is_dispatch(const struct dp_mcontext *regs)
{
	u64 from = dp_uframe_arg(regs, 2), len = dp_uframe_arg(regs, 3);

	if (dp_uframe_arg(regs, 1) == DISPATCH_EXCLUSIVE)
		return !from || from + len > from;
	return dp_uframe_arg(regs, 1) == DISPATCH_INCLUSIVE &&
	       from + len > from;
}

static void read_wanted(const struct dp_process *proc, u64 at, struct wanted *w)
{
	struct dp_mcontext regs;
	bool by_prctl;
	u64 second;
	u32 first;

	w->strict = w->dispatch = false;
	w->n = 0;
	if (read_regs(proc, at, &regs))
		return;
	by_prctl = dp_uframe_number(&regs) == SYS_prctl;
	first = (u32)dp_uframe_arg(&regs, 0);
	second = dp_uframe_arg(&regs, 1);
	if (by_prctl && first == PR_SET_SYSCALL_USER_DISPATCH)
		w->dispatch = is_dispatch(&regs);
	else if (by_prctl ? second == SECCOMP_MODE_FILTER :
			    first == SECCOMP_SET_MODE_FILTER)
		read_filter(proc, dp_uframe_arg(&regs, 2), w);
	else if (by_prctl)
		w->strict = second == SECCOMP_MODE_STRICT;
	else
		w->strict = !(u32)second && !dp_uframe_arg(&regs, 2);
}

static enum dp_filter_says says(const void *arg, long nr)
{
	const struct wanted *w = arg;

	return w->strict ? dp_filters_strict(nr) :
			   dp_filter_ask(w->code, w->n, (u32)nr);
}

static const char *leave(struct dp_process *proc, const char *fmt,
			 const char *call)
{
	snprintf(proc->why_leaves, sizeof(proc->why_leaves), fmt, call);
	return proc->why_leaves;
}

/* Tell the agent which calls of its own to do without, for a thread that finds no tool. */
static void note_permitted(struct dp_process *proc, const struct wanted *w)
{
	static const long spared[] = { SYS_unshare, SYS_mmap, SYS_membarrier,
				       SYS_prctl };
	struct dp_arena *a = dp_process_probed(proc);
	size_t i;

	proc->no_restart |= says(w, SYS_restart_syscall) != DP_FILTER_ALWAYS;
	for (i = 0; i < sizeof(spared) / sizeof(spared[0]); i++)
		if (says(w, spared[i]) != DP_FILTER_ALWAYS)
			a->control.forbidden |= dp_own_bit(spared[i]);
}

/* A library that probes other processes makes no child to try, and attaches to no process
 * that has a filter. */
static bool may_suspend(const struct dp_process *proc)
{
	return !proc->attached_other &&
	       (proc->filtered || dp_filters_can_suspend());
}

/* Return: why probes cannot stay under the new filter; NULL: they can. */
static const char *judge(struct dp_process *proc, const struct wanted *w)
{
	const char *call;

	if (w->strict)
		return leave(proc, "it enters seccomp's strict mode%s", "");
	if (w->dispatch)
		return leave(
			proc,
			"it has its system calls dispatched to a handler of its own%s",
			"");
	if (!w->n)
		return NULL;
	call = dp_filters_lack(proc, says, w);
	if (call)
		return leave(proc,
			     "it installs a seccomp filter that forbids %s",
			     call);
	call = dp_filters_lack_remote(says, w);
	if (call && !may_suspend(proc))
		return leave(
			proc,
			"it installs a seccomp filter that forbids %s, and dprobes may not suspend it",
			call);
	proc->filtered |= call != NULL;
	note_permitted(proc, w);
	return NULL;
}

/* A thread that got no answer has put the original text back, and installed a filter that the
 * tool has not read: presume the worst of it. */
void dp_filter_install_catch_up(struct dp_process *proc)
{
	const struct dp_arena *a = dp_process_probed(proc);

	if (!a || !is_late(a) || proc->filtered ||
	    !dp_process_filters_came(proc, 0))
		return;
	proc->filtered = may_suspend(proc);
	proc->no_return = proc->no_restart = true;
	proc->out_of_reach = !proc->filtered;
}

static const char *too_late(struct dp_process *proc)
{
	dp_filter_install_catch_up(proc);
	return leave(
		proc,
		"it confines its system calls (by a seccomp filter, or by dispatching them), and dprobes did not look in time%s",
		"");
}

/* Return: the thread that waits with its registers at @at; 0: it does not sleep yet. */
static pid_t thread_that_waits(const struct dp_process *proc, u64 at)
{
	struct dp_thread_state d;
	pid_t tid;

	dp_each_task(tid, proc->pid)
		if (dp_thread_state_read(proc->pid, tid, &d) && d.args[4] == at)
			return tid;
	return 0;
}

/* The thread at @at installs one more filter. Threads may have as many, each its own. */
static void count_filter(struct dp_process *proc, u64 at)
{
	u32 n = dp_process_filters(proc, thread_that_waits(proc, at)) + 1;

	if (n > proc->nr_filters)
		proc->nr_filters = n;
}

const char *dp_process_filter_installed(struct dp_process *proc)
{
	struct dp_arena *a = dp_process_probed(proc);
	const char *why;
	struct wanted w;
	u64 ask;

	if (!a)
		return NULL;
	if (is_late(a))
		return too_late(proc);
	ask = asked(a);
	if (!ask)
		return NULL;
	read_wanted(proc, dp_filter_regs(ask), &w);
	why = judge(proc, &w);
	if (why) {
		dp_process_hold_asking(proc, true);
		return why;
	}
	if (w.n)
		count_filter(proc, dp_filter_regs(ask));
	answer(a, ask);
	return NULL;
}

void dp_process_hold_asking(struct dp_process *proc, bool hold)
{
	struct dp_arena *a = dp_process_probed(proc);

	if (a)
		__atomic_store_n(&a->control.filter_leaving, hold,
				 __ATOMIC_RELEASE);
}

bool dp_filter_install_waits(u64 base, u64 pc)
{
	u64 at = base + dp_agent_waits_home;

	return pc == at || pc == at - DP_SYSCALL_SIZE;
}

static int send_home(struct dp_process *proc, struct dp_thread *t)
{
	struct dp_mcontext regs;
	struct dp_arena *a = dp_process_probed(proc);
	u64 at = dp_uregs_arg(&t->regs, 4), ask = a ? asked(a) : 0;

	if (at - dp_uregs_sp(&t->regs) > DP_FRAME_MOST ||
	    read_regs(proc, at, &regs))
		return 0;
	dp_uframe_load(&t->regs, &regs);
	if (ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	/* This ask is over: the thread asks anew. */
	if (ask && dp_filter_regs(ask) == at)
		answer(a, ask);
	return 0;
}

int dp_filter_install_home(struct dp_process *proc, u64 base)
{
	int err = 0;
	size_t i;

	for (i = 0; i < proc->nr_threads && !err; i++)
		if (dp_filter_install_waits(
			    base, dp_uregs_pc(&proc->threads[i].regs)))
			err = send_home(proc, &proc->threads[i]);
	return err;
}
