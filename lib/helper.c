// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* helper: start the helper, give it an order, and read its answer. */
#include "lib/helper/helper.h"
#include "lib/register_child.h"
#include "port_raw.h"
#include "lib/text.h"
#include "proc/facts.h"
#include "proc/inspect.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_STACK 65536
#define CHILD_MS 5000 /* another child of ours traces a thread for a moment */
#define PROGRAM 2 /* descriptor of its file, next to DP_HELPER_ANSWER */

/* Write the helper's program to a memfd, for execveat(). */
static int helper_file(void)
{
	size_t size = (size_t)(dp_helper_end - dp_helper_start);
	int fd = dp_limits_file("helper of dprobes", size);

	if (fd >= 0)
		fd = dp_fd_raise(fd);
	if (fd < 0 || !dp_helper_put(fd, dp_helper_start, size))
		return fd;
	close(fd);
	return -EIO;
}

static int make_pipe(int ends[2])
{
	int i;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	for (i = 0; i < 2; i++)
		ends[i] = dp_fd_raise(ends[i]);
	return ends[0] < 0 ? ends[0] : ends[1] < 0 ? ends[1] : 0;
}

static void close_all(const int *fds, int n)
{
	while (n-- > 0)
		if (fds[n] >= 0)
			close(fds[n]);
}

/* Does Yama let only ancestors trace, and processes named by PR_SET_PTRACER? */
static bool is_to_be_named(void)
{
	char scope[2];

	return dp_text_read("/proc/sys/kernel/yama/ptrace_scope", scope,
			    sizeof(scope)) > 0 &&
	       *scope == '1';
}

/** struct launch - what the child reads while we close descriptors of our own */
struct launch {
	int file, orders, answer;
	int tell, hear; /* our ends */
	char *stack;
};

static void become(void *unused)
{
	static char *const argv[] = { (char *)"helper of dprobes", NULL };
	static char *const envp[] = { NULL };

	dp_raw(SYS_execveat, PROGRAM, (long)"", (long)argv, (long)envp,
	       AT_EMPTY_PATH);
	dp_raw(SYS_exit_group, 127, 0, 0, 0, 0);
}

/* Close all other descriptors, so that the program's files are closed when the program
 * closes them. Before Linux 5.9 there is no close_range(), and the pipes' ends count. */
static void stand_between(void *arg)
{
	const struct launch *l = arg;
	s32 pid = -1;

	dp_raw(SYS_close, l->tell, 0, 0, 0, 0);
	dp_raw(SYS_close, l->hear, 0, 0, 0, 0);
	if (dp_raw(SYS_dup2, l->orders, DP_HELPER_ORDERS, 0, 0, 0) >= 0 &&
	    dp_raw(SYS_dup2, l->answer, DP_HELPER_ANSWER, 0, 0, 0) >= 0 &&
	    dp_raw(SYS_dup2, l->file, PROGRAM, 0, 0, 0) >= 0) {
		dp_raw(SYS_close_range, PROGRAM + 1, ~0u, 0, 0, 0);
		pid = (s32)dp_raw_clone(CLONE_VM | CLONE_VFORK | SIGCHLD,
					l->stack + HELPER_STACK / 2, become,
					NULL);
	}
	dp_raw(SYS_close, DP_HELPER_ORDERS, 0, 0, 0, 0);
	dp_raw(SYS_write, DP_HELPER_ANSWER, (long)&pid, sizeof(pid), 0, 0);
	if (pid > 0)
		dp_raw(SYS_wait4, pid, 0, __WALL, 0, 0);
	dp_raw(SYS_exit_group, 0, 0, 0, 0, 0);
}

/* After exec a child sends SIGCHLD to its parent, and any wait() of the parent sees it. So
 * a child that does not exec starts the helper, and the program notices neither. */
static pid_t launch(struct launch *l)
{
	sigset_t all, mask;
	pid_t pid;

	l->stack = mmap(NULL, HELPER_STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (l->stack == MAP_FAILED)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = (pid_t)dp_raw_clone(CLONE_VM, l->stack + HELPER_STACK,
				  stand_between, l);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

static int talk(const struct dp_helper_order *order, const u32 *which,
		struct dp_helper_answer *answer, int orders, int answers,
		struct dp_diag *diag)
{
	s32 pid;

	if (dp_helper_get(answers, &pid, sizeof(pid)) || pid < 0)
		return dp_diag_set(
			diag, -EPERM,
			"the helper that prepares this process cannot be started");
	if (is_to_be_named())
		prctl(PR_SET_PTRACER, pid, 0, 0, 0);
	if (dp_helper_put(orders, order, sizeof(*order)) ||
	    (which &&
	     dp_helper_put(orders, which, order->n * sizeof(*which))) ||
	    dp_helper_get(answers, answer, sizeof(*answer)))
		return dp_diag_set(
			diag, -EPERM,
			"the helper that prepares this process could not be run, or was ended");
	return answer->err ?
		       dp_diag_set(diag, answer->err, "%s", answer->diag.text) :
		       0;
}

static int open_all(struct dp_helper_run *run)
{
	int err = run->fds[4] = helper_file();

	if (err >= 0)
		err = make_pipe(run->fds);
	return err < 0 ? err : make_pipe(run->fds + 2);
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

int dp_helper_open(struct dp_helper_run *run,
		   const struct dp_helper_order *order, const u32 *which,
		   struct dp_helper_answer *answer, struct dp_diag *diag)
{
	int *orders = run->fds, *answers = run->fds + 2, err;
	struct launch l = { 0 };

	*run = (struct dp_helper_run){ .fds = { -1, -1, -1, -1, -1 },
				       .pid = -1 };
	run->alone = dp_register_lock(CHILD_MS);
	err = open_all(run);
	if (!err) {
		l = (struct launch){ .file = run->fds[4],
				     .orders = orders[0],
				     .answer = answers[1],
				     .tell = orders[1],
				     .hear = answers[0] };
		run->pid = launch(&l);
		run->stack = l.stack;
		close_one(&answers[1]);
		err = run->pid < 0 ? run->pid :
				     talk(order, which, answer, orders[1],
					  answers[0], diag);
	}
	if (run->pid < 0)
		dp_diag_set(
			diag, err,
			"the helper that prepares this process cannot be started: %s",
			strerror(-err));
	return err;
}

void dp_helper_close(struct dp_helper_run *run)
{
	pid_t pid = run->pid;

	/* The helper may still wait for an order: let its read end. */
	close_one(&run->fds[1]);
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	if (run->stack && run->stack != MAP_FAILED)
		munmap(run->stack, HELPER_STACK);
	if (pid > 0 && is_to_be_named())
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	close_all(run->fds, 5);
	if (run->alone)
		dp_register_unlock();
}

int dp_helper_run(const struct dp_helper_order *order, const u32 *which,
		  struct dp_helper_answer *answer, struct dp_diag *diag)
{
	struct dp_helper_run run;
	int err = dp_helper_open(&run, order, which, answer, diag);

	dp_helper_close(&run);
	return err;
}
