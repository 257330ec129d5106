// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* process: the object, and what became of the process behind it. */
#include "engine/text/target.h"
#include "engine/site/view.h"
#include "port_calls.h"
#include "engine/layout/arena.h"
#include "engine/layout/base.h"
#include "engine/site/engine.h"
#include "proc/attach/attach.h"
#include "proc/attach/region.h"
#include "proc/linker.h"
#include "proc/facts.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/family.h"
#include "sym/sym.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "engine/site/internal.h"

/* How often an exec that did not pass through libc is looked for. */
#define EXEC_LOOK_MS 100
/* And the end of a process that a wait for its linker does not see. */
#define ASKED_MS 10
/* A thread that is about to install a filter does not wait for longer. */
#define CONFINE_MS 20
#define HWCAP2_FSGSBASE 2 /* asm/hwcap2.h */

struct dp_target *dp_process_target(struct dp_process *proc)
{
	return &proc->target;
}

struct dp_process *dp_process_new(void)
{
	struct dp_process *proc = calloc(1, sizeof(*proc));

	if (!proc)
		return NULL;
	proc->target.ops = &dp_process_target_ops;
	proc->pidfd = proc->mem = proc->awake = proc->unsettled = -1;
	return proc;
}

static int no_permission(const struct dp_process *proc, struct dp_diag *diag)
{
	struct dp_facts facts = { .n = 0 };
	const char *before = ": ";
	size_t i;

	dp_facts_permission(&facts, proc->pid);
	dp_diag_set(diag, -EPERM, "no permission to probe process %d",
		    proc->pid);
	for (i = 0; i < facts.n; i++) {
		if (facts.v[i].state != DP_FACT_NO)
			continue;
		dp_diag_add(diag, "%s%s; %s", before, facts.v[i].text,
			    facts.v[i].remedy);
		before = "; ";
	}
	return -EPERM;
}

