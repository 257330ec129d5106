// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * beats: threads that work in libc without an end, check what they get, and leave a beat.
 *
 *	beats FILE LIBRARY [POLLERS]
 *
 * FILE has 512 words: in the last one is how many threads there are, in the first ones
 * how often each has come round. LIBRARY is loaded and unloaded all the time; its function
 * probed() gives three times its argument. Each thread keeps its own account of its signal
 * mask and compares every old one that it is told; so many threads more do little else. What is not as it should be is said, and
 * ends the program by SIGABRT.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORDS 512
#define WORKERS 3
#define LONGEST 3000
#define USUAL (WORKERS + 5)
#define CHILD_STATUS 7

#define NAP_US 2000 /* between two signals */

static unsigned long *beats;
static pthread_t threads[WORDS - 1];
static const char *library;
/* This thread's virtual mask. */
static __thread sigset_t believed;

static void wrong(const char *what)
{
	char line[200];
	int n = snprintf(line, sizeof(line), "wrong: %s\n", what);

	if (write(2, line, (size_t)n) == n)
		abort();
	_exit(99);
}

static unsigned long word_of(const sigset_t *set)
{
	unsigned long word;

	memcpy(&word, set, sizeof(word));
	return word;
}

/* To be told apart: is it only what it is told, or is it so? */
static void wrong_mask(const sigset_t *old, const char *who)
{
	char line[150];
	sigset_t again;

	pthread_sigmask(SIG_BLOCK, NULL, &again);
	snprintf(line, sizeof(line),
		 "the %s is told of mask %lx, then of %lx; it is %lx", who,
		 word_of(old), word_of(&again), word_of(&believed));
	wrong(line);
}

static void change_mask(int how, const sigset_t *set, const char *who)
{
	sigset_t old;

	if (pthread_sigmask(how, set, &old))
		wrong("pthread_sigmask");
	if (word_of(&old) != word_of(&believed))
		wrong_mask(&old, who);
	if (set)
		believed = *set;
}

static void beat(long id, const char *who)
{
	change_mask(SIG_BLOCK, NULL, who);
	__atomic_fetch_add(&beats[id], 1, __ATOMIC_RELAXED);
}

static void work_once(long id, unsigned int *chance)
{
	size_t n = 1 + (size_t)rand_r(chance) % LONGEST, i;
	unsigned char *a = malloc(n), *b = calloc(1, n);
	char text[64];

	memset(a, (int)id, n);
	memcpy(b, a, n);
	a = realloc(a, 2 * n);
	for (i = 0; i < n; i++)
		if (a[i] != (unsigned char)id || b[i] != a[i])
			wrong("bytes of the heap");
	snprintf(text, sizeof(text), "%ld-%zu", id, n);
	if (strtoul(strchr(text, '-') + 1, NULL, 10) != n)
		wrong("strtoul");
	free(a);
	free(b);
}

static _Noreturn void *worker(void *arg)
{
	unsigned int chance = (unsigned int)(long)arg;

	for (;;) {
		work_once((long)arg, &chance);
		beat((long)arg, "worker");
	}
}

static void *short_lived(void *arg)
{
	char *text = strdup("short");

	free(text);
	return arg;
}

static _Noreturn void *creator(void *arg)
{
	pthread_t t[4];
	void *ret;
	long i;

	for (;;) {
		for (i = 0; i < 4; i++)
			if (pthread_create(&t[i], NULL, short_lived, (void *)i))
				wrong("pthread_create");
		for (i = 0; i < 4; i++)
			if (pthread_join(t[i], &ret) || (long)ret != i)
				wrong("pthread_join");
		beat((long)arg, "creator");
		usleep(300);
	}
}

static _Noreturn void *forker(void *arg)
{
	int status;
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			free(memset(malloc(5000), 1, 5000));
			_exit(CHILD_STATUS);
		}
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != CHILD_STATUS)
			wrong("a fork child");
		beat((long)arg, "forker");
		usleep(2000);
	}
}

static _Noreturn void *spawner(void *arg)
{
	int status;

	for (;;) {
		status = system("exit 3");
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 3)
			wrong("a command");
		beat((long)arg, "spawner");
		usleep(5000);
	}
}

static _Noreturn void *loader(void *arg)
{
	long (*probed)(long n);
	void *handle;

	for (;;) {
		handle = dlopen(library, RTLD_NOW);
		probed = handle ? (long (*)(long))dlsym(handle, "probed") :
				  NULL;
		if (!probed || probed(7) != 21 || dlclose(handle))
			wrong("the library");
		beat((long)arg, "loader");
		usleep(1500);
	}
}

/* All is blocked but for the time of a call. */
static _Noreturn void *poller(void *arg)
{
	const struct timespec t = { 0, (long)arg < USUAL ? 500000 : 1000 };
	sigset_t all, none;

	sigemptyset(&none);
	sigfillset(&all);
	/* As the kernel has it, and libc lets it be. */
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_sigmask(SIG_SETMASK, &none, &all);
	for (;;) {
		change_mask(SIG_SETMASK, &all, "poller");
		if (ppoll(NULL, 0, &t, &none) > 0)
			wrong("ppoll");
		change_mask(SIG_SETMASK, &none, "poller");
		beat((long)arg, "poller");
	}
}

static void on_signal(int sig)
{
}

static void begin(const char *path, size_t nr)
{
	static void *(*const others[])(void *) = { creator, forker, spawner,
						   loader, poller };
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	size_t i;

	if (fd < 0 || ftruncate(fd, WORDS * sizeof(*beats)))
		wrong(path);
	beats = mmap(NULL, WORDS * sizeof(*beats), PROT_READ | PROT_WRITE,
		     MAP_SHARED, fd, 0);
	if (beats == MAP_FAILED)
		wrong("mmap");
	for (i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL,
				   i < WORKERS ? worker :
				   i < USUAL   ? others[i - WORKERS] :
						 poller,
				   (void *)i))
			wrong("pthread_create");
	__atomic_store_n(&beats[WORDS - 1], nr, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	size_t nr = USUAL, i;

	if (argc != 3 && argc != 4)
		return 2;
	if (argc > 3)
		nr += strtoul(argv[3], NULL, 10);
	library = argv[2];
	signal(SIGUSR1, on_signal);
	begin(argv[1], nr < WORDS ? nr : WORDS - 1);
	/* Each in its turn is interrupted by a handler. */
	for (i = 0;; i = (i + 1) % beats[WORDS - 1]) {
		usleep(NAP_US);
		pthread_kill(threads[i], SIGUSR1);
	}
}
