// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * guardian: a child of the tool that cleans a process when the tool has been killed.
 *
 * Debug registers that a killed tool has set stay, and each of their traps is a signal, which the
 * agent drops. That is safe, but slow, and a thread that blocks SIGTRAP behind the agent's back
 * dies of it. So a child waits for a word. When the tool ends without a word, the child does what
 * the next dprobes would do. A kill that gets both leaves that to the next dprobes.
 */
#include "proc/watch/guardian.h"
#include "proc/proc.h"
#include "proc/ptrace/process.h"
#include "proc/ptrace/stop.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORD 3 /* the only descriptor that the child keeps */
#define TRIES 20
#define NAP_NS 100000000

/* It must not keep a pipe open from which the tool's reader waits for the end, or a terminal. */
static void detach_from_tool(int fd)
{
	sigset_t all;
	int null;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, DP_TRACER_CHILD_NAME);
	setsid();
	null = open("/dev/null", O_RDWR);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	dup2(fd, WORD);
	syscall(SYS_close_range, WORD + 1, ~0u, 0);
}

/* Return: false: the tool has been killed. */
static bool is_dismissed(void)
{
	char word;
	ssize_t n;

	do
		n = read(WORD, &word, 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* The next dprobes may be at work already. */
static void clean(pid_t pid, int pidfd)
{
	struct pollfd p = { pidfd, POLLIN, 0 };
	int err, tries = 0;

	do {
		err = dp_process_clean(pid, NULL);
		if (err >= 0 || err == -ESRCH)
			return;
		dp_nap(NAP_NS);
	} while (++tries < TRIES && poll(&p, 1, 0) == 0);
}

static void guard(pid_t pid, int fd)
{
	int pidfd;

	detach_from_tool(fd);
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd >= 0 && !is_dismissed())
		clean(pid, pidfd);
	_exit(0);
}

void dp_guardian_open(struct dp_guardian *g, pid_t pid)
{
	int ends[2];

	g->pid = 0;
	if (dp_kill_point_fails("registers: guardian") ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return;
	g->pid = fork();
	if (!g->pid) {
		close(ends[1]);
		guard(pid, ends[0]);
	}
	close(ends[0]);
	g->fd = ends[1];
	if (g->pid > 0)
		return;
	close(g->fd);
	g->pid = 0;
}

void dp_guardian_dismiss(struct dp_guardian *g)
{
	if (!g->pid)
		return;
	/* A guardian that was killed has closed the other end. */
	if (send(g->fd, "", 1, MSG_NOSIGNAL) == 1)
		dp_stop_wait(g->pid, NULL);
	close(g->fd);
	g->pid = 0;
}
