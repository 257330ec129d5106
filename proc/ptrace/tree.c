// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * tree: the process tree of -f: processes that the tool traces all the time.
 *
 * All their threads are seized, and so is, from birth, each child that they fork, vfork or
 * clone (ptrace(2), PTRACE_O_TRACEFORK). A thread stops when it makes a process, when it
 * executes a program, and when a signal comes, which the tool delivers. The kernel releases
 * all threads when the tool ends.
 *
 *   new thread         goes on: the agent covers it
 *   new process        with memory of its own: waits for dp_process_fork();
 *                      in its parent's memory: goes on, until its exec is reported
 *   exec               the process waits, before the first instruction of the
 *                      new image, for dp_process_renew()
 *
 * A process that is traced for itself alone (struct dp_traced) has no tree: its children are let
 * go as they are born. New threads of it do not go on before it is told.
 *
 * The two reports of a birth, the parent's and the child's, come in any order.
 */
#include "engine/layout/arena.h"
#include "engine/site/engine.h"
#include "proc/tree.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/tree.h"
#include "sym/list.h"
#include <errno.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define EVENT_OF(status) ((status) >> 16)
#define TAKEN 4 /* more than the events at work at one time */

struct pids {
	pid_t *v;
	size_t n, cap;
};

/**
 * struct dp_tree
 * @procs: processes with probes
 * @others: processes without: in their parent's memory, or not to be probed
 * @parted: processes that are not followed any more; of the tool's children the end is told
 * @early: children that have stopped before their parent has reported their birth
 * @events: not yet returned by dp_tree_next()
 * @trapped: a SIGTRAP has been delivered since dp_tree_trapped() was called last
 * @alone: of a process that is traced for itself alone, or NULL
 */
struct dp_tree {
	struct dp_process **procs;
	size_t nr_procs, cap_procs;
	struct pids others, parted, early;
	struct dp_tree_event *events;
	size_t nr_events, cap_events;
	bool trapped;
	struct dp_traced *alone;
	int signals;
	sigset_t mask;
};

/* Make room for one process more: in the lists, and for an event that it waits in and one of
 * its end. So nothing that is to be told of it later gets lost. */
static bool make_room(struct dp_tree *f)
{
	size_t n = f->nr_procs + f->others.n + f->parted.n + f->early.n +
		   f->nr_events + TAKEN + 1;

	return !dp_list_reserve(&f->procs, n, &f->cap_procs,
				sizeof(*f->procs)) &&
	       !dp_list_reserve(&f->others.v, n, &f->others.cap,
				sizeof(*f->others.v)) &&
	       !dp_list_reserve(&f->parted.v, n, &f->parted.cap,
				sizeof(*f->parted.v)) &&
	       !dp_list_reserve(&f->early.v, n, &f->early.cap,
				sizeof(*f->early.v)) &&
	       !dp_list_reserve(&f->events, 2 * n, &f->cap_events,
				sizeof(*f->events));
}

/* A stopped process is new. Return: false: out of memory; the process goes on unfollowed. */
static bool takes_in(struct dp_tree *f, pid_t pid)
{
	if (!dp_kill_point_fails("tree: born") && make_room(f))
		return true;
	ptrace(PTRACE_DETACH, pid, 0, 0);
	return false;
}

static pid_t *find_pid(const struct pids *pids, pid_t pid)
{
	size_t i;

	for (i = 0; i < pids->n; i++)
		if (pids->v[i] == pid)
			return &pids->v[i];
	return NULL;
}

static void add_pid(struct pids *pids, pid_t pid)
{
	if (!find_pid(pids, pid) && pids->n < pids->cap)
		pids->v[pids->n++] = pid;
}

static bool drop_pid(struct pids *pids, pid_t pid)
{
	pid_t *at = find_pid(pids, pid);

	if (at)
		*at = pids->v[--pids->n];
	return at;
}

int dp_tree_open(struct dp_tree **tree)
{
	struct dp_tree *f = calloc(1, sizeof(*f));
	sigset_t child;

	if (!f)
		return -ENOMEM;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &f->mask);
	f->signals = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
	*tree = f;
	return f->signals < 0 ? -errno : 0;
}

void dp_tree_close(struct dp_tree *f)
{
	if (!f)
		return;
	sigprocmask(SIG_SETMASK, &f->mask, NULL);
	if (f->signals >= 0)
		close(f->signals);
	free(f->procs);
	free(f->others.v);
	free(f->parted.v);
	free(f->early.v);
	free(f->events);
	free(f);
}

void dp_tree_alone(struct dp_tree *f, struct dp_traced *traced)
{
	f->alone = traced;
}

static struct dp_process *proc_of(const struct dp_tree *f, pid_t pid)
{
	size_t i;

