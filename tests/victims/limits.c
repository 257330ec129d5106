// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * limits: a program under a limit: limits KIND [AMOUNT [HEAP]]. It works, and checks what it
 * gets; and that its heap can grow by HEAP KB; until SIGTERM. Kinds: those of limited.h;
 * "storm" executes itself again and again, by threads, too.
 */
#include "limited.h"
#include <pthread.h>
#include <signal.h>

static char **args;
static volatile sig_atomic_t ends;

int victim_function(int a);

/* What is probed is nearer to the heap than to what is below the program. */
__asm__(".text\n.skip 1 << 21\n");

__attribute__((noipa)) int victim_function(int a)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", a);
	return atoi(text);
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

static void end(int sig)
{
	ends = 1;
}

static void ready(void)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "ready %p\n",
			 (void *)victim_function);

	write(1, text, (size_t)n);
}

static unsigned long number(char **argv, int i)
{
	return argv[i] ? strtoul(argv[i], NULL, 0) : 0;
}

int main(int argc, char **argv)
{
	const volatile unsigned char *first = (void *)victim_function;
	const unsigned char was = *first;
	unsigned long heap;
	int i;

	args = argv;
	if (argc < 2)
		return 3;
	if (!strcmp(argv[1], "storm"))
		storm();
	heap = argc > 2 ? number(argv, 3) : 0;
	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGTERM, end);
	/* Its output may be a file. */
	if (!strcmp(argv[1], "fsize"))
		ready();
	if (!limit_to(argv[1], number(argv, 2))) {
		write(1, "cannot\n", 7);
		return 3;
	}
	if (strcmp(argv[1], "fsize"))
		ready();
	while (!ends) {
		for (i = 0; i < 300; i++)
			if (victim_function(i) != i)
				return 1;
		/* Not while the tool looks for room. */
		if (*first != was && !grows(heap))
			return 2;
		usleep(500);
	}
	return grows(heap) ? 7 : 2;
}
