// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* resume: send a thread back into a system call that a stop has interrupted. */
#include "arch/uregs.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

#define ERESTART_RESTARTBLOCK 516 /* linux/errno.h */

/* Signals ignored by default; pending nevertheless while the thread is traced. */
#define DULL                                             \
	(1ull << (SIGCHLD - 1) | 1ull << (SIGCONT - 1) | \
	 1ull << (SIGURG - 1) | 1ull << (SIGWINCH - 1))

static bool signal_waits(const struct dp_process *proc, pid_t tid)
{
	struct dp_status st;

	if (dp_status_read(proc->pid, tid, &st))
		return true;
	return (st.pending | st.shared_pending) & ~st.blocked & ~st.ignored &
	       ~(DULL & ~st.caught);
}

/* The mask of a masked wait stays in force after a stop. A signal that only this mask lets
 * through would come before the restarted call, and not end it: restore the usual mask. */
static void end_own_mask(const struct dp_thread *t)
{
	u64 mask;

	if (dp_uregs_call(&t->regs) != SYS_epoll_pwait &&
	    dp_uregs_call(&t->regs) != SYS_epoll_pwait2)
		return;
	if (!ptrace(PTRACE_GETSIGMASK, t->tid, 8, &mask))
		ptrace(PTRACE_SETSIGMASK, t->tid, 8, &mask);
}

/* A filter may forbid restart_syscall, by which the kernel restarts a call. */
static bool restarts_otherwise(const struct dp_process *proc,
			       const struct dp_thread *t)
{
	return proc->no_restart && dp_uregs_call(&t->regs) >= 0 &&
	       dp_uregs_ret(&t->regs) == -ERESTART_RESTARTBLOCK;
}

/* A call with a timeout starts afresh: how long it has waited is not known. */
void dp_resume_call(const struct dp_process *proc, struct dp_thread *t)
{
	bool again = restarts_otherwise(proc, t);

	if (!again &&
	    (dp_uregs_call(&t->regs) < 0 || dp_uregs_ret(&t->regs) != -EINTR ||
	     !dp_thread_state_is_ended(dp_uregs_call(&t->regs))))
		return;
	end_own_mask(t);
	if (!again && signal_waits(proc, t->tid))
		return;
	dp_uregs_retry(&t->regs, dp_uregs_call(&t->regs));
	dp_uregs_leave_call(&t->regs);
	ptrace(PTRACE_SETREGS, t->tid, 0, &t->regs);
}
