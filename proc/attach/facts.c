// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* facts: what stands in the way of probing a process, besides its permission. */
#include "proc/attach/attach.h"
#include "proc/facts.h"
#include "proc/inspect.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include "proc/seccomp/filters.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEFAULT_TRACER "another tracer"

static void see_tracer(struct dp_facts *facts, const struct dp_status *them)
{
	char comm[32] = DEFAULT_TRACER;

	if (!them->tracer) {
		dp_fact_add(facts, "tracer", DP_FACT_OK, NULL,
			    "nobody traces it");
		return;
	}
	dp_line_read(dp_path("/proc/%u/comm", them->tracer).s, comm,
		     sizeof(comm));
	dp_fact_remedy(dp_fact_add(facts, "tracer", DP_FACT_NO, NULL,
				   "it is being traced by process %u (%s)",
				   them->tracer, comm),
		       "end process %u, or have it detach", them->tracer);
}

/* Reading the filters stops the process for a moment. */
static void see_filters(struct dp_facts *facts, pid_t pid, const char *mode)
{
	struct dp_process *proc = dp_process_new();
	const char *why = "out of memory";

	if (proc) {
		proc->pid = pid;
		proc->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		proc->filtered = true;
		dp_filters_presume(proc);
		dp_filters_read(proc);
		why = dp_process_permits(proc).no_traps;
	}
	if (!why)
		dp_fact_add(
			facts, "seccomp", DP_FACT_NOTE, NULL,
			"it runs under seccomp: %s, which permits what breakpoints need",
			mode);
	else
		dp_fact_add(
			facts, "seccomp", DP_FACT_NOTE,
			"for breakpoints let its filter permit rt_sigreturn, and the calls that change signal masks and actions with those that dprobes(1) names, or neither of these",
			"it runs under seccomp: %s; probes can be jumps only, because %s",
			mode, why);
	dp_process_close(proc);
}

static void see_confinement(struct dp_facts *facts, pid_t pid,
			    const struct dp_status *them)
{
	const char *mode = them->seccomp == SECCOMP_MODE_STRICT ? "strict" :
								  "a filter";

	if (!them->seccomp)
		dp_fact_add(facts, "seccomp", DP_FACT_OK, NULL, "none");
	else if (dp_filters_can_suspend())
		see_filters(facts, pid, mode);
	else
		dp_fact_add(
			facts, "seccomp", DP_FACT_NO,
			"run dprobes with CAP_SYS_ADMIN and under no filter, or start it without its filter (systemd: SystemCallFilter=, docker: --security-opt seccomp=unconfined)",
			"it runs under seccomp: %s", mode);
	dp_fact_add(facts, "no-new-privs",
		    them->no_new_privs ? DP_FACT_NOTE : DP_FACT_OK, NULL,
		    them->no_new_privs ? "set, which probes do not mind" :
					 "not set");
	if (them->shadow_stack)
		dp_fact_add(
			facts, "shadow-stack", DP_FACT_NO,
			"start it with GLIBC_TUNABLES=glibc.cpu.x86_shstk=off",
			"it runs with a shadow stack");
	if (them->state == 'T' || them->state == 't')
		dp_fact_add(facts, "state", DP_FACT_NOTE,
			    "send it SIGCONT for anything to be seen",
			    "it is stopped");
}

static void see_program(struct dp_facts *facts, pid_t pid)
{
	struct dp_path path = dp_path("/proc/%d/exe", pid);
	char exe[PATH_MAX] = "";
	struct dp_diag diag;

	if (readlink(path.s, exe, sizeof(exe) - 1) <= 0) {
		dp_fact_add(facts, "program", DP_FACT_NOTE, NULL,
			    "which one it is cannot be seen by you");
		return;
	}
	dp_diag_clear(&diag);
	if (dp_check_program(path.s, exe, &diag))
		dp_fact_add(facts, "program", DP_FACT_NO,
			    "build it as a 64-bit x86 program", "%.250s",
			    diag.text);
	else
		dp_fact_add(facts, "program", DP_FACT_OK, NULL,
			    "%.200s is a 64-bit program", exe);
}

/* @err: of dp_dispatch_look() */
static void see_dispatch(struct dp_facts *facts, const struct dp_process *proc,
			 int err)
{
	static const char name[] = "dispatch";

	if (proc->dispatches)
		dp_fact_add(
			facts, name, DP_FACT_NOTE, NULL,
			"it dispatches system calls to a handler of its own (prctl PR_SET_SYSCALL_USER_DISPATCH); probes can be jumps only, and those without a system call");
	else if (proc->undisclosed)
		dp_fact_add(
			facts, name, DP_FACT_NOTE, "use Linux 6.4 or later",
			"it catches SIGSYS, and this kernel does not tell whether it dispatches system calls to that handler (prctl PR_SET_SYSCALL_USER_DISPATCH); if it does it must not be probed");
	else if (!err)
		dp_fact_add(facts, name, DP_FACT_OK, NULL,
			    "it dispatches no system calls");
}

/* Finally check all that an attach would; its result decides. */
static void see_attach(struct dp_facts *facts, size_t from, pid_t pid)
{
	struct dp_process *proc = dp_process_new();
	struct dp_diag diag;
	int err;

	dp_diag_clear(&diag);
	err = proc ? dp_process_look(proc, pid, &diag) : -ENOMEM;
	if (!err) {
		err = dp_dispatch_look(proc, &diag);
		see_dispatch(facts, proc, err);
	}
	if (!err) {
		dp_facts_overrule(facts, from);
		dp_fact_add(facts, "attach", DP_FACT_OK, NULL,
			    "nothing is in the way");
	} else if (!dp_facts_forbid(facts, from)) {
		dp_fact_add(facts, "attach", DP_FACT_NO, NULL, "%.250s",
			    diag.text);
	}
	dp_process_close(proc);
}

static void see_probes(struct dp_facts *facts, pid_t pid)
{
	struct dp_armed *list;
	pid_t tool = 0;
	size_t n = 0;

	if (dp_process_inspect(pid, &list, &n, &tool, NULL))
		return;
	free(list);
	if (tool == pid)
		dp_fact_add(
			facts, "probes", DP_FACT_NOTE, NULL,
			"it probes itself, with libdprobes (probes: %zu); dprobes stat, trace and run have theirs beside them, without -f",
			n);
	else if (tool)
		dp_fact_remedy(
			dp_fact_add(facts, "probes", DP_FACT_NO, NULL,
				    "dprobes %d probes it already (%zu probes)",
				    tool, n),
			"end that one first: kill -INT %d", tool);
	else
		dp_fact_add(
			facts, "probes", DP_FACT_NOTE, NULL,
			"a dprobes that was killed left %zu probes, which the next one takes out",
			n);
}

void dp_facts_process(struct dp_facts *facts, pid_t pid)
{
	size_t from = facts->n;
	struct dp_status them;

	dp_facts_permission(facts, pid);
	if (!strcmp(facts->v[from].name, "process") ||
	    dp_status_read(pid, pid, &them))
		return;
	see_tracer(facts, &them);
	see_confinement(facts, pid, &them);
	see_program(facts, pid);
	see_attach(facts, from, pid);
	see_probes(facts, pid);
}
