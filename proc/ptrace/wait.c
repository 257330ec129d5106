// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* wait: waitpid(2) for traced threads, and a child to try ptrace(2) on. */
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t dp_stop_wait(pid_t tid, int *status)
{
	pid_t got;

	do
		got = waitpid(tid, status, __WALL);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool is_for_signal(const siginfo_t *info)
{
	return info->si_code == CLD_TRAPPED && !(info->si_status >> 8) &&
	       info->si_status != (SIGTRAP | 0x80);
}

pid_t dp_stop_seen(pid_t tid, int *status, int flags)
{
	siginfo_t info = { 0 };

	if (waitid(tid < 0 ? P_ALL : P_PID, tid < 0 ? 0 : (id_t)tid, &info,
		   WEXITED | WSTOPPED | WNOWAIT | __WALL | flags))
		return -1;
	if (!info.si_pid)
		return 0;
	if (!is_for_signal(&info))
		return waitpid(info.si_pid, status, __WALL | flags);
	*status = info.si_status << 8 | 0x7f;
	return info.si_pid;
}

bool dp_child_try(bool (*works)(pid_t child))
{
	pid_t us = getpid(), child = fork();
	bool yes;

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == us)
			pause();
		_exit(0);
	}
	yes = child > 0 && works(child);
	if (child > 0) {
		kill(child, SIGKILL);
		dp_stop_wait(child, NULL);
	}
	return yes;
}
