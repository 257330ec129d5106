// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* idle: find a sleeping thread that holds no lock, and can do work for the tool. */
#include "arch/uregs.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include <errno.h>
#include <sys/syscall.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Calls in which a thread holds no lock. First come calls that an interruption does not
 * change, last those whose timeout starts afresh. Calls in which an allocation, a lock or
 * buffered output may sleep are missing.
 */
static const int idle_calls[] = {
	SYS_read,
	SYS_readv,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_accept,
	SYS_accept4,
	SYS_wait4,
	SYS_waitid,
	SYS_pause,
	SYS_epoll_wait,
	SYS_epoll_pwait,
	SYS_epoll_pwait2,
	SYS_rt_sigtimedwait,
	SYS_poll,
	SYS_ppoll,
	SYS_select,
	SYS_pselect6,
	SYS_clock_nanosleep,
	SYS_nanosleep,
};

/* The thread gets its own mask back when it returns from the work: that must not block
 * signals that probes raise. */
static bool blocks_ours(pid_t pid, pid_t tid)
{
	struct dp_status st;

	return dp_status_read(pid, tid, &st) ||
	       st.blocked & dp_caught_mask(DP_CAUGHT);
}

/* Return: the index in idle_calls, or a negative number. */
static int place_of(long nr)
{
	return dp_call_index(idle_calls, ARRAY_SIZE(idle_calls), nr);
}

/* Return: the place_of() its call, or a negative number. */
static int idleness(pid_t pid, pid_t tid, const struct dp_map *text)
{
	struct dp_thread_state c;

	if (!dp_thread_state_read(pid, tid, &c) || dp_thread_state_masked(&c) ||
	    c.pc < text->start || c.pc >= text->end || blocks_ours(pid, tid))
		return -1;
	return place_of(c.nr);
}

static pid_t idlest(pid_t pid, const struct dp_map *text)
{
	int least = ARRAY_SIZE(idle_calls), place;
	pid_t tid, best = 0;

	dp_each_task(tid, pid) {
		place = idleness(pid, tid, text);
		if (place >= 0 && place < least) {
			least = place;
			best = tid;
		}
	}
	return best;
}

/* Is the stopped thread still in such a call, and about to restart it? */
static bool is_idle(const struct dp_thread *t, const struct dp_map *text)
{
	long nr = dp_uregs_call(&t->regs), ret = dp_uregs_ret(&t->regs);

	if (dp_uregs_pc(&t->regs) < text->start ||
	    dp_uregs_pc(&t->regs) >= text->end)
		return false;
	if (nr < 0) /* dp_resume_call() has sent the thread back */
		nr = ret;
	else if (ret > -512 || ret < -516) /* the kernel's ERESTART… */
		return false;
	return place_of(nr) >= 0;
}

int dp_idle_stop(struct dp_process *proc, const struct dp_map *text,
		 struct dp_diag *diag)
{
	pid_t tid = idlest(proc->pid, text);
	int err;

	if (!tid)
		return -EAGAIN;
	err = dp_stop_this(proc, tid, diag);
	if (err || is_idle(&proc->threads[0], text))
		return err;
	dp_stop_release(proc);
	return -EAGAIN;
}
