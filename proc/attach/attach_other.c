// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * attach_other: an agent in a process whose probes come and go: itself, or another one.
 *
 * A process that will probe itself owns the agent, with room for later probes. Only another
 * process can stop all threads of a process and read their masks. So a helper does this part,
 * once, and then ends. It leaves the same as a tool would, except that the process itself is
 * the tool.
 *
 * In another process there is the same room, and a live engine. The tool owns the engine and
 * its memory, until it leaves or ends. Remote calls map the pools, each from a file of its own,
 * because no descriptor may stay in the target. Their code is written through /proc/PID/mem.
 */
#include "engine/layout/arena.h"
#include "engine/plan/plan.h"
#include "engine/site/engine.h"
#include "engine/site/live.h"
#include "engine/site/arm.h"
#include "agent/image.h"
#include "proc/attach/attach.h"
#include "proc/attach/area.h"
#include "proc/attach/pools.h"
#include "proc/attach_other.h"
#include "proc/proc.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/remote.h"
#include <dprobes/diag.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include "engine/site/internal.h"

/* Not at DP_ARENA_OFFSET, by which an arena is recognised. */
#define IMAGE_OFFSET (16ull << 20)
/* Programs of guests (lib/guest.c) for which there is room */
#define GUEST_PROGRAMS 8192

int dp_attach_other_map(struct dp_process *proc, u64 size, u8 **ours,
			u64 *there)
{
	void *mem;
	long at = dp_share_map(proc, 0, IMAGE_OFFSET, size, &mem);

	if (dp_remote_failed(at))
		return (int)at;
	/* The tool would take a fork child's writes for the parent's. */
	if (dp_remote_call(proc, SYS_madvise, at, size, MADV_DONTFORK)) {
		dp_remote_call(proc, SYS_munmap, at, size);
		return -ENOMEM;
	}
	*ours = mem;
	*there = (u64)at;
	return 0;
}

int dp_attach_other_protect(struct dp_process *proc, u64 addr, u64 size,
			    int prot, const void *bytes)
{
	int err;

	if (!(prot & PROT_EXEC))
		return (int)dp_remote_call(proc, SYS_mprotect, addr, size,
					   prot);
	err = dp_pools_code(proc, addr, size, MAP_FIXED);
	return err ? err : dp_process_write(proc, addr, bytes, size);
}

/* Prepare to write text and to map pools. */
static int begin(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_borrowed_begin(proc, diag);

	if (err)
		return err;
	err = dp_sync_begin(proc, diag);
	if (err)
		dp_borrowed_end(proc);
	return err;
}

/* dp_process_quiesce() stops all threads itself, so this tracer lets go first. */
static int grow_stopped(void *arg, const u32 *which, u32 n, bool in)
{
	struct dp_process *proc = arg;
	struct dp_diag *diag = proc->diag;
	u64 bad = 0;
	int err, later;

	dp_attach_other_end(proc);
	err = dp_process_quiesce(proc->pid, proc->base + DP_ARENA_OFFSET,
				 (char *)proc->file + DP_FILE_ARENA_OFFSET,
				 which, n, &bad, diag);
	later = begin(proc, diag);
	return err ? err : later;
}

/* No loader event tells when a library goes. So each write to an unowned mapping is preceded
 * by a look while no thread runs. When jumps are written that way, the look is made there. */
static int grow_hold(void *arg, bool unowned, int (*work)(void *what),
		     void *what)
{
	struct dp_process *proc = arg;
	struct dp_diag *diag = proc->diag;
	int err, later;

	if (!unowned || proc->quiesces)
		return work(what);
	dp_attach_other_end(proc);
	err = dp_stop_alone(proc, diag);
	if (!err) {
		err = work(what);
		dp_stop_release(proc);
	}
	later = begin(proc, diag);
	return err ? err : later;
}

const struct dp_growth_ops dp_attach_other_ops = { dp_pools_add,   dp_pools_put,
						   dp_pools_holes, grow_stopped,
						   grow_hold,	   NULL,
						   false };

/* @upcalls: threads that can wait for a handler at once; 0: handlers run where the hits are */
static int install(struct dp_process *proc, u32 max_sites, u32 upcalls,
		   enum dp_arming arming, struct dp_diag *diag)
{
	struct dp_engine *engine;

	if (dp_engine_create(&engine))
		return dp_diag_set(diag, -ENOMEM, "out of memory");
	dp_engine_attach_own(engine, max_sites);
	dp_engine_set_arming(engine, arming);
	if (upcalls)
		dp_engine_upcall(engine, upcalls);
	else
		dp_engine_expect(engine, &(struct dp_expected){
						 .programs = GUEST_PROGRAMS,
						 .log = DP_VM_LOG,
						 .traces = DP_VM_TRACES,
						 .heap = DP_VM_HEAP,
						 .calls = true });
	return dp_process_install(proc, engine, diag);
}

int dp_process_attach_own(pid_t pid, u32 max_sites, u64 *base,
			  struct dp_diag *diag)
{
	struct dp_process *proc;
	int err = dp_process_attach(pid, &proc, diag);

	if (err)
		return err;
	proc->own_process = true;
	err = install(proc, max_sites, 0, DP_ARM_DEFAULT, diag);
	*base = proc->base;
	/* On success the process owns the agent, and must not be detached. */
	if (err)
		dp_process_close(proc);
	return err;
}

int dp_process_attach_other(pid_t pid, const struct dp_attach_other *how,
			    struct dp_process **proc, struct dp_diag *diag)
{
	int err = dp_process_attach_as(pid, how->tool, proc, diag);

	if (err)
		return err;
	if ((*proc)->filtered)
		err = dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d runs under a seccomp filter, and a thread that waits for a handler makes system calls",
			pid);
	else if ((*proc)->dispatches)
		err = dp_diag_set(
			diag, -EOPNOTSUPP,
			"process %d dispatches system calls to a handler of its own (prctl PR_SET_SYSCALL_USER_DISPATCH), and a thread that waits for a probe's handler makes some",
			pid);
	(*proc)->attached_other = true;
	(*proc)->quiesces = how->arming == DP_ARM_QUIESCE;
	if (!err)
		err = install(*proc, how->max_sites, how->upcalls, how->arming,
			      diag);
	if (err) {
		dp_process_close(*proc);
		*proc = NULL;
	}
	return err;
}

u64 dp_attach_other_base(const struct dp_process *proc)
{
	return proc->base;
}

int dp_attach_other_pidfd(const struct dp_process *proc)
{
	return proc->pidfd;
}

int dp_attach_other_begin(struct dp_process *proc, struct dp_target **target,
			  struct dp_diag *diag)
{
	proc->diag = diag;
	*target = &proc->target;
	return begin(proc, diag);
}

void dp_attach_other_end(struct dp_process *proc)
{
	dp_sync_end(proc);
	dp_borrowed_end(proc);
}
