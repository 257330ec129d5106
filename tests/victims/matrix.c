// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * matrix: one kind of event, over and over, under threads that check their results.
 *
 *	matrix EVENT ROUNDS [wait]
 *
 * Prints how often victim_function() was called, by the process itself and by
 * others that have memory of their own, and whether all was right. With "wait" it begins
 * when a line comes, and goes on until its input ends.
 */
#include "children.h"
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 2
#define CHILD_CALLS 20

extern char **environ;
long victim_function(long n);

/* Shared by all processes, across exec, too. */
struct account {
	long own, others, wrong, images;
};
static struct account *account;
static long *counter;
static volatile int stop;
static char *self;

__attribute__((noipa)) long victim_function(long n)
{
	return n * 3 + 1;
}

static void call_one(long n)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	if (victim_function(n) != n * 3 + 1)
		__atomic_fetch_add(&account->wrong, 1, __ATOMIC_RELAXED);
}

static void call_many(int times)
{
	long n;

	for (n = 0; n < times; n++)
		call_one(n);
}

static void *worker(void *arg)
{
	long n = 0;

	while (!stop) {
		call_one(n++);
		if (n % 100 == 0)
			sched_yield();
	}
	return NULL;
}

static void expect(pid_t pid, int wanted, const char *what)
{
	if (!has_exited(pid, wanted, what))
		__atomic_fetch_add(&account->wrong, 1, __ATOMIC_RELAXED);
}

static void child(int status)
{
	counter = &account->others;
	call_many(CHILD_CALLS);
	_exit(status);
}

static void do_fork(void)
{
	pid_t pid = fork(), grandchild;

	if (!pid) {
		grandchild = fork();
		if (!grandchild)
			child(41);
		expect(grandchild, 41, "grandchild");
		child(42);
	}
	expect(pid, 42, "fork");
}

/* A child in our memory makes no calls that would be counted. */
static void do_vfork(void)
{
	pid_t pid = vfork();

	if (!pid)
		_exit(43);
	expect(pid, 43, "vfork");
	call_many(3);
}

static void do_spawn(void)
{
	char *argv[] = { self, "image", "44", NULL };
	pid_t pid = -1;

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ))
		pid = -1;
	expect(pid, 44, "posix_spawn");
}

static void do_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid)
		child(45);
	expect(pid, 45, "clone");
}

static void *exec_in_thread(void *arg)
{
	char *argv[] = { self, "image", "46", NULL };

	execv("/proc/self/exe", argv);
	_exit(1);
}

/* Now the first thread, now another one. */
static void do_exec(void)
{
	static int odd;
	pthread_t t;
	pid_t pid;

	odd = !odd;
	pid = fork();
	if (!pid && odd)
		exec_in_thread(NULL);
	if (!pid) {
		counter = &account->others;
		pthread_create(&t, NULL, exec_in_thread, NULL);
		for (;;)
			call_one(1);
	}
	expect(pid, 46, "exec");
}

static void do_dlopen(void)
{
	void *lib = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
	double (*root)(double) = lib ? (double (*)(double))dlsym(lib, "cbrt") :
				       NULL;
	int i;

	for (i = 0; i < 10; i++)
		if (!root || root(27) < 2.999 || root(27) > 3.001)
			__atomic_fetch_add(&account->wrong, 1,
					   __ATOMIC_RELAXED);
	if (lib)
		dlclose(lib);
}

static void *short_life(void *arg)
{
	call_many(5);
	return arg;
}

static void do_threads(void)
{
	pthread_t t[8];
	size_t i;

	for (i = 0; i < 8; i++)
		if (pthread_create(&t[i], NULL, short_life, NULL))
			abort();
	for (i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
}

static void on_signal(int sig)
{
	int saved = errno;

	call_one(sig);
	errno = saved;
}

static void do_signals(void)
{
	int i;

	for (i = 0; i < 50; i++) {
		kill(getpid(), SIGUSR1);
		raise(SIGUSR2);
		call_one(i);
	}
}

static void *ends_all(void *arg)
{
	call_many(CHILD_CALLS);
	_exit(47);
}

/* All at once, by a thread, with the others anywhere. */
static void do_exit(void)
{
	pid_t pid = fork();
	pthread_t t;

	if (!pid) {
		counter = &account->others;
		pthread_create(&t, NULL, ends_all, NULL);
		for (;;)
			pause();
	}
	expect(pid, 47, "exit");
}

static void do_nothing(void)
{
	usleep(1000);
	call_many(10);
}

static const struct {
	const char *name;
	void (*act)(void);
} events[] = {
	{ "fork", do_fork },	     { "vfork", do_vfork },
	{ "posix_spawn", do_spawn }, { "clone", do_clone },
	{ "exec", do_exec },	     { "dlopen", do_dlopen },
	{ "threads", do_threads },   { "signals", do_signals },
	{ "exit", do_exit },	     { "nothing", do_nothing },
};

static struct account *map_account(int fd)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

/* What was executed: the account is behind the descriptor that it inherits. */
static int image(int status)
{
	account = map_account(3);
	if (!account)
		return 1;
	counter = &account->others;
	__atomic_fetch_add(&account->images, 1, __ATOMIC_RELAXED);
	call_many(CHILD_CALLS);
	return status;
}

static bool goes_on; /* for as long as there may be input */

static bool is_over(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return !goes_on || poll(&in, 1, 0) != 0;
}

static int run(void (*act)(void), long rounds)
{
	struct sigaction sa = { .sa_handler = on_signal,
				.sa_flags = SA_RESTART };
	pthread_t t[THREADS];
	long i;

	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGUSR2, &sa, NULL);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, worker, NULL))
			return 1;
	for (i = 0; i < rounds || !is_over(); i++)
		act();
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%s: own %ld others %ld images %ld wrong %ld\n",
	       account->wrong ? "WRONG" : "right", account->own,
	       account->others, account->images, account->wrong);
	return account->wrong != 0;
}

int main(int argc, char **argv)
{
	char line[16];
	size_t i;
	int fd;

	self = argv[0];
	if (argc > 2 && !strcmp(argv[1], "image"))
		return image(atoi(argv[2]));
	fd = memfd_create("account", 0);
	if (argc < 3 || fd < 0 || ftruncate(fd, 4096) || dup2(fd, 3) != 3)
		return 2;
	account = map_account(3);
	if (!account)
		return 2;
	counter = &account->own;
	if (argc > 3) {
		puts("ready");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			return 2;
		goes_on = true;
	}
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(argv[1], events[i].name))
			return run(events[i].act, atol(argv[2]));
	return 2;
}
