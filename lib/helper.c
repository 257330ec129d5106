// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* helper: start the helper, tell it what to do, and hear what came of it. */
#include "lib/helper/helper.h"
#include "lib/text.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER_STACK 65536

struct talk {
	const struct dp_helper_order *order;
	const u32 *which;
	struct dp_helper_answer *answer;
	struct dp_diag *diag;
};

/* The image in a file without a name, which exec can be told of. */
static int helper_file(void)
{
	size_t size = (size_t)(dp_helper_end - dp_helper_start), done = 0;
	int fd = dp_fd_raise((int)syscall(SYS_memfd_create, "helper of dprobes",
					  1 /* MFD_CLOEXEC */));

	while (fd >= 0 && done < size) {
		ssize_t n = write(fd, dp_helper_start + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			close(fd);
			return -EIO;
		}
		done += (size_t)n;
	}
	return fd;
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

/* Does Yama let only ancestors trace, and whom they name? */
static bool is_to_be_named(void)
{
	int fd = open("/proc/sys/kernel/yama/ptrace_scope",
		      O_RDONLY | O_CLOEXEC);
	char scope = '0';

	if (fd < 0)
		return false;
	if (read(fd, &scope, 1) != 1)
		scope = '0';
	close(fd);
	return scope == '1';
}

/**
 * struct launch - shared with two children, which run in our memory
 * @helper: its process id, when it is known
 */
struct launch {
	int file, orders, answer;
	s32 helper;
	char *memory;
};

/* The helper to be; until it executes it may only make system calls. */
static int become(void *arg)
{
	static char *const argv[] = { (char *)"helper of dprobes", NULL };
	static char *const envp[] = { NULL };
	const struct launch *l = arg;

	/* Not onto each other, should they be 0 or 1 already. */
	int orders = fcntl(l->orders, F_DUPFD, 3);
	int answer = fcntl(l->answer, F_DUPFD, 3);

	if (dup2(orders, DP_HELPER_ORDERS) < 0 ||
	    dup2(answer, DP_HELPER_ANSWER) < 0)
		_exit(126);
	close(orders);
	close(answer);
	syscall(SYS_execveat, l->file, "", argv, envp, AT_EMPTY_PATH);
	_exit(127);
}

/* The helper's parent. A process that executes sends its parent SIGCHLD when it
 * ends, and this one does not execute. */
static int wait_for_helper(void *arg)
{
	struct launch *l = arg;
	pid_t pid = clone(become, l->memory + HELPER_STACK,
			  CLONE_VM | CLONE_VFORK | SIGCHLD, l);

	__atomic_store_n(&l->helper, pid, __ATOMIC_RELEASE);
	syscall(SYS_futex, &l->helper, FUTEX_WAKE, 1, NULL, NULL, 0);
	while (pid > 0 && syscall(SYS_wait4, pid, NULL, 0, NULL) == -1 &&
	       errno == EINTR)
		continue;
	_exit(0);
}

/* No signal when it ends, and no plain wait() sees it: the program has nothing
 * to do with it. @l->helper gets the helper's id. */
static pid_t launch(struct launch *l)
{
	sigset_t all, mask;
	pid_t pid;

	l->memory = mmap(NULL, 2 * HELPER_STACK, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (l->memory == MAP_FAILED)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = clone(wait_for_helper, l->memory + 2 * HELPER_STACK, CLONE_VM, l);
	if (pid < 0)
		pid = -errno;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	while (pid > 0 && !__atomic_load_n(&l->helper, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &l->helper, FUTEX_WAIT, 0, NULL, NULL, 0);
	return pid;
}

/* Without SIGPIPE, should it have ended: a pipe of ours that is full for ever is
 * the lesser evil, and cannot be. */
static int say(int fd, const void *what, size_t n)
{
	const char *at = what;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -EPIPE;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static int hear(int fd, void *what, size_t n)
{
	char *at = what;

	while (n) {
		ssize_t done = read(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -EPIPE;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}

static int talk(pid_t pid, const struct talk *t, int orders, int answers)
{
	if (is_to_be_named())
		prctl(PR_SET_PTRACER, pid, 0, 0, 0);
	if (say(orders, t->order, sizeof(*t->order)) ||
	    (t->which && say(orders, t->which,
			     t->order->n * sizeof(*t->which))) ||
	    hear(answers, t->answer, sizeof(*t->answer)))
		return dp_diag_set(
			t->diag, -EPERM,
			"the helper that prepares this process could not be run, or was ended");
	if (t->answer->err)
		return dp_diag_set(t->diag, t->answer->err, "%s",
				   t->answer->diag.text);
	return 0;
}

int dp_helper_run(const struct dp_helper_order *order, const u32 *which,
		  struct dp_helper_answer *answer, struct dp_diag *diag)
{
	const struct talk t = { order, which, answer, diag };
	int fds[5] = { -1, -1, -1, -1, -1 }, *orders = fds, *answers = fds + 2;
	struct launch l = { .file = fds[4] = helper_file() };
	int err = l.file < 0 ? l.file : make_pipe(orders);
	pid_t pid = -1;

	if (!err)
		err = make_pipe(answers);
	if (!err) {
		l.orders = orders[0];
		l.answer = answers[1];
		pid = launch(&l);
		close(answers[1]);
		answers[1] = -1;
		err = pid < 0 ? pid :
				talk(l.helper, &t, orders[1], answers[0]);
	}
	if (pid < 0)
		dp_diag_set(diag, err,
			    "the helper that prepares this process cannot be started: %s",
			    strerror(-err));
	close(orders[1]);
	orders[1] = -1;
	while (pid > 0 && waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		continue;
	if (l.memory && l.memory != MAP_FAILED)
		munmap(l.memory, 2 * HELPER_STACK);
	if (pid > 0 && is_to_be_named())
		prctl(PR_SET_PTRACER, 0, 0, 0, 0);
	close_all(fds, 5);
	return err;
}
