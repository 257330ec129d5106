// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * sleepers: threads asleep in system calls that a stop could end early.
 *
 * Says "asleep" when all of them are, waits for a line on stdin, then wakes
 * each through what it waits for. Every call must return what it would have
 * returned undisturbed. "sleepers NAME" makes just that one, in the main thread
 * with a helper that wakes it; "sleepers NAME alone" in a process of one thread,
 * with a child that does.
 */
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAP_MS = 1500 };

struct sleeper {
	const char *name;
	long (*sleep)(int fd);
	long wanted;
	int pipe[2];
	long got;
	int error;
};

static struct {
	atomic_int word;
} * shared;
static int semaphore, listener;
static pid_t self;

static long by_epoll(int fd)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev);
	return epoll_wait(ep, &ev, 1, -1);
}

static long by_epoll_timeout(int fd)
{
	int ep = epoll_create1(0);
	struct epoll_event ev;

	return epoll_wait(ep, &ev, 1, NAP_MS);
}

static long by_sigtimedwait(int fd)
{
	struct timespec limit = { 60, 0 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigtimedwait(&set, NULL, &limit);
}

static long by_nanosleep(int fd)
{
	struct timespec nap = { NAP_MS / 1000, NAP_MS % 1000 * 1000000 };
	struct timespec a, b;
	long ret, ms;

	clock_gettime(CLOCK_MONOTONIC, &a);
	ret = nanosleep(&nap, NULL);
	clock_gettime(CLOCK_MONOTONIC, &b);
	ms = (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
	return ms < NAP_MS ? -2 : ret;
}

static long by_poll(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, 60000);
}

static long by_ppoll(int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };
	sigset_t none;

	sigemptyset(&none);
	return ppoll(&p, 1, NULL, &none);
}

static long by_select(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	return select(fd + 1, &set, NULL, NULL, NULL);
}

static long by_futex(int fd)
{
	long ret =
		syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0);

	/* One that is on its way back into the call when the word changes finds
	 * it changed, as after any stop. */
	return ret && errno == EAGAIN && shared->word ? 0 : ret;
}

static long by_read(int fd)
{
	char byte;

	return read(fd, &byte, 1);
}

static long by_accept(int fd)
{
	return accept(listener, NULL, NULL) >= 0;
}

static long by_semaphore(int fd)
{
	struct sembuf down = { 0, -1, 0 };

	return semtimedop(semaphore, &down, 1, NULL);
}

static struct sleeper sleepers[] = {
	{ "epoll_wait", by_epoll, 1, { 0, 0 }, 0, 0 },
	{ "epoll_wait with a timeout", by_epoll_timeout, 0, { 0, 0 }, 0, 0 },
	{ "sigtimedwait", by_sigtimedwait, SIGUSR1, { 0, 0 }, 0, 0 },
	{ "nanosleep", by_nanosleep, 0, { 0, 0 }, 0, 0 },
	{ "poll", by_poll, 1, { 0, 0 }, 0, 0 },
	{ "ppoll", by_ppoll, 1, { 0, 0 }, 0, 0 },
	{ "select", by_select, 1, { 0, 0 }, 0, 0 },
	{ "futex", by_futex, 0, { 0, 0 }, 0, 0 },
	{ "read", by_read, 1, { 0, 0 }, 0, 0 },
	{ "accept", by_accept, 1, { 0, 0 }, 0, 0 },
	{ "semtimedop", by_semaphore, 0, { 0, 0 }, 0, 0 },
};

enum { NR = sizeof(sleepers) / sizeof(sleepers[0]) };

static void *run(void *arg)
{
	struct sleeper *s = arg;

	s->got = s->sleep(s->pipe[0]);
	s->error = errno;
	return NULL;
}

static void release(struct sleeper *s, struct sockaddr_un *addr)
{
	struct sembuf up = { 0, 1, 0 };
	int fd;

	(void)!write(s->pipe[1], "x", 1);
	if (s->sleep == by_futex) {
		shared->word = 1;
		syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
	} else if (s->sleep == by_semaphore) {
		semop(semaphore, &up, 1);
	} else if (s->sleep == by_sigtimedwait) {
		kill(self, SIGUSR1);
	} else if (s->sleep == by_accept) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		connect(fd, (struct sockaddr *)addr, sizeof(*addr));
	}
}

static void listen_here(struct sockaddr_un *addr)
{
	addr->sun_family = AF_UNIX;
	snprintf(addr->sun_path + 1, sizeof(addr->sun_path) - 1, "sleepers.%d",
		 getpid());
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	bind(listener, (struct sockaddr *)addr, sizeof(*addr));
	listen(listener, 1);
}

struct waker {
	struct sleeper *s;
	struct sockaddr_un *addr;
};

static void *wait_and_release(void *arg)
{
	struct waker *w = arg;

	getchar();
	release(w->s, w->addr);
	return NULL;
}

static int report(const struct sleeper *s)
{
	if (s->got == s->wanted)
		return 0;
	printf("%s returned %ld, errno %d\n", s->name, s->got, s->error);
	return 1;
}

static int one(struct sleeper *s, struct sockaddr_un *addr, int alone)
{
	struct waker w = { s, addr };
	pthread_t waker;

	puts("asleep");
	fflush(stdout);
	if (!alone) {
		pthread_create(&waker, NULL, wait_and_release, &w);
	} else if (fork() == 0) {
		wait_and_release(&w);
		_exit(0);
	}
	run(s);
	if (!alone)
		pthread_join(waker, NULL);
	else
		wait(NULL);
	return report(s);
}

int main(int argc, char **argv)
{
	struct sockaddr_un addr = { 0 };
	pthread_t threads[NR];
	int i, failures = 0;
	sigset_t set;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	self = getpid();
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	semaphore = semget(IPC_PRIVATE, 1, 0600);
	listen_here(&addr);
	for (i = 0; i < NR; i++)
		if (pipe(sleepers[i].pipe))
			return 1;
	for (i = 0; argc > 1 && i < NR; i++)
		if (!strcmp(argv[1], sleepers[i].name)) {
			failures = one(&sleepers[i], &addr, argc > 2);
			goto out;
		}
	for (i = 0; i < NR; i++)
		pthread_create(&threads[i], NULL, run, &sleepers[i]);
	puts("asleep");
	fflush(stdout);
	getchar();
	for (i = 0; i < NR; i++)
		release(&sleepers[i], &addr);
	for (i = 0; i < NR; i++) {
		pthread_join(threads[i], NULL);
		failures += report(&sleepers[i]);
	}
out:
	semctl(semaphore, 0, IPC_RMID);
	printf("%d failures\n", failures);
	return failures;
}
