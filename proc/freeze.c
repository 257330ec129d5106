// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * freeze: hold a process while its agent is replaced by another one.
 *
 * What dp_process_detach() and dp_process_install() do at several moments, each with
 * all threads stopped, they do at one. So no hit is lost between the old probes
 * and the new ones; but a thread that sleeps in a call that no stop restarts is left
 * asleep, and may wake up meanwhile.
 *
 * A thread that waits in the agent for our answer (engine/hit/linker.c) is in a
 * signal handler: it is sent home to the instruction that it trapped at.
 */
#include "proc/private.h"
#include "engine/arch/x86/sigframe.h"
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static struct dp_arena *arena_of(const struct dp_process *proc)
{
	return proc->engine && proc->installed ? dp_engine_arena(proc->engine) :
						 NULL;
}

bool dp_process_asked(const struct dp_process *proc)
{
	const struct dp_arena *a = arena_of(proc);

	return a && a->control.linker_state &&
	       __atomic_load_n(&a->hit.linker_asked, __ATOMIC_ACQUIRE) !=
		       a->control.linker_answered;
}

void dp_process_answer(struct dp_process *proc)
{
	struct dp_arena *a = arena_of(proc);

	if (!a)
		return;
	__atomic_store_n(&a->control.linker_answered,
			 __atomic_load_n(&a->hit.linker_asked,
					 __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
	syscall(SYS_futex, &a->control.linker_answered, FUTEX_WAKE, INT_MAX,
		NULL, NULL, 0);
}

bool dp_process_wait_asked(const struct dp_process *proc, int timeout_ms)
{
	struct timespec t = { timeout_ms / 1000, timeout_ms % 1000 * 1000000l };
	const struct dp_arena *a = arena_of(proc);

	if (!a || !a->control.linker_state)
		return false;
	if (!dp_process_asked(proc))
		syscall(SYS_futex, &a->hit.linker_asked, FUTEX_WAIT,
			a->control.linker_answered, &t, NULL, 0);
	return true;
}

/* To the end of its next system call. */
static int through_call(struct dp_process *proc, pid_t tid)
{
	int status, stops = 0;

	while (stops < 2) {
		if (ptrace(PTRACE_SYSCALL, tid, 0, 0) ||
		    dp_stop_wait(tid, &status) != tid ||
		    dp_stop_lost(proc, tid, status))
			return -ESRCH;
		stops += WSTOPSIG(status) == (SIGTRAP | 0x80);
	}
	return 0;
}

/* By the return from its signal handler, which brings everything back. */
static int send_home(struct dp_process *proc, struct dp_thread *t, u64 frame)
{
	t->regs.rip = proc->restorer;
	t->regs.rsp = frame + sizeof(u64);
	t->regs.orig_rax = (unsigned long long)-1;
	if (dp_gadgets_borrow(proc) ||
	    ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs) ||
	    through_call(proc, t->tid) ||
	    ptrace(PTRACE_GETREGS, t->tid, 0, &t->regs))
		return -ESRCH;
	dp_gadgets_return(proc);
	return 0;
}

bool dp_linker_waits(const struct dp_process *proc, const struct dp_thread *t)
{
	u64 word = proc->base + DP_ARENA_OFFSET +
		   offsetof(struct dp_arena, control.linker_answered);

	return arena_of(proc) && t->regs.rip - proc->base < DP_AGENT_TEXT &&
	       t->regs.rdi == word;
}

int dp_linker_home(struct dp_process *proc)
{
	const struct dp_arena *a = arena_of(proc);
	int err = 0;
	u64 regs;
	size_t i;

	for (i = 0; i < proc->nr_threads && !err; i++) {
		if (!dp_linker_waits(proc, &proc->threads[i]))
			continue;
		/* It asks anew if it is let go as it is. */
		dp_process_answer(proc);
		regs = __atomic_load_n(&a->hit.linker_regs, __ATOMIC_ACQUIRE);
		err = send_home(proc, &proc->threads[i],
				regs - offsetof(struct dp_sigframe, uc.mc));
	}
	return err;
}

int dp_process_freeze(struct dp_process *proc, struct dp_diag *diag)
{
	int err = dp_stop_alone(proc, diag);

	if (err)
		return err;
	err = dp_linker_home(proc);
	if (err) {
		dp_stop_release(proc);
		return dp_diag_set(diag, err, "process %d has ended",
				   proc->pid);
	}
	proc->frozen = true;
	return 0;
}

/* What could not be replaced is still what there are counts in. */
static void go_back(struct dp_process *proc)
{
	struct dp_arena *failed = dp_engine_arena(proc->engine);

	if (proc->file && failed)
		dp_alive_leave(&failed->control);
	if (proc->file)
		munmap(proc->file, proc->file_size);
	proc->file = proc->old_file;
	proc->file_size = proc->old_file_size;
	proc->engine = proc->heir_of;
	dp_shares_forget(proc, proc->old_shares,
			 proc->nr_shares - proc->old_shares);
}

void dp_process_thaw(struct dp_process *proc)
{
	proc->frozen = false;
	dp_stop_release(proc);
	if (proc->old_file && proc->installed) {
		munmap(proc->old_file, proc->old_file_size);
		dp_shares_forget(proc, 0, proc->old_shares);
	} else if (proc->old_file) {
		go_back(proc);
	}
	proc->old_file = NULL;
	proc->heir_of = NULL;
}

/* Who has told of a hit already does not do so again. */
static void go_on_behind(struct dp_process *proc)
{
	struct dp_view view;
	size_t i;
	u64 to;

	if (!dp_process_view(proc, &view))
		return;
	for (i = 0; i < proc->nr_threads; i++) {
		struct dp_thread *t = &proc->threads[i];

		if (!t->counted || t->regs.rip != t->counted)
			continue;
		to = dp_view_after_hit(&view, t->counted);
		if (!to)
			continue;
		t->regs.rip = to;
		ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
	}
}

int dp_process_reinstall(struct dp_process *proc, struct dp_engine *engine,
			 struct dp_diag *diag)
{
	int err;

	proc->heir_of = proc->engine;
	proc->old_file = proc->file;
	proc->old_file_size = proc->file_size;
	proc->old_shares = proc->nr_shares;
	proc->file = NULL;
	if (dp_engine_arena(proc->heir_of))
		dp_alive_leave(&dp_engine_arena(proc->heir_of)->control);
	err = dp_process_install(proc, engine, diag);
	if (!err && proc->frozen)
		go_on_behind(proc);
	return err;
}
