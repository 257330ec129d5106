// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * confined: a program that makes processes under a seccomp filter: confined ROUNDS.
 *
 * It executes itself under a filter that lets getppid fail and all else pass, so that
 * it never runs otherwise. Then children are forked, and every second one executes
 * the program again, while another thread works, too. Each checks its results, and that
 * the filter is in force all the time. Says "right: N", which is how often
 * victim_function was called by all of them, or "wrong".
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS 100

long victim_function(long n);
static long *calls; /* shared with children */
static volatile int over;
static int wrong;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1 + n / 7 - n / 7;
}

/* Followed, too. */
__attribute__((noipa)) static void work(void)
{
	long i;

	for (i = 0; i < CALLS; i++) {
		if (victim_function(i) != i * 3 + 1)
			wrong = 1;
		if (syscall(SYS_getppid) != -1 || errno != EPERM)
			wrong = 1;
	}
	if (calls)
		__atomic_fetch_add(calls, CALLS, __ATOMIC_RELAXED);
}

static void *worker(void *arg)
{
	(void)arg;
	while (!over)
		work();
	return NULL;
}

static int confine(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog, 0, 0);
}

static void make_child(char *self, int executes)
{
	char *again[] = { self, (char *)"again", NULL };
	pid_t child = fork();
	int status;

	if (child == 0) {
		work();
		if (executes && !wrong)
			execv("/proc/self/exe", again);
		_exit(wrong);
	}
	work();
	if (waitpid(child, &status, 0) != child || status)
		wrong = 1;
	if (executes)
		__atomic_fetch_add(calls, CALLS, __ATOMIC_RELAXED);
}

static void run(char *self, int rounds)
{
	pthread_t thread;
	int i;

	calls = mmap(NULL, sizeof(*calls), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (calls == MAP_FAILED || pthread_create(&thread, NULL, worker, NULL))
		exit(2);
	for (i = 0; i < rounds; i++)
		make_child(self, i & 1);
	over = 1;
	pthread_join(thread, NULL);
	printf(wrong ? "wrong\n" : "right: %ld\n", *calls);
}

int main(int argc, char **argv)
{
	char *confined[] = { argv[0], (char *)"confined", argv[1], NULL };

	if (argc == 3) {
		run(argv[0], atoi(argv[2]));
	} else if (argc == 2 && !strcmp(argv[1], "again")) {
		work();
	} else {
		if (argc != 2 || confine())
			return 2;
		execv("/proc/self/exe", confined);
		return 2;
	}
	return wrong;
}