	for (i = 0; i < f->nr_procs; i++)
		if (f->procs[i]->pid == pid)
			return f->procs[i];
	return NULL;
}

static void forget(struct dp_tree *f, const struct dp_process *proc)
{
	size_t i;

	for (i = 0; i < f->nr_procs; i++)
		if (f->procs[i] == proc) {
			f->procs[i] = f->procs[--f->nr_procs];
			return;
		}
}

bool dp_tree_any(const struct dp_tree *f)
{
	return f->nr_procs || f->others.n || f->nr_events;
}

static pid_t group_of(pid_t tid)
{
	struct dp_status st;

	return dp_status_read(tid, tid, &st) ? 0 : st.group;
}

static bool is_group_stop(int status)
{
	return EVENT_OF(status) == PTRACE_EVENT_STOP &&
	       dp_stops_group(WSTOPSIG(status));
}

void dp_tree_let(pid_t tid, bool group_stop)
{
	ptrace(PTRACE_SETOPTIONS, tid, 0, DP_TREE_OPTIONS);
	if (group_stop && !ptrace(PTRACE_LISTEN, tid, 0, 0))
		return;
	/* Behind a remote call it is in another stop. In front of its next instruction it stops as
	 * its process does, which is reported. */
	if (group_stop)
		ptrace(PTRACE_INTERRUPT, tid, 0, 0);
	ptrace(PTRACE_CONT, tid, 0, 0);
}

static void tell(struct dp_tree *f, const struct dp_tree_event *event)
{
	if (f->nr_events < f->cap_events)
		f->events[f->nr_events++] = *event;
}

/* If kcmp(2) fails, a child by vfork is taken to share memory. */
static bool shares_memory(pid_t parent, pid_t child, int event)
{
	long same = syscall(SYS_kcmp, parent, child, KCMP_VM, 0, 0);

	return same < 0 ? event == PTRACE_EVENT_VFORK : !same;
}

/* Are there contexts or instances to copy into a fork child? Then the forking thread waits,
 * so that its hit and its tracked calls do not change before. */
static bool keeps_much(const struct dp_arena *arena)
{
	return arena->control.nr_contexts || arena->control.nr_instance_tables;
}

/* It may have been let go already, when its own stop was reported first. */
static void let_out(pid_t child)
{
	int status;

	if (dp_stop_wait(child, &status) == child && WIFSTOPPED(status))
		ptrace(PTRACE_DETACH, child, 0, 0);
}

/* A process is born; its maker is stopped. Return: is the maker to stay stopped? */
static bool born(struct dp_tree *f, pid_t maker, pid_t child, int event,
		 bool may_wait)
{
	pid_t parent = group_of(maker);
	struct dp_process *of = proc_of(f, parent);
	struct dp_tree_event forked = { .what = DP_TREE_FORKED,
					.proc = of,
					.pid = child,
					.mixed = of && (!of->installed ||
							of->changing) };
	struct dp_status st;
	int status;

	if (!drop_pid(&f->early, child) &&
	    (dp_stop_wait(child, &status) != child || !WIFSTOPPED(status) ||
	     !takes_in(f, child)))
		return false;
	if (!of || shares_memory(parent, child, event)) {
		add_pid(&f->others, child);
		dp_tree_let(child, false);
		return false;
	}
	if (!dp_status_read(parent, maker, &st))
		forked.maker_ns = st.ns_pid;
	if (may_wait && !forked.mixed &&
	    keeps_much(dp_engine_arena(of->engine)))
		forked.waiting = maker;
	tell(f, &forked);
	return forked.waiting;
}

static void made(struct dp_tree *f, pid_t tid, int event, bool may_wait)
{
	unsigned long child = 0;
	bool waits = false;

	if (!ptrace(PTRACE_GETEVENTMSG, tid, 0, &child) && child &&
	    group_of((pid_t)child) == (pid_t)child) {
		if (f->alone)
			let_out((pid_t)child);
		else
			waits = born(f, tid, (pid_t)child, event, may_wait);
	}
	if (!waits)
		dp_tree_let(tid, false);
}

/* A new thread goes on; a process whose birth is not reported yet waits. */
static void stopped(struct dp_tree *f, pid_t tid, int status)
{
	if (f->alone && !proc_of(f, tid) && group_of(tid) == tid) {
		ptrace(PTRACE_DETACH, tid, 0, 0);
		return;
	}
	if (f->alone)
		f->alone->begin(f->alone, tid);
	if (is_group_stop(status) || proc_of(f, tid) ||
	    find_pid(&f->others, tid) || group_of(tid) != tid)
		dp_tree_let(tid, is_group_stop(status));
	else if (takes_in(f, tid))
		add_pid(&f->early, tid);
}

