// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* child: call a function in a child that shares the tool's memory (CLONE_VM). */
#include "proc/call.h"
#include "port_raw.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE (1u << 20)

struct running {
	const struct dp_child *child;
	pid_t parent;
	bool done;
};

/* The child ends with the tool: the next tool must not meet it at work. */
static bool goes_with_us(const struct running *r)
{
	dp_raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	return dp_raw(SYS_getppid, 0, 0, 0, 0, 0) == r->parent;
}

static void run(void *arg)
{
	struct running *r = arg;
	const struct dp_child *child = r->child;

	if (child->name)
		dp_raw(SYS_prctl, PR_SET_NAME, (long)child->name, 0, 0, 0);
	/* Its waits take microseconds, while threads of the target are stopped. */
	dp_raw(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (child->outlives || goes_with_us(r)) {
		child->work(child->arg);
		r->done = true;
	}
	dp_raw(SYS_exit, 0, 0, 0, 0, 0);
}

int dp_child_run(const struct dp_child *child)
{
	struct running r = { child, getpid(), false };
	sigset_t all, mask;
	long pid;
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	pid = dp_raw_clone(CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_FS,
			   stack + STACK_SIZE, run, &r);
	while (pid > 0 && dp_raw(SYS_wait4, pid, 0, __WALL, 0, 0) == -EINTR)
		continue;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	munmap(stack, STACK_SIZE);
	return pid < 0 ? (int)pid : r.done ? 0 : -EINTR;
}
