// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filters: what the seccomp filters of a process permit the tool and the agent.
 *
 * A breakpoint's handler needs rt_sigreturn in any case. Intercepts keep caught signals out of
 * signal masks, and the actions the agent's; they make system calls of their own.
 *
 *   the filters permit all that intercepts need      breakpoints and intercepts
 *   they forbid all calls that would be intercepted  breakpoints; nothing can change
 *   neither                                          signal-free: jumps only, no call
 */
#include "port_calls.h"
#include "proc/code/intercepts.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/seccomp/filters.h"
#include "sym/list.h"
#include <errno.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define FILTERS_MAX 8192 /* of a thread; the kernel permits fewer */

/** struct program - one filter; many threads have the same */
struct program {
	struct sock_filter *code;
	size_t n;
};

/** struct filtered_thread - a thread, and which of the programs are its filters */
struct filtered_thread {
	bool strict;
	size_t from, to;
};

/** struct look - the filters of all threads
 *  @of: indices of programs, thread after thread
 *  @unread: why not all could be read; NULL: all are */
struct look {
	struct program *programs;
	u32 *of;
	struct filtered_thread *threads;
	size_t nr_programs, nr_of, nr_threads;
	size_t cap_programs, cap_of, cap_threads;
	const char *unread;
};

/* Return: the index of the program, added if it is new; -ENOMEM */
static long program_of(struct look *look, const struct sock_filter *code,
		       size_t n)
{
	struct program p = { .n = n };
	size_t i;

	for (i = 0; i < look->nr_programs; i++)
		if (look->programs[i].n == n &&
		    !memcmp(look->programs[i].code, code, n * sizeof(*code)))
			return (long)i;
	p.code = malloc(n * sizeof(*code));
	if (p.code && !dp_list_add(&look->programs, &look->nr_programs,
				   &look->cap_programs, &p, sizeof(p))) {
		memcpy(p.code, code, n * sizeof(*code));
		return (long)i;
	}
	free(p.code);
	return -ENOMEM;
}

static bool add_filter(struct look *look, const struct sock_filter *code,
		       size_t n)
{
	long program = program_of(look, code, n);
	u32 i = (u32)program;

	return program >= 0 && !dp_list_add(&look->of, &look->nr_of,
					    &look->cap_of, &i, sizeof(i));
}

/* The kernel numbers a thread's filters from the newest on. */
static void read_filters(struct look *look, pid_t tid)
{
	struct sock_filter code[BPF_MAXINSNS];
	long i, n;

	for (i = 0; i < FILTERS_MAX; i++) {
		n = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, i, code);
		if (n <= 0)
			break;
		if (!add_filter(look, code, (size_t)n)) {
			look->unread = strerror(ENOMEM);
			return;
		}
	}
	if (i == FILTERS_MAX || errno != ENOENT)
		look->unread = strerror(i == FILTERS_MAX ? E2BIG : errno);
}

static void read_thread(struct look *look, const struct dp_process *proc,
			pid_t tid)
{
	struct filtered_thread t = { .from = look->nr_of };
	struct dp_status st;

	if (dp_status_read(proc->pid, tid, &st) || st.state == 'Z' ||
	    st.state == 'X' || !st.seccomp)
		return;
	t.strict = st.seccomp == SECCOMP_MODE_STRICT;
	if (!t.strict && dp_stop_held(proc, tid))
		read_filters(look, tid);
	else if (!t.strict)
		look->unread = "a thread does not stop for it";
	t.to = look->nr_of;
	if (dp_list_add(&look->threads, &look->nr_threads, &look->cap_threads,
			&t, sizeof(t)))
		look->unread = strerror(ENOMEM);
}

static void read_threads(struct look *look, const struct dp_process *proc)
{
	pid_t *tids;
	size_t n, i;

	if (dp_tasks_list(proc->pid, &tids, &n)) {
		look->unread = strerror(ESRCH);
		return;
	}
	for (i = 0; i < n && !look->unread; i++)
		read_thread(look, proc, tids[i]);
	free(tids);
}

