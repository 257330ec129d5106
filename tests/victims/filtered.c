// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * filtered: under a seccomp filter that kills for nearly every call:
 * filtered [sigreturn | stacked | mixed | single | strict].
 *
 * Allowed are write, nanosleep, futex, exit, exit_group and sched_yield; with
 * "sigreturn" also rt_sigreturn and restart_syscall. stacked: two such filters;
 * mixed: only the first of two allows rt_sigreturn. single: one thread only has a
 * filter. strict: the kernel's own strict mode, in which write, read, exit and
 * rt_sigreturn are left; one thread then. Threads work and sleep, and check their
 * results. Until somebody sets the word "filtered_stop" in its memory; then "right"
 * or "wrong", or if it is 2 an int3 of the program's own.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LAST 3l /* number of the first thread's work */
#define ALLOW(nr)                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

volatile int filtered_stop;
long victim_function(long n);
long asleep(long n);
long short_function(long n);
long takes_text(const char *s);
static volatile int wrong, running;
static int strict, seccomp_too;
static char text[] = "a string";

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1 + n / 7 - n / 7;
}

/* A jump has no room here. */
__attribute__((noipa, naked)) long short_function(long n)
{
	__asm__("ret");
}

__attribute__((noipa)) long takes_text(const char *s)
{
	return s[0];
}

__attribute__((noipa)) long asleep(long n)
{
	struct timespec nap = { 0, 300000 };

	/* By the call whose restart has a name of its own. */
	if (!strict)
		syscall(SYS_nanosleep, &nap, NULL);
	return n;
}

static void *worker(void *arg)
{
	long n = (long)arg, i, rounds;

	if (n != LAST)
		__atomic_fetch_add(&running, 1, __ATOMIC_RELEASE);
	for (rounds = 0; !filtered_stop; rounds++) {
		for (i = 0; i < 100; i++)
			if (victim_function(i) != i * 3 + 1)
				wrong = 1;
		if (takes_text(text) != 'a')
			wrong = 1;
		short_function(i);
		if (n & 1 && asleep(n) != n)
			wrong = 1;
	}
	__atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
	/* The end of a thread makes calls that the filter forbids. */
	while (n != LAST)
		asleep(n);
	return NULL;
}

static void filter(int with_sigreturn, unsigned int flags)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write),
		ALLOW(SYS_nanosleep),
		ALLOW(SYS_futex),
		ALLOW(SYS_exit),
		ALLOW(SYS_exit_group),
		ALLOW(SYS_sched_yield),
		/* Ended here, or with these two. */
		ALLOW(with_sigreturn ? SYS_rt_sigreturn : SYS_write),
		ALLOW(with_sigreturn ? SYS_restart_syscall : SYS_write),
		/* For another one. */
		ALLOW(seccomp_too ? SYS_seccomp : SYS_write),
		ALLOW(seccomp_too ? SYS_prctl : SYS_write),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &prog))
		exit(2);
}

static void confine(const char *mode)
{
	int all = SECCOMP_FILTER_FLAG_TSYNC;

	if (!strcmp(mode, "stacked") || !strcmp(mode, "mixed"))
		seccomp_too = 1;
	filter(!strcmp(mode, "sigreturn") || seccomp_too,
	       !strcmp(mode, "single") ? 0 : all);
	if (seccomp_too) {
		seccomp_too = 0;
		filter(!strcmp(mode, "stacked"), all);
	}
}

static void say(const char *what)
{
	if (write(1, what, strlen(what)) < 0)
		wrong = 1;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t threads[3];
	long i;

	strict = !strcmp(mode, "strict");
	for (i = 0; i < 3 && !strict; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	/* Until their libc has done with what the filter forbids. */
	while (!strict && __atomic_load_n(&running, __ATOMIC_ACQUIRE) < 3)
		sched_yield();
	if (!strict)
		confine(mode);
	else if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
		return 2;
	say("running\n");
	worker((void *)LAST);
	while (!strict && __atomic_load_n(&running, __ATOMIC_ACQUIRE) > -1)
		asleep(0);
	if (filtered_stop == 2)
		__asm__ volatile("int3");
	say(wrong ? "wrong\n" : "right\n");
	syscall(strict ? SYS_exit : SYS_exit_group, wrong);
	return wrong;
}
