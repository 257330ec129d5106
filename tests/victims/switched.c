// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * switched: a program whose probes are disabled and enabled. It reads commands, a letter
 * each, and answers each with a line.
 *
 *	c  call each function CALLS times
 *	w  return from sw_wait(), and call it again
 *	f  fork a child that calls sw_fast() until it is killed, and say its id
 *	q  say whether all results were right, and end
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS 100

long sw_fast(long n);
long sw_other(long n);
long sw_inner(long n);
long sw_outer(long n);
int sw_wait(int fd);

static int wrong, go[2], gone[2];

__attribute__((noipa)) long sw_fast(long n)
{
	return n * 3 + 1;
}

__attribute__((noipa)) long sw_other(long n)
{
	return n * 5 + 2;
}

__attribute__((noipa)) long sw_inner(long n)
{
	return n ^ 7;
}

__attribute__((noipa)) long sw_outer(long n)
{
	return sw_inner(n + 1) + 1;
}

/* A call that lasts until the next command. */
__attribute__((noipa)) int sw_wait(int fd)
{
	char c = 0;

	return read(fd, &c, 1) == 1 ? c : -1;
}

static void *wait_always(void *arg)
{
	for (;;) {
		wrong += sw_wait(go[0]) != 'w';
		if (write(gone[1], "", 1) != 1)
			abort();
	}
	return NULL;
}

static void call_all(void)
{
	long n;

	for (n = 0; n < CALLS; n++) {
		wrong += sw_fast(n) != n * 3 + 1;
		wrong += sw_other(n) != n * 5 + 2;
		wrong += sw_outer(n) != ((n + 1) ^ 7) + 1;
	}
}

static void call_always(void)
{
	long n;

	for (n = 0;; n++) {
		if (sw_fast(n) != n * 3 + 1)
			_exit(1);
		usleep(1000);
	}
}

static void obey(int c)
{
	pid_t child;
	char none;

	if (c == 'c')
		call_all();
	if (c == 'w' &&
	    (write(go[1], "w", 1) != 1 || read(gone[0], &none, 1) != 1))
		wrong++;
	if (c != 'f') {
		printf("done\n");
		return;
	}
	child = fork();
	if (!child)
		call_always();
	printf("child %d\n", (int)child);
}

int main(void)
{
	pthread_t waiter;
	int c;

	if (pipe(go) || pipe(gone) ||
	    pthread_create(&waiter, NULL, wait_always, NULL))
		return 2;
	setvbuf(stdin, NULL, _IONBF, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while ((c = getchar()) != EOF && c != 'q')
		if (c != '\n')
			obey(c);
	printf("%s\n", wrong ? "wrong" : "right");
	return wrong != 0;
}