static void ended(struct dp_tree *f, pid_t tid, int status)
{
	struct dp_process *proc = proc_of(f, tid);

	drop_pid(&f->early, tid);
	if (proc) {
		proc->exited = proc->reaped = proc->status_known = true;
		proc->status = status;
		forget(f, proc);
	} else if (!drop_pid(&f->others, tid) && !drop_pid(&f->parted, tid)) {
		return;
	}
	tell(f, &(struct dp_tree_event){ .what = DP_TREE_EXITED,
					 .proc = proc,
					 .pid = tid,
					 .status = status });
}

static void executed(struct dp_tree *f, pid_t pid)
{
	struct dp_process *proc = proc_of(f, pid);

	if (proc) {
		dp_process_note_exec(proc);
		forget(f, proc);
	} else {
		drop_pid(&f->others, pid);
	}
	tell(f, &(struct dp_tree_event){
			.what = DP_TREE_EXECED, .proc = proc, .pid = pid });
}

/* Deliver the signal, unless it is a trap that has been taken. */
static void signaled(struct dp_tree *f, pid_t tid, int sig)
{
	dp_kill_point("tree: signal");
	if (sig == SIGTRAP && f->alone)
		sig = f->alone->trap(f->alone, tid);
	if (sig < 0)
		return;
	f->trapped |= sig == SIGTRAP;
	ptrace(PTRACE_CONT, tid, 0, sig);
}

bool dp_tree_deal(struct dp_tree *f, pid_t tid, int status, bool may_wait)
{
	if (!WIFSTOPPED(status)) {
		ended(f, tid, status);
		return false;
	}
	switch (EVENT_OF(status)) {
	case 0:
		signaled(f, tid, WSTOPSIG(status));
		return true;
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE:
		made(f, tid, EVENT_OF(status), may_wait);
		return true;
	case PTRACE_EVENT_EXEC:
		executed(f, tid);
		return false;
	default:
		stopped(f, tid, status);
		return true;
	}
}

static bool is_full(const struct dp_tree *f)
{
	return f->alone && f->alone->full;
}

static void take_notice(struct dp_tree *f, bool may_wait)
{
	int status;
	pid_t tid;

	while (!is_full(f) && (tid = dp_stop_seen(-1, &status, WNOHANG)) > 0)
		dp_tree_deal(f, tid, status, may_wait);
}

void dp_tree_pass(struct dp_tree *f)
{
	take_notice(f, false);
}

static void drain(const struct dp_tree *f)
{
	struct signalfd_siginfo info;

	while (read(f->signals, &info, sizeof(info)) == sizeof(info))
		continue;
}

static void take_event(struct dp_tree *f, size_t i, struct dp_tree_event *event)
{
	*event = f->events[i];
	memmove(f->events + i, f->events + i + 1,
		(--f->nr_events - i) * sizeof(*f->events));
}

enum dp_tree_what dp_tree_next(struct dp_tree *f, int timeout_ms,
			       struct dp_tree_event *event)
{
	struct pollfd p = { f->signals, POLLIN, 0 };

	drain(f);
	take_notice(f, true);
	if (!f->nr_events && !f->trapped && !is_full(f) &&
	    poll(&p, 1, timeout_ms) > 0)
		take_notice(f, true);
	event->what = DP_TREE_NOTHING;
	if (f->nr_events)
		take_event(f, 0, event);
	return event->what;
}

int dp_tree_join(struct dp_tree *f, struct dp_process *proc)
{
	if (!make_room(f))
		return -ENOMEM;
	f->procs[f->nr_procs++] = proc;
	proc->tree = f;
	return 0;
}

bool dp_tree_trapped(struct dp_tree *f)
{
	bool trapped = f->trapped;

	f->trapped = false;
	return trapped;
}

bool dp_tree_birth(struct dp_tree *f, const struct dp_process *proc,
		   struct dp_tree_event *event)
{
	size_t i;

	for (i = 0; i < f->nr_events; i++)
		if (f->events[i].what == DP_TREE_FORKED &&
		    f->events[i].proc == proc) {
			take_event(f, i, event);
			return true;
		}
	return false;
}

void dp_tree_drop(struct dp_tree *f, struct dp_process *proc, bool parts)
{
	size_t i;

	forget(f, proc);
	for (i = 0; i < f->nr_events; i++)
		if (f->events[i].proc == proc)
			f->events[i].proc = NULL;
	if (!proc->exited && !proc->execed[0])
		add_pid(parts ? &f->parted : &f->others, proc->pid);
}

void dp_tree_let_on(const struct dp_tree_event *event)
{
	if (event->waiting)
		dp_tree_let(event->waiting, false);
}

void dp_tree_let_go(struct dp_tree *f, const struct dp_tree_event *event)
{
	add_pid(&f->others, event->pid);
	dp_tree_let(event->pid, false);
	dp_tree_let_on(event);
}
