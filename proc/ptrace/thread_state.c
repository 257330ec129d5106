// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* thread_state: the system call in which a thread sleeps, as /proc tells. */
#include "port_calls.h"
#include "proc/ptrace/stop.h"
#include "proc/ptrace/procfs.h"
#include "proc/ptrace/process.h"
#include <stdio.h>
#include <sys/syscall.h>

/* signal(7), "Interruption of system calls … by stop signals", and calls that return EINTR
 * if their socket has a timeout. */
static const int not_restarted[] = {
	SYS_epoll_wait,	     SYS_epoll_pwait,	 SYS_epoll_pwait2,
	SYS_rt_sigtimedwait, SYS_semop,		 SYS_semtimedop,
	SYS_io_getevents,    SYS_io_pgetevents,	 SYS_msgsnd,
	SYS_msgrcv,	     SYS_io_uring_enter, SYS_read,
	SYS_readv,	     SYS_recvfrom,	 SYS_recvmsg,
	SYS_recvmmsg,	     SYS_accept,	 SYS_accept4,
	SYS_write,	     SYS_writev,	 SYS_sendto,
	SYS_sendmsg,
};
/* So many of them, the first ones, return EINTR whatever the descriptor. */
#define NEVER_RESTARTED 11

int dp_call_index(const int *numbers, size_t n, long nr)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (numbers[i] == nr)
			return (int)i;
	return -1;
}

static bool in_list(long nr, size_t n)
{
	return dp_call_index(not_restarted, n, nr) >= 0;
}

static bool vforks(long nr)
{
	return nr == SYS_vfork || nr == SYS_clone || nr == SYS_clone3;
}

bool dp_thread_state_is_ended(long nr)
{
	return in_list(nr, sizeof(not_restarted) / sizeof(not_restarted[0]));
}

/* The line is "running" if the thread runs. */
static bool read_line(pid_t pid, pid_t tid, char *line, size_t size)
{
	return dp_text_read(dp_path("/proc/%d/task/%d/syscall", pid, tid).s,
			    line, size) > 0;
}

bool dp_thread_state_read(pid_t pid, pid_t tid, struct dp_thread_state *c)
{
	unsigned long long *a = c->args;
	char line[256];

	return read_line(pid, tid, line, sizeof(line)) &&
	       sscanf(line, "%ld %llx %llx %llx %llx %llx %llx %llx %llx",
		      &c->nr, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &c->sp,
		      &c->pc) == 9;
}

/* A thread that sleeps, in a system call or for a page, or that is stopped, does not run. */
bool dp_thread_state_runs(pid_t pid, pid_t tid)
{
	char line[256];

	return !read_line(pid, tid, line, sizeof(line)) || line[0] == 'r';
}

bool dp_thread_state_masked(const struct dp_thread_state *c)
{
	int n = dp_wait_argument((u64)c->nr);

	return n == 0 || (n > 0 && c->args[n]);
}

/* A stopped thread does not wait: /proc shows the call that it was in last. That of a new
 * thread is the clone that made it. */
bool dp_thread_state_vfork(pid_t pid, pid_t tid, long nr)
{
	struct dp_status st;

	return vforks(nr) && !dp_status_read(pid, tid, &st) &&
	       st.state != 't' && st.state != 'T';
}

/*
 * A vfork parent sleeps where no stop reaches it, until its child has gone. The kernel restarts
 * a masked wait after a stop, but first delivers signals that only the wait's mask blocks.
 */
bool dp_thread_state_asleep(pid_t pid, pid_t tid, u64 *sp, u64 *pc)
{
	struct dp_thread_state c;

	if (!dp_thread_state_read(pid, tid, &c))
		return false;
	*sp = c.sp;
	*pc = c.pc;
	return in_list(c.nr, NEVER_RESTARTED) ||
	       dp_thread_state_vfork(pid, tid, c.nr) ||
	       dp_thread_state_masked(&c);
}
