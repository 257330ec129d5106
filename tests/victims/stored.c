// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * stored: a variable that is written in every state that signals can be in.
 *
 * Each argument is one way, or "all" that can be gone in turn; a line tells what the program has seen, and the last
 * one how often it has written. With "-" it does what it reads, a word a line. "again" is the
 * program that an exec begins, with the variable at the same address. "run" writes for ever, by
 * four threads and threads that come and go, and says once a second that it lives; the first thread
 * writes the variable beside it. "turns" does so, too, with naps, has children that write, and is "again" after
 * SIGUSR1.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

volatile long stored __attribute__((aligned(8)));
volatile long stored_beside __attribute__((aligned(8)));
static volatile long own, sum;
static volatile long young; /* written by threads that come, alone */
static volatile sig_atomic_t traps, alarms, turned;
static long written;

__attribute__((noinline, noclone)) static void store(int n)
{
	while (n--) {
		stored = n;
		__atomic_fetch_add(&written, 1, __ATOMIC_RELAXED);
	}
}

static void on_trap(int sig, siginfo_t *info, void *uc)
{
	traps++;
	store(1);
}

static void on_alarm(int sig)
{
	alarms++;
	store(3);
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigfillset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

static void handle_traps(bool on)
{
	struct sigaction sa = { .sa_flags = SA_SIGINFO };

	sa.sa_sigaction = on_trap;
	if (!on)
		sa.sa_handler = SIG_DFL;
	sigaction(SIGTRAP, &sa, NULL);
}

static void tell(const char *name, long n)
{
	sigset_t pending, mask;

	sigpending(&pending);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	printf("%s: %ld, %d traps, %d pending, %d blocked\n", name, n,
	       (int)traps, sigismember(&pending, SIGTRAP),
	       sigismember(&mask, SIGTRAP));
	fflush(stdout);
	traps = alarms = 0;
}

static void mask_trap(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	sigprocmask(how, &set, NULL);
}

/* By a system call that no libc makes */
static void mask_really(long how)
{
	unsigned long set = 1ul << (SIGTRAP - 1);
	register long r10 asm("r10") = 8;
	long ret = SYS_rt_sigprocmask;

	asm volatile("syscall"
		     : "+a"(ret)
		     : "D"(how), "S"(&set), "d"(0), "r"(r10)
		     : "rcx", "r11", "memory");
}

static void blocked(void)
{
	mask_trap(SIG_BLOCK);
	store(50);
	tell("blocked", 0);
	mask_trap(SIG_UNBLOCK);
	store(5);
	tell("blocked", 1);
}

static void really(void)
{
	mask_really(SIG_BLOCK);
	store(50);
	mask_really(SIG_UNBLOCK);
	store(5);
	tell("really", 0);
}

/* The two halves of really() */
static void hold(void)
{
	mask_really(SIG_BLOCK);
	store(3);
	tell("hold", 0);
}

static void let(void)
{
	mask_really(SIG_UNBLOCK);
	store(2);
	tell("let", 0);
}

/* A filter by which no handler can return any more */
static void confined(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigreturn, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	store(4);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		puts("no filter");
	store(5);
	tell("confined", 0);
}

static void ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	store(50);
	raise(SIGTRAP);
	tell("ignored", 0);
	signal(SIGTRAP, SIG_DFL);
}

/* Between its own traps, sent, raised and waiting */
static void handled(void)
{
	handle_traps(true);
	store(5);
	raise(SIGTRAP);
	asm volatile("int3");
	mask_trap(SIG_BLOCK);
	raise(SIGTRAP);
	store(5);
	tell("handled", traps);
	mask_trap(SIG_UNBLOCK);
	tell("handled", traps);
	handle_traps(false);
}

static void in_handler(void)
{
	handle(SIGALRM, on_alarm, 0);
	raise(SIGALRM);
	tell("in_handler", alarms);
}

static void on_stack(void)
{
	stack_t ss = { .ss_size = 65536, .ss_sp = malloc(65536) }, now;

	sigaltstack(&ss, NULL);
	handle(SIGALRM, on_alarm, SA_ONSTACK);
	raise(SIGALRM);
	store(5);
	sigaltstack(NULL, &now);
	tell("on_stack", alarms + 10 * (now.ss_sp == ss.ss_sp));
	ss.ss_flags = SS_DISABLE;
	sigaltstack(&ss, NULL);
	free(ss.ss_sp);
}

static void *wake(void *thread)
{
	usleep(20000);
	pthread_kill(*(pthread_t *)thread, SIGALRM);
	return NULL;
}