/* Stop all threads, also those that are usually left asleep. */
static int read_all(struct dp_process *proc, void *arg, struct dp_diag *diag)
{
	struct look *look = arg;

	if (dp_stop_alone(proc, diag) || dp_stop_more(proc, diag)) {
		look->unread = "it does not stop for it";
		return 0;
	}
	read_threads(look, proc);
	dp_stop_release(proc);
	return 0;
}

enum dp_filter_says dp_filters_strict(long nr)
{
	return nr == SYS_read || nr == SYS_write || nr == SYS_exit ||
			       nr == SYS_rt_sigreturn ?
		       DP_FILTER_ALWAYS :
		       DP_FILTER_NEVER;
}

static enum dp_filter_says thread_says(const struct look *look,
				       const struct filtered_thread *t,
				       const enum dp_filter_says *programs,
				       long nr)
{
	enum dp_filter_says least = DP_FILTER_ALWAYS;
	size_t i;

	if (t->strict)
		return dp_filters_strict(nr);
	for (i = t->from; i < t->to; i++)
		if (programs[look->of[i]] < least)
			least = programs[look->of[i]];
	return least;
}

/* The answer of all threads if they agree; else DP_FILTER_PERHAPS. */
static enum dp_filter_says says(const void *arg, long nr)
{
	const struct look *look = arg;
	enum dp_filter_says *programs, first, one;
	size_t i;

	if (!look->nr_threads)
		return DP_FILTER_PERHAPS;
	programs = calloc(look->nr_programs + 1, sizeof(*programs));
	if (!programs)
		return DP_FILTER_PERHAPS;
	for (i = 0; i < look->nr_programs; i++)
		programs[i] = dp_filter_ask(look->programs[i].code,
					    look->programs[i].n, (u32)nr);
	first = thread_says(look, &look->threads[0], programs, nr);
	for (i = 1; i < look->nr_threads && first != DP_FILTER_PERHAPS; i++) {
		one = thread_says(look, &look->threads[i], programs, nr);
		if (one != first)
			first = DP_FILTER_PERHAPS;
	}
	free(programs);
	return first;
}

struct call {
	long nr;
	const char *name;
};
#define CALL(name)                \
	{                         \
		SYS_##name, #name \
	}
#define CALL_AND(name) CALL(name),

/* Calls that intercepts, and the handler of breakpoints beside them, cannot do without. */
static const struct call essential[] = {
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_tgsigqueueinfo),
	CALL(getpid),
	CALL(gettid),
	CALL(process_vm_readv),
	CALL(process_vm_writev),
	CALL(sigaltstack),
};

static const struct call own[] = { DP_OWN_CALLS(CALL_AND) };

/* These calls are intercepted, but change nothing that breakpoints need. */
static bool changes_nothing(long nr)
{
	return nr == SYS_exit || nr == SYS_rt_sigpending ||
	       nr == SYS_sigaltstack;
}

/* Of the calls that would have to be intercepted, one that may be permitted; -1: none. */
static long needs_intercept(const struct look *look)
{
	size_t i;
	long nr;

	for (i = 0; (nr = dp_intercepts_call(i)) >= 0; i++)
		if (!changes_nothing(nr) && says(look, nr) != DP_FILTER_NEVER)
			return nr;
	return -1;
}

/* Remote calls by which the tool attaches and detaches; and restart_syscall, after a stop. */
static const struct call remote[] = {
	CALL(restart_syscall), CALL(mmap),	  CALL(munmap),
	CALL(mprotect),	       CALL(madvise),	  CALL(socketpair),
	CALL(recvmsg),	       CALL(close_range), CALL(close),
	CALL(rt_sigaction),
};

static const char *lacking(const struct call *v, size_t n, dp_filter_fn *ask,
			   const void *arg)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (ask(arg, v[i].nr) != DP_FILTER_ALWAYS)
			return v[i].name;
	return NULL;
}

/* Can the hit half do without this call of its own? */
static bool is_spared(long nr)
{
	switch (nr) {
	case SYS_unshare:
	case SYS_mmap:
	case SYS_openat:
	case SYS_close:
	case SYS_pread64:
	case SYS_pwrite64:
	case SYS_membarrier:
	case SYS_prctl:
		return true;
	default:
		return false;
	}
}

