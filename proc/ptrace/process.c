// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* process: the object of a target, and facts about the target that need no stop. */
#include "engine/site/view.h"
#include "port_calls.h"
#include "engine/site/engine.h"
#include "proc/proc.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "engine/site/internal.h"

#define HWCAP2_FSGSBASE 2 /* asm/hwcap2.h */

struct dp_target *dp_process_target(struct dp_process *proc)
{
	return &proc->target;
}

pid_t dp_process_pid(const struct dp_process *proc)
{
	return proc->pid;
}

u32 dp_process_inside(const struct dp_process *proc)
{
	struct dp_status st;

	if (proc->ns_pid)
		return proc->ns_pid;
	return dp_status_read(proc->pid, proc->pid, &st) ? 0 : st.ns_pid;
}

int dp_process_mem(const struct dp_process *proc)
{
	return proc->mem;
}

u64 dp_process_base(const struct dp_process *proc)
{
	return proc->base;
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

struct dp_permits dp_process_permits(const struct dp_process *proc)
{
	static const char no_room[] =
		"a goroutine's stack may have no room for a jump's work";
	u32 wait = dp_own_bit(SYS_futex) | dp_own_bit(SYS_clock_gettime);

	return (struct dp_permits){
		.no_traps = proc->signal_free ? proc->why_signal_free : NULL,
		.no_jumps = proc->go ? no_room : NULL,
		.dispatches = proc->dispatches,
		.waits = !(proc->forbidden & wait),
		.clock = !proc->timeless,
	};
}

struct dp_arena *dp_process_arena(const struct dp_process *proc)
{
	return proc->engine ? dp_engine_arena(proc->engine) : NULL;
}

struct dp_arena *dp_process_probed(const struct dp_process *proc)
{
	return __atomic_load_n(&proc->installed, __ATOMIC_ACQUIRE) ?
		       dp_process_arena(proc) :
		       NULL;
}

bool dp_process_view(const struct dp_process *proc, struct dp_view *view)
{
	struct dp_arena *arena = dp_process_arena(proc);

	return arena && proc->file &&
	       !dp_view_open(view, arena,
			     proc->file_size - DP_FILE_ARENA_OFFSET);
}

void dp_process_note_exec(struct dp_process *proc)
{
	const struct dp_arena *arena = dp_process_arena(proc);
	ssize_t n = proc->exited ?
			    -1 :
			    readlink(dp_path("/proc/%d/exe", proc->pid).s,
				     proc->execed, sizeof(proc->execed) - 1);

	if (n > 0)
		proc->execed[n] = '\0';
	else
		snprintf(proc->execed, sizeof(proc->execed), "%.255s",
			 arena && arena->hit.exec_path[0] ?
				 arena->hit.exec_path :
				 "another program");
}

bool dp_process_status(const struct dp_process *proc, int *status)
{
	*status = proc->status;
	return proc->status_known;
}

/* Translate a thread id of the target's PID namespace. Return: the id in the tool's, or 0. */
static u32 find_thread(const struct dp_process *proc, u32 tid)
{
	struct dp_status st;
	pid_t ours;

	dp_each_task(ours, proc->pid)
		if (!dp_status_read(proc->pid, ours, &st) && st.ns_pid == tid)
			return (u32)ours;
	return 0;
}

u32 dp_process_thread(const struct dp_process *proc, u32 tid)
{
	if (proc->ns_pid != (u32)proc->pid)
		return find_thread(proc, tid);
	return (s32)tid > 0 && (!syscall(SYS_tgkill, proc->pid, tid, 0) ||
				errno == EPERM) ?
		       tid :
		       0;
}

bool dp_process_is_threaded(const struct dp_process *proc)
{
	size_t n = 0;
	pid_t tid;

	dp_each_task(tid, proc->pid)
		n++;
	return n > 1;
}

const char *dp_process_execed(const struct dp_process *proc)
{
	return proc->execed;
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

static u32 filters_of(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	return dp_status_read(proc->pid, tid, &st) ? 0 : dp_status_filters(&st);
}

u32 dp_process_filters(const struct dp_process *proc, pid_t tid)
{
	u32 most = 0, one;

	if (tid)
		return filters_of(proc, tid);
	dp_each_task(tid, proc->pid) {
		one = filters_of(proc, tid);
		most = one > most ? one : most;
	}
	return most;
}

struct dp_thread *dp_stop_held(const struct dp_process *proc, pid_t tid)
{
	size_t i;

	for (i = 0; i < proc->nr_threads; i++)
		if (proc->threads[i].tid == tid)
			return &proc->threads[i];
	return NULL;
}

bool __attribute__((weak)) dp_kill_point_fails(const char *name)
{
	return false;
}

void __attribute__((weak)) dp_kill_point(const char *name)
{
}