/* A handler ends a wait whose mask blocks the signal of traps. */
static void waited(void)
{
	pthread_t self = pthread_self(), waker;
	sigset_t mask, all;
	int ret;

	handle(SIGALRM, on_alarm, 0);
	sigemptyset(&all);
	sigaddset(&all, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	sigfillset(&mask);
	sigdelset(&mask, SIGALRM);
	pthread_create(&waker, NULL, wake, &self);
	ret = ppoll(NULL, 0, NULL, &mask);
	tell("waited", alarms + 10 * (ret < 0 && errno == EINTR));
	pthread_join(waker, NULL);
	pthread_create(&waker, NULL, wake, &self);
	ret = sigsuspend(&mask);
	tell("waited", alarms + 10 * (ret < 0 && errno == EINTR));
	pthread_join(waker, NULL);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

static void forked(void)
{
	static int i;
	int status;

	for (i = 0; i < 20; i++) {
		if (!fork()) {
			stored = 1;
			_exit(stored == 1);
		}
		store(2);
		wait(&status);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
	for (i = 0; i < 20; i++) {
		if (!vfork()) {
			stored = 7;
			_exit(stored == 7);
		}
		store(2);
		wait(&status);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
	tell("forked", sum);
	sum = 0;
}

/* A child executes this program anew, by fork and by vfork. */
static void executed(void)
{
	static int i;
	int status;

	for (i = 0; i < 10; i++) {
		if (!(i & 1 ? vfork() : fork())) {
			execl("/proc/self/exe", "stored", "again", NULL);
			_exit(99);
		}
		store(2);
		wait(&status);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
	tell("executed", sum);
	sum = 0;
}

static void *store_some(void *n)
{
	store((int)(long)n);
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];
	int i, k;

	for (i = 0; i < 25; i++) {
		for (k = 0; k < 4; k++)
			pthread_create(&t[k], NULL, store_some, (void *)20l);
		for (k = 0; k < 4; k++)
			pthread_join(t[k], NULL);
	}
	tell("threads", i);
}

static void *store_blocked(void *n)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	store((int)(long)n);
	return NULL;
}

static void all_blocked(void)
{
	pthread_t t;

	pthread_create(&t, NULL, store_blocked, (void *)100l);
	store(100);
	pthread_join(t, NULL);
	tell("all_blocked", 0);
}

/* A watchpoint that the program has set on itself raises the same signal. */
static void watches(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)&own,
		.bp_len = sizeof(own),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.sig_data = 77,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0), i;

	handle_traps(true);
	for (i = 0; fd >= 0 && i < 10; i++) {
		own = i;
		store(1);
	}
	tell("watches", fd < 0);
	mask_trap(SIG_BLOCK);
	own = 1;
	tell("watches", fd < 0);
	mask_trap(SIG_UNBLOCK);
	tell("watches", fd < 0);
	close(fd);
	handle_traps(false);
}

/* Its errno, flags and vector registers are as they were. */
static void kept(void)
{
	unsigned long before, after, in[4] = { 1, 2, 3, 4 }, out[4] = { 0 };
	long zero = 0;

	errno = 77;
	asm volatile("movups (%3), %%xmm7; stc; std; pushfq; popq %0\n"
		     "movq %5, %2; pushfq; popq %1; cld\n"
		     "movups %%xmm7, (%4)"
		     : "=&r"(before), "=&r"(after), "+m"(stored)
		     : "r"(in), "r"(out), "r"(zero)
		     : "xmm7", "cc", "memory");
	written++;
	tell("kept", errno + (before == after) + (out[1] == 2));
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "blocked", blocked },
	{ "really", really },
	{ "ignored", ignored },
	{ "handled", handled },
	{ "in_handler", in_handler },
	{ "on_stack", on_stack },
	{ "waited", waited },
	{ "forked", forked },
	{ "executed", executed },
	{ "threads", threads },
	{ "all_blocked", all_blocked },
	{ "watches", watches },
	{ "kept", kept },
};

static const struct {
	const char *name;
	void (*run)(void);
} rest[] = { { "hold", hold }, { "let", let }, { "confined", confined } };

static void go(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(name, "all") || !strcmp(name, ways[i].name))
			ways[i].run();
	for (i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		if (!strcmp(name, rest[i].name))
			rest[i].run();
	printf("%ld\n", written);
}

static void *store_always(void *naps)
{
	for (;;) {
		store(100);
		if (naps)
			usleep(5000);
	}
	return NULL;
}

static void on_turn(int sig)
{
	turned = 1;
}

static void *store_young(void *n)
{
	young = (long)n;
	return store_some(n);
}

static void make_child(void)
{
	pid_t pid = fork();

	if (!pid) {
		store(10);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	usleep(5000);
	if (turned)
		execl("/proc/self/exe", "stored", "again", NULL);
}

static void run(bool turns)
{
	pthread_t t;
	int i;

	if (turns)
		handle(SIGUSR1, on_turn, SA_RESTART);

	for (i = 0; i < 4; i++)
		pthread_create(&t, NULL, store_always, (void *)(long)turns);
	for (i = 0;; i++) {
		pthread_create(&t, NULL, store_young, (void *)50l);
		pthread_join(t, NULL);
		stored_beside = i;
		if (turns)
			make_child();
		if (!(i % (turns ? 10 : 100))) {
			printf("%d\n", i);
			fflush(stdout);
		}
	}
}

int main(int argc, char **argv)
{
	char word[64];
	int i;

	if (argc > 1 && !strcmp(argv[1], "again")) {
		for (i = 0; i < 10; i++)
			stored = i;
		return 3;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1 && (!strcmp(argv[1], "run") || !strcmp(argv[1], "turns")))
		run(argv[1][0] == 't');
	if (argc > 1 && !strcmp(argv[1], "-")) {
		puts("ready");
		while (scanf("%63s", word) == 1)
			go(word);
		return 0;
	}
	for (i = 1; i < argc; i++)
		go(argv[i]);
	return 0;
}