int dp_process_open_mem(struct dp_process *proc, struct dp_diag *diag)
{
	char path[64];

	proc->pidfd = (int)syscall(SYS_pidfd_open, proc->pid, 0);
	if (proc->pidfd < 0)
		return dp_diag_set(diag, -errno,
				   errno == ESRCH || errno == EINVAL ?
					   "no process %d" :
					   "cannot watch process %d",
				   proc->pid);
	fcntl(proc->pidfd, F_SETFD, FD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/mem", proc->pid);
	proc->mem = open(path, O_RDWR | O_CLOEXEC);
	if (proc->mem >= 0)
		return 0;
	if (errno == EACCES || errno == EPERM)
		return no_permission(proc, diag);
	if (errno == ESRCH || errno == ENOENT)
		return dp_diag_set(diag, -ESRCH, "process %d has ended",
				   proc->pid);
	return dp_diag_set(diag, -errno,
			   "cannot open the memory of process %d: %s",
			   proc->pid, strerror(errno));
}

int dp_process_open(pid_t pid, struct dp_process **out, struct dp_diag *diag)
{
	struct dp_process *proc = dp_process_new();
	int err;

	if (!proc)
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	proc->pid = pid;
	err = dp_process_open_mem(proc, diag);
	if (err)
		dp_process_close(proc);
	else
		*out = proc;
	return err;
}

pid_t dp_process_pid(const struct dp_process *proc)
{
	return proc->pid;
}

u32 dp_process_inside(const struct dp_process *proc)
{
	return proc->ns_pid;
}

int dp_process_mem(const struct dp_process *proc)
{
	return proc->mem;
}

const char *dp_process_exe(const struct dp_process *proc)
{
	return proc->exe;
}

struct dp_engine *dp_process_engine(const struct dp_process *proc)
{
	return proc->engine;
}

bool dp_process_launched(const struct dp_process *proc)
{
	return proc->launched;
}

const char *dp_process_no_traps(const struct dp_process *proc)
{
	return proc->silent ? proc->why_silent : NULL;
}

bool dp_process_dispatches(const struct dp_process *proc)
{
	return proc->dispatches;
}

bool dp_process_may_wait(const struct dp_process *proc)
{
	return !(proc->forbidden &
		 (dp_own_bit(SYS_futex) | dp_own_bit(SYS_clock_gettime)));
}

bool dp_process_timeless(const struct dp_process *proc)
{
	return proc->timeless;
}

const char *dp_process_no_jumps(const struct dp_process *proc)
{
	return proc->go ?
		       "a goroutine's stack may have no room for a jump's work" :
		       NULL;
}

bool dp_process_view(const struct dp_process *proc, struct dp_view *view)
{
	struct dp_arena *arena = proc->engine ? dp_engine_arena(proc->engine) :
						NULL;

	return arena && proc->file &&
	       !dp_view_open(view, arena,
			     proc->file_size - DP_FILE_ARENA_OFFSET);
}

static const struct dp_arena_hit *hit_side(const struct dp_process *proc)
{
	const struct dp_arena *arena =
		proc->engine ? dp_engine_arena(proc->engine) : NULL;

	return arena ? &arena->hit : NULL;
}

void dp_process_note_exec(struct dp_process *proc)
{
	const struct dp_arena_hit *hit = hit_side(proc);
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", proc->pid);
	n = proc->exited ?
		    -1 :
		    readlink(path, proc->execed, sizeof(proc->execed) - 1);
	if (n > 0)
		proc->execed[n] = '\0';
	else
		snprintf(proc->execed, sizeof(proc->execed), "%.255s",
			 hit && hit->exec_path[0] ? hit->exec_path :
						    "another program");
}

/* The old image is gone when its memory is, and the process is not. */
static void look_for_exec(struct dp_process *proc)
{
	const struct dp_arena_hit *hit = hit_side(proc);
	u64 word;

	if (!proc->installed || proc->execed[0])
		return;
	if (proc->exited) {
		if (hit &&
		    __atomic_load_n(&hit->exec_pending, __ATOMIC_ACQUIRE))
			dp_process_note_exec(proc);
	} else if (dp_process_read(proc, proc->base, &word, sizeof(word))) {
		struct pollfd p = { proc->pidfd, POLLIN, 0 };

		/* Memory goes first when a process ends, too. */
		if (poll(&p, 1, 0) == 0 &&
		    !dp_status_read(proc->pid, proc->pid,
				    &(struct dp_status){ 0 })) {
			char path[64], exe[8];

			snprintf(path, sizeof(path), "/proc/%d/exe", proc->pid);
			if (readlink(path, exe, sizeof(exe)) > 0)
				dp_process_note_exec(proc);
		}
	}
}

/* Return: as poll(2), of its end. */
static int wait_for_end(const struct dp_process *proc, int timeout_ms)
{
	struct pollfd p = { proc->pidfd, POLLIN, 0 };
	int got;

	do {
		got = poll(&p, 1,
			   timeout_ms < CONFINE_MS ? timeout_ms : CONFINE_MS);
		timeout_ms -= CONFINE_MS;
	} while (!got && timeout_ms > 0 && !dp_process_confines(proc));
	return got;
}

static void look_for_end(struct dp_process *proc, int timeout_ms)
{
	if (dp_process_wait_asked(proc, timeout_ms < ASKED_MS ? timeout_ms :
								ASKED_MS))
		timeout_ms = 0;
	if (wait_for_end(proc, timeout_ms) <= 0) {
		dp_stop_reap(proc);
		return;
	}
	proc->exited = true;
	if (!proc->launched)
		proc->status_known =
			dp_status_exit(proc->pid, proc->pidfd, &proc->status);
	else if (!proc->reaped &&
		 dp_stop_wait(proc->pid, &proc->status) == proc->pid)
		proc->reaped = proc->status_known = true;
}

enum dp_process_state dp_process_poll(struct dp_process *proc, int timeout_ms)
{
	int slice = proc->installed && !proc->execed[0] ? EXEC_LOOK_MS :
							  timeout_ms;

	if (slice > timeout_ms)
		slice = timeout_ms;
	if (!proc->exited)
		look_for_end(proc, slice);
	look_for_exec(proc);
	if (proc->exited)
		return DP_PROCESS_EXITED;
	return proc->execed[0] ? DP_PROCESS_EXECED : DP_PROCESS_RUNS;
}

bool dp_process_status(const struct dp_process *proc, int *status)
{
	*status = proc->status;
	return proc->status_known;
}

/* In a namespace of its own it goes by other numbers. */
static u32 find_thread(const struct dp_process *proc, u32 tid)
{
	struct dp_status st;
	pid_t *tids;
	u32 found = 0;
	size_t n, i;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return 0;
	for (i = 0; i < n && !found; i++)
		if (!dp_status_read(proc->pid, tids[i], &st) &&
		    st.ns_pid == tid)
			found = (u32)tids[i];
	free(tids);
	return found;
}

u32 dp_process_thread(const struct dp_process *proc, u32 tid)
{
	char path[64];

	if (proc->ns_pid != (u32)proc->pid)
		return find_thread(proc, tid);
	snprintf(path, sizeof(path), "/proc/%d/task/%u", proc->pid, tid);
	return access(path, F_OK) ? 0 : tid;
}

bool dp_process_is_threaded(const struct dp_process *proc)
{
	pid_t *tids;
	size_t n;

	if (dp_tasks_list(proc->pid, &tids, &n))
		return false;
	free(tids);
	return n > 1;
}

const char *dp_process_execed(const struct dp_process *proc)
{
	return proc->execed;
}

/* A signal that breakpoints of ours raise there. */
static bool is_of_breakpoints(const struct dp_process *proc, int sig)
{
	u32 k, n = dp_few(&dp_engine_arena(proc->engine)->control.nr_caught,
			  DP_CAUGHT_JUMPS);

	for (k = 0; k < n; k++)
		if ((int)dp_caught(k) == sig)
			return true;
	return false;
}

bool dp_process_trap_death(const struct dp_process *proc)
{
	const struct dp_arena_hit *hit = hit_side(proc);

	return proc->status_known && proc->installed && !proc->execed[0] &&
	       hit && WIFSIGNALED(proc->status) &&
	       is_of_breakpoints(proc, WTERMSIG(proc->status)) &&
	       !hit->own_death;
}

void dp_process_kill_launched(struct dp_process *proc)
{
	if (!proc->launched || proc->reaped)
		return;
	kill(proc->pid, SIGKILL);
	while (dp_stop_wait(proc->pid, &proc->status) == proc->pid &&
	       !WIFEXITED(proc->status) && !WIFSIGNALED(proc->status))
		continue;
	proc->reaped = proc->exited = true;
	proc->held = false;
}

void dp_process_close(struct dp_process *proc)
{
	if (!proc)
		return;
	if (proc->base && !proc->exited && !proc->execed[0])
		dp_process_detach(proc, NULL);
	if (proc->held) {
		proc->held = false;
		dp_stop_release(proc);
	}
	dp_process_abandon(proc);
}

void dp_process_abandon(struct dp_process *proc)
{
	if (proc->family)
		dp_family_drop(proc->family, proc);
	if (proc->file && proc->engine && dp_engine_arena(proc->engine))
		dp_alive_leave(&dp_engine_arena(proc->engine)->control);
	dp_lodge_free(proc);
	if (proc->file)
		munmap(proc->file, proc->file_size);
	dp_shares_forget(proc, 0, proc->nr_shares);
	if (proc->mem >= 0)
		close(proc->mem);
	if (proc->pidfd >= 0)
		close(proc->pidfd);
	dp_maps_free(&proc->maps);
	free(proc->threads);
	free(proc);
}

int dp_process_hold(struct dp_process *proc)
{
	proc->threads = calloc(1, sizeof(*proc->threads));
	if (!proc->threads)
		return -ENOMEM;
	proc->cap_threads = proc->nr_threads = 1;
	proc->threads[0].tid = proc->pid;
	proc->held = true;
	return ptrace(PTRACE_GETREGS, proc->pid, 0, &proc->threads[0].regs) ?
		       -ESRCH :
		       0;
}

pid_t dp_tool_of(const struct dp_process *proc)
{
	return proc->tool ? proc->tool : getpid();
}

bool dp_has_fsgsbase(void)
{
	return getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE;
}

static bool has_more(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	return !dp_status_read(proc->pid, tid, &st) &&
	       dp_status_filters(&st) > proc->nr_filters;
}

bool dp_process_filters_came(const struct dp_process *proc, pid_t tid)
{
	bool more = false;
	pid_t *tids;
	size_t n, i;

	if (tid)
		return has_more(proc, tid);
	if (dp_tasks_list(proc->pid, &tids, &n))
		return false;
	for (i = 0; i < n && !more; i++)
		more = has_more(proc, tids[i]);
	free(tids);
	return more;
}
