// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * loads: processes that come of each other, and load a library now in one of them, now in
 * another.
 *
 *	loads EVENT LIBRARY OTHER ROUNDS [wait]
 *
 * A library's function probed() gives three times its argument; its constructor calls
 * that twice and sets fresh. Prints how often it was called, in the first library and in the other one,
 * in all processes, and whether all was right. With "wait" it begins when a line comes,
 * and ends when another one does. SIGTERM: the round is the last.
 */
#include "children.h"
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define BY_CONSTRUCTOR 2

extern char **environ;

/* Shared by all processes, across exec, too. */
static struct account {
	long calls, others, wrong, started;
} * account;
static char *self, *library, *other;
static volatile int stop, over;

static void on_term(int sig)
{
	over = 1;
}

static void count(long *what, long n)
{
	__atomic_fetch_add(what, n, __ATOMIC_SEQ_CST);
}

struct loaded {
	void *handle;
	long (*probed)(long n);
	long *calls;
};

static struct loaded load(const char *path, long *calls)
{
	struct loaded l = { .calls = calls };
	int *fresh = NULL;

	l.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (l.handle) {
		l.probed = (long (*)(long))dlsym(l.handle, "probed");
		fresh = dlsym(l.handle, "fresh");
	}
	if (!l.probed || !fresh) {
		count(&account->wrong, 1);
		_exit(1);
	}
	/* There are linkers that never unload one. */
	if (*fresh)
		count(calls, BY_CONSTRUCTOR);
	*fresh = 0;
	return l;
}

static void call(const struct loaded *l, int times)
{
	long n;

	for (n = 0; n < times; n++) {
		count(l->calls, 1);
		if (l->probed(n) != 3 * n)
			count(&account->wrong, 1);
	}
}

static void load_and_call(int times)
{
	struct loaded l = load(library, &account->calls);

	call(&l, times);
}

static void expect(pid_t pid, int wanted, const char *what)
{
	if (!has_exited(pid, wanted, what))
		count(&account->wrong, 1);
}

/* A child loads, and so do its own child and, at last, its parent. */
static void do_fork(void)
{
	pid_t pid = fork(), grandchild;

	if (!pid) {
		grandchild = fork();
		if (!grandchild) {
			load_and_call(7);
			_exit(41);
		}
		expect(grandchild, 41, "grandchild");
		load_and_call(5);
		_exit(42);
	}
	expect(pid, 42, "fork");
}

/* What was loaded before is there after. */
static void do_before(void)
{
	struct loaded l = load(library, &account->calls);
	pid_t pid, grandchild;

	call(&l, 3);
	pid = fork();
	if (!pid) {
		grandchild = fork();
		call(&l, 5);
		if (!grandchild)
			_exit(43);
		expect(grandchild, 43, "grandchild");
		_exit(44);
	}
	expect(pid, 44, "before");
	call(&l, 3);
	dlclose(l.handle);
}

/* It goes in the child, and comes back, and is what it was in the parent. */
static void do_close(void)
{
	struct loaded l = load(library, &account->calls);
	pid_t pid = fork();
	int i;

	if (!pid) {
		for (i = 0; i < 3; i++) {
			call(&l, 4);
			dlclose(l.handle);
			l = load(library, &account->calls);
		}
		call(&l, 4);
		_exit(45);
	}
	call(&l, 6);
	expect(pid, 45, "close");
	call(&l, 6);
	dlclose(l.handle);
}

static void do_clone(void)
{
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (!pid) {
		load_and_call(5);
		_exit(46);
	}
	expect(pid, 46, "clone");
}

static char *image_argv[] = { NULL, "image", NULL, NULL, "1", NULL };

static void do_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		execv("/proc/self/exe", image_argv);
		_exit(1);
	}
	expect(pid, 47, "vfork");
}

static void do_spawn(void)
{
	pid_t pid = -1;

	if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, image_argv,
			environ))
		pid = -1;
	expect(pid, 47, "posix_spawn");
}

/* From a child that has loaded it itself. */
static void do_exec(void)
{
	pid_t pid = fork();

	if (!pid) {
		load_and_call(5);
		execv("/proc/self/exe", image_argv);
		_exit(1);
	}
	expect(pid, 47, "exec");
}

static void *comes_and_goes(void *arg)
{
	while (!stop) {
		struct loaded l = load(other, &account->others);

		call(&l, 5);
		dlclose(l.handle);
	}
	return arg;
}

/* While the other library comes and goes, processes are made and call the first one. */
static void do_threads(void)
{
	struct loaded l = load(library, &account->calls);
	pthread_t t;
	int i;

	stop = 0;
	if (pthread_create(&t, NULL, comes_and_goes, NULL))
		abort();
	for (i = 0; i < 20; i++) {
		pid_t pid = fork();

		call(&l, 3);
		if (!pid)
			_exit(48);
		expect(pid, 48, "threads");
	}
	stop = 1;
	pthread_join(t, NULL);
	dlclose(l.handle);
}

/* Wherever it is just then. */
static void do_kill(void)
{
	long before = account->started;
	pid_t pid = fork();

	if (!pid) {
		count(&account->started, 1);
		for (;;) {
			struct loaded l = load(library, &account->calls);

			call(&l, 5);
			dlclose(l.handle);
		}
	}
	while (pid > 0 &&
	       __atomic_load_n(&account->started, __ATOMIC_SEQ_CST) == before)
		usleep(100);
	usleep((useconds_t)(rand() % 5000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static const struct {
	const char *name;
	void (*act)(void);
} events[] = {
	{ "fork", do_fork },   { "before", do_before },
	{ "close", do_close }, { "clone", do_clone },
	{ "vfork", do_vfork }, { "posix_spawn", do_spawn },
	{ "exec", do_exec },   { "threads", do_threads },
	{ "kill", do_kill },
};

static struct account *map_account(int fd)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

static int wait_for_line(const char *say)
{
	char line[16];

	puts(say);
	fflush(stdout);
	return fgets(line, sizeof(line), stdin) ? 0 : 2;
}

static int run(void (*act)(void), long rounds)
{
	for (; rounds && !over; rounds--)
		act();
	printf("%s: calls %ld others %ld wrong %ld\n",
	       account->wrong ? "WRONG" : "right", account->calls,
	       account->others, account->wrong);
	fflush(stdout);
	return account->wrong != 0;
}

int main(int argc, char **argv)
{
	int fd, bad;
	size_t i;

	if (argc < 5)
		return 2;
	signal(SIGTERM, on_term);
	self = argv[0];
	library = argv[2];
	other = argv[3];
	image_argv[0] = self;
	image_argv[2] = library;
	image_argv[3] = other;
	if (!strcmp(argv[1], "image")) {
		account = map_account(3);
		if (!account)
			return 1;
		load_and_call(9);
		return 47;
	}
	fd = memfd_create("account", 0);
	if (fd < 0 || ftruncate(fd, 4096) || dup2(fd, 3) != 3)
		return 2;
	account = map_account(3);
	if (!account || (argc > 5 && wait_for_line("ready")))
		return 2;
	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (!strcmp(argv[1], events[i].name)) {
			bad = run(events[i].act, atol(argv[4]));
			if (argc > 5 && wait_for_line("done"))
				return 2;
			return bad;
		}
	return 2;
}