const char *dp_filters_lack(const struct dp_process *proc, dp_filter_fn *ask,
			    const void *arg)
{
	const char *name;
	size_t i;

	if (ask(arg, SYS_rt_sigreturn) != DP_FILTER_ALWAYS)
		return "rt_sigreturn";
	name = lacking(essential, ARRAY_SIZE(essential), ask, arg);
	if (name)
		return name;
	for (i = 0; i < DP_OWN_NR; i++)
		if (!is_spared(own[i].nr) &&
		    !(proc->forbidden & dp_own_bit(own[i].nr)) &&
		    ask(arg, own[i].nr) != DP_FILTER_ALWAYS)
			return own[i].name;
	return NULL;
}

const char *dp_filters_lack_remote(dp_filter_fn *ask, const void *arg)
{
	return lacking(remote, ARRAY_SIZE(remote), ask, arg);
}

static void note_forbidden(struct dp_process *proc, const struct look *look)
{
	size_t i;

	proc->forbidden = 0;
	for (i = 0; i < DP_OWN_NR; i++)
		if (says(look, own[i].nr) != DP_FILTER_ALWAYS)
			proc->forbidden |= dp_own_bit(own[i].nr);
}

/* The thread pointer is read by an instruction or by a call. */
static bool knows_threads(const struct dp_process *proc)
{
	return dp_has_fsgsbase() ||
	       !(proc->forbidden & dp_own_bit(SYS_arch_prctl));
}

static void decide(struct dp_process *proc, const struct look *look)
{
	const char *name;

	proc->no_restart = says(look, SYS_restart_syscall) != DP_FILTER_ALWAYS;
	proc->no_return = says(look, SYS_rt_sigreturn) != DP_FILTER_ALWAYS;
	if (proc->no_return) {
		snprintf(proc->why_signal_free, sizeof(proc->why_signal_free),
			 "it does not permit rt_sigreturn");
		return;
	}
	note_forbidden(proc, look);
	name = lacking(essential, ARRAY_SIZE(essential), says, look);
	proc->no_intercepts = name != NULL;
	if (name && needs_intercept(look) < 0)
		name = knows_threads(proc) ?
			       NULL :
			       "arch_prctl, and this machine has no rdfsbase";
	if (name) {
		snprintf(proc->why_signal_free, sizeof(proc->why_signal_free),
			 "it does not permit %s", name);
		return;
	}
	proc->signal_free = false;
}

/* Without intercepts the tool does not learn of further filters. So it does not rely on calls
 * that these may forbid. */
static void presume_more(struct dp_process *proc, const struct look *look)
{
	if (says(look, SYS_prctl) == DP_FILTER_NEVER &&
	    says(look, SYS_seccomp) == DP_FILTER_NEVER)
		return;
	proc->no_restart = proc->no_return = true;
}

void dp_filters_presume(struct dp_process *proc)
{
	proc->signal_free = proc->no_intercepts = true;
	proc->no_restart = proc->no_return = true;
	proc->forbidden = ~0u;
}

void dp_filters_read(struct dp_process *proc)
{
	struct look look = { 0 };
	size_t i;

	if (!proc->filtered)
		return;
	if (dp_tracer_child(proc, read_all, &look, NULL))
		look.unread = strerror(EINTR);
	if (look.unread)
		snprintf(proc->why_signal_free, sizeof(proc->why_signal_free),
			 "it cannot be read: %s", look.unread);
	else
		decide(proc, &look);
	if (proc->signal_free) {
		presume_more(proc, &look);
		proc->forbidden = ~0u;
	}
	for (i = 0; i < look.nr_programs; i++)
		free(look.programs[i].code);
	free(look.programs);
	free(look.of);
	free(look.threads);
}

static bool suspends(pid_t child)
{
	return !ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_SUSPEND_SECCOMP);
}

bool dp_filters_can_suspend(void)
{
	return dp_child_try(suspends);
}
