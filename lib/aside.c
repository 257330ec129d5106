// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* aside: a function called by a child in our memory. */
#define DP_NO_MODULE_NOTE
#include "lib/aside.h"
#include "port_raw.h"
#include "lib/self.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK_SIZE (1u << 20)

struct errand {
	void (*work)(void *arg);
	void *arg;
	pid_t parent;
	bool done;
};

static void run(void *arg)
{
	struct errand *e = arg;

	/* Not beyond our end: the next one would meet it at work. */
	dp_raw(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	/* What it waits for comes within microseconds, and others stand still. */
	dp_raw(SYS_prctl, PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (dp_raw(SYS_getppid, 0, 0, 0, 0, 0) == e->parent) {
		e->work(e->arg);
		e->done = true;
	}
	dp_raw(SYS_exit, 0, 0, 0, 0, 0);
}

/* Where we are probed ourselves, hits of the child are none of ours. */
static void say_sharer(u32 n)
{
	if (dp_self.arena)
		__atomic_fetch_add(&dp_self.arena->hit.sharers, n,
				   __ATOMIC_SEQ_CST);
}

int dp_aside(void (*work)(void *arg), void *arg)
{
	struct errand e = { work, arg, getpid(), false };
	sigset_t all, mask;
	long pid;
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);

	if (stack == MAP_FAILED)
		return -ENOMEM;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	say_sharer(1);
	pid = dp_raw_clone(CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_FS,
			   stack + STACK_SIZE, run, &e);
	say_sharer(-1u);
	while (pid > 0 && dp_raw(SYS_wait4, pid, 0, __WALL, 0, 0) == -EINTR)
		continue;
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	munmap(stack, STACK_SIZE);
	return pid < 0 ? (int)pid : e.done ? 0 : -EINTR;
}
