// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * limits: a program under a limit: limits KIND. It works, and checks what it gets; until
 * SIGTERM. Kinds: those of setrlimit(2), and prctl(2)'s; "storm" executes itself again
 * and again, by threads, too.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif

static char **args;
static volatile sig_atomic_t ends;

int victim_function(int a);

__attribute__((noipa)) int victim_function(int a)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", a);
	return atoi(text);
}

static void limit(int what, rlim_t to)
{
	const struct rlimit l = { to, to };

	if (setrlimit(what, &l))
		_exit(3);
}

static void *allocate(void *arg)
{
	for (;;)
		free(strdup("text"));
	return NULL;
}

static void *execute(void *arg)
{
	usleep((unsigned)(getpid() ^ (long)&arg >> 4) % 5000);
	execv("/proc/self/exe", args);
	abort();
}

static void storm(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&t, NULL, allocate, NULL))
			abort();
	if ((long)&t >> 12 & 1)
		execute(NULL);
	pthread_create(&t, NULL, execute, NULL);
	for (;;)
		pause();
}

static void confine(const char *kind)
{
	if (!strcmp(kind, "nofile"))
		limit(RLIMIT_NOFILE, 3);
	else if (!strcmp(kind, "as"))
		limit(RLIMIT_AS, 8 << 20);
	else if (!strcmp(kind, "fsize"))
		limit(RLIMIT_FSIZE, 0);
	else if (!strcmp(kind, "mdwe"))
		prctl(PR_SET_MDWE, 1, 0, 0, 0);
	else if (!strcmp(kind, "hidden"))
		prctl(PR_SET_DUMPABLE, 0);
	else if (!strcmp(kind, "locked"))
		mlockall(MCL_CURRENT | MCL_FUTURE);
	else if (!strcmp(kind, "memlock")) {
		limit(RLIMIT_MEMLOCK, 4 << 20);
		if (mlockall(MCL_FUTURE))
			_exit(3);
	} else if (!strcmp(kind, "maps")) {
		int i = 0;

		while (mmap(NULL, 4096,
			    i++ & 1 ? PROT_READ : PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
			continue;
	}
}

static void end(int sig)
{
	ends = 1;
}

int main(int argc, char **argv)
{
	int i;

	args = argv;
	if (argc > 1 && !strcmp(argv[1], "storm"))
		storm();
	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGTERM, end);
	/* Its output may be a file. */
	if (argc > 1 && !strcmp(argv[1], "fsize"))
		write(1, "ready\n", 6);
	if (argc > 1)
		confine(argv[1]);
	if (argc < 2 || strcmp(argv[1], "fsize"))
		write(1, "ready\n", 6);
	while (!ends) {
		for (i = 0; i < 300; i++)
			if (victim_function(i) != i)
				return 1;
		usleep(500);
	}
	return 7;
}
